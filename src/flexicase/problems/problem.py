"""ProblemSettings of a run on a problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from flexicase._checks import (
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    check_function,
    check_not_negative,
    check_text,
    shown,
)
from flexicase.problems.cases import MAX_CASES, Cases, CaseSource, Inputs, as_tuple
from flexicase.problems.random_inputs import generator
from flexicase.push.evaluator import Evaluator
from flexicase.push.genome import RANDOM_DRAWS, Generator
from flexicase.push.instructions import InstructionSet, Profile, check_names
from flexicase.push.interpreter import Limits
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Program, Symbol, Value
from flexicase.rng import Seed

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
class ProblemSettings:
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

    >>> ProblemSettings(max_points=1200, max_initial_genome=150, steps=600).max_genome
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

        >>> ProblemSettings(max_points=800).max_genome
        200
        """
        return self.max_points // 4


PROFILES = get_args(Profile)


def check_profile(profile: Profile) -> Profile:
    """The name of an instruction list."""
    check_choice(profile, "profile", PROFILES)
    return profile


def check_generator(value: Generator, name: str) -> None:
    """What a random gene can be made of: a literal, a symbol or a random draw."""
    if isinstance(value, RANDOM_DRAWS):
        return
    try:
        Program((value,))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be literals, symbols or random draws, got {shown(value)} ({error})") from None


