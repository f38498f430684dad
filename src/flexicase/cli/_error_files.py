"""Reading error matrices: text tables, NumPy files, Parquet; told apart by content, not by name."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import math
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from flexicase._checks import EXACT_INTEGERS, is_float, require_package
from flexicase._files import arrow_reader

HEADERS = ("auto", "yes", "no")
Row: TypeAlias = tuple[int, str]  # number and text of a line
Reader: TypeAlias = Callable[[IO[bytes]], NDArray[Any]]
MISSING = ("na", "n/a", "null", "none")
INDEX_COLUMN = re.compile(r"__index_level_\d+__")  # how pandas stores row labels
MAX_STREAM_BYTES = 2**30
PIECE_BYTES = 2**16
MAX_CELL = 100_000
NOT_WHOLE = re.compile("[.eEnN]")
INTEGER = re.compile(r"[+-]?\d+")
LONG_INTEGER = re.compile(r"(?<![\d.])\d{16,}(?![\d.eE])")
TO_BE_ROUNDED = "the integer {} cannot be stored as a float without rounding, as the other errors are"
BEYOND_64_BITS = "the integer {} does not fit 64 bits together with the others; write 1e20 for a float"
HEADER_READERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


def read_errors(file: IO[bytes], name: str, header: str = "auto") -> NDArray[Any]:
    r"""Read an error matrix from an open file: one individual per row, one case per column.

    Text may be separated by commas, semicolons, tabs or blanks; ``header`` says whether its first line names the
    columns, ``"auto"`` if all of its cells look like names. NumPy archives (npz) must hold one array, or one called
    ``errors``. Parquet needs pyarrow. 64-bit integers are read exactly; one that would have to be rounded is refused.
    Nothing is unpickled. Of streams, at most 1 GiB is read. A ValueError says what is wrong where in the file ``name``.

    >>> read_errors(io.BytesIO(b"case 1,case 2\n0,3\n1,0\n"), "errors.csv").tolist()
    [[0, 3], [1, 0]]
    """
    try:
        return _read(file if file.seekable() else _bounded(file), header)
    except _RefusedError as refusal:
        raise ValueError(f"{name}: {refusal}") from refusal.__cause__
    except ImportError as error:
        raise ImportError(f"{name}: {error}") from None
    except MemoryError:
        raise MemoryError(f"{name}: the errors do not fit into memory") from None


class _RefusedError(Exception):
    """What is wrong with a file, without its name."""


def _fault(line: int, column: int, message: str) -> _RefusedError:
    return _RefusedError(f"line {line}, column {column}: {message}")


def _bounded(stream: IO[bytes]) -> IO[bytes]:
    """What a stream holds, which may have no end."""
    buffer = io.BytesIO()
    while piece := stream.read(PIECE_BYTES):  # piece by piece, so that Ctrl-C is noticed in between
        if not buffer.tell():
            _binary_format(piece)
        buffer.write(piece)
        if buffer.tell() > MAX_STREAM_BYTES:
            raise _RefusedError(f"must have at most {MAX_STREAM_BYTES:,} bytes; save it to a file and read that")
    buffer.seek(0)
    return buffer


def _read(file: IO[bytes], header: str) -> NDArray[Any]:
    start = file.read(PIECE_BYTES)
    file.seek(0)
    if not start:
        raise _RefusedError("the file is empty")
    binary = _binary_format(start)
    values = _read_text(file.read(), header) if binary is None else _read_binary(file, *binary)
    if values.dtype.kind not in "biuf":
        raise _RefusedError(f"expected real numbers, got an array of {values.dtype}")
    if values.ndim != 2:
        raise _RefusedError(f"expected a matrix (individuals × cases), got an array of shape {values.shape}")
    if 0 in values.shape:
        raise _RefusedError(f"expected at least one individual and one case, got shape {values.shape}")
    return values


def _binary_format(start: bytes) -> tuple[str, Reader] | None:
    """The name and the reader of a binary format, from the first bytes of a file; None for text."""
    for magic, found in BINARY_FORMATS.items():
        if start.startswith(magic):
            return found
    _check_text(start)
    return None


def _check_text(start: bytes, *, whole: bool = False) -> None:
    """Refuse what cannot be the start of a text file, which may end within a character, or the whole of one."""
    try:
        codecs.getincrementaldecoder("utf-8-sig")().decode(start, final=whole)
    except UnicodeDecodeError as error:
        raise _RefusedError(f"not a text, NumPy or Parquet file (byte {error.start} is not UTF-8)") from None
    if b"\0" in start:
        raise _RefusedError("not a text, NumPy or Parquet file (it holds a zero byte)")


def _read_binary(file: IO[bytes], kind: str, reader: Reader) -> NDArray[Any]:
    try:
        return reader(file)
    except (_RefusedError, ImportError, MemoryError):
        raise
    except Exception as error:  # a damaged file can make the readers raise anything
        raise _RefusedError(f"not a readable {kind} file: {str(error) or type(error).__name__}") from error


def _read_npy(file: IO[bytes], available: int | None = None) -> NDArray[Any]:
    """Read an array, checking its header first: nothing is unpickled, or allocated for entries that are not there."""
    if available is None:
        available = file.seek(0, os.SEEK_END)
        file.seek(0)
    version = npy.read_magic(file)
    if version not in HEADER_READERS:
        raise ValueError(f"version {version} of the format is not supported")
    try:
        shape, _, dtype = HEADER_READERS[version](file)
    except (MemoryError, RecursionError):
        raise ValueError("the header cannot be parsed") from None
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not unpickled")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > available:
        raise ValueError(f"the header says {dtype}, shape {shape}, but the file has {available} bytes")
    file.seek(0)
    return npy.read_array(file, allow_pickle=False)


def _read_npz(file: IO[bytes]) -> NDArray[Any]:
    with zipfile.ZipFile(file) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        if "errors" not in members and len(members) != 1:
            found = ", ".join(members) or "nothing"
            raise _RefusedError(f"expected one array, or one called 'errors', in the archive; found {found}")
        member = members.get("errors") or next(iter(members.values()))
        with archive.open(member) as inner:
            return _read_npy(inner, member.file_size)


def _read_parquet(file: IO[bytes]) -> NDArray[Any]:
    require_package("reading Parquet needs", "pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(arrow_reader(file.read()))
    columns: dict[str, NDArray[Any]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind, values = column.type, column
        if INDEX_COLUMN.fullmatch(name):
            continue
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise _RefusedError(f"column {name!r}: expected numbers, got {kind}")
        if column.null_count and not pa.types.is_floating(kind):
            _check_floats(name, column.drop_null().to_numpy())
            values = column.cast(pa.float64(), safe=False)
        columns[name] = values.to_numpy()
    return _side_by_side(columns)


def _side_by_side(columns: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """A matrix of one type that holds every integer of the columns exactly."""
    if not columns:
        return np.empty((0, 0))
    dtype = np.result_type(*columns.values())
    whole = {name: values for name, values in columns.items() if values.dtype.kind in "iu" and values.size}
    if dtype.kind == "f" and len(whole) == len(columns):  # uint64 beside signed integers
        lowest = min(whole, key=lambda name: int(whole[name].min()))
        highest = max(whole, key=lambda name: int(whole[name].max()))
        if whole[highest].max() < 2**63:
            dtype = np.dtype(np.int64)
        elif whole[lowest].min() >= 0:
            dtype = np.dtype(np.uint64)
        else:
            raise _RefusedError(
                f"columns {lowest!r} and {highest!r} do not fit one type of integers: "
                "the first has negative ones, the second some of 2**63 or more"
            )
    elif dtype.kind == "f":
        for name, values in whole.items():
            _check_floats(name, values)
    return np.column_stack([values.astype(dtype) for values in columns.values()])


def _check_floats(column: str, values: NDArray[Any]) -> None:
    """Refuse integers that a float64 would round."""
    for value in values[np.abs(values.astype(np.float64)) >= EXACT_INTEGERS].tolist():
        if not is_float(value):
            raise _RefusedError(f"column {column!r}: {TO_BE_ROUNDED.format(value)}")


#: The first bytes of a file, the name of its format and the reader.
BINARY_FORMATS: dict[bytes, tuple[str, Reader]] = {
    b"\x93NUMPY": ("NumPy", _read_npy),
    b"PK": ("NumPy", _read_npz),
    b"PAR1": ("Parquet", _read_parquet),
}


def _read_text(raw: bytes, header: str) -> NDArray[Any]:
    _check_text(raw, whole=True)
    first = list(itertools.islice(_lines(raw), 2))
    if not first:
        raise _RefusedError("the file has no lines but blank ones")
    delimiter = _delimiter([line for _, line in first])
    skipped = 0
    if _has_header(first[0], delimiter, header):
        if len(first) == 1:
            raise _RefusedError("the file has a header but no individuals")
        _check_width(first[1], first[0], delimiter)
        skipped = first[0][0]
    try:
        return _parse(raw, skipped, delimiter)
    except ValueError as error:
        _explain(_lines(raw, skipped), delimiter)
        raise _RefusedError(str(error)) from error


def _lines(raw: bytes, skipped: int = 0) -> Iterator[Row]:
    """The lines that are not blank, with their numbers, after so many lines."""
    text = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline=None)
    return ((number, line) for number, line in enumerate(text, 1) if number > skipped and line.strip())


def _delimiter(lines: list[str]) -> str | None:
    """What separates the cells of these lines, None for blanks; the last one surely holds data."""
    for mark in "\t;,":
        if any(mark in line for line in lines):
            return mark
    return None if len(lines[-1].split()) > 1 else ","


def _cells(row: Row, delimiter: str | None) -> list[str]:
    number, line = row
    if delimiter is None:
        cells = line.split()
    else:
        try:
            cells = [cell.strip() for cell in next(csv.reader([line.strip("\r\n")], delimiter=delimiter))]
        except csv.Error:  # longer than its limit
            cells = [cell.strip() for cell in line.split(delimiter)]
    longest = max(cells, key=len, default="")
    if len(longest) > MAX_CELL:
        place = number, cells.index(longest) + 1
        raise _fault(*place, f"the cell has {len(longest)} characters, at most {MAX_CELL} are read")
    return cells


def _has_header(first: Row, delimiter: str | None, header: str) -> bool:
    number, cells = first[0], _cells(first, delimiter)
    is_header = header == "yes" or (header == "auto" and any(cells) and all(map(_may_be_name, cells)))
    if is_header and not cells[0] and len(cells) > 1:
        labels = "the column seems to hold row labels; leave them out (pandas: index=False)"
        raise _fault(number, 1, f"the header has no name here, so {labels}")
    if header == "auto" and len(cells) > 2 and cells == [str(i) for i in range(len(cells))]:
        numbers = f"line {number} is 0, 1, … {len(cells) - 1}"
        raise _RefusedError(f"{numbers}: say whether these are column names or errors (header yes or no)")
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


def _parse(raw: bytes, skipped: int, delimiter: str | None) -> NDArray[Any]:
    """The numbers: int64 if all are integers, uint64 where that is needed, else float64."""

    def parsed(dtype: type) -> NDArray[Any]:
        lines = (line for _, line in _lines(raw, skipped))
        return np.loadtxt(lines, dtype=dtype, delimiter=delimiter, comments=None, quotechar='"', ndmin=2)

    if not any(NOT_WHOLE.search(line) for _, line in _lines(raw, skipped)):
        for dtype in (np.int64, np.uint64):
            with suppress(ValueError):  # beyond 64 bits, or not a number after all
                return parsed(dtype)
        signed = any("-" in line for _, line in _lines(raw, skipped))
        low, high = (-(2**63), 2**63) if signed else (0, 2**64)
        _refuse_wide(_lines(raw, skipped), delimiter, lambda number: low <= number < high, BEYOND_64_BITS)
    values = parsed(np.float64)
    if values.size and (np.abs(values) >= EXACT_INTEGERS).any():
        _refuse_wide(_lines(raw, skipped), delimiter, is_float, TO_BE_ROUNDED)
    return values


def _refuse_wide(lines: Iterator[Row], delimiter: str | None, fits: Callable[[int], bool], reason: str) -> None:
    """Say which integer is too wide, if one is."""
    for row in lines:
        if LONG_INTEGER.search(row[1]):
            for column, cell in enumerate(_cells(row, delimiter), 1):
                if INTEGER.fullmatch(cell) and (len(cell) > 400 or not fits(int(cell))):
                    found = cell if len(cell) <= 40 else f"{cell[:37]}..."
                    raise _fault(row[0], column, reason.format(found))


def _explain(lines: Iterator[Row], delimiter: str | None) -> None:
    """Say which cell or row is at fault."""
    model: Row | None = None
    for row in lines:
        model = model or row
        for column, cell in enumerate(_cells(row, delimiter), 1):
            if not _is_number(cell):
                found = f"got {cell[:40]!r}" if cell else "the cell is empty"
                raise _fault(row[0], column, f"expected a number, {found}")
        _check_width(row, model, delimiter)


def _check_width(row: Row, model: Row, delimiter: str | None) -> None:
    found, expected = len(_cells(row, delimiter)), len(_cells(model, delimiter))
    if found != expected:
        column = min(found, expected) + 1
        raise _fault(row[0], column, f"expected {expected} columns as in line {model[0]}, got {found}")
