"""Problems made from cases in a list or a file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from flexicase._checks import check_flag, check_fraction, check_text, shown
from flexicase.problems.cases import Cases, FixedCases, Inputs, SplitCases, as_tuple
from flexicase.problems.problem import Problem
from flexicase.problems.settings import ProblemSettings
from flexicase.push import RandomBoolean, RandomFloat, RandomInteger, RandomString, RandomTag, RandomTagged, Symbol
from flexicase.push.draws import Generator
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Value

PENALTY = 1_000_000
_CONSTANTS: Mapping[str, Generator] = {
    "integer": RandomInteger(-100, 100),
    "float": RandomFloat(-100.0, 100.0),
    "boolean": RandomBoolean(),
    "string": RandomString(0, 10),
}
_SCALARS = {bool: "boolean", int: "integer", float: "float", str: "string"}


def from_cases(
    name: str,
    cases: Sequence[tuple[Sequence[Value], Value]],
    *,
    test: float = 0.25,
    printed: bool = False,
    description: str = "",
    stacks: Sequence[str] | None = None,
    generators: Sequence[Generator] | None = None,
    measures: Sequence[ErrorMeasure] | None = None,
    settings: ProblemSettings | None = None,
) -> Problem:
    """Make a problem from a list of cases.

    Args:
        name: Its name.
        cases: Pairs of the inputs and the right answer, which is a tuple if there are several answers.
        test: Share of the cases that each run draws for testing, at least one case unless it is 0. With 0, runs cannot
            tell whether a solution generalizes.
        printed: Whether string answers are printed rather than left on the string stack.
        description: What a program must do.
        stacks: Stacks whose instructions programs may use; exec, integer, boolean and those of the cases if None.
        generators: What else random genes are made of; random constants, tags and the inputs if None.
        measures: The errors of each case; if None, one for each answer, chosen by its kind.
        settings: What a run uses unless told otherwise.

    >>> problem = from_cases("double", [((n,), 2 * n) for n in range(40)])
    >>> [len(cases) for cases in problem.sample(seed=1)], problem.measures[0].error
    ([30, 10], 'absolute')
    """
    pairs = _check_cases(cases)
    check_flag(printed, "printed")
    all_inputs = [case for case, _ in pairs]
    input_kinds = _column_kinds(all_inputs, "inputs")
    output_kinds = _column_kinds([answer if isinstance(answer, tuple) else (answer,) for _, answer in pairs], "outputs")
    chosen = _default_stacks(input_kinds, output_kinds, printed) if stacks is None else _names(stacks)
    answers = _answers(pairs)
    n_test = _n_test(test, len(pairs))
    return Problem(
        name=name,
        description=check_text(description, "description") or f"{len(pairs)} listed cases.",
        answer=lambda *given: answers[repr(given)],
        sources=[SplitCases(all_inputs, len(pairs) - n_test, n_test) if n_test else FixedCases(all_inputs)],
        measures=_default_measures(output_kinds, printed) if measures is None else measures,
        stacks=chosen,
        generators=_default_generators(chosen, len(input_kinds)) if generators is None else generators,
        settings=ProblemSettings() if settings is None else settings,
    )


def _n_test(share: float, n_cases: int) -> int:
    """Number of test cases; unless the share is 0, at least one case is for testing and one for training."""
    if check_fraction(share, "test") == 0:
        return 0
    if share == 1:
        raise ValueError("test must be below 1, so that there are training cases, got 1")
    if n_cases < 2:
        raise ValueError(
            f"cases must be at least 2 to keep one for testing, got {n_cases}; pass test=0 to train on all cases"
        )
    return min(max(1, round(share * n_cases)), n_cases - 1)


def _names(stacks: Sequence[str]) -> tuple[str, ...]:
    return tuple(check_text(stack, "stacks") for stack in as_tuple(stacks, "stacks"))


def _check_cases(cases: Sequence[tuple[Sequence[Value], Value]]) -> list[tuple[Inputs, Value]]:
    pairs = []
    for i, case in enumerate(as_tuple(cases, "cases")):
        if not isinstance(case, tuple | list) or len(case) != 2 or not isinstance(case[0], tuple | list):
            raise TypeError(f"cases must be pairs of inputs and an answer, but case {i} is {shown(case)}")
        pairs.append((tuple(case[0]), case[1]))
    if not pairs:
        raise ValueError("cases must not be empty")
    return pairs


def _column_kinds(rows: list[Inputs], what: str) -> list[str]:
    """The stack of the values of each column."""
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]) or not row:
            raise ValueError(f"case {place} must have as many {what} as the first, {len(rows[0])}, got {len(row)}")
    return [_column_kind(column) for column in zip(*rows, strict=True)]


def _column_kind(column: Sequence[Value]) -> str:
    """The stack of a column's values, which must all be of one kind."""
    kinds = [_kind(value, place) for place, value in enumerate(column)]
    found = dict.fromkeys(kind for kind in kinds if kind)
    if len(found) > 1:
        first, other, *_ = found
        where = kinds.index(other)
        raise ValueError(f"values of one column must be of one kind, but case {where} has {other} after {first}")
    return next(iter(found), "vector_integer")


