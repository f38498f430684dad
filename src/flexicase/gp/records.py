"""Records of a run: one `GenerationRecord` per generation, and the `EvolutionResult`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.push.function import ProgramFunction
from flexicase.push.genome import Genome
from flexicase.records import Record, RecordType


@dataclass(frozen=True, kw_only=True)
class GenerationRecord(Record):
    """One generation of a run of genetic programming. None: the method does not count or know the number.

    If programs run on a sample of the cases, errors, distinct error vectors and evaluations are those of the sample,
    and change with it from one generation to the next.

    Attributes:
        solved: Whether the best individual solves all training cases, which ends the run.
        best_error: Total error of the best individual; ``median_error`` and ``mean_error`` are over all individuals.
        solved_cases: Number of zero errors of the best individual.
        n_distinct_errors: Number of distinct error vectors.
        evaluations_distinct: As ``evaluations``, with one individual per distinct error vector.
        executions: Number of executions: runs of a program on a case.
        executions_sample: Those of them that gave the errors for selection.
        executions_informed: Those that informed later samples.
        executions_check: Those that checked on the remaining cases whether a program that solves the sample solves all.
        executions_so_far: Number of executions since the run started.
        sample_size: Number of cases that an individual is run on; with cohorts of different sizes, the largest.
        n_candidates: Number of individuals that solve the sample.
        n_checked: Number of programs among these that were run on the remaining cases.
        informed_generation: Generation whose results the sample was drawn by.
        n_distinct_columns: Number of groups of cases that these results tell apart.
        sample: The cases of the sample, if they were asked for; not a column of a study's rows.
        push_steps: Number of steps of the Push programs.
        genome_size: Mean number of genes of a genome.
        program_size: Mean size of a program in points.
        seconds_translate: Seconds of translating genomes to programs; the other ``seconds_`` are of running programs,
            of selection, of making children and of the rest.

    >>> GenerationRecord(generation=3, best_error=7.0, solved_cases=93).events
    0
    """

    solved: bool = False
    best_error: float
    solved_cases: int
    median_error: float | None = None
    mean_error: float | None = None
    n_distinct_errors: int | None = None
    evaluations_distinct: int | None = None
    executions: int = 0
    executions_sample: int = 0
    executions_informed: int = 0
    executions_check: int = 0
    executions_so_far: int = 0
    sample_size: int | None = None
    n_candidates: int | None = None
    n_checked: int | None = None
    informed_generation: int | None = None
    n_distinct_columns: int | None = None
    sample: tuple[int, ...] | None = None
    push_steps: int = 0
    genome_size: float = 0.0
    program_size: float = 0.0
    seconds_translate: float = field(default=0.0, compare=False)
    seconds_evaluate: float = field(default=0.0, compare=False)
    seconds_select: float = field(default=0.0, compare=False)
    seconds_vary: float = field(default=0.0, compare=False)
    seconds_other: float = field(default=0.0, compare=False)

    @classmethod
    def from_dict(cls: type[RecordType], values: dict[str, Any]) -> RecordType:
        sample = values.get("sample")
        if sample is not None and not (isinstance(sample, list | tuple) and all(type(case) is int for case in sample)):
            raise TypeError(f"sample must be a list of integers, got {sample!r:.80}")
        record = super().from_dict({**values, "sample": None})
        object.__setattr__(record, "sample", None if sample is None else tuple(sample))
        return record


@dataclass(frozen=True, eq=False)
class EvolutionResult:
    """The result of a run.

    Attributes:
        problem: Name of the problem.
        method: Name of the selection method.
        seed: The seed, with which the run can be repeated.
        settings: All settings, as plain values.
        records: One `GenerationRecord` per generation.
        best: Program of the best individual of the last generation; call it with inputs to get its answer.
        genome: Its genome.
        simplified: The simplified program; None if the run did not solve the training cases.
        train_errors: (n_errors,) errors of the best program on the training cases.
        test_errors: (n_errors,) errors of the simplified program, or else of the best one, on the test cases.
        test_errors_unsimplified: (n_errors,) errors of the best program on the test cases.
        solved: Whether the training cases are solved.
        success: Whether the simplified program also solves the test cases; None if the training cases are solved and
            the problem has no test cases.
        success_unsimplified: The same of the best program as it evolved.
        executions_report: Number of executions that completed ``train_errors`` after the run; not part of the budget.
    """

    problem: str
    method: str
    seed: int
    settings: dict[str, Any] = field(repr=False)
    records: tuple[GenerationRecord, ...] = field(repr=False)
    best: ProgramFunction = field(repr=False)
    genome: Genome = field(repr=False)
    simplified: ProgramFunction | None
    train_errors: NDArray[np.float64] = field(repr=False)
    test_errors: NDArray[np.float64] = field(repr=False)
    test_errors_unsimplified: NDArray[np.float64] = field(repr=False)
    solved: bool
    success: bool | None
    success_unsimplified: bool | None
    executions_report: int = 0

    @property
    def generation(self) -> int:
        """Number of the last generation."""
        return self.records[-1].generation

    @property
    def seconds(self) -> float:
        """Seconds of all generations."""
        return sum(record.seconds for record in self.records)

    @property
    def executions(self) -> dict[str, int]:
        """Number of executions by purpose: ``sample``, ``informed``, ``check`` and their ``total``."""
        purposes = ("sample", "informed", "check")
        counts = {name: sum(getattr(record, f"executions_{name}") for record in self.records) for name in purposes}
        return {**counts, "total": sum(counts.values())}

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        plain = ("problem", "method", "seed", "solved", "success", "success_unsimplified", "generation")
        return {name: getattr(self, name) for name in (*plain, "executions", "executions_report")} | {
            "best": str(self.best),
            "simplified": None if self.simplified is None else str(self.simplified),
            "train_error": float(self.train_errors.sum()),
            "test_error": float(self.test_errors.sum()) if len(self.test_errors) else None,
            "test_error_unsimplified": float(self.test_errors_unsimplified.sum()) if len(self.test_errors) else None,
            "settings": self.settings,
            "records": [record.as_dict() for record in self.records],
        }
