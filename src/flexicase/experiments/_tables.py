"""Tables in a folder, as Parquet or CSV, with a manifest of their column types; and the rows of one run as Parquet.

All tables of a folder are replaced together. They are written to a subfolder, which a single rename completes; then
each file is moved to its place. Readers look into the subfolder first, so an interruption at any point leaves the old
tables or the new ones, and the next call of `write_tables` finishes the move or removes incomplete files.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from flexicase._files import arrow_reader, sync_folder, write_atomically
from flexicase.records import TIMING

Format: TypeAlias = Literal["parquet", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[Format, str] = {"parquet": ".parquet", "csv": ".csv.gz"}
MANIFEST = "manifest.json"
MANIFEST_FORMAT = 2
TYPES = ("string", "int64", "float64", "bool_")
#: Subfolders: complete new files that wait to be moved, and files that are being written.
COMPLETE, PARTIAL = ".flexicase-export", ".flexicase-export.partial"
Rows: TypeAlias = dict[str, NDArray[Any]]
DTYPES = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_))
#: Names in a manifest become names of files.
TABLE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class DamagedTableError(ValueError):
    """A table is missing or damaged; the message names the file."""


def is_timing(column: str) -> bool:
    """Whether a column holds times, which differ when a run is repeated; no other column may."""
    return column.startswith(TIMING)


def write_tables(
    folder: Path,
    tables: Mapping[str, Any],
    format: Format,  # noqa: A002
    others: Mapping[str, bytes] | None = None,
) -> list[Path]:
    """Replace the tables of a folder, all at once, and return the files; the same tables give the same bytes.

    The folder is made if it does not exist. ``others`` holds the contents of further files, by file name.

    Raises:
        ValueError: A file that would be replaced was not written by this function.
        OSError: A file cannot be written; the folder keeps its tables.
    """
    types = {name: types_of(table) for name, table in sorted(tables.items())}
    manifest = json.dumps({"format": MANIFEST_FORMAT, "tables": types}, indent=1) + "\n"
    contents = dict(others or {})
    contents |= {f"{name}{SUFFIXES[format]}": _encode(table, format) for name, table in tables.items()}
    contents[MANIFEST] = manifest.encode()
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        _finish(folder)
        _refuse_foreign(folder, contents)
        _stage(folder, contents)
        _finish(folder)
    return [folder / name for name in contents]


def read_tables(folder: Path, *needed: str) -> dict[str, Any]:
    """Read the tables that `write_tables` wrote; raise ValueError if one in ``needed`` is missing or one is damaged."""
    types = _manifest(locate(folder, MANIFEST))
    for name in needed:
        if name not in types:
            raise ValueError(f"{folder / MANIFEST}: expected a table {name!r}, got {', '.join(types) or 'none'}")
    return {name: _read_table(folder, name, columns) for name, columns in types.items()}


def locate(folder: Path, name: str) -> Path:
    """The path of the newest complete version of a file that `write_tables` wrote, whether it exists or not."""
    staged = folder / COMPLETE / name
    path = staged if staged.is_file() else folder / name
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} must be a file")
    return path


def _read_table(folder: Path, name: str, types: Mapping[str, str]) -> Any:
    paths = [base / file for base in (folder / COMPLETE, folder) for file in _file_names(name)]
    path = next(filter(Path.is_file, paths), None)
    if path is None:
        raise FileNotFoundError(2, "No such table", str(folder / f"{name}{SUFFIXES['parquet']}"))
    table = _decode(path, path.read_bytes(), types)
    if table.column_names != list(types):
        raise ValueError(f"{path}: expected columns {', '.join(types)}, got {', '.join(table.column_names)}")
    for column, kind in types_of(table).items():
        if kind != types[column]:
            raise ValueError(f"{path}: column {column!r} must be {types[column]} as in {MANIFEST}, got {kind}")
    return table


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process writes to a folder; the system releases the lock when its holder ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _refuse_foreign(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Raise ValueError if a file that would be replaced or removed was not written by `write_tables`."""
    own: set[str] = set()
    if os.path.lexists(folder / MANIFEST):
        own.update(name for name in contents if _table_of(name) is None)  # the manifest is one of them
        for table in _manifest(folder / MANIFEST):
            found = [name for name in _file_names(table) if os.path.lexists(folder / name)]
            if len(found) > 1:
                both = " and ".join(found)
                raise ValueError(f"{folder} holds both {both}: remove the one that does not belong to the export")
            own.update(found)
    for name, content in contents.items():
        path = folder / name
        if name not in own and os.path.lexists(path) and not (path.is_file() and path.read_bytes() == content):
            raise ValueError(f"{path} does not belong to an export and would be replaced: choose another folder")


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
    """Move complete new files to their places, the manifest last; remove the files they replace and incomplete ones."""
    complete = folder / COMPLETE
    if complete.is_dir() and not complete.is_symlink():
        for path in sorted(complete.iterdir(), key=lambda path: path.name == MANIFEST):
            table, obsolete = _table_of(path.name), set[str]()
            if table is not None:
                obsolete = set(_file_names(table)) - {path.name}
            elif path.name == MANIFEST and (folder / MANIFEST).is_file():
                gone = _manifest(folder / MANIFEST).keys() - _manifest(path).keys()
                obsolete = {name for table in gone for name in _file_names(table)}
            for name in obsolete:
                (folder / name).unlink(missing_ok=True)
            os.replace(path, folder / path.name)
        sync_folder(folder)
        complete.rmdir()
    shutil.rmtree(folder / PARTIAL, ignore_errors=True)


