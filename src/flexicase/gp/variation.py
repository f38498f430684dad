"""Genetic operators on Plush genomes: their rates, the pipelines they form, and the children they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import (
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    check_not_negative,
    check_text,
    check_threads,
    did_you_mean,
    shown,
)
from flexicase.gp.population import Population, check_key, check_population
from flexicase.problems.cases import as_tuple
from flexicase.problems.problem import MAX_POINTS, MAX_POPULATION, OPERATORS
from flexicase.push.genome import (
    Generator,
    RandomBoolean,
    RandomChar,
    RandomFloat,
    RandomInteger,
    RandomString,
    RandomTag,
    RandomTagged,
)
from flexicase.rng import Key

#: A number, or several of which one is drawn each time an operator is applied.
Rate = float | Sequence[float]
#: The name of an operator, or of several that are applied one after another.
Pipeline = str | tuple[str, ...]
#: Operators, or pipelines of them (names in a tuple, or joined by ``+``), and their probabilities.
Operators = Mapping[str, float] | Mapping[tuple[str, ...], float]
#: What takes the place of a child with more genes than a quarter of ``max_points``.
TooBig = Literal["random", "parent", "empty", "truncate"]

OPERATOR_NAMES = tuple(_native.gp_operators())
RATES = tuple(_native.gp_rates())
DEVIATIONS = ("alignment_deviation", "float_deviation", "integer_deviation", "tag_deviation")
DRAWS: dict[type, str] = {
    RandomInteger: "integer",
    RandomFloat: "real",
    RandomBoolean: "boolean",
    RandomChar: "character",
    RandomString: "string",
    RandomTag: "tag",
    RandomTagged: "tagged",
}
CLOSE_PROBABILITIES = (0.772, 0.206, 0.021, 0.001)
SUM_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Variation:
    """How children are made. The defaults are those of the paper's problems.

    A rate is a number, or several numbers of which one is drawn each time an operator is applied.

    Attributes:
        operators: Probability of each operator, or pipeline of operators; they must sum to 1.
        alternation_rate: Of a change to the other parent, at each gene.
        alignment_deviation: Standard deviation of the jump that goes with it.
        mutation_rate: Of a change, for each gene.
        tweak_rate: That a mutated gene's constant is changed and not replaced.
        float_deviation: Standard deviation of what is added to a float.
        integer_deviation: The same for an integer.
        string_change_rate: That a character of a string is replaced.
        tag_deviation: Standard deviation of what is added to the number of a tag.
        close_mutation_rate: That the close count of a gene changes.
        close_increment_rate: That it grows when it changes.
        silence_rate: That a gene becomes silent, or is so no more.
        addition_rate: That a random gene is added beside a gene.
        deletion_rate: That a gene is deleted.
        addition_and_deletion_rate: Of the additions of UMAD; deletions keep the expected size.
        combination_rate: That a gene of the other parent is added beside a gene.
        combination_and_deletion_rate: The same with deletions that keep the expected size.
        reordering_rate: That two neighbours, genes or segments, change places.
        segmenting_rate: That a gene is marked; a segment is a run of genes with, or without, marks.
        transposition_rate: That a segment is reversed.
        segment_duplication_rate: That a segment is repeated.
        segment_deletion_rate: That a segment is deleted.
        gene_selection_rate: That a parent is selected anew after a gene.
        max_points: Largest size of a program in points; a genome may have a quarter of it in genes.
        max_initial_genome: Most genes of a random genome.
        too_big: What takes the place of a child with too many genes.
        close_marker: Whether genes have close counts.
        close_probabilities: Of the close counts 0, 1, 2 and 3 of a random gene.
        silent_marker: Whether genes may be silent.
        silent_probability: That a random gene is, if genes may.

    >>> Variation(operators={"uniform_addition_and_deletion": 1.0}, addition_and_deletion_rate=0.09).max_points
    1200
    """

    operators: Operators = field(default_factory=lambda: OPERATORS)
    alternation_rate: Rate = 0.01
    alignment_deviation: Rate = 10.0
    mutation_rate: Rate = 0.01
    tweak_rate: Rate = 0.5
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
    too_big: TooBig = "random"
    close_marker: bool = True
    close_probabilities: tuple[float, float, float, float] = CLOSE_PROBABILITIES
    silent_marker: bool = False
    silent_probability: float = 0.2

    def __post_init__(self) -> None:
        """Check everything, so that nothing starts that cannot go on."""
        object.__setattr__(self, "operators", _check_operators(self.operators))
        for name in RATES:
            object.__setattr__(self, name, _check_rate(getattr(self, name), name))
        check_count(self.max_points, "max_points", 4, MAX_POINTS)
        check_count(self.max_initial_genome, "max_initial_genome", 1, MAX_POINTS)
        check_choice(self.too_big, "too_big", get_args(TooBig))
        for name in ("close_marker", "silent_marker"):
            object.__setattr__(self, name, check_flag(getattr(self, name), name))
        check_fraction(self.silent_probability, "silent_probability")
        shares = as_tuple(self.close_probabilities, "close_probabilities")
        if len(shares) != 4 or abs(sum(check_fraction(p, "close_probabilities") for p in shares) - 1) > SUM_TOLERANCE:
            raise ValueError(f"close_probabilities must be four that sum to 1, got {shown(self.close_probabilities)}")
        object.__setattr__(self, "close_probabilities", shares)

    @property
    def max_genes(self) -> int:
        """Genes that a genome may have."""
        return self.max_points // 4

    def as_dict(self) -> dict[str, Any]:
        """All settings as plain values; pipelines are joined by ``+``."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["operators"] = {"+".join(names): p for names, p in self.operators.items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@dataclass(frozen=True)
