"""Kinds of runs: what a study's ``kind`` names, and what a kind must implement."""

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
    """One run: everything that its outcome depends on.

    Attributes:
        id: Hash of kind, problem, method, seed and settings; see `run_id`.
        kind: The kind of job.
        problem: Name of the problem.
        method: Name of the method.
        variant: Name of the study's variant.
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


Made = TypeVar("Made")


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
