"""Tables in files: Parquet, or CSV whose column types stand in a manifest."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from flexicase.atomic import write_atomically

Format: TypeAlias = Literal["parquet", "csv"]
FORMATS: tuple[Format, ...] = ("parquet", "csv")
SUFFIXES: dict[Format, str] = {"parquet": ".parquet", "csv": ".csv.gz"}


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
