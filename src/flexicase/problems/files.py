"""Problems of the cases in a file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flexicase._checks import check_text, shown
from flexicase.problems.cases import Inputs
from flexicase.problems.listed import from_cases
from flexicase.problems.problem import Problem
from flexicase.push.values import Value


def from_file(path: str | os.PathLike[str], name: str | None = None, **options: Any) -> Problem:
    r"""A problem of the cases in a file.

    The file is CSV with a header line, a JSON array of objects, or JSON Lines, and may be compressed by gzip. Columns,
    or keys, are ``input1``, ``input2``, … and ``output1``, ``output2``, … In CSV, a column whose cells all read as JSON
    (numbers, ``true``, ``[1, 2]``) holds those values, and another one holds texts. Integers beside floats
    become floats.

    Args:
        path: The file.
        name: Name of the problem; that of the file if None.
        **options: What `from_cases` takes.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "sums.csv"
    ...     _ = file.write_text("input1,input2,output1\n1,2,3\n5,5,10\n")
    ...     problem = from_file(file, test=0.0)
    >>> problem.name, problem.edge_cases().expected
    ('sums', [3, 10])
    """
    path = _as_path(path)
    if name is not None:
        check_text(name, "name")
    data = path.read_bytes()
    try:
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: must be text in UTF-8, compressed only if named .gz ({error})") from None
    stem = path.name.removesuffix(".gz")
    try:
        records = _csv_records(text) if stem.lower().endswith(".csv") else _json_records(text)
        _make_floats(records)
        return from_cases(name or stem.partition(".")[0], list(map(_case, records)), **options)
    except (ValueError, OverflowError, csv.Error) as error:
        raise ValueError(f"{path}: {error}") from error
    except RecursionError:
        raise ValueError(f"{path}: values are nested too deeply") from None


def _as_path(path: str | os.PathLike[str]) -> Path:
    try:
        found = Path(path)
    except Exception:
        raise TypeError(f"path must be the path of a file, got {shown(path)}") from None
    if "\0" in str(found):
        raise ValueError(f"path must be the path of a file, got {shown(path)}")
    return found


def _csv_records(text: str) -> list[dict[str, Value]]:
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    if not rows:
        raise ValueError("there is no case")
    header = [title.strip() for title in rows[0]]
    if len(set(header)) < len(header):
        raise ValueError(f"columns must have different names, found {header}")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise ValueError(f"row {line} must have {len(header)} cells as the header has, but has {len(row)}")
    columns = [_csv_column(cells) for cells in zip(*rows[1:], strict=True)]
    return [dict(zip(header, values, strict=True)) for values in zip(*columns, strict=True)]


def _csv_column(cells: Sequence[str]) -> list[Value]:
    try:
        return [json.loads(cell) for cell in cells]
    except ValueError:
        return list(cells)


def _json_records(text: str) -> list[dict[str, Any]]:
    try:
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:
            records = [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        raise ValueError(f"must be a JSON array or JSON Lines ({error})") from None
    if not records:
        raise ValueError("there is no case")
    for record in records:
        if not isinstance(record, dict):
            raise ValueError(f"each case must be an object with input1, … and output1, …, found {record!r:.60}")
    return list(records)


def _case(record: dict[str, Any]) -> tuple[Inputs, Value]:
    inputs, outputs = _numbered(record, "input"), _numbered(record, "output")
    strange = [key for key in record if key.rstrip("0123456789") not in ("input", "output")]
    if not inputs or not outputs or strange:
        raise ValueError(f"each case must have input1, … and output1, … and nothing else, found {list(record)}")
    return tuple(inputs), outputs[0] if len(outputs) == 1 else tuple(outputs)


def _numbered(record: dict[str, Any], prefix: str) -> list[Value]:
    values: list[Value] = []
    while (key := f"{prefix}{len(values) + 1}") in record:
        values.append(record[key])
    if len(values) != sum(key.startswith(prefix) for key in record):
        raise ValueError(f"{prefix}s must be numbered from 1 without gaps, found {list(record)}")
    return values


def _make_floats(records: list[dict[str, Any]]) -> None:
    """Make floats of the integers under keys that have floats too, because some programs write 2.0 as 2."""
    for key in {key for record in records for key in record}:
        holders = [record for record in records if key in record]
        if _is_mixed([record[key] for record in holders]):
            for record in holders:
                record[key] = _as_float(record[key])


def _is_mixed(column: Sequence[Value]) -> bool:
    kinds = {type(item) for value in column for item in (value if isinstance(value, list) else [value])}
    return kinds == {int, float}


def _as_float(value: Value) -> Value:
    return [float(item) for item in value] if isinstance(value, list) else float(value)