def _file_names(table: str) -> list[str]:
    return [f"{table}{suffix}" for suffix in SUFFIXES.values()]


def _table_of(name: str) -> str | None:
    """The table that a file of this name holds, or None."""
    return next((name.removesuffix(suffix) for suffix in SUFFIXES.values() if name.endswith(suffix)), None)


def types_of(table: Any) -> dict[str, str]:
    """The type of each column, as the name of pyarrow's function for it."""
    names = {"double": "float64", "bool": "bool_"}
    return {field.name: names.get(str(field.type), str(field.type)) for field in table.schema}


def _encode(table: Any, format: Format) -> bytes:  # noqa: A002
    from pyarrow import csv, parquet

    sink = io.BytesIO()
    if format == "parquet":
        parquet.write_table(table, sink, compression="zstd", compression_level=15)
        return sink.getvalue()
    csv.write_csv(table, sink)
    return gzip.compress(sink.getvalue(), mtime=0)


def _decode(path: Path, content: bytes, types: Mapping[str, str] | None = None) -> Any:
    """Reverse `_encode`; a CSV file needs the types of its columns."""
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
        or not all(
            isinstance(types, dict) and all(kind in TYPES for kind in types.values()) for types in tables.values()
        )
    ):
        raise ValueError(f"{path}: expected for each table its columns with their types, {', '.join(TYPES)}")
    return tables


def check_rows(rows: Mapping[str, Any]) -> Rows:
    """Columns, each (n_steps,), as contiguous int64, float64 or bool arrays, masked where a value is missing."""
    columns = {name: _contiguous(values) for name, values in rows.items()}
    if not columns:
        raise ValueError("rows must have at least one column, got none")
    length = n_rows(columns)
    for name, values in columns.items():
        if values.dtype not in DTYPES:
            raise ValueError(f"rows: column {name!r}: expected int64, float64 or bool, got {values.dtype}")
        if values.shape != (length,):
            raise ValueError(f"rows: column {name!r}: expected shape ({length},) as the first, got {values.shape}")
    return columns


def n_rows(rows: Rows) -> int:
    return len(next(iter(rows.values())))


def _contiguous(values: Any) -> NDArray[Any]:
    if np.ma.is_masked(values):
        return np.ma.array(np.ascontiguousarray(values.filled(0)), mask=np.ma.getmaskarray(values))
    return np.ascontiguousarray(values)


def rows_digest(rows: Rows) -> str:
    """A hash of the values that a rerun must reproduce: all but times."""
    state = hashlib.sha256()
    for name in sorted(rows):
        if not is_timing(name):
            values = rows[name]
            state.update(f"{name}:{values.dtype.str}:{len(values)};".encode())
            state.update(column_bytes(values))
    return state.hexdigest()


def column_bytes(values: NDArray[Any]) -> bytes:
    """The bytes of a column, followed by its mask if a value is missing."""
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


def write_rows(path: Path, rows: Rows) -> str:
    """Write rows to a Parquet file atomically. Returns the file's checksum."""
    import pyarrow as pa

    content = _encode(pa.table(rows), "parquet")
    write_atomically(path, content)
    return hashlib.sha256(content).hexdigest()


def read_rows(path: Path, expected: str) -> Rows:
    """Read the rows that `write_rows` wrote, and check the file's checksum."""
    return to_rows(_decode(path, verify_rows(path, expected)))


def verify_rows(path: Path, expected: str) -> bytes:
    """Read a file; raise `DamagedTableError` if it is missing or has another checksum."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DamagedTableError(f"{path} is missing") from None
    if hashlib.sha256(content).hexdigest() != expected:
        raise DamagedTableError(f"{path} is damaged: its checksum is not the one in the ledger")
    return content
