"""Cases, and the sources they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, runtime_checkable

from flexicase._checks import check_count, check_flag, check_function, shown
from flexicase.problems.random_inputs import Rng, pick, shuffled
from flexicase.push.program import Value

T = TypeVar("T")
#: The inputs of one case, ``in1`` first.
Inputs = tuple[Value, ...]
#: Largest number of cases of a problem.
MAX_CASES = 10**7


def as_tuple(values: Iterable[T], name: str) -> tuple[T, ...]:
    """The values of an argument that must be a sequence, and not a string."""
    try:
        if isinstance(values, str | bytes | bytearray | memoryview | Mapping):
            raise TypeError
        if isinstance(values, Sized) and len(values) > MAX_CASES:
            raise TypeError
        return tuple(values)
    except Exception:
        raise TypeError(f"{name} must be a sequence, got {shown(values)}") from None


@dataclass(frozen=True)
class Cases:
    """Inputs and right answers.

    Attributes:
        inputs: The inputs of each case.
        expected: The right answer of each case; a tuple if there are several answers.

    >>> cases = Cases([(1,), (2,)], [1, 4])
    >>> len(cases), list(cases)
    (2, [((1,), 1), ((2,), 4)])
    """

    inputs: list[Inputs] = field(default_factory=list)
    expected: list[Value] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("inputs", "expected"):
            if not isinstance(getattr(self, name), list):
                raise TypeError(f"{name} must be a list, got {shown(getattr(self, name))}")
        if len(self.inputs) != len(self.expected):
            raise ValueError(
                f"inputs and expected must have the same length, got {len(self.inputs)} and {len(self.expected)}"
            )

    def __len__(self) -> int:
        return len(self.inputs)

    def __iter__(self) -> Iterator[tuple[Inputs, Value]]:
        return zip(self.inputs, self.expected, strict=True)

    def __add__(self, other: Cases) -> Cases:
        return Cases(self.inputs + other.inputs, self.expected + other.expected)


@runtime_checkable
class CaseSource(Protocol):
    """A source of cases: how many of them a run uses for training and for testing, and how they are drawn."""

    @property
    def n_train(self) -> int:
        """Number of training cases."""

    @property
    def n_test(self) -> int:
        """Number of test cases."""

    @property
    def can_draw(self) -> bool:
        """Whether there are more cases than those that every run trains on."""

    def sample(self, rng: Rng) -> tuple[list[Inputs], list[Inputs]]:
        """The inputs of one run, for training and for testing."""

    def draw_case(self, rng: Rng) -> Inputs:
        """The inputs of one more case."""


@dataclass(frozen=True)
class FixedCases:
    """A list that every run uses as it is: for training or, with ``test``, for testing.

    >>> FixedCases([(1,), (2,)]).n_train, FixedCases([(1,), (2,)], test=True).n_train
    (2, 0)
    """

    inputs: Sequence[Inputs]
    test: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", as_tuple(self.inputs, "inputs"))
        check_flag(self.test, "test")

    @property
    def n_train(self) -> int:
        return 0 if self.test else len(self.inputs)

    @property
    def n_test(self) -> int:
        return len(self.inputs) if self.test else 0

    @property
    def can_draw(self) -> bool:
        return self.test

    def sample(self, rng: Rng) -> tuple[list[Inputs], list[Inputs]]:
        return ([], list(self.inputs)) if self.test else (list(self.inputs), [])

    def draw_case(self, rng: Rng) -> Inputs:
        return pick(rng, self.inputs)


class _DrawnCases:
    """A source of ``train`` training and ``test`` test cases that differ from run to run."""

    train: int
    test: int
    can_draw = True

    @property
    def n_train(self) -> int:
        return self.train

    @property
    def n_test(self) -> int:
        return self.test


@dataclass(frozen=True)
class SplitCases(_DrawnCases):
    """A list that is shuffled and split for each run."""

    inputs: Sequence[Inputs]
    train: int
    test: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", as_tuple(self.inputs, "inputs"))
        if check_count(self.train, "train") + check_count(self.test, "test") > len(self.inputs):
            raise ValueError(
                f"train + test must not exceed the {len(self.inputs)} inputs, got {self.train} + {self.test}"
            )

    def sample(self, rng: Rng) -> tuple[list[Inputs], list[Inputs]]:
        order = shuffled(rng, self.inputs)
        return order[: self.train], order[self.train : self.train + self.test]

    def draw_case(self, rng: Rng) -> Inputs:
        return pick(rng, self.inputs)


@dataclass(frozen=True)
class RandomCases(_DrawnCases):
    """Random cases, drawn for each run, training and test cases independently.

    Attributes:
        draw: Gives the inputs of one case from a NumPy generator, or a list with those of several related cases.
        train: Number of training cases.
        test: Number of test cases.
    """

    draw: Callable[[Rng], Inputs | list[Inputs]]
    train: int
    test: int = 0

    def __post_init__(self) -> None:
        if not callable(self.draw):
            raise TypeError(f"draw must be a function of a NumPy generator, got {shown(self.draw)}")
        check_function(self.draw, "draw", 1)
        check_count(self.train, "train", maximum=MAX_CASES)
        check_count(self.test, "test", maximum=MAX_CASES)

    def sample(self, rng: Rng) -> tuple[list[Inputs], list[Inputs]]:
        return self._draw(rng, self.train), self._draw(rng, self.test)

    def draw_case(self, rng: Rng) -> Inputs:
        return self._draw(rng, 1)[0]

    def _draw(self, rng: Rng, count: int) -> list[Inputs]:
        cases: list[Inputs] = []
        while len(cases) < count:
            drawn = self.draw(rng)
            cases.extend(drawn if isinstance(drawn, list) else [drawn])
        return cases[:count]
