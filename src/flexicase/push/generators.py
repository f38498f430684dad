"""What random genes are made of: constants drawn anew for each gene, and tag instructions."""

from __future__ import annotations

from dataclasses import dataclass

from flexicase.push.values import Value

#: Newline, tab and the printable characters: what characters and strings of constants are drawn from.
VISIBLE = "\n\t" + "".join(map(chr, range(32, 127)))
#: Numbers that new tag instructions carry are below this one.
TAG_LIMIT = 1000


@dataclass(frozen=True)
class RandomInteger:
    """An integer, uniform on ``low`` … ``high``, both included.

    >>> RandomInteger(-10, 10)
    RandomInteger(low=-10, high=10)
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low must not be above high, got {self.low} and {self.high}")


@dataclass(frozen=True)
class RandomFloat:
    """A float, uniform on [``low``, ``high``).

    >>> RandomFloat(0.0, 1.0)
    RandomFloat(low=0.0, high=1.0)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not -float("inf") < self.low < self.high < float("inf"):
            raise ValueError(f"low must be below high and both finite, got {self.low} and {self.high}")


@dataclass(frozen=True)
class RandomBoolean:
    """True or false, each half of the time.

    >>> RandomBoolean()
    RandomBoolean()
    """


@dataclass(frozen=True)
class RandomChar:
    """A character, uniform on those given.

    >>> RandomChar("abc")
    RandomChar(characters='abc')
    """

    characters: str = VISIBLE

    def __post_init__(self) -> None:
        if not self.characters:
            raise ValueError("characters must not be empty")


@dataclass(frozen=True)
class RandomString:
    """A string of ``low`` … ``high`` characters, its length uniform.

    Attributes:
        low: Least length.
        high: Greatest length.
        groups: Pairs of a weight and characters; each character comes from a group drawn by weight, and is uniform
            on it.
        words: Spaces that follow each other become one, and those at the ends go.

    >>> RandomString(0, 20, ((0.2, " "), (0.8, "abc")), words=True).high
    20
    """

    low: int
    high: int
    groups: tuple[tuple[float, str], ...] = ((1.0, VISIBLE),)
    words: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise ValueError(f"low must be between 0 and high, got {self.low} and {self.high}")
        if not self.groups or any(weight <= 0 or not characters for weight, characters in self.groups):
            raise ValueError(f"groups must be pairs of a positive weight and characters, got {self.groups!r}")


@dataclass(frozen=True)
class RandomTag:
    """A ``tag_<stack>_<n>`` instruction: one of the stacks, uniform, and a number below ``limit``.

    >>> RandomTag(("integer", "exec")).limit
    1000
    """

    stacks: tuple[str, ...]
    limit: int = TAG_LIMIT

    def __post_init__(self) -> None:
        if not self.stacks or self.limit < 1:
            raise ValueError(f"stacks must not be empty and limit must be positive, got {self.stacks} and {self.limit}")


@dataclass(frozen=True)
class RandomTagged:
    """A ``tagged_<n>`` instruction with a number below ``limit``.

    >>> RandomTagged()
    RandomTagged(limit=1000)
    """

    limit: int = TAG_LIMIT

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit must be positive, got {self.limit}")


#: An entry of a generator list: a literal or symbol taken as it is, or a draw.
Generator = Value | RandomInteger | RandomFloat | RandomBoolean | RandomChar | RandomString | RandomTag | RandomTagged
