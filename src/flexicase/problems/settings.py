"""What a run on a problem uses unless told otherwise: how children are made, and the limits of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from flexicase import _native
from flexicase._checks import (
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    check_not_negative,
    check_text,
    did_you_mean,
    shown,
)
from flexicase.problems.cases import as_tuple
from flexicase.push.instructions import InstructionSetName, check_instruction_set
from flexicase.push.program import check_type

#: Largest population.
MAX_POPULATION = 10**7
#: Largest size of a program in points.
MAX_POINTS = 10**7

#: Genetic operators and how often each makes a child; ``a+b`` is a followed by b.
OPERATORS = {
    "alternation": 0.2,
    "uniform_mutation": 0.2,
    "uniform_close_mutation": 0.1,
    "alternation+uniform_mutation": 0.5,
}
OPERATOR_NAMES = tuple(_native.gp_operators())
#: The engine's name of each rate, by the name of the setting.
RATES = {"constant_tweak_rate" if name == "tweak_rate" else name: name for name in _native.gp_rates()}
DEVIATIONS = ("alignment_deviation", "float_deviation", "integer_deviation", "tag_deviation")
CLOSE_PROBABILITIES = (0.772, 0.206, 0.021, 0.001)
SUM_TOLERANCE = 1e-5

#: A number, or several of which one is drawn each time an operator is applied.
Rate = float | Sequence[float]
#: Operators, or pipelines of them (names in a tuple, or joined by ``+``), and their probabilities.
Operators = Mapping[str, float] | Mapping[tuple[str, ...], float]
#: What replaces a child with more genes than a quarter of ``max_points``.
Oversized = Literal["random", "parent", "empty", "truncate"]


@dataclass(frozen=True)
class Variation:
    """How children are made. The defaults are those of the paper's problems.

    A rate is a probability, or several probabilities of which one is drawn each time an operator is applied.

    Attributes:
        operators: Probability of each operator, or pipeline of operators; they must sum to 1.
        alternation_rate: Probability to switch to the other parent, at each gene.
        alignment_deviation: Standard deviation of the jump at a switch, in genes.
        mutation_rate: Probability of a change, for each gene.
        constant_tweak_rate: Probability that a mutated constant is changed rather than replaced.
        float_deviation: Standard deviation of the number added to a float.
        integer_deviation: Standard deviation of the number added to an integer.
        string_change_rate: Probability that a character of a string is replaced.
        tag_deviation: Standard deviation of the number added to a tag.
        close_mutation_rate: Probability that the close count of a gene changes.
        close_increment_rate: Probability that a close count that changes grows.
        silence_rate: Probability that a gene is switched between silent and active.
        addition_rate: Probability to add a random gene beside a gene.
        deletion_rate: Probability to delete a gene.
        addition_and_deletion_rate: Rate of the additions of UMAD; its deletions keep the expected size.
        combination_rate: Probability to add a gene of the other parent beside a gene.
        combination_and_deletion_rate: The same, with deletions that keep the expected size.
        reordering_rate: Probability that two neighbours, genes or segments, are swapped.
        segmenting_rate: Probability that a gene is marked; a segment is a run of genes with, or without, marks.
        transposition_rate: Probability that a segment is reversed.
        segment_duplication_rate: Probability that a segment is repeated.
        segment_deletion_rate: Probability that a segment is deleted.
        gene_selection_rate: Probability to select another parent after a gene.
        max_points: Largest size of a program in points.
        max_initial_genome: Largest number of genes of a random genome.
        oversized: What replaces a child with more than `max_genes` genes.
        close_marker: Whether genes have close counts.
        close_probabilities: Probabilities of the close counts 0, 1, 2 and 3 of a random gene.
        silent_marker: Whether genes may be silent.
        silent_probability: Probability that a random gene is silent, if genes may be.

    >>> Variation(operators={"uniform_addition_and_deletion": 1.0}, addition_and_deletion_rate=0.09).max_genes
    300
    """

    operators: Operators = field(default_factory=lambda: OPERATORS, hash=False)
    alternation_rate: Rate = 0.01
    alignment_deviation: Rate = 10.0
    mutation_rate: Rate = 0.01
    constant_tweak_rate: Rate = 0.5
    float_deviation: Rate = 1.0
    integer_deviation: Rate = 1.0
    string_change_rate: Rate = 0.1
    tag_deviation: Rate = 100.0
    close_mutation_rate: Rate = 0.1
    close_increment_rate: Rate = 0.2
    silence_rate: Rate = 0.1
    addition_rate: Rate = 0.01
    deletion_rate: Rate = 0.01
    addition_and_deletion_rate: Rate = 0.01
    combination_rate: Rate = 0.01
    combination_and_deletion_rate: Rate = 0.01
    reordering_rate: Rate = 0.01
    segmenting_rate: Rate = 0.01
    transposition_rate: Rate = 0.01
    segment_duplication_rate: Rate = 0.01
    segment_deletion_rate: Rate = 0.01
    gene_selection_rate: Rate = 1.0
    max_points: int = 1200
    max_initial_genome: int = 150
    oversized: Oversized = "random"
    close_marker: bool = True
    close_probabilities: tuple[float, float, float, float] = CLOSE_PROBABILITIES
    silent_marker: bool = False
    silent_probability: float = 0.2

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", _check_operators(self.operators))
        for name in RATES:
            object.__setattr__(self, name, _check_rate(getattr(self, name), name))
        for name, least in (("max_points", 4), ("max_initial_genome", 1)):
            object.__setattr__(self, name, check_count(getattr(self, name), name, least, MAX_POINTS))
        check_choice(self.oversized, "oversized", get_args(Oversized))
        for name in ("close_marker", "silent_marker"):
            object.__setattr__(self, name, check_flag(getattr(self, name), name))
        silent = check_fraction(self.silent_probability, "silent_probability")
        object.__setattr__(self, "silent_probability", silent)
        given = as_tuple(self.close_probabilities, "close_probabilities")
        shares = tuple(check_fraction(p, "close_probabilities") for p in given)
        if len(shares) != 4 or abs(sum(shares) - 1) > SUM_TOLERANCE:
            raise ValueError(
                f"close_probabilities must be four numbers that sum to 1, got {shown(self.close_probabilities)}"
            )
        object.__setattr__(self, "close_probabilities", shares)

    def __reduce__(self) -> tuple[partial[Variation], tuple[()]]:
        return partial(Variation, **self.as_dict()), ()

    @property
    def max_genes(self) -> int:
        """Largest number of genes of a genome: a quarter of ``max_points``."""
        return self.max_points // 4

    def as_dict(self) -> dict[str, Any]:
        """All settings as plain values; pipelines are joined by ``+``."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["operators"] = {"+".join(names): p for names, p in self.operators.items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@dataclass(frozen=True)
