"""Tables that lie together in a folder: Parquet or CSV, with a manifest that has the types of their columns.

All files of a folder are replaced together. They are written to a subfolder, which a single rename completes; from then
on its files count, and each is moved to its place. Readers look into the subfolder first, so an interruption at any
point leaves the old tables or the new ones, and the next call of `write_tables` finishes or removes what is left.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase._files import arrow_reader, sync_folder, write_atomically
from flexicase.records import TIMING

Format: TypeAlias = Literal["parquet", "csv"]
FORMATS: tuple[Format, ...] = ("parquet", "csv")
SUFFIXES: dict[Format, str] = {"parquet": ".parquet", "csv": ".csv.gz"}
MANIFEST = "manifest.json"
MANIFEST_FORMAT = 2
TYPES = ("string", "int64", "float64", "bool_")
#: Subfolders: complete new files on their way to their places, and files that are still being written.
COMPLETE, PARTIAL = ".flexicase-export", ".flexicase-export.partial"
#: Names in a manifest become names of files.
TABLE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class DamagedTableError(ValueError):
    """A table that is missing or does not hold what was written; the message names the file."""


def is_timing(column: str) -> bool:
    """Whether a column holds times, which differ from run to run; all others must not.

    Example:
        >>> from flexicase.experiments._tables import is_timing
        >>> is_timing("seconds_selection"), is_timing("evaluations")
        (True, False)
    """
    return column.startswith(TIMING)


def write_tables(
    folder: Path, tables: Mapping[str, Any], style: Format, others: Mapping[str, bytes] | None = None
) -> list[Path]:
    """Replace the tables of a folder, all at once; the same tables give the same bytes.

    Args:
        folder: Where they go; made if need be.
        tables: pyarrow tables by name.
        style: The format.
        others: Contents of further files that belong to them, by file name.

    Returns:
        The files.

    Raises:
        ValueError: A file that would be replaced was not written by this function.
        OSError: A file cannot be written; the folder keeps its tables.
    """
    types = {name: types_of(table) for name, table in sorted(tables.items())}
    manifest = json.dumps({"format": MANIFEST_FORMAT, "tables": types}, indent=1) + "\n"
    contents = dict(others or {})
    contents |= {f"{name}{SUFFIXES[style]}": _encoded(table, style) for name, table in tables.items()}
    contents[MANIFEST] = manifest.encode()
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        _finish(folder)
        _refuse_foreign(folder, contents)
        _stage(folder, contents)
        _finish(folder)
    return [folder / name for name in contents]


def read_tables(folder: Path, *needed: str) -> dict[str, Any]:
    """Read all tables that `write_tables` wrote.

    Args:
        folder: Where they lie.
        needed: Names of tables that must be among them.

    Raises:
        FileNotFoundError: A table or the manifest is missing.
        ValueError: One of them is damaged, or not what was expected.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pyarrow as pa
        >>> from flexicase.experiments._tables import read_tables, write_tables
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = write_tables(Path(folder), {"runs": pa.table({"seed": [7]})}, "csv")
        ...     read_tables(Path(folder), "runs")["runs"].to_pylist()
        [{'seed': 7}]
    """
    types = _manifest(locate(folder, MANIFEST))
    for name in needed:
        if name not in types:
            raise ValueError(f"{folder / MANIFEST}: expected a table {name!r}, got {', '.join(types) or 'none'}")
    return {name: _read_table(folder, name, columns) for name, columns in types.items()}


def locate(folder: Path, name: str) -> Path:
    """Where the newest complete version of a file that `write_tables` wrote is, or would be.

    Raises:
        ValueError: There is something else of this name, such as a folder or a pipe.
    """
    staged = folder / COMPLETE / name
    path = staged if staged.is_file() else folder / name
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} must be a file")
    return path


def _read_table(folder: Path, name: str, types: Mapping[str, str]) -> Any:
    paths = [base / f"{name}{suffix}" for base in (folder / COMPLETE, folder) for suffix in SUFFIXES.values()]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise FileNotFoundError(2, "No such table", str(folder / f"{name}{SUFFIXES['parquet']}"))
    table = _decoded(path, path.read_bytes(), types)
    if table.column_names != list(types):
        raise ValueError(f"{path}: expected columns {', '.join(types)}, got {', '.join(table.column_names)}")
    for column, kind in types_of(table).items():
        if kind != types[column]:
            raise ValueError(f"{path}: column {column!r} must be {types[column]} as in {MANIFEST}, got {kind}")
    return table


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process writes to a folder; the system releases the lock when its holder ends."""
    if os.name == "nt":
        yield  # folders cannot be opened there
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _refuse_foreign(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Raise ValueError if a file that would be replaced or removed is not one that `write_tables` wrote."""
    known = _manifest(folder / MANIFEST) if os.path.lexists(folder / MANIFEST) else None
    own = {MANIFEST, *(name for name in contents if _table_of(name) is None)} if known is not None else set()
    for table in known or ():
        found = [f"{table}{suffix}" for suffix in SUFFIXES.values() if os.path.lexists(folder / f"{table}{suffix}")]
        if len(found) > 1:
            raise ValueError(f"{folder} holds both {' and '.join(found)}: remove the one that is no part of the export")
        own.update(found)
    for name, content in contents.items():
        path = folder / name
        if name not in own and os.path.lexists(path) and not (path.is_file() and path.read_bytes() == content):
            raise ValueError(f"{path} is no part of an export and would be replaced: choose another folder")


def _stage(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write all files to a subfolder, completely or not at all."""
    partial = folder / PARTIAL
    partial.mkdir()
    try:
        for name, content in contents.items():
            write_atomically(partial / name, content)
        os.rename(partial, folder / COMPLETE)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    sync_folder(folder)


def _finish(folder: Path) -> None:
    """Move complete new files to their places, the manifest last; remove what they replace, and incomplete files."""
    complete = folder / COMPLETE
    if complete.is_dir() and not complete.is_symlink():
        for path in sorted(complete.iterdir(), key=lambda path: path.name == MANIFEST):
            if path.name == MANIFEST and (folder / MANIFEST).is_file():
                gone = _manifest(folder / MANIFEST).keys() - _manifest(path).keys()
                _remove(folder / f"{table}{suffix}" for table in gone for suffix in SUFFIXES.values())
            table = _table_of(path.name)
            if table is not None:
                same = {folder / f"{table}{suffix}" for suffix in SUFFIXES.values()}
                _remove(same - {folder / path.name})
            os.replace(path, folder / path.name)
        sync_folder(folder)
        complete.rmdir()
    shutil.rmtree(folder / PARTIAL, ignore_errors=True)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _table_of(name: str) -> str | None:
    """The table that a file of this name holds, or None."""
    return next((name.removesuffix(suffix) for suffix in SUFFIXES.values() if name.endswith(suffix)), None)


def types_of(table: Any) -> dict[str, str]:
    """The type of each column, by the name of the pyarrow function that makes it.

    Example:
        >>> import pyarrow as pa
        >>> from flexicase.experiments._tables import types_of
        >>> types_of(pa.table({"id": ["a"], "seed": [1], "error": [0.5], "done": [True]}))
        {'id': 'string', 'seed': 'int64', 'error': 'float64', 'done': 'bool_'}
    """
    names = {"double": "float64", "bool": "bool_"}
    return {field.name: names.get(str(field.type), str(field.type)) for field in table.schema}


def _encoded(table: Any, style: Format) -> bytes:
    from pyarrow import csv, parquet

    sink = io.BytesIO()
    if style == "parquet":
        parquet.write_table(table, sink, compression="zstd", compression_level=15)
        return sink.getvalue()
    csv.write_csv(table, sink)
    return gzip.compress(sink.getvalue(), mtime=0)


def _decoded(path: Path, content: bytes, types: Mapping[str, str] | None = None) -> Any:
    """The table that `_encoded` was called on; a CSV file needs the types of its columns."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        if path.suffix == ".parquet":
            table = parquet.read_table(arrow_reader(content))
        else:
            table = csv.read_csv(
                arrow_reader(gzip.decompress(content)),
                parse_options=csv.ParseOptions(newlines_in_values=True),
                convert_options=csv.ConvertOptions(
                    column_types={column: getattr(pa, kind)() for column, kind in (types or {}).items()},
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        table.validate(full=True)
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise DamagedTableError(f"{path} cannot be read: {error}") from error
    return table


def _manifest(path: Path) -> dict[str, dict[str, str]]:
    """The column types of every table."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedTableError(f"{path} cannot be read: {error}") from error
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != MANIFEST_FORMAT:
        raise ValueError(f"{path}: expected format {MANIFEST_FORMAT}, got {found!r}: made by another version")
    tables = manifest.get("tables")
    if (
        not isinstance(tables, dict)
        or not all(map(TABLE_NAME.fullmatch, tables))
        or not all(map(_are_types, tables.values()))
    ):
        raise ValueError(f"{path}: expected for each table its columns with their types, {', '.join(TYPES)}")
    return tables


def _are_types(columns: Any) -> bool:
    return isinstance(columns, dict) and all(kind in TYPES for kind in columns.values())


Rows: TypeAlias = dict[str, NDArray[Any]]
DTYPES = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_))


