"""Checks of what a job reports and returns, so that it can be stored, shown and exported."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexicase.experiments._tables import Rows, check_rows
from flexicase.experiments.jobs import JobResult, Progress, Scalar
from flexicase.experiments.results import RUN_COLUMNS

INT64 = np.iinfo(np.int64)
NOTE_CHARACTERS, FAILURE_CHARACTERS = 200, 2000
TYPE_NAMES = {bool: "a bool", int: "a number", float: "a number", str: "a string"}


def one_line(text: object, limit: int = FAILURE_CHARACTERS) -> str:
    """Text from a run as one line of at most ``limit`` characters, with unprintable characters escaped."""
    try:
        words = " ".join(str(text)[: 2 * limit].split())
    except Exception as error:  # an exception of a job may fail to describe itself
        words = f"no description: {type(error).__name__}"
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)
    return plain if len(plain) <= limit else f"{plain[: limit - 1]}…"


def check_progress(progress: Progress) -> Progress:
    """Check the progress that a job reports; its steps must be integers that fit into 64 bits."""
    step, steps, note = progress
    return Progress(_count(step, "step"), _count(steps, "steps"), one_line(note, NOTE_CHARACTERS))


def check_outcome(outcome: JobResult) -> tuple[Rows, dict[str, Scalar]]:
    """Check that rows and summary of a run can be exported and imported without loss."""
    rows = check_rows(outcome.rows)
    for name, values in rows.items():
        if not isinstance(name, str) or not name or name == "id":
            raise ValueError(f"rows: column names must be non-empty strings other than 'id', got {name!r}")
        if len(values) == 0:
            raise ValueError(f"rows: must have at least one row, got none in column {name!r}")
    return rows, {key: _scalar(key, value) for key, value in outcome.summary.items()}


@dataclass
class Layout:
    """Columns of the rows and types of the summary that all runs of a study share, as in the first finished run."""

    columns: dict[str, str] | None = None
    types: dict[str, str] = field(default_factory=dict)

    def add(self, rows: Rows, summary: Mapping[str, Scalar]) -> None:
        """Raise ValueError if a run has other columns or types than those before it."""
        columns = {name: str(values.dtype) for name, values in rows.items()}
        types = {key: TYPE_NAMES[type(value)] for key, value in summary.items() if value is not None}
        if self.columns is not None and list(columns.items()) != list(self.columns.items()):
            raise ValueError(
                f"rows: expected columns {_listed(self.columns)} as in the study's other runs, got {_listed(columns)}"
            )
        for key, found in types.items():
            if self.types.get(key, found) != found:
                raise ValueError(
                    f"summary: {key!r} must be {self.types[key]} as in the study's other runs, "
                    f"got {found}: {summary[key]!r:.80}"
                )
        self.columns = columns
        self.types |= types


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({dtype})" for name, dtype in columns.items())


def _count(value: Any, name: str) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = -1
    if not 0 <= count <= INT64.max:
        raise ValueError(f"progress: {name} must be an integer from 0 to {INT64.max}, got {value!r:.80}")
    return count


def _scalar(key: Any, value: Any) -> Scalar:
    if not isinstance(key, str) or not key or one_line(key) != key:
        raise ValueError(f"summary: keys must be printable strings, got {key!r}")
    if key in RUN_COLUMNS:
        raise ValueError(f"summary: key {key!r} is reserved (reserved: {', '.join(RUN_COLUMNS)})")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    for kind in (bool, int, float):  # also for subclasses, such as those of NumPy
        if isinstance(value, kind):
            if kind is int and not INT64.min <= value <= INT64.max:
                raise ValueError(f"summary: {key!r} must fit into 64 bits, got {value!r:.80}")
            return kind(value)
    if value is not None:
        raise ValueError(f"summary: {key!r} must be a bool, a number, a string or None, got {value!r:.80}")
    return None
