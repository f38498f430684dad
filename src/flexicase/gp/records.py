"""What a run tells: one record per generation, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexicase.push.genome import Genome
from flexicase.push.program import Program


class PhaseSeconds(NamedTuple):
    """Where the time of a generation went.

    >>> PhaseSeconds(evaluate=0.5, select=0.25).total
    0.75
    """

    translate: float = 0.0
    evaluate: float = 0.0
    select: float = 0.0
    vary: float = 0.0
    other: float = 0.0

    @property
    def total(self) -> float:
        """Their sum."""
        return sum(self)


class GenerationRecord(NamedTuple):
    """What happened in a generation. None stands for what a method does not count or does not know.

    Attributes:
        generation: Its number; 0 is the random population.
        best_error: Smallest total error.
        median_error: Median of the total errors.
        mean_error: Their mean.
        solved_cases: Errors of the best individual that are zero.
        distinct_errors: Different error vectors.
        events: Selection events.
        evaluations: The paper's measure, summed over all events.
        evaluations_distinct: The same with one individual per distinct error vector.
        pairs: (individual, error) pairs that were evaluated.
        steps: Push steps that this took.
        genome_size: Mean number of genes.
        program_size: Mean number of points.
        seconds: Where the time went.

    >>> GenerationRecord(generation=3, best_error=7.0, solved_cases=93).events
    0
    """

    generation: int
    best_error: float
    solved_cases: int
    median_error: float | None = None
    mean_error: float | None = None
    distinct_errors: int | None = None
    events: int = 0
    evaluations: int | None = 0
    evaluations_distinct: int | None = 0
    pairs: int = 0
    steps: int = 0
    genome_size: float = 0.0
    program_size: float = 0.0
    seconds: PhaseSeconds = PhaseSeconds()

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {**self._asdict(), "seconds": self.seconds._asdict()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> GenerationRecord:
        """The record that `as_dict` was called on."""
        return cls(**{**values, "seconds": PhaseSeconds(**values["seconds"])})


@dataclass(frozen=True, eq=False)
class EvolutionResult:
    """The outcome of a run.

    Attributes:
        problem: Name of the problem.
        method: Name of the selection method.
        seed: The seed; with it and the settings the run can be repeated.
        settings: All settings.
        records: One `GenerationRecord` per generation.
        best: Program of the best individual of the last generation.
        genome: Its genome.
        simplified: The same program without what it does not need; None if the run did not solve the training cases.
        train_errors: (n_errors,) errors of the best program on the training cases.
        test_errors: (n_errors,) errors of the simplified program on the test cases; of the best one if there is none.
        solved: Whether the training cases are solved.
        success: Whether the simplified program solves the test cases as well; None if it solves the training cases and
            the problem has no test cases.
    """

    problem: str
    method: str
    seed: int
    settings: dict[str, Any] = field(repr=False)
    records: tuple[GenerationRecord, ...] = field(repr=False)
    best: Program = field(repr=False)
    genome: Genome = field(repr=False)
    simplified: Program | None
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
        """Time of all generations."""
        return sum(record.seconds.total for record in self.records)

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain values."""
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