def check_rows(rows: Mapping[str, Any]) -> Rows:
    """The columns as int64, float64 or bool arrays of equal length, masked where a value is missing.

    Args:
        rows: Columns by name, each (n_steps,).

    Raises:
        ValueError: A column has another type or another length.
    """
    columns = {name: _contiguous(values) for name, values in rows.items()}
    if not columns:
        raise ValueError("rows: expected at least one column, got none")
    length = len(next(iter(columns.values())))
    for name, values in columns.items():
        if values.dtype not in DTYPES:
            raise ValueError(f"rows: column {name!r}: expected int64, float64 or bool, got {values.dtype}")
        if values.shape != (length,):
            raise ValueError(f"rows: column {name!r}: expected shape ({length},) as the first, got {values.shape}")
    return columns


def _contiguous(values: Any) -> NDArray[Any]:
    if np.ma.is_masked(values):
        return np.ma.array(np.ascontiguousarray(values.filled(0)), mask=np.ma.getmaskarray(values))
    return np.ascontiguousarray(values)


def rows_digest(rows: Rows) -> str:
    """A hash of everything in the rows that must be the same when the run is made again.

    Example:
        >>> import numpy as np
        >>> from flexicase.experiments._tables import rows_digest
        >>> one = {"error": np.array([1.5, 0.0]), "seconds": np.array([0.1, 0.2])}
        >>> rows_digest(one) == rows_digest({**one, "seconds": np.array([0.3, 0.1])})
        True
    """
    state = hashlib.sha256()
    for name in sorted(rows):
        if not is_timing(name):
            values = rows[name]
            state.update(f"{name}:{values.dtype.str}:{len(values)};".encode())
            state.update(column_bytes(values))
    return state.hexdigest()


