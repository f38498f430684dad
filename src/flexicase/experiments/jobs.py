"""Kinds of runs: what a study's ``kind`` names, what a kind must implement, and checks of what it returns."""

from __future__ import annotations

import importlib
import operator
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from flexicase._checkpoint import CheckpointError
from flexicase._checks import did_you_mean
from flexicase.experiments._tables import Rows, check_rows

Scalar: TypeAlias = str | int | float | bool | None
Made = TypeVar("Made")
KINDS = {
    "gp": "flexicase.experiments.gp_job:GpJob",
    "image": "flexicase.experiments.image_job:ImageJob",
    "same-populations": "flexicase.experiments.same_populations_job:SamePopulationsJob",
}
#: Columns of the table of runs, which also has one for each key of a summary.
RESERVED_KEYS = ("id", "problem", "method", "variant", "seed", "state", "digest")
INT64 = np.iinfo(np.int64)
NOTE_CHARACTERS, FAILURE_CHARACTERS = 200, 2000
TYPE_NAMES = {bool: "a bool", int: "a number", float: "a number", str: "a string"}


@dataclass(frozen=True)
class RunSpec:
    """One run: everything that its outcome depends on.

    Attributes:
        id: Hash of kind, problem, method, seed and settings; see `run_id`.
        variant: Name of the study's variant.
        settings: All settings of the job.
    """

    id: str
    kind: str
    problem: str
    method: str
    variant: str
    seed: int
    settings: dict[str, Any]


class Progress(NamedTuple):
    """Steps (generations, epochs) that a run has done, their maximum, and a short note."""

    step: int
    steps: int
    note: str = ""


@dataclass(frozen=True)
class JobResult:
    """The outcome of a run.

    Attributes:
        rows: Columns of equal length, one entry per step: integers, floats or bools. Columns whose name starts with
            ``seconds`` hold times; all others depend on the task alone, to the last bit.
        summary: Values for the whole run, which depend on the task alone; ``success``: whether it reached its goal.
    """

    rows: dict[str, NDArray[Any]]
    summary: dict[str, Scalar]


class Job(Protocol):
    """A kind of run.

    Attributes:
        settings: The pydantic model of its settings. A setting that is added later must default to None, which means
            "as before": settings that are None do not enter a run's id.
    """

    settings: type[BaseModel]

    def check(self, problem: str, method: str) -> None:
        """Raise ValueError if the problem or the method does not exist."""

    def run(self, task: RunSpec, save: Path, report: Callable[[Progress], None]) -> JobResult:
        """Make a run, or continue it.

        Args:
            task: The run.
            save: The run's folder for checkpoints; its files are from earlier attempts at the same task.
            report: Call this after every step.
        """


def run_with_checkpoint(make: Callable[[Path], Made], save: Path) -> Made:
    """Make a run from the checkpoint in ``save``, or from the start if the checkpoint is damaged."""
    try:
        return make(save)
    except CheckpointError:
        shutil.rmtree(save)
        return make(save)


def load_job(kind: str, *, allow_code: bool = False) -> Job:
    """Make the job of a kind: a known name, or with ``allow_code`` ``"package.module:Class"``, whose code then runs.

    The current folder is searched last. Raises ValueError if the job cannot be loaded.
    """
    check_kind(kind, allow_code=allow_code)
    module, _, name = KINDS.get(kind, kind).partition(":")
    if kind not in KINDS:
        sys.path[:] = module_path()
    try:
        job: Job = getattr(importlib.import_module(module), name)()
    except (Exception, SystemExit) as error:
        raise ValueError(f"cannot load job {kind!r}: {type(error).__name__}: {error}") from error
    for member in ("settings", "check", "run"):
        if not hasattr(job, member):
            raise ValueError(f"cannot load job {kind!r}: it has no attribute {member!r}")
    return job


def check_kind(kind: str, *, allow_code: bool) -> None:
    """Raise ValueError if a kind is unknown, or if it names code and ``allow_code`` is False."""
    if kind in KINDS:
        return
    if ":" not in kind:
        raise ValueError(f"unknown kind {kind!r}{did_you_mean(kind, KINDS)} (your own job: 'package.module:Class')")
    if not allow_code:
        raise ValueError(
            f"{kind!r} is code from outside flexicase and was not run; "
            "if you trust it, use --allow-code (allow_code=True)"
        )


def module_path() -> list[str]:
    """``sys.path`` with the current folder last, so that its files do not shadow libraries."""
    try:
        here = [os.getcwd()]
    except OSError:  # it was removed
        here = []
    return list(dict.fromkeys([*filter(None, sys.path), *here]))


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

    columns: str = ""
    types: dict[str, str] = field(default_factory=dict)

    def add(self, rows: Rows, summary: Mapping[str, Scalar]) -> None:
        """Raise ValueError if a run has other columns or types than those before it."""
        columns = ", ".join(f"{name} ({values.dtype})" for name, values in rows.items())
        types = {key: TYPE_NAMES[type(value)] for key, value in summary.items() if value is not None}
        if self.columns not in ("", columns):
            raise ValueError(f"rows: expected columns {self.columns} as in the study's other runs, got {columns}")
        for key, found in types.items():
            if self.types.get(key, found) != found:
                raise ValueError(
                    f"summary: {key!r} must be {self.types[key]} as in the study's other runs, "
                    f"got {found}: {summary[key]!r:.80}"
                )
        self.columns = columns
        self.types |= types


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
    if key in RESERVED_KEYS:
        raise ValueError(f"summary: key {key!r} is reserved (reserved: {', '.join(RESERVED_KEYS)})")
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
