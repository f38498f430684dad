"""Records of a run: one `GenerationRecord` per generation, and the `EvolutionResult`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.push.function import ProgramFunction
from flexicase.push.genome import Genome
from flexicase.records import Record


@dataclass(frozen=True, kw_only=True)
class GenerationRecord(Record):
    """One generation of a run of genetic programming. None: the method does not count or know the number.

    Attributes:
        best_error: Total error of the best individual.
        solved_cases: Number of zero errors of the best individual.
        median_error: Median of the total errors.
        mean_error: Mean of the total errors.
        n_distinct_errors: Number of distinct error vectors.
        evaluations_distinct: As ``evaluations``, with one individual per distinct error vector.
        push_steps: Number of steps of the Push programs.
        genome_size: Mean number of genes of a genome.
        program_size: Mean size of a program in points.
        seconds_translate: Seconds of translating genomes to programs.
        seconds_evaluate: Seconds of running programs.
        seconds_select: Seconds of selection.
        seconds_vary: Seconds of making children.
        seconds_other: Seconds of the rest.

    >>> GenerationRecord(generation=3, best_error=7.0, solved_cases=93).events
    0
    """

    best_error: float
    solved_cases: int
    median_error: float | None = None
    mean_error: float | None = None
    n_distinct_errors: int | None = None
    evaluations_distinct: int | None = None
    push_steps: int = 0
    genome_size: float = 0.0
    program_size: float = 0.0
    seconds_translate: float = field(default=0.0, compare=False)
    seconds_evaluate: float = field(default=0.0, compare=False)
    seconds_select: float = field(default=0.0, compare=False)
    seconds_vary: float = field(default=0.0, compare=False)
    seconds_other: float = field(default=0.0, compare=False)


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
        solved: Whether the training cases are solved.
        success: Whether the simplified program also solves the test cases; None if the training cases are solved and
            the problem has no test cases.
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
    solved: bool
    success: bool | None

    @property
    def generation(self) -> int:
        """Number of the last generation."""
        return self.records[-1].generation

    @property
    def seconds(self) -> float:
        """Seconds of all generations."""
        return sum(record.seconds for record in self.records)

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        return {
            "problem": self.problem,
            "method": self.method,
            "seed": self.seed,
            "solved": self.solved,
            "success": self.success,
            "generation": self.generation,
            "best": str(self.best),
            "simplified": None if self.simplified is None else str(self.simplified),
            "train_error": float(self.train_errors.sum()),
            "test_error": float(self.test_errors.sum()) if len(self.test_errors) else None,
            "settings": self.settings,
            "records": [record.as_dict() for record in self.records],
        }