def column_bytes(values: NDArray[Any]) -> bytes:
    """The bytes of a column, and of its mask if a value is missing."""
    mask = np.ma.getmaskarray(values).tobytes() if np.ma.is_masked(values) else b""
    return np.ma.filled(values, 0).tobytes() + mask


def to_rows(table: Any) -> Rows:
    """The columns of a pyarrow table, masked where it has nulls."""
    rows: Rows = {}
    for name in table.column_names:
        column = table[name]
        if column.null_count:
            filled = column.fill_null(False if str(column.type) == "bool" else 0)
            rows[name] = np.ma.array(filled.to_numpy(), mask=column.is_null().to_numpy())
        else:
            rows[name] = np.ascontiguousarray(column.to_numpy())
    return rows


def file_checksum(content: bytes) -> str:
    """The checksum of a file's content."""
    return hashlib.sha256(content).hexdigest()


def write_rows(path: Path, rows: Rows) -> str:
    """Write rows to a Parquet file, all or nothing; gives the file's checksum."""
    import pyarrow as pa

    content = _encoded(pa.table(check_rows(rows)), "parquet")
    write_atomically(path, content)
    return file_checksum(content)


def read_rows(path: Path, expected: str) -> Rows:
    """Read rows, if the file is as it was written.

    Args:
        path: The file.
        expected: The checksum that `write_rows` gave.

    Raises:
        DamagedTableError: The file is missing or its checksum is another; the message names it.
    """
    return to_rows(_decoded(path, verify_rows(path, expected)))


def verify_rows(path: Path, expected: str) -> bytes:
    """The content of a file of rows.

    Raises:
        DamagedTableError: It is missing, or not as it was written.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DamagedTableError(f"{path} is missing") from None
    if file_checksum(content) != expected:
        raise DamagedTableError(f"{path} is damaged: its checksum is not the one in the ledger")
    return content