@dataclass(frozen=True)
class Problem:
    """A task for programs: cases, errors, and what programs are made of.

    Attributes:
        name: Its name, in lower case with hyphens.
        description: What a program must do.
        answer: The right answer to the inputs, given one by one; a tuple if there are several.
        domains: Where its cases come from.
        measures: The errors of each case.
        stacks: Stacks whose instructions programs may use.
        extra_instructions: Further instructions that programs may use.
        generators: What else random genes are made of: constants, random constants, inputs, tags.
        settings: What a run uses.
        other_generators: The generators under another instruction list, where they differ.
        edge: Fixed cases to try a program on; those of the fixed domains if None.
        title: Its name for people.

    >>> from flexicase.push import RandomInteger, Symbol
    >>> from flexicase.problems import Drawn, random_inputs
    >>> problem = Problem(
    ...     name="double",
    ...     description="Twice an integer.",
    ...     answer=lambda n: 2 * n,
    ...     domains=[Drawn(lambda rng: (random_inputs.integer(rng, -100, 100),), train=20, test=50)],
    ...     measures=[ErrorMeasure("integer", "absolute", penalty=1000)],
    ...     stacks=["exec", "integer"],
    ...     generators=[RandomInteger(-10, 10), Symbol("in1")],
    ... )
    >>> train, test = problem.sample(seed=1)
    >>> len(train), len(test)
    (20, 50)
    """

    name: str
    description: str
    answer: Callable[..., Value]
    domains: Sequence[CaseSource]
    measures: Sequence[ErrorMeasure]
    stacks: Sequence[str]
    generators: Sequence[Generator]
    extra_instructions: Sequence[str] = ()
    settings: ProblemSettings = field(default_factory=ProblemSettings)
    other_generators: Mapping[Profile, Sequence[Generator]] = field(default_factory=dict, hash=False)
    edge: Callable[[], Cases] | None = None
    title: str = ""

    def __post_init__(self) -> None:
        for name in ("name", "description", "title"):
            check_text(getattr(self, name), name)
        if not self.name:
            raise ValueError("name must not be empty")
        if not callable(self.answer):
            raise TypeError(f"answer must be a function of the inputs, got {shown(self.answer)}")
        for name in ("domains", "measures", "stacks", "generators", "extra_instructions"):
            self._set(name, as_tuple(getattr(self, name), name))
        self._check_parts("domains", CaseSource, "Fixed, Split, Drawn or the like")
        self._check_parts("measures", ErrorMeasure, "Measure objects")
        self._check_parts("stacks", str, "names of stacks")
        if not isinstance(self.settings, ProblemSettings):
            raise TypeError(f"settings must be Settings, got {shown(self.settings)}")
        if self.edge is not None:
            check_function(self.edge, "edge", 0)
        for measure in self.measures:
            measure.native()
        self._check_genes()
        self._set("title", self.title or self.name.replace("-", " ").title())

    def _check_parts(self, name: str, kind: type, expected: str) -> None:
        parts = getattr(self, name)
        if not parts:
            raise ValueError(f"{name} must not be empty")
        for part in parts:
            if not isinstance(part, kind):
                raise TypeError(f"{name} must be {expected}, got {shown(part)}")

    def _check_genes(self) -> None:
        InstructionSet.of_stacks(*self.stacks)
        for entry in self.generators:
            check_generator(entry, "generators")
        check_names(self.extra_instructions, "extra_instructions")
        if not isinstance(self.other_generators, Mapping):
            raise TypeError(f"other_generators must map profiles to generators, got {shown(self.other_generators)}")
        for profile, generators in self.other_generators.items():
            check_choice(profile, "a key of other_generators", PROFILES)
            for entry in as_tuple(generators, "other_generators"):
                check_generator(entry, "other_generators")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def genes(self, profile: Profile = "W") -> tuple[Generator, ...]:
        """What random genes are drawn from: the generators, then each instruction.

        >>> from flexicase import problems
        >>> len(problems.load("mirror-image").genes())
        110
        """
        registered = InstructionSet.of_stacks(*self.stacks, profile=check_profile(profile))
        generators = self.other_generators.get(profile, self.generators)
        return (*generators, *registered, *map(Symbol, self.extra_instructions))

    def limits(self, profile: Profile = "W") -> Limits:
        """What a run of a program may use.

        >>> from flexicase import problems
        >>> problems.load("mirror-image").limits().steps
        600
        """
        keep_nan = check_profile(profile) == "W"
        return Limits(steps=self.settings.steps, points=self.settings.max_points, keep_nan=keep_nan)

    def cases(self, inputs: Iterable[Inputs]) -> Cases:
        """Cases of the inputs, with the right answers.

        >>> from flexicase import problems
        >>> problems.load("sum-of-squares").cases([(1,), (2,), (3,)]).expected
        [1, 5, 14]
        """
        listed = list(as_tuple(inputs, "inputs"))
        for case in listed:
            if not isinstance(case, tuple):
                raise TypeError(f"the inputs of a case of {self.name} must be a tuple, got {shown(case)}")
            if len(case) != len(listed[0]):
                raise ValueError(
                    f"all cases of {self.name} must have as many inputs, got {len(listed[0])} and {len(case)}"
                )
        return Cases(listed, [self._answer(case) for case in listed])

    def _answer(self, inputs: Inputs) -> Value:
        try:
            return self.answer(*inputs)
        except Exception as error:
            raise ValueError(f"answer of {self.name} failed on the inputs {inputs!r:.80}: {error!r}") from error

    def sample(self, seed: Seed = None) -> tuple[Cases, Cases]:
        """The training and the test cases of a run; the same seed gives the same cases.

        >>> from flexicase import problems
        >>> train, test = problems.load("mirror-image").sample(seed=7)
        >>> len(train), len(test)
        (100, 1000)
        """
        rng = generator(seed)
        train: list[Inputs] = []
        test: list[Inputs] = []
        for domain in self.domains:
            for_training, for_testing = domain.sample(rng)
            train += for_training
            test += for_testing
        return self.cases(train), self.cases(test)

    def edge_cases(self) -> Cases:
        """The fixed cases to try a program on.

        >>> from flexicase import problems
        >>> len(problems.load("mirror-image").edge_cases())
        23
        """
        if self.edge is not None:
            return self.edge()
        return self.cases(
            case for domain in self.domains if not domain.is_open for case in domain.sample(generator(0))[0]
        )

    def fresh(self, n: int, seed: Seed = None) -> Cases:
        """New cases from the domains that are not fixed, each as often as runs use it.

        Args:
            n: Number of cases.
            seed: The same seed gives the same cases.

        >>> from flexicase import problems
        >>> len(problems.load("mirror-image").fresh(5, seed=1))
        5
        """
        check_count(n, "n", maximum=MAX_CASES)
        domains = [domain for domain in self.domains if domain.is_open]
        if not domains and n:
            raise ValueError(f"{self.name} has fixed cases only, so that there are no fresh ones")
        rng = generator(seed)
        uses = np.array([domain.n_train + domain.n_test for domain in domains], dtype=np.float64)
        bounds = np.cumsum(uses / uses.sum())[:-1] if n else uses
        chosen = np.searchsorted(bounds, rng.random(n), side="right")
        return self.cases(domains[i].one(rng) for i in chosen)

    def evaluator(self, cases: Cases, profile: Profile = "W") -> Evaluator:
        """What runs programs on the cases and measures their errors.

        >>> from flexicase import problems
        >>> from flexicase.push import Program
        >>> problem = problems.load("mirror-image")
        >>> evaluator = problem.evaluator(problem.edge_cases())
        >>> evaluator.errors([Program("(in1 in2 vector_integer_reverse vector_integer_eq)")]).sum().item()
        0.0
        """
        if not isinstance(cases, Cases):
            raise TypeError(f"cases must be Cases, got {shown(cases)}")
        if not len(cases):
            raise ValueError(f"cases must not be empty ({self.name})")
        return Evaluator(cases.inputs, cases.expected, measures=self.measures, limits=self.limits(profile))

    def success(self, errors: ArrayLike) -> bool | None:
        """Whether these errors of one program on the test cases make a run a success; None without test cases.

        Args:
            errors: (n_errors,) the errors.

        >>> from flexicase import problems
        >>> problems.load("mirror-image").success([0, 0, 1])
        False
        """
        listed: tuple[Any, ...] = as_tuple(errors, "errors")  # type: ignore[arg-type]
        try:
            total = np.sum(np.array(list(map(float, listed))))
        except Exception:
            raise TypeError(f"errors must be numbers, got {shown(errors)}") from None
        return bool(total <= self.settings.error_threshold) if listed else None