class ProblemSettings:
    """What a run on a problem uses unless told otherwise.

    Attributes:
        population: Number of individuals.
        generations: The last generation; the random population is generation 0.
        steps: Largest number of steps of one run of a program.
        error_threshold: A program solves the cases if its total error is at most this.
        variation: How children are made, and the sizes of genomes and programs.
        instruction_set: The instruction list that genes are drawn from.

    >>> ProblemSettings(steps=600, variation=Variation(max_points=800)).variation.max_genes
    200
    """

    population: int = 1000
    generations: int = 300
    steps: int = 600
    error_threshold: float = 0.0
    variation: Variation = field(default_factory=Variation)
    instruction_set: InstructionSetName = "2019"

    def __post_init__(self) -> None:
        checked = {
            "population": check_count(self.population, "population", 1, MAX_POPULATION),
            "generations": check_count(self.generations, "generations"),
            "steps": check_count(self.steps, "steps", 1),
            "error_threshold": check_not_negative(self.error_threshold, "error_threshold"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # a number of Python, whatever was given
        check_type(self.variation, "variation", Variation)
        check_instruction_set(self.instruction_set)

    def as_dict(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"variation": self.variation.as_dict()}


def _check_operators(operators: Operators) -> Mapping[tuple[str, ...], float]:
    if not isinstance(operators, Mapping) or not operators:
        raise TypeError(f"operators must map operators to probabilities, got {shown(operators)}")
    checked: dict[tuple[str, ...], float] = {}
    for pipeline, probability in operators.items():
        names = tuple(pipeline.split("+")) if isinstance(pipeline, str) else as_tuple(pipeline, "operators")
        for name in names:
            check_text(name, "the name of an operator in operators")
        names = tuple(name.strip().replace("-", "_") for name in names)
        for name in names:
            if name not in OPERATOR_NAMES:
                raise ValueError(f"operators has the unknown operator {name!r}{did_you_mean(name, OPERATOR_NAMES)}")
        checked[names] = check_fraction(probability, f"operators[{'+'.join(names)!r}]")
    total = sum(checked.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise ValueError(f"operators must have probabilities that sum to 1, got {total:g}")
    return MappingProxyType(checked)


def _check_rate(rate: Any, name: str) -> tuple[float, ...]:
    several = (
        rate.ndim > 0 if isinstance(rate, np.ndarray) else isinstance(rate, Sequence) and not isinstance(rate, str)
    )
    values = as_tuple(rate, name) if several else (rate,)
    if not values:
        raise ValueError(f"{name} must have at least one value")
    if name in DEVIATIONS:
        return tuple(check_not_negative(value, name) for value in values)
    return tuple(check_fraction(value, name) for value in values)
