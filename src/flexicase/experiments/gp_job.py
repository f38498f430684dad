"""Runs of kind ``gp``: genetic programming on one problem with one selection method."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from flexicase.experiments.jobs import JobResult, Progress, RunSpec, Scalar, run_with_checkpoint
from flexicase.problems import load
from flexicase.problems.settings import MAX_POPULATION
from flexicase.push.instructions import InstructionSetName
from flexicase.selection.methods import resolve_method

if TYPE_CHECKING:
    from flexicase.gp import EvolutionResult, GenerationRecord

SAVE_SECONDS = 1.0


class GpSettings(BaseModel):
    """Settings of a genetic-programming run; what is left out is what the problem says.

    Attributes:
        population: Individuals.
        generations: The last generation, the random one being number 0.
        partial: Whether programs run only on the cases that selection visits.
        default_weight: With ``partial``, the weight of cases that were not visited yet; ``"max"`` if left out.
        sampling: The cases that each generation is run on, such as ``"down:0.1"``; all if left out.
        check: With ``sampling``, which individuals that solve the sample are run on the remaining cases.
        budget: Executions after which the run ends.
        profile: Defaults of a whole run.
        n_selections: Selection events per generation, whose winners are the parents of all children; one event for
            each parent that a child needs if left out.
        steps: Largest number of steps of one execution.
        simplification_steps: Attempts to make the program of a solution smaller.
        instruction_set: The set of instructions that genes are drawn from.
    """

    model_config = ConfigDict(extra="forbid")

    population: int | None = Field(default=None, ge=1, le=MAX_POPULATION)
    generations: int | None = Field(default=None, ge=0)
    partial: bool | None = None
    default_weight: Literal["max", "min"] | None = None
    sampling: str | None = None
    check: Literal["all", "first"] | None = None
    budget: int | None = Field(default=None, ge=0, lt=2**63)
    profile: Literal["psb1", "psb2", "propeller"] | None = None
    n_selections: int | None = Field(default=None, ge=1, le=MAX_POPULATION)
    steps: int | None = Field(default=None, ge=1, lt=2**63)
    simplification_steps: int | None = Field(default=None, ge=0)
    instruction_set: InstructionSetName | None = None

    @field_validator("sampling")
    @classmethod
    def _can_be_read(cls, sampling: str | None) -> str | None:
        from flexicase.gp._settings import check_case_sampling

        try:
            check_case_sampling(sampling)
        except TypeError as error:  # a part of the text is of the wrong type
            raise ValueError(str(error)) from None
        return sampling

    @model_validator(mode="after")
    def _samples_or_partial(self) -> GpSettings:
        if self.partial and self.sampling not in (None, "none"):
            raise ValueError("sampling must be left out with partial, which chooses the cases itself")
        return self


class GpJob:
    """Genetic programming on one problem with one selection method, in one thread. Rows are generations."""

    settings: type[BaseModel] = GpSettings

    def check(self, problem: str, method: str) -> None:
        load(problem)
        resolve_method(method)

    def run(self, task: RunSpec, save: Path, report: Callable[[Progress], None]) -> JobResult:
        return run_with_checkpoint(lambda folder: self._evolve(task, folder, report), save / "evolution")

    def _evolve(self, task: RunSpec, save: Path, report: Callable[[Progress], None]) -> JobResult:
        from flexicase.gp import GenerationRecord, evolve
        from flexicase.gp.evolve import evolve_settings

        arguments: dict[str, Any] = {"problem": task.problem, "method": task.method, "seed": task.seed, **task.settings}
        settings = evolve_settings(**arguments)

        def tell(record: GenerationRecord) -> None:
            last = record.generation + settings.generations_left(record)
            report(Progress(record.generation, last, f"best error {record.best_error:g}"))

        run = evolve(**arguments, threads=1, callback=tell, save=save, save_every=SAVE_SECONDS, resume=True)
        return JobResult(GenerationRecord.to_columns(run.records), summary_of(run))


def summary_of(run: EvolutionResult) -> dict[str, Scalar]:
    """Values for the whole run."""
    spent = run.executions
    return {
        "success": run.success,
        "success_unsimplified": run.success_unsimplified,
        "solved": run.solved,
        "generation": run.generation,
        "budget": run.settings["budget"],
        "executions": spent["total"],
        "executions_sample": spent["sample"],
        "executions_informed": spent["informed"],
        "executions_check": spent["check"],
        "executions_report": run.executions_report,
        "train_error": float(run.train_errors.sum()),
        "test_error": float(run.test_errors.sum()),
        "test_error_unsimplified": float(run.test_errors_unsimplified.sum()),
        "best": str(run.best),
        "simplified": None if run.simplified is None else str(run.simplified),
    }
