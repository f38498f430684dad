"""Reading error matrices: text tables, NumPy files, Parquet; told apart by content, not by name."""

from __future__ import annotations

import csv
import io
import re
import shutil
import zipfile
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase.checks import check_choice
from flexicase.extras import require

Header: TypeAlias = Literal["auto", "yes", "no"]
HEADERS = ("auto", "yes", "no")
MISSING = ("na", "n/a", "null", "none")
INDEX_COLUMN = re.compile(r"__index_level_\d+__")  # how pandas stores row labels


def read_errors(source: str | Path | IO[bytes], *, header: Header = "auto", name: str | None = None) -> NDArray[Any]:
    r"""Read an error matrix: one individual per row, one case per column.

    Text may be separated by commas, semicolons, tabs or blanks. NumPy archives (npz) must hold
    one array, or one called ``errors``. Parquet needs pyarrow.

    Args:
        source: A path, or an open binary file.
        header: Whether the first line of a text file names the columns; ``"auto"`` takes it for
            names if all of its cells look like names.
        name: What to call the source in messages; the path by default.

    Returns:
        (n_individuals, n_cases) integers or floats; NaN is kept.

    Raises:
        OSError: The file cannot be opened or read.
        ValueError: Its content is not a matrix of numbers; the message says where.
        ImportError: It is a Parquet file and pyarrow is not installed.

    Example:
        >>> import io
        >>> from flexicase.files import read_errors
        >>> read_errors(io.BytesIO(b"case 1,case 2\n0,3\n1,0\n")).tolist()
        [[0, 3], [1, 0]]
    """
    check_choice(header, "header", HEADERS)
    if isinstance(source, str | Path):
        with open(source, "rb") as file:
            return _read(file, header, name or str(source))
    if not source.seekable():
        buffer = io.BytesIO()
        shutil.copyfileobj(source, buffer)  # piece by piece, so that Ctrl-C is noticed in between
        buffer.seek(0)
        source = buffer
    return _read(source, header, name or "errors")


def _read(file: IO[bytes], header: Header, name: str) -> NDArray[Any]:
    start = file.read(8)
    file.seek(0)
    if not start:
        raise ValueError(f"{name}: the file is empty")
    if start.startswith((b"\x93NUMPY", b"PK")):
        values = _read_numpy(file, name)
    elif start.startswith(b"PAR1"):
        values = _read_parquet(file, name)
    else:
        values = _read_text(file.read(), header, name)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name}: expected real numbers, got an array of {values.dtype}")
    if values.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (individuals × cases), got an array of shape {values.shape}")
    if 0 in values.shape:
        raise ValueError(f"{name}: expected at least one individual and one case, got shape {values.shape}")
    return values


def _read_numpy(file: IO[bytes], name: str) -> NDArray[Any]:
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            if "errors" in loaded.files or len(loaded.files) == 1:
                return np.asarray(loaded["errors" if "errors" in loaded.files else loaded.files[0]])
            found = ", ".join(loaded.files) or "nothing"
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name}: not a readable NumPy file: {error}") from error
    raise ValueError(f"{name}: expected one array, or one called 'errors', in the archive; found {found}")


def _read_parquet(file: IO[bytes], name: str) -> NDArray[Any]:
    require(f"{name}: reading Parquet needs", "pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(file)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{name}: not a readable Parquet file: {error}") from error
    columns = []
    for column, values in zip(table.column_names, table.columns, strict=True):
        if INDEX_COLUMN.fullmatch(column):
            continue
        if not (
            pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_boolean(values.type)
        ):
            raise ValueError(f"{name}: column {column!r}: expected numbers, got {values.type}")
        columns.append(values.to_numpy() if values.null_count == 0 else values.cast(pa.float64()).to_numpy())
    return np.column_stack(columns) if columns else np.empty((0, 0))


def _read_text(raw: bytes, header: Header, name: str) -> NDArray[Any]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: not a text, NumPy or Parquet file (byte {error.start} is not UTF-8)") from error
    if "\0" in text:
        raise ValueError(f"{name}: not a text, NumPy or Parquet file (it holds a zero byte)")
    lines = [(number, line) for number, line in enumerate(io.StringIO(text, newline=None), 1) if line.strip()]
    if not lines:
        raise ValueError(f"{name}: the file has no lines but blank ones")
    delimiter = _delimiter([line for _, line in lines[:2]])
    if _has_header(lines[0], delimiter, header, name):
        named = lines.pop(0)
        if not lines:
            raise ValueError(f"{name}: the file has a header but no individuals")
        _check_width(lines[0], named, delimiter, name)
    try:
        return _parse([line for _, line in lines], delimiter)
    except ValueError as error:
        _explain(lines, delimiter, name)
        raise ValueError(f"{name}: {error}") from error


def _delimiter(lines: list[str]) -> str | None:
    """What separates the cells of these lines, None for blanks; the last one surely holds data."""
    for mark in "\t;,":
        if any(mark in line for line in lines):
            return mark
    return None if len(lines[-1].split()) > 1 else ","


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line.strip("\r\n")], delimiter=delimiter))]


def _has_header(first: tuple[int, str], delimiter: str | None, header: Header, name: str) -> bool:
    number, line = first
    cells = _cells(line, delimiter)
    is_header = header == "yes" or (header == "auto" and any(cells) and all(map(_may_be_name, cells)))
    if is_header and not cells[0] and len(cells) > 1:
        raise ValueError(
            f"{name}: line {number}, column 1: the header has no name here, so the column seems to hold row labels; "
            "leave them out (pandas: index=False)"
        )
    if header == "auto" and len(cells) > 2 and cells == [str(i) for i in range(len(cells))]:
        raise ValueError(
            f"{name}: line {number} is 0, 1, … {len(cells) - 1}: "
            "say whether these are column names or errors (header yes or no)"
        )
    return is_header


def _may_be_name(cell: str) -> bool:
    """Whether a cell can stand in a header: empty, or with a letter and not a missing number."""
    wordless = cell and not any(character.isalpha() for character in cell)
    return not (wordless or _is_number(cell) or cell.lower() in MISSING)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parse(lines: list[str], delimiter: str | None) -> NDArray[Any]:
    whole = not any(re.search("[.eEnN]", line) for line in lines)
    if whole:
        try:
            return np.loadtxt(lines, dtype=np.int64, delimiter=delimiter, comments=None, quotechar='"', ndmin=2)
        except ValueError:  # beyond 64 bits, or not a number after all
            pass
    return np.loadtxt(lines, dtype=np.float64, delimiter=delimiter, comments=None, quotechar='"', ndmin=2)


def _explain(lines: list[tuple[int, str]], delimiter: str | None, name: str) -> None:
    """Say which cell or row is at fault."""
    for number, line in lines:
        for column, cell in enumerate(_cells(line, delimiter), 1):
            if not _is_number(cell):
                found = f"got {cell[:40]!r}" if cell else "the cell is empty"
                raise ValueError(f"{name}: line {number}, column {column}: expected a number, {found}")
        _check_width((number, line), lines[0], delimiter, name)


def _check_width(row: tuple[int, str], model: tuple[int, str], delimiter: str | None, name: str) -> None:
    found, expected = len(_cells(row[1], delimiter)), len(_cells(model[1], delimiter))
    if found != expected:
        raise ValueError(
            f"{name}: line {row[0]}, column {min(found, expected) + 1}: "
            f"expected {expected} columns as in line {model[0]}, got {found}"
        )
