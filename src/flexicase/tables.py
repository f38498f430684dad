"""Tables that lie together in a folder: Parquet or CSV, with a manifest that has the types of their columns."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from flexicase.atomic import write_atomically

Format: TypeAlias = Literal["parquet", "csv"]
FORMATS: tuple[Format, ...] = ("parquet", "csv")
SUFFIXES: dict[Format, str] = {"parquet": ".parquet", "csv": ".csv.gz"}
MANIFEST = "manifest.json"
MANIFEST_FORMAT = 1
TYPES = ("string", "int64", "float64", "bool_")


def write_tables(folder: Path, tables: Mapping[str, Any], style: Format) -> list[Path]:
    """Write pyarrow tables and their manifest; what the folder held of them in the other format goes.

    Returns:
        The files.
    """
    files = [write_table(folder, name, table, style) for name, table in tables.items()]
    for other in {path for name in tables for path in folder.glob(f"{name}.*")} - set(files):
        other.unlink()
    types = {name: types_of(table) for name, table in sorted(tables.items())}
    manifest = json.dumps({"format": MANIFEST_FORMAT, "tables": types}, indent=1) + "\n"
    write_atomically(folder / MANIFEST, manifest.encode())
    return [*files, folder / MANIFEST]


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
        >>> from flexicase.tables import read_tables, write_tables
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = write_tables(Path(folder), {"runs": pa.table({"seed": [7]})}, "csv")
        ...     read_tables(Path(folder), "runs")["runs"].to_pylist()
        [{'seed': 7}]
    """
    types = _manifest(folder / MANIFEST)
    for name in needed:
        if name not in types:
            raise ValueError(f"{folder / MANIFEST}: expected a table {name!r}, got {', '.join(types) or 'none'}")
    return {name: read_table(folder, name, columns) for name, columns in types.items()}


def write_table(folder: Path, name: str, table: Any, style: Format) -> Path:
    """Write a pyarrow table; the same table gives the same bytes.

    Returns:
        The file.
    """
    path = folder / f"{name}{SUFFIXES[style]}"
    write_atomically(path, _as_parquet(table) if style == "parquet" else _as_csv(table))
    return path


def read_table(folder: Path, name: str, types: Mapping[str, str]) -> Any:
    """Read a table that `write_table` wrote, whichever format it has.

    Args:
        folder: Where it lies.
        name: Its name.
        types: The type of each column.

    Raises:
        FileNotFoundError: There is none.
        ValueError: It cannot be read, or has other columns.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    path = next((p for p in (folder / f"{name}{suffix}" for suffix in SUFFIXES.values()) if p.exists()), None)
    if path is None:
        raise FileNotFoundError(2, "No such table", str(folder / f"{name}{SUFFIXES['parquet']}"))
    try:
        if path.suffix == ".parquet":
            table = parquet.read_table(path)
        else:
            schema = {column: getattr(pa, kind)() for column, kind in types.items()}
            table = csv.read_csv(
                io.BytesIO(gzip.decompress(path.read_bytes())),
                parse_options=csv.ParseOptions(newlines_in_values=True),
                convert_options=csv.ConvertOptions(
                    column_types=schema, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
                ),
            )
    except (pa.ArrowException, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if table.column_names != list(types):
        raise ValueError(f"{path}: expected columns {', '.join(types)}, got {', '.join(table.column_names)}")
    return table


def types_of(table: Any) -> dict[str, str]:
    """The type of each column, by the name of the pyarrow function that makes it.

    Example:
        >>> import pyarrow as pa
        >>> from flexicase.tables import types_of
        >>> types_of(pa.table({"id": ["a"], "seed": [1], "error": [0.5], "done": [True]}))
        {'id': 'string', 'seed': 'int64', 'error': 'float64', 'done': 'bool_'}
    """
    names = {"double": "float64", "bool": "bool_"}
    return {field.name: names.get(str(field.type), str(field.type)) for field in table.schema}


def _as_parquet(table: Any) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", compression_level=15)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _as_csv(table: Any) -> bytes:
    from pyarrow import csv

    sink = io.BytesIO()
    csv.write_csv(table, sink)
    return gzip.compress(sink.getvalue(), mtime=0)


def _manifest(path: Path) -> dict[str, dict[str, str]]:
    """The column types of every table."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != MANIFEST_FORMAT:
        raise ValueError(f"{path}: expected format {MANIFEST_FORMAT}, got {found!r}")
    tables = manifest.get("tables")
    if not isinstance(tables, dict) or not all(map(_are_types, tables.values())):
        raise ValueError(f"{path}: expected for each table its columns with their types, {', '.join(TYPES)}")
    return tables


def _are_types(columns: Any) -> bool:
    return isinstance(columns, dict) and all(kind in TYPES for kind in columns.values())
