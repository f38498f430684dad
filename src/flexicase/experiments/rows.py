"""The rows of one run: columns of numbers, one entry per step, in a Parquet file with a checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase._files import write_atomically
from flexicase.exported import is_timing

Rows: TypeAlias = dict[str, NDArray[Any]]
DTYPES = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_))


class DamagedRowsError(ValueError):
    """A file of rows that is missing or does not hold what was written.

    Example:
        >>> from pathlib import Path
        >>> from flexicase.experiments.rows import DamagedRowsError, read_rows
        >>> try:
        ...     read_rows(Path("no-such-file.parquet"), "00")
        ... except DamagedRowsError as error:
        ...     print(error)
        no-such-file.parquet is missing
    """


def check_rows(rows: Mapping[str, Any]) -> Rows:
    """The columns as int64, float64 or bool arrays of equal length.

    Args:
        rows: Columns by name, each (n_steps,).

    Raises:
        ValueError: A column has another type or another length.

    Example:
        >>> from flexicase.experiments.rows import check_rows
        >>> check_rows({"generation": [0, 1]})["generation"].dtype
        dtype('int64')
    """
    columns = {name: np.ascontiguousarray(values) for name, values in rows.items()}
    if not columns:
        raise ValueError("rows: expected at least one column, got none")
    length = len(next(iter(columns.values())))
    for name, values in columns.items():
        if values.dtype not in DTYPES:
            raise ValueError(f"rows: column {name!r}: expected int64, float64 or bool, got {values.dtype}")
        if values.shape != (length,):
            raise ValueError(f"rows: column {name!r}: expected shape ({length},) as the first, got {values.shape}")
    return columns


def digest(rows: Rows) -> str:
    """A hash of everything in the rows that must be the same when the run is made again.

    Example:
        >>> import numpy as np
        >>> from flexicase.experiments.rows import digest
        >>> one = {"error": np.array([1.5, 0.0]), "seconds": np.array([0.1, 0.2])}
        >>> digest(one) == digest({**one, "seconds": np.array([0.3, 0.1])})
        True
    """
    state = hashlib.sha256()
    for name in sorted(rows):
        if not is_timing(name):
            values = rows[name]
            state.update(f"{name}:{values.dtype.str}:{len(values)};".encode())
            state.update(values.tobytes())
    return state.hexdigest()


def checksum(content: bytes) -> str:
    """The checksum of a file's content."""
    return hashlib.sha256(content).hexdigest()


def write_rows(path: Path, rows: Rows) -> str:
    """Write rows to a Parquet file, all or nothing.

    Args:
        path: The file.
        rows: Columns by name, each (n_steps,).

    Returns:
        The file's checksum.

    Raises:
        OSError: It could not be written.
    """
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(check_rows(rows)), sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    write_atomically(path, content)
    return checksum(content)


def read_rows(path: Path, expected: str) -> Rows:
    """Read rows, if the file is as it was written.

    Args:
        path: The file.
        expected: The checksum that `write_rows` gave.

    Raises:
        DamagedRowsError: The file is missing or its checksum is another; the message names it.
    """
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(pa.BufferReader(_verified(path, expected)))
    return {name: np.ascontiguousarray(table[name].to_numpy()) for name in table.column_names}


def verify_rows(path: Path, expected: str) -> None:
    """Raise `DamagedRowsError` unless the file is as it was written."""
    _verified(path, expected)


def _verified(path: Path, expected: str) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DamagedRowsError(f"{path} is missing") from None
    if checksum(content) != expected:
        raise DamagedRowsError(f"{path} is damaged: its checksum is not the one in the ledger")
    return content
