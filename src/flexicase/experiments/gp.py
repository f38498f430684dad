"""Runs of kind ``gp``: genetic programming on one problem with one selection method."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from flexicase.experiments.jobs import Outcome, Progress, Task
from flexicase.problems import load
from flexicase.selection.registry import resolve_method

if TYPE_CHECKING:
    from flexicase.gp import Generation, Run

NOT_COUNTED = -1
SAVE_SECONDS = 1.0
WHOLE = (
    *("generation", "solved_cases", "distinct_errors", "events", "evaluations", "evaluations_distinct", "pairs"),
    "steps",
)
REAL = ("best_error", "median_error", "mean_error", "genome_size", "program_size")


class GpSettings(BaseModel):
    """Settings of a genetic-programming run; what is left out is what the problem says.

    Attributes:
        population: Individuals.
        generations: The last generation, the random one being number 0.
        partial: Whether programs run only on the cases that selection looks at; ``"max"`` or ``"min"`` says which
            weight cases have that were not looked at yet, True is ``"max"``.
        parents: Selection events per generation, whose winners are the parents of all children; one event for each
            parent that a child needs if left out.
        simplification_steps: Attempts to make the program of a solution smaller.
        profile: The list of instructions that genes are drawn from.

    Example:
        >>> from flexicase.experiments.gp import GpSettings
        >>> GpSettings(population=500).model_dump(exclude_none=True)
        {'population': 500}
    """

    model_config = ConfigDict(extra="forbid")

    population: int | None = Field(default=None, ge=1)
    generations: int | None = Field(default=None, ge=0)
    partial: bool | Literal["max", "min"] | None = None
    parents: int | None = Field(default=None, ge=1)
    simplification_steps: int | None = Field(default=None, ge=0)
    profile: Literal["W", "M", "L"] | None = None


class GpJob:
    """Genetic programming on one problem with one selection method, in one thread.

    Rows are generations. ``-1`` stands for a whole number that the method does not count, NaN for a real one.

    Example:
        >>> from flexicase.experiments.gp import GpJob
        >>> GpJob().check("mirror-image", "lexicas")
        Traceback (most recent call last):
        ...
        ValueError: unknown method 'lexicas'; did you mean 'lexicase'?
    """

    settings: type[BaseModel] = GpSettings

    def check(self, problem: str, method: str) -> None:
        """Raise ValueError if the problem or the method does not exist."""
        load(problem)
        resolve_method(method)

    def run(self, task: Task, save: Path, report: Callable[[Progress], None]) -> Outcome:
        """Evolve, going on from what ``save`` holds; if that cannot be read, from the beginning."""
        from flexicase.gp import CheckpointError

        try:
            run = self._evolve(task, save / "evolution", report)
        except CheckpointError:
            shutil.rmtree(save / "evolution")
            run = self._evolve(task, save / "evolution", report)
        return Outcome(rows_of(run.records), summary_of(run))

    def _evolve(self, task: Task, save: Path, report: Callable[[Progress], None]) -> Run:
        from flexicase.gp import evolve

        generations = task.settings.get("generations", load(task.problem).settings.generations)

        def tell(record: Generation) -> None:
            report(Progress(record.generation, generations, f"best error {record.best_error:g}"))

        return evolve(
            task.problem,
            task.method,
            seed=task.seed,
            threads=1,
            callback=tell,
            save=save,
            save_every=SAVE_SECONDS,
            resume=True,
            **task.settings,
        )


def rows_of(records: Sequence[Generation]) -> dict[str, NDArray[Any]]:
    """The columns of a run.

    Args:
        records: One per generation.

    Returns:
        Arrays of shape (n_generations,); times have names that start with ``seconds_``.

    Example:
        >>> from flexicase.experiments.gp import rows_of
        >>> from flexicase.gp import Generation
        >>> rows_of([Generation(0, best_error=7.0, solved_cases=93)])["distinct_errors"].tolist()
        [-1]
    """
    columns: dict[str, NDArray[Any]] = {}
    for name in WHOLE:
        values = [getattr(record, name) for record in records]
        columns[name] = np.array([NOT_COUNTED if value is None else value for value in values], dtype=np.int64)
    for name in REAL:
        values = [getattr(record, name) for record in records]
        columns[name] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    for phase in records[0].seconds._fields:
        columns[f"seconds_{phase}"] = np.array([getattr(record.seconds, phase) for record in records])
    return columns


def summary_of(run: Run) -> dict[str, str | int | float | bool | None]:
    """Facts about a whole run."""
    return {
        "success": run.success,
        "solved": run.solved,
        "generation": run.generation,
        "train_error": float(run.train_errors.sum()),
        "test_error": float(run.test_errors.sum()),
        "best": str(run.best),
        "simplified": None if run.simplified is None else str(run.simplified),
    }
