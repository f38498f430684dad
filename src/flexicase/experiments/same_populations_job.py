"""Runs of kind ``same-populations``: one method evolves, and others select from the same errors beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from flexicase.experiments.jobs import JobResult, Progress, RunSpec
from flexicase.problems import load
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method

if TYPE_CHECKING:
    from flexicase.gp import GenerationRecord
    from flexicase.rng import Key
    from flexicase.selection.matrix import ErrorMatrix
    from flexicase.selection.protocol import Backend, Kernel, Selection

COUNTS = ("evaluations", "evaluations_distinct")


class SamePopulationsSettings(BaseModel):
    """Settings of such a run.

    Attributes:
        compared: Names of the methods that select from the same errors; they must count evaluations.
        every: Generations between comparisons, from generation 0 on.
        population: Individuals; what the problem says if left out.
        generations: The last generation; what the problem says if left out.
        instruction_set: The set of instructions that genes are drawn from.
    """

    model_config = ConfigDict(extra="forbid")

    compared: Annotated[list[str], Field(min_length=1)]
    every: int = Field(default=5, ge=1)
    population: int | None = Field(default=None, ge=1)
    generations: int | None = Field(default=None, ge=0)
    instruction_set: Literal["2019", "2021", "2023"] | None = None

    @field_validator("compared")
    @classmethod
    def _known(cls, names: list[str]) -> list[str]:
        for name in names:
            resolve_method(name)
        return names


@dataclass
class ComparingMethod:
    """Selects as ``method`` does, and lets other methods select from the same errors, with the same random bits.

    Every ``every`` generations it appends a row: generation, events, and both counts of evaluations of every method.
    """

    method: Method
    compared: dict[str, Method]
    every: int
    rows: list[list[int]] = field(default_factory=list, repr=False)
    _generation: int = field(default=0, repr=False)

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        kernel, generation = self.method.prepare(matrix, key, backend), self._generation
        self._generation += 1
        return kernel if generation % self.every else _ComparingKernel(kernel, self, generation, matrix, backend)

    def describe(self) -> str:
        return self.method.describe()


@dataclass(frozen=True)
class _ComparingKernel:
    kernel: Kernel
    owner: ComparingMethod
    generation: int
    matrix: ErrorMatrix
    backend: Backend

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Selection:
        row = [self.generation, len(events)]
        for method in self.owner.compared.values():
            drawn = method.prepare(self.matrix, key, self.backend).draw(key, events, True, threads)
            row += [int(drawn.evaluations.sum()), int(drawn.evaluations_distinct.sum())]
        self.owner.rows.append(row)
        return self.kernel.draw(key, events, counts, threads)


class SamePopulationsJob:
    """Genetic programming on one problem, with other methods selecting from the same errors, in one thread.

    Rows are comparisons. An interrupted run starts again from generation 0.
    """

    settings: type[BaseModel] = SamePopulationsSettings

    def check(self, problem: str, method: str) -> None:
        load(problem)
        resolve_method(method)

    def run(self, task: RunSpec, save: Path, report: Callable[[Progress], None]) -> JobResult:
        """Evolve; nothing is written to ``save``."""
        from flexicase.gp import evolve

        settings = SamePopulationsSettings.model_validate(task.settings)
        compared = {name: resolve_method(name) for name in settings.compared}
        method = ComparingMethod(resolve_method(task.method), compared, settings.every)
        generations = settings.generations or load(task.problem).settings.generations

        def tell(record: GenerationRecord) -> None:
            report(Progress(record.generation, generations, f"best error {record.best_error:g}"))

        run = evolve(
            task.problem,
            method,
            population=settings.population,
            generations=settings.generations,
            instruction_set=settings.instruction_set or "2019",
            simplification_steps=0,
            seed=task.seed,
            threads=1,
            callback=tell,
        )
        names = [f"{count}_{name.replace('-', '_')}" for name in compared for count in COUNTS]
        rows = np.array(method.rows or [[0] * (2 + len(names))], np.int64)  # solved in generation 0: no events
        columns = dict(zip(["generation", "events", *names], rows.T, strict=True))
        return JobResult(columns, {"success": run.success, "solved": run.solved, "generation": run.generation})
