"""Problems of the cases in a file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flexicase.problems.cases import Inputs
from flexicase.problems.listed import from_cases
from flexicase.problems.problem import Problem
from flexicase.push.values import Value


def from_file(path: str | os.PathLike[str], name: str | None = None, **options: Any) -> Problem:
    r"""A problem of the cases in a file.

    The file is CSV with a header line, a JSON array of objects, or JSON Lines, and may be compressed by gzip. Columns,
    or keys, are ``input1``, ``input2``, … and ``output1``, ``output2``, … In CSV, a column whose cells all read as JSON
    (numbers, ``true``, ``[1, 2]``) holds those values, and another one holds texts. Integers beside floats become floats.

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
    path = Path(path)
    data = path.read_bytes()
    try:
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (UnicodeDecodeError, OSError, EOFError) as error:
        raise ValueError(f"{path}: must be text in UTF-8, compressed only if named .gz ({error})") from None
    stem = path.name.removesuffix(".gz")
    try:
        records = _csv_records(text) if stem.lower().endswith(".csv") else _json_records(text)
        return from_cases(name or stem.partition(".")[0], _with_floats(list(map(_case, records))), **options)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _csv_records(text: str) -> list[dict[str, Value]]:
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    if not rows:
        raise ValueError("there is no case")
    header = [title.strip() for title in rows[0]]
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


def _json_records(text: str) -> list[Any]:
    try:
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:
            records = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise ValueError(f"must be a JSON array or JSON Lines ({error})") from None
    if not records:
        raise ValueError("there is no case")
    return list(records)


def _case(record: Any) -> tuple[Inputs, Value]:
    if not isinstance(record, dict):
        raise ValueError(f"each case must be an object with input1, … and output1, …, found {record!r:.60}")
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


def _with_floats(cases: list[tuple[Inputs, Value]]) -> list[tuple[Inputs, Value]]:
    """The cases with the integers of columns that hold floats too made floats, as other languages write them."""
    rows = [(*inputs, *(answer if isinstance(answer, tuple) else (answer,))) for inputs, answer in cases]
    if len(set(map(len, rows))) != 1:
        return cases
    columns = list(zip(*rows, strict=True))
    mixed = [_is_mixed(column) for column in columns]
    return [
        (
            tuple(_as_float(value) if mix else value for value, mix in zip(inputs, mixed, strict=False)),
            _answer_with_floats(answer, mixed[len(inputs) :]),
        )
        for inputs, answer in cases
    ]


def _answer_with_floats(answer: Value, mixed: list[bool]) -> Value:
    if isinstance(answer, tuple):
        return tuple(_as_float(value) if mix else value for value, mix in zip(answer, mixed, strict=True))
    return _as_float(answer) if mixed[0] else answer


def _is_mixed(column: Sequence[Value]) -> bool:
    kinds = {type(item) for value in column for item in (value if isinstance(value, list) else [value])}
    return kinds == {int, float}


def _as_float(value: Value) -> Value:
    return [float(item) for item in value] if isinstance(value, list) else float(value)