class OffspringPlan:
    """Which pipelines make the children of a generation, and the parents they need.

    Attributes:
        pipelines: (children,) int64, positions in `Variation.operators`.
        first: (children + 1,) int64, where the parents of each child begin.
    """

    pipelines: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def events(self) -> int:
        """Parents to select."""
        return int(self.first[-1])


class OffspringGenerator:
    """Makes random genomes from a list of genes, and children by the operators of a `Variation`.

    Every child has a random stream of its own, so that nothing depends on the number of threads.

    Args:
        genes: Literals, symbols and random draws, each equally likely.
        variation: How children are made.

    >>> from flexicase.push import RandomInteger, Symbol
    >>> from flexicase.rng import key_from_seed
    >>> breeder = OffspringGenerator([RandomInteger(0, 9), Symbol("integer_add")], Variation(max_initial_genome=5))
    >>> population = breeder.random(3, key_from_seed(1))
    >>> len(population), max(len(genome) for genome in population) <= 5
    (3, True)
    """

    def __init__(self, genes: Iterable[Generator], variation: Variation) -> None:
        """Prepare the native form."""
        if not isinstance(variation, Variation):
            raise TypeError(f"variation must be a Variation, got {shown(variation)}")
        self.variation = variation
        silent = variation.silent_probability if variation.silent_marker else 0.0
        entries = [_entry(gene) for gene in as_tuple(genes, "genes")]
        if not entries:
            raise ValueError("genes must not be empty")
        try:
            source = _native.gp_gene_source(
                entries, list(variation.close_probabilities), variation.close_marker, silent
            )
        except (RuntimeError, TypeError, ValueError) as error:
            raise TypeError(f"genes must be literals, symbols or random draws ({error})") from None
        self.native = _native.gp_variation(
            source,
            [list(names) for names in variation.operators],
            list(variation.operators.values()),
            {name: list(getattr(variation, name)) for name in RATES},
            variation.max_points,
            variation.max_initial_genome,
            variation.too_big,
            variation.silent_marker,
        )
        names = list(variation.operators)
        self._copies = np.array([set(pipeline) == {"reproduction"} for pipeline in names])

    def random(self, size: int, key: Key, threads: int = 1) -> Population:
        """A population of random genomes."""
        check_count(size, "size", maximum=MAX_POPULATION)
        key = check_key(key)
        return Population(_native.gp_random_population(self.native, size, key.k0, key.k1, check_threads(threads)))

    def plan(self, parents: Population, size: int, key: Key) -> OffspringPlan:
        """Draw the pipelines of ``size`` children.

        Args:
            parents: Who the parents will be selected from.
            size: How many children.
            key: Random bits of this generation.
        """
        check_population(parents, "parents")
        check_count(size, "size", maximum=MAX_POPULATION)
        key = check_key(key)
        pipelines, first = np.empty(size, np.int64), np.empty(size + 1, np.int64)
        _native.gp_plan(self.native, parents.native, key.k0, key.k1, pipelines, first)
        return OffspringPlan(pipelines, first)

    def breed(
        self, population: Population, plan: OffspringPlan, parents: NDArray[np.int64], key: Key, threads: int = 1
    ) -> tuple[Population, NDArray[np.int64]]:
        """Make the children.

        Args:
            population: Who the parents are from.
            plan: What `plan` drew.
            parents: (plan.events,) int64, the selected parents.
            key: Random bits of this generation.
            threads: Threads to use; the children do not depend on it.

        Returns:
            The children, and (children,) int64: how many of its parents each child used.
        """
        check_population(population, "population")
        if not isinstance(plan, OffspringPlan):
            raise TypeError(f"plan must be a Plan, got {shown(plan)}")
        if not isinstance(parents, np.ndarray) or parents.dtype != np.int64 or parents.shape != (plan.events,):
            raise TypeError(f"parents must be an int64 array of shape ({plan.events},), got {shown(parents)}")
        if parents.size and not 0 <= parents.min() <= parents.max() < len(population):
            raise ValueError(f"parents must be from 0 to {len(population) - 1}, got {parents.min()} … {parents.max()}")
        key, threads = check_key(key), check_threads(threads)
        used = np.empty(len(plan.pipelines), np.int64)
        children = _native.gp_breed(
            self.native, population.native, plan.pipelines, plan.first, parents, key.k0, key.k1, threads, used
        )
        return Population(children), used

    def copies(self, plan: OffspringPlan) -> NDArray[np.bool_]:
        """(children,) whether each child is a plain copy of its first parent."""
        return np.asarray(self._copies[plan.pipelines], dtype=np.bool_)


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


def _entry(gene: Generator) -> tuple[Any, ...]:
    """A generator as the native side reads it."""
    name = DRAWS.get(type(gene))
    return ("fixed", gene) if name is None else (name, *(getattr(gene, f.name) for f in fields(gene)))
