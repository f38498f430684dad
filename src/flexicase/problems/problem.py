"""`Problem`: cases, errors, and what programs are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from flexicase._checks import check_choice, check_count, check_fraction, check_function, check_text, shown
from flexicase.problems.cases import MAX_CASES, Cases, CaseSource, Inputs, as_tuple
from flexicase.problems.random_inputs import by_weight, generator
from flexicase.problems.settings import ProblemSettings
from flexicase.push.draws import RANDOM_DRAWS, Generator, RandomTag, RandomTagged
from flexicase.push.evaluator import Evaluator
from flexicase.push.function import FunctionEvaluator, ProgramFunction, check_outputs
from flexicase.push.instructions import (
    INPUT,
    INSTRUCTION_SETS,
    InstructionSet,
    InstructionSetName,
    check_instruction_set,
    check_names,
)
from flexicase.push.interpreter import Limits
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Program, Symbol, Value
from flexicase.rng import Seed


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A task for programs: cases, errors, and what programs are made of.

    Attributes:
        name: Its name, in lower case with hyphens.
        description: What a program must do.
        answer: Gives the right answer, called with the inputs of a case; a tuple if there are several answers. None if
            no answer is known to be right: then each measure is a function of the program's answer and the inputs.
        sources: Where its cases come from.
        measures: The errors of each case.
        evaluate: Gives the error of a case instead of ``answer`` and ``measures``, called with the program, as a Python
            function, and the inputs.
        outputs: Stacks whose tops the program returns as a Python function; by default, those of the measures.
        stacks: Stacks whose instructions programs may use.
        generators: What else random genes are made of: constants, random constants, inputs, tags.
        extra_instructions: Further instructions that programs may use.
        settings: What a run uses unless told otherwise.
        generators_by_list: Generators for the instruction lists where they differ.
        gene_shares: Shares of the inputs and of the constants among random genes: each list is repeated until it has
            its share. If None, each entry counts once.
        carried_cases: Gives the fixed cases to try a program on; the cases of the fixed sources if None.
        title: Its name for people.

    >>> from flexicase.push import RandomInteger, Symbol
    >>> from flexicase.problems import RandomCases, random_inputs
    >>> problem = Problem(
    ...     name="double",
    ...     description="Twice an integer.",
    ...     answer=lambda n: 2 * n,
    ...     sources=[RandomCases(lambda rng: (random_inputs.integer(rng, -100, 100),), train=20, test=50)],
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
    answer: Callable[..., Value] | None = None
    sources: Sequence[CaseSource]
    measures: Sequence[ErrorMeasure] = ()
    evaluate: Callable[..., float] | None = None
    outputs: Sequence[str] = ()
    stacks: Sequence[str]
    generators: Sequence[Generator]
    extra_instructions: Sequence[str] = ()
    settings: ProblemSettings = field(default_factory=ProblemSettings)
    generators_by_list: Mapping[InstructionSetName, Sequence[Generator]] = field(default_factory=dict, hash=False)
    gene_shares: tuple[float, float] | None = None
    carried_cases: Callable[[], Cases] | None = None
    title: str = ""

    def __post_init__(self) -> None:
        for name in ("name", "description", "title"):
            check_text(getattr(self, name), name)
        if not self.name:
            raise ValueError("name must not be empty")
        if self.answer is not None and not callable(self.answer):
            raise TypeError(f"answer must be a function of the inputs, got {shown(self.answer)}")
        for name in ("sources", "measures", "outputs", "stacks", "generators", "extra_instructions"):
            self._set(name, as_tuple(getattr(self, name), name))
        self._check_parts("sources", CaseSource, "case sources such as RandomCases")
        self._check_errors()
        self._check_parts("stacks", str, "names of stacks")
        if not isinstance(self.settings, ProblemSettings):
            raise TypeError(f"settings must be ProblemSettings, got {shown(self.settings)}")
        if self.carried_cases is not None:
            check_function(self.carried_cases, "carried_cases", 0)
        self._check_genes()
        self._set("title", self.title or self.name.replace("-", " ").title())

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle a problem that `load` knows by its name, because its functions cannot be pickled."""
        from flexicase.problems import NAMES, load

        if self.name in NAMES and load(self.name) is self:
            return load, (self.name,)
        return super().__reduce_ex__(protocol)

    def _check_parts(self, name: str, kind: type, expected: str) -> None:
        parts = getattr(self, name)
        if not parts:
            raise ValueError(f"{name} must not be empty")
        for part in parts:
            if not isinstance(part, kind):
                raise TypeError(f"{name} must be {expected}, got {shown(part)}")

    def _check_errors(self) -> None:
        if self.evaluate is not None:
            if not callable(self.evaluate):
                raise TypeError(f"evaluate must be a function of a program and the inputs, got {shown(self.evaluate)}")
            if self.answer is not None or self.measures:
                raise ValueError("evaluate must be given alone, without answer and measures")
        else:
            self._check_parts("measures", ErrorMeasure, "ErrorMeasure objects")
        for measure in self.measures:
            measure.native()
            if self.answer is None and measure.target is None and isinstance(measure.error, str):
                raise ValueError(f"measures must be functions if answer is None, got {measure.error!r}")
        stacks = self.outputs or tuple(dict.fromkeys(measure.stack for measure in self.measures))
        self._set("outputs", check_outputs(stacks))

    def _check_genes(self) -> None:
        InstructionSet.from_stacks(*self.stacks)
        check_names(self.extra_instructions, "extra_instructions")
        _check_generators(self.generators, "generators")
        if not isinstance(self.generators_by_list, Mapping):
            raise TypeError(
                f"generators_by_list must map instruction lists to generators, got {shown(self.generators_by_list)}"
            )
        for name, generators in self.generators_by_list.items():
            check_choice(name, "a key of generators_by_list", INSTRUCTION_SETS)
            _check_generators(as_tuple(generators, "generators_by_list"), "generators_by_list")
        if self.gene_shares is not None:
            shares = as_tuple(self.gene_shares, "gene_shares")
            if len(shares) != 2 or sum(check_fraction(share, "gene_shares") for share in shares) >= 1:
                raise ValueError(f"gene_shares must be two that sum to less than 1, got {shown(self.gene_shares)}")
            self._set("gene_shares", shares)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def errors_per_case(self) -> int:
        """Number of errors of a case."""
        return len(self.measures) or 1

    def genes(self, instruction_set: InstructionSetName | None = None) -> tuple[Generator, ...]:
        """What random genes are drawn from: the generators, then each instruction.

        The instruction list is by default that of the settings.
        """
        chosen = self.settings.instruction_set if instruction_set is None else instruction_set
        registered = InstructionSet.from_stacks(*self.stacks, instruction_set=chosen)
        generators = self.generators_by_list.get(chosen, self.generators)
        instructions = (*registered, *map(Symbol, self.extra_instructions))
        if self.gene_shares is None:
            return (*generators, *instructions)
        return (*_shared(generators, len(instructions), self.gene_shares), *instructions)

    def limits(self, instruction_set: InstructionSetName | None = None) -> Limits:
        """The limits of a run of a program; the instruction list is by default that of the settings."""
        settings = self.settings
        chosen = check_instruction_set(settings.instruction_set if instruction_set is None else instruction_set)
        return Limits(steps=settings.steps, points=settings.variation.max_points, keep_nan=chosen == "2019")

    def cases(self, inputs: Iterable[Inputs]) -> Cases:
        """Cases with these inputs and the right answers.

        >>> from flexicase import problems
        >>> problems.load("sum-of-squares").cases([(1,), (2,), (3,)]).expected
        [1, 5, 14]
        """
        all_inputs = list(as_tuple(inputs, "inputs"))
        for case in all_inputs:
            if not isinstance(case, tuple):
                raise TypeError(f"the inputs of a case of {self.name} must be a tuple, got {shown(case)}")
            if len(case) != len(all_inputs[0]):
                raise ValueError(
                    f"all cases of {self.name} must have the same number of inputs, "
                    f"got {len(all_inputs[0])} and {len(case)}"
                )
        return Cases(all_inputs, [self._answer(case) for case in all_inputs])

    def _answer(self, inputs: Inputs) -> Value:
        if self.answer is None:
            return None
        try:
            return self.answer(*inputs)
        except Exception as error:
            raise ValueError(f"answer of {self.name} failed on the inputs {inputs!r:.80}: {error!r}") from error

    def sample(self, seed: Seed = None) -> tuple[Cases, Cases]:
        """Draw the training and the test cases of a run; the same seed gives the same cases."""
        rng = generator(seed)
        samples = [source.sample(rng) for source in self.sources]
        return (
            self.cases(case for train, _ in samples for case in train),
            self.cases(case for _, test in samples for case in test),
        )

    def fixed_cases(self) -> Cases:
        """The fixed cases to try a program on."""
        if self.carried_cases is not None:
            return self.carried_cases()
        fixed = [source for source in self.sources if not source.can_draw]
        return self.cases(case for source in fixed for case in source.sample(generator(0))[0])

    def draw_cases(self, n: int, seed: Seed = None) -> Cases:
        """Draw ``n`` cases from the sources that are not fixed, each as often as runs use it.

        The same seed gives the same cases.
        """
        check_count(n, "n", maximum=MAX_CASES)
        sources = [source for source in self.sources if source.can_draw]
        if not sources and n:
            raise ValueError(f"n must be 0 for {self.name}, which has only fixed cases, got {n}")
        rng = generator(seed)
        uses = [source.n_train + source.n_test for source in sources]
        chosen = by_weight(rng, uses, n) if n else ()
        return self.cases(sources[i].draw_case(rng) for i in chosen)

    def evaluator(self, cases: Cases, instruction_set: InstructionSetName | None = None) -> Evaluator:
        """An evaluator that runs programs on the cases and measures their errors.

        >>> from flexicase import problems
        >>> from flexicase.push import Program
        >>> problem = problems.load("mirror-image")
        >>> evaluator = problem.evaluator(problem.fixed_cases())
        >>> evaluator.errors([Program("(in1 in2 vector_integer_reverse vector_integer_eq)")]).sum().item()
        0.0
        """
        if not isinstance(cases, Cases):
            raise TypeError(f"cases must be Cases, got {shown(cases)}")
        if not len(cases):
            raise ValueError(f"cases must not be empty ({self.name})")
        limits = self.limits(instruction_set)
        if self.evaluate is not None:
            return FunctionEvaluator(cases.inputs, self.evaluate, self.outputs, limits)
        expected: list[Value] = cases.expected if self.answer is not None else list(cases.inputs)
        return Evaluator(cases.inputs, expected, measures=self.measures, limits=limits)

    def function(self, program: Program, instruction_set: InstructionSetName | None = None) -> ProgramFunction:
        """A program as a Python function of new inputs, with the limits of the problem.

        >>> from flexicase import problems
        >>> from flexicase.push import Program
        >>> problems.load("gcd").function(Program("(in1 in2 integer_min)"))(6, 4)
        4
        """
        return ProgramFunction.from_program(program, self.outputs, self.limits(instruction_set))

    def success(self, errors: ArrayLike) -> bool | None:
        """Whether a program with these errors on the test cases makes a run a success; None without test cases.

        Args:
            errors: (n_errors,) the errors.
        """
        values: tuple[Any, ...] = as_tuple(errors, "errors")  # type: ignore[arg-type]
        try:
            total = np.sum(np.array(list(map(float, values))))
        except Exception:
            raise TypeError(f"errors must be numbers, got {shown(errors)}") from None
        return bool(total <= self.settings.error_threshold) if values else None


def _shared(generators: Sequence[Generator], n_instructions: int, shares: tuple[float, float]) -> tuple[Generator, ...]:
    """The generators, with the whole lists of inputs and of constants repeated until they have their shares."""
    instructions = [entry for entry in generators if isinstance(entry, Symbol | RandomTag | RandomTagged)]
    inputs = [entry for entry in instructions if isinstance(entry, Symbol) and INPUT.fullmatch(entry)]
    once = [entry for entry in instructions if entry not in inputs]
    constants = [entry for entry in generators if not isinstance(entry, Symbol | RandomTag | RandomTagged)]
    total = (len(once) + n_instructions) / (1 - sum(shares))
    return (*_repeated(inputs, int(shares[0] * total)), *_repeated(constants, int(shares[1] * total)), *once)


def _repeated(entries: list[Generator], n: int) -> list[Generator]:
    return entries * math.ceil(n / len(entries)) if entries else []


def _check_generators(generators: Sequence[Generator], name: str) -> None:
    for entry in generators:
        if isinstance(entry, RANDOM_DRAWS):
            continue
        try:
            Program((entry,))
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must be literals, symbols or random draws, got {shown(entry)} ({error})") from None