def _kind(value: Value, place: int) -> str | None:
    """The stack of a value; None for the empty vector, which goes on any vector stack."""
    if isinstance(value, list):
        kinds = {_kind(item, place) for item in value}
        if len(kinds) > 1 or kinds & {None} or any(isinstance(item, list) for item in value):
            raise ValueError(
                f"elements of a vector must be of one kind and no vectors, but case {place} has {value!r:.60}"
            )
        return f"vector_{kinds.pop()}" if kinds else None
    if type(value) not in _SCALARS:
        raise ValueError(f"values must be numbers, booleans, strings or vectors, but case {place} has {value!r:.60}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"values must be finite, but case {place} has {value}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"integers must fit in 64 bits, but case {place} has {value}")
    return _SCALARS[type(value)]


def _answers(cases: list[tuple[Inputs, Value]]) -> dict[str, Value]:
    answers: dict[str, Value] = {}
    for place, (inputs, answer) in enumerate(cases):
        if answers.setdefault(repr(inputs), answer) != answer:
            raise ValueError(f"case {place} has the inputs of an earlier one but another answer: {inputs!r:.60}")
    return answers


def _default_stacks(inputs: list[str], outputs: list[str], printed: bool) -> list[str]:
    kinds = dict.fromkeys(("exec", "integer", "boolean", *inputs, *outputs))
    elements = dict.fromkeys(kind.removeprefix("vector_") for kind in kinds)
    return [*dict.fromkeys((*kinds, *elements)), *(["print"] if printed else [])]


def _default_generators(stacks: Sequence[str], n_inputs: int) -> list[Generator]:
    constants = [_CONSTANTS[stack] for stack in stacks if stack in _CONSTANTS]
    tags = RandomTag(tuple(stack for stack in stacks if stack != "print"))
    return [*constants, tags, RandomTagged(), *(Symbol(f"in{i + 1}") for i in range(n_inputs))]


def _default_measures(kinds: list[str], printed: bool) -> list[ErrorMeasure]:
    return [_default_measure(kind, printed, place if len(kinds) > 1 else None) for place, kind in enumerate(kinds)]


def _default_measure(kind: str, printed: bool, place: int | None) -> ErrorMeasure:
    target = None if place is None else lambda _, answers: answers[place]
    if kind in ("integer", "float"):
        return ErrorMeasure(kind, "absolute", PENALTY, target=target)
    if kind == "boolean":
        return ErrorMeasure(kind, "mismatch", target=target)
    return ErrorMeasure("output" if printed and kind == "string" else kind, "levenshtein", PENALTY, target=target)


def from_file(path: str | os.PathLike[str], name: str | None = None, **options: Any) -> Problem:
    r"""Make a problem from the cases in a file.

    The file is CSV with a header line, a JSON array of objects, or JSON Lines, and may be compressed by gzip. Columns,
    or keys, are ``input1``, ``input2``, … and ``output1``, ``output2``, … In CSV, a column whose cells all read as JSON
    (numbers, ``true``, ``[1, 2]``) holds these values; any other column holds strings. Integers in a column with floats
    become floats.

    Args:
        path: The file.
        name: Name of the problem; by default, the name of the file.
        **options: Options of `from_cases`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "sums.csv"
    ...     _ = file.write_text("input1,input2,output1\n1,2,3\n5,5,10\n")
    ...     problem = from_file(file, test=0.0)
    >>> problem.name, problem.fixed_cases().expected
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


def read_carried(name: str) -> Cases:
    """The fixed cases of a problem of the benchmark suite, from the file in the package."""
    packed = resources.files("flexicase.problems").joinpath("data", f"{name}-edge.json.gz").read_bytes()
    cases = [_case(json.loads(line)) for line in gzip.decompress(packed).splitlines()]
    return Cases([inputs for inputs, _ in cases], [answer for _, answer in cases])


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
        raise ValueError("the file must hold at least one case")
    header = [title.strip() for title in rows[0]]
    if len(set(header)) < len(header):
        raise ValueError(f"columns must have different names, found {header}")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise ValueError(f"row {line} must have {len(header)} cells as the header has, got {len(row)}")
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
        raise ValueError("the file must hold at least one case")
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
    """Convert the integers of columns that also hold floats, because some programs write 2.0 as 2."""
    for key in {key for record in records for key in record}:
        holders = [record for record in records if key in record]
        values = [record[key] for record in holders]
        kinds = {type(item) for value in values for item in (value if isinstance(value, list) else [value])}
        if kinds == {int, float}:
            for record in holders:
                record[key] = _as_float(record[key])


def _as_float(value: Value) -> Value:
    return [float(item) for item in value] if isinstance(value, list) else float(value)
