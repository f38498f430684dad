"""What a finished run may leave: checked by the worker, and compared with the study's other runs."""

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
    r"""Text from a run as one line that can be stored and shown: what cannot be printed is escaped, the rest cut off.

    Example:
        >>> from flexicase.experiments._outcomes import one_line
        >>> one_line("a\nb \udcff\x1b[2J")
        'a b \\udcff\\x1b[2J'
    """
    try:
        words = " ".join(str(text)[: 2 * limit].split())
    except Exception as error:  # an exception of a job may fail to describe itself
        words = f"no description: {type(error).__name__}"
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)
    return plain if len(plain) <= limit else f"{plain[: limit - 1]}…"


def check_progress(progress: Progress) -> Progress:
    """The progress that a job reports, as it can be stored.

    Raises:
        ValueError: ``step`` or ``steps`` is no integer that fits into 64 bits.

    Example:
        >>> from flexicase.experiments.jobs import Progress
        >>> from flexicase.experiments._outcomes import check_progress
        >>> check_progress(Progress(2**63, 0))
        Traceback (most recent call last):
        ...
        ValueError: progress: step must be an integer from 0 to 9223372036854775807, got 9223372036854775808
    """
    step, steps, note = progress
    return Progress(_count(step, "step"), _count(steps, "steps"), one_line(note, NOTE_CHARACTERS))


def check_outcome(outcome: JobResult) -> tuple[Rows, dict[str, Scalar]]:
    """The rows and the summary of a run, if they can be exported and imported without loss.

    Raises:
        ValueError: They cannot; the message says which column or key and why.

    Example:
        >>> import numpy as np
        >>> from flexicase.experiments import JobResult
        >>> from flexicase.experiments._outcomes import check_outcome
        >>> check_outcome(JobResult({"step": np.arange(3)}, {"seed": 7}))
        Traceback (most recent call last):
        ...
        ValueError: summary: key 'seed' is reserved (reserved: id, problem, method, variant, seed, state, digest)
    """
    rows = check_rows(outcome.rows)
    for name, values in rows.items():
        if not isinstance(name, str) or not name or name == "id":
            raise ValueError(f"rows: column names must be non-empty strings other than 'id', got {name!r}")
        if len(values) == 0:
            raise ValueError(f"rows: must have at least one row, got none in column {name!r}")
    return rows, {key: _scalar(key, value) for key, value in outcome.summary.items()}


@dataclass
class Layout:
    """Columns and types that all runs of a study share; those of the first finished run count.

    Attributes:
        columns: The type of each column of the rows, in order; None before the first run.
        types: The type of each key of the summary.
    """

    columns: dict[str, str] | None = None
    types: dict[str, str] = field(default_factory=dict)

    def add(self, rows: Rows, summary: Mapping[str, Scalar]) -> None:
        """Compare a finished run with those before it.

        Raises:
            ValueError: It has other columns or types, so that they cannot be exported together.

        Example:
            >>> import numpy as np
            >>> from flexicase.experiments._outcomes import Layout
            >>> layout = Layout()
            >>> layout.add({"step": np.arange(3)}, {"success": True})
            >>> layout.add({"step": np.arange(3.0)}, {"success": True})
            Traceback (most recent call last):
            ...
            ValueError: rows: expected columns step (int64) as in the study's other runs, got step (float64)
        """
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
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            scalar: Scalar = kind(value)
            break
    else:
        if value is not None:
            raise ValueError(f"summary: {key!r} must be a bool, a number, a string or None, got {value!r:.80}")
        return None
    if isinstance(scalar, int) and not INT64.min <= scalar <= INT64.max:
        raise ValueError(f"summary: {key!r} must fit into 64 bits, got {value!r:.80}")
    return scalar.encode(errors="backslashreplace").decode() if isinstance(scalar, str) else scalar
