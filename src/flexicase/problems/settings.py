"""Settings of a run on a problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from flexicase._checks import check_count, check_flag, check_fraction, check_not_negative, shown

#: Most individuals of a population.
MAX_POPULATION = 10**7
#: Most points of a program.
MAX_POINTS = 10**7

#: Genetic operators and how often each makes a child; ``a+b`` is a followed by b.
OPERATORS = {
    "alternation": 0.2,
    "uniform_mutation": 0.2,
    "uniform_close_mutation": 0.1,
    "alternation+uniform_mutation": 0.5,
}


@dataclass(frozen=True)
class Settings:
    """What a run on a problem uses unless told otherwise.

    Attributes:
        max_points: Most points of a program; a genome has at most a quarter as many genes.
        max_initial_genome: Most genes of a random genome.
        steps: Steps of one run of a program.
        generations: Most generations after the first.
        population: Individuals.
        alignment_deviation: Standard deviation of the jumps of alternation, in genes.
        constant_tweak_rate: How often mutation changes a constant instead of replacing it.
        close_marker: Whether genes close blocks.
        operators: Genetic operators and their probabilities.
        error_threshold: Total error at which a run stops, and up to which it is a success on the test cases.

    >>> Settings(max_points=1200, max_initial_genome=150, steps=600).max_genome
    300
    """

    max_points: int = 1200
    max_initial_genome: int = 150
    steps: int = 600
    generations: int = 300
    population: int = 1000
    alignment_deviation: float = 10
    constant_tweak_rate: float = 0.5
    close_marker: bool = True
    operators: Mapping[str, float] = field(default_factory=OPERATORS.copy, hash=False)
    error_threshold: float = 0.0

    def __post_init__(self) -> None:
        check_count(self.max_points, "max_points", 4, MAX_POINTS)
        check_count(self.max_initial_genome, "max_initial_genome", 1, MAX_POINTS)
        check_count(self.steps, "steps", 1)
        check_count(self.population, "population", 1, MAX_POPULATION)
        check_count(self.generations, "generations")
        check_fraction(self.constant_tweak_rate, "constant_tweak_rate")
        check_not_negative(self.alignment_deviation, "alignment_deviation")
        check_not_negative(self.error_threshold, "error_threshold")
        object.__setattr__(self, "close_marker", check_flag(self.close_marker, "close_marker"))
        if not isinstance(self.operators, Mapping):
            raise TypeError(f"operators must map operators to probabilities, got {shown(self.operators)}")
        total = sum(check_fraction(share, f"operators[{shown(name)}]") for name, share in self.operators.items())
        if not math.isclose(total, 1.0, abs_tol=1e-5):
            raise ValueError(f"operators must have probabilities that add up to 1, got {dict(self.operators)}")

    @property
    def max_genome(self) -> int:
        """Most genes of a genome.

        >>> Settings(max_points=800).max_genome
        200
        """
        return self.max_points // 4
