"""Kinds of runs: what a study's ``kind`` names, and what a kind must offer."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from numpy.typing import NDArray
from pydantic import BaseModel

from flexicase._checkpoint import CheckpointError
from flexicase._checks import did_you_mean

Scalar: TypeAlias = str | int | float | bool | None
KINDS = {
    "gp": "flexicase.experiments.gp_job:GpJob",
    "image": "flexicase.experiments.image_job:ImageJob",
    "same-populations": "flexicase.experiments.same_populations_job:SamePopulationsJob",
}


@dataclass(frozen=True)
class RunSpec:
    """One run to be made: everything its outcome depends on.

    Attributes:
        id: Derived from all the rest; see `flexicase.experiments.spec`.
        kind: The kind of job.
        problem: Name of the problem.
        method: Name of the method.
        variant: Which of the study's variants this is; a name only, the settings say what it means.
        seed: The seed.
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
    """How far a run is.

    Attributes:
        step: Steps (generations, epochs) done.
        steps: Steps that it will take at most.
        note: A few words on how it goes.
    """

    step: int
    steps: int
    note: str = ""


@dataclass(frozen=True)
class JobResult:
    """What a finished run leaves.

    Attributes:
        rows: Columns of equal length, one entry per step: whole numbers, floats or bools. Columns whose name starts
            with ``seconds`` hold times; all others depend on the task alone, to the last bit.
        summary: Facts about the whole run, which depend on the task alone; ``success``: whether it reached its goal.
    """

    rows: dict[str, NDArray[Any]]
    summary: dict[str, Scalar]


class Job(Protocol):
    """A kind of run.

    Attributes:
        settings: The pydantic model of its settings. A setting that is added later must default to None, which means
            "as before": settings that are None are no part of a run's id.
    """

    settings: type[BaseModel]

    def check(self, problem: str, method: str) -> None:
        """Raise ValueError if the problem or the method does not exist."""

    def run(self, task: RunSpec, save: Path, report: Callable[[Progress], None]) -> JobResult:
        """Make a run, or go on with one that was interrupted.

        Args:
            task: The run.
            save: A folder of this run's own, which outlives the process; whatever lies there is from an earlier
                attempt at the same task.
            report: To be called after every step.
        """


Made = TypeVar("Made")


def run_with_checkpoint(make: Callable[[Path], Made], save: Path) -> Made:
    """Make a run, going on from what a folder holds; if that cannot be read, from the beginning.

    Args:
        make: Makes the run, with checkpoints in the folder it is given.
        save: The folder.
    """
    try:
        return make(save)
    except CheckpointError:
        shutil.rmtree(save)
        return make(save)


def load_job(kind: str, *, allow_code: bool = False) -> Job:
    """The job that a kind names.

    Args:
        kind: A known name, or ``"package.module:Class"``.
        allow_code: Import the class that ``kind`` names, which runs its code. The current folder is searched last.

    Raises:
        ValueError: There is no such kind, or it takes code that was not allowed; the message says what went wrong.

    Example:
        >>> from flexicase.experiments.jobs import load_job
        >>> type(load_job("gp")).__name__
        'GpJob'
    """
    check_kind(kind, allow_code=allow_code)
    module, _, name = KINDS.get(kind, kind).partition(":")
    if kind not in KINDS:
        sys.path[:] = module_path()
    try:
        job = getattr(importlib.import_module(module), name)()
    except (Exception, SystemExit) as error:
        raise ValueError(f"cannot load job {kind!r}: {type(error).__name__}: {error}") from error
    for member in ("settings", "check", "run"):
        if not hasattr(job, member):
            raise ValueError(f"cannot load job {kind!r}: it has no attribute {member!r}")
    loaded: Job = job
    return loaded


def check_kind(kind: str, *, allow_code: bool) -> None:
    """Raise ValueError if there is no such kind, or if it takes code from outside flexicase that was not allowed.

    Example:
        >>> from flexicase.experiments.jobs import check_kind
        >>> check_kind("gp", allow_code=False)
    """
    if kind in KINDS:
        return
    if ":" not in kind:
        raise ValueError(
            f"unknown kind {kind!r}{did_you_mean(kind, KINDS)} (a job of your own: 'package.module:Class')"
        )
    if not allow_code:
        raise ValueError(
            f"{kind!r} is code from outside flexicase, which is not run unasked; "
            "if you trust it, use --allow-code (allow_code=True)"
        )


def module_path() -> list[str]:
    """``sys.path`` with the current folder last, so that no file in it replaces a library."""
    try:
        here = [os.getcwd()]
    except OSError:  # it was removed
        here = []
    return list(dict.fromkeys([*filter(None, sys.path), *here]))
