"""The random draws that genes are made of.

>>> RandomInteger(-10, 10), RandomFloat(0.0, 1.0), RandomBoolean()
(RandomInteger(low=-10, high=10), RandomFloat(low=0.0, high=1.0), RandomBoolean())
>>> RandomChar("abc"), RandomTag(("integer", "exec")).limit, RandomTagged()
(RandomChar(characters='abc'), 1000, RandomTagged(limit=1000))
>>> RandomString(0, 20, ((0.2, " "), (0.8, "abc")), words=True).high, RandomVector(0, 9, RandomBoolean()).high
(20, 9)
>>> RandomWords(0, 20, "abc", separators=((0.66, "-"), (0.34, " ")), lengths=((1.0, 1, 5),)).high
20
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from flexicase._checks import check_count, check_flag, check_number, check_text, shown
from flexicase.push.instructions import check_stacks
from flexicase.push.program import Value, check_sequence

#: Newline, tab and the printable characters: the default of random characters and strings.
VISIBLE = "\n\t" + "".join(map(chr, range(32, 127)))
#: Random tag numbers are below this one.
TAG_LIMIT = 1000
#: Largest length of a random string, and of strings that instructions make.
MAX_LENGTH = 5000


def _integer(value: Any, name: str) -> int:
    return check_count(value, name, -(2**63), 2**63 - 1)


def _characters(value: Any, name: str) -> str:
    text = check_text(value, name)
    if not text or max(text) > "\uffff":
        raise ValueError(f"{name} must be one or more characters of one UTF-16 unit each, got {shown(text)}")
    return text


def _set(generator: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(generator, name, value)


@dataclass(frozen=True)
class RandomInteger:
    """An integer, uniform on ``low`` … ``high``, both included."""

    low: int
    high: int

    def __post_init__(self) -> None:
        _set(self, low=_integer(self.low, "low"), high=_integer(self.high, "high"))
        if self.low > self.high:
            raise ValueError(f"low must not be above high, got {self.low} and {self.high}")


@dataclass(frozen=True)
class RandomFloat:
    """A float, uniform on [``low``, ``high``)."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _set(self, low=check_number(self.low, "low"), high=check_number(self.high, "high"))
        if not (self.low < self.high and math.isfinite(self.high - self.low)):
            raise ValueError(f"low must be below high, both finite, got {self.low} and {self.high}")


@dataclass(frozen=True)
class RandomBoolean:
    """True or false, each half of the time."""


@dataclass(frozen=True)
class RandomChar:
    """A character, uniform on those given."""

    characters: str = VISIBLE

    def __post_init__(self) -> None:
        _characters(self.characters, "characters")


@dataclass(frozen=True)
class RandomString:
    """A string of ``low`` … ``high`` characters, its length uniform.

    Attributes:
        low: Smallest length.
        high: Largest length.
        groups: Pairs of a weight and characters; each character comes from a group drawn by weight, and is uniform
            on it.
        words: Whether runs of spaces become one space, and those at the ends are removed.
    """

    low: int
    high: int
    groups: tuple[tuple[float, str], ...] = ((1.0, VISIBLE),)
    words: bool = False

    def __post_init__(self) -> None:
        _check_lengths(self)
        _set(self, groups=_groups(self.groups, "groups"), words=check_flag(self.words, "words"))


def _groups(groups: Any, name: str) -> tuple[tuple[float, str], ...]:
    found = check_sequence(groups, name, "pairs of a weight and characters")
    if not found:
        raise ValueError(f"{name} must not be empty")
    return tuple(_group(group, f"{name}[{i}]") for i, group in enumerate(found))


def _group(group: Any, name: str) -> tuple[float, str]:
    pair = check_sequence(group, name, "a weight and characters")
    if len(pair) != 2:
        raise ValueError(f"{name} must be a weight and characters, got {shown(group)}")
    return _weight(pair[0], f"{name}[0]"), _characters(pair[1], f"{name}[1]")


def _weight(value: Any, name: str) -> float:
    weight = check_number(value, name)
    if not 0.0 < weight < math.inf:
        raise ValueError(f"{name} must be a finite weight above 0, got {shown(value)}")
    return weight


def _check_lengths(generator: Any) -> None:
    _set(generator, low=check_count(generator.low, "low"), high=check_count(generator.high, "high", 0, MAX_LENGTH))
    if generator.low > generator.high:
        raise ValueError(f"low must be between 0 and high, got {generator.low} and {generator.high}")


@dataclass(frozen=True)
class RandomWords:
    """A string of words with one separator between each two.

    Words and separators are joined until there are enough characters, and cut to a length of ``low`` … ``high``, which
    is uniform. A separator at the end is dropped.

    Attributes:
        low: Smallest length.
        high: Largest length.
        letters: The characters of words, uniform.
        separators: Pairs of a weight and characters, as the groups of `RandomString`.
        lengths: Lengths of words: triples of a weight, a smallest and a largest length, which is uniform between them.
    """

    low: int
    high: int
    letters: str
    separators: tuple[tuple[float, str], ...] = ((1.0, " "),)
    lengths: tuple[tuple[float, int, int], ...] = ((1.0, 1, 8),)

    def __post_init__(self) -> None:
        _check_lengths(self)
        _set(self, letters=_characters(self.letters, "letters"), separators=_groups(self.separators, "separators"))
        lengths = check_sequence(self.lengths, "lengths", "weights and lengths")
        if not lengths:
            raise ValueError("lengths must not be empty")
        _set(self, lengths=tuple(_word_lengths(entry, f"lengths[{i}]") for i, entry in enumerate(lengths)))


def _word_lengths(entry: Any, name: str) -> tuple[float, int, int]:
    parts = check_sequence(entry, name, "a weight and two lengths")
    if len(parts) != 3:
        raise ValueError(f"{name} must be a weight and two lengths, got {shown(entry)}")
    low = check_count(parts[1], f"{name}[1]", 1, MAX_LENGTH)
    return _weight(parts[0], f"{name}[0]"), low, check_count(parts[2], f"{name}[2]", low, MAX_LENGTH)


@dataclass(frozen=True)
class RandomTag:
    """A ``tag_<stack>_<n>`` instruction with a random stack and a number below ``limit``."""

    stacks: tuple[str, ...]
    limit: int = TAG_LIMIT

    def __post_init__(self) -> None:
        _set(self, stacks=check_stacks(self.stacks, "stacks"), limit=check_count(self.limit, "limit", 1))
        if not self.stacks:
            raise ValueError("stacks must not be empty")


@dataclass(frozen=True)
class RandomTagged:
    """A ``tagged_<n>`` instruction with a number below ``limit``."""

    limit: int = TAG_LIMIT

    def __post_init__(self) -> None:
        _set(self, limit=check_count(self.limit, "limit", 1))


@dataclass(frozen=True)
class RandomVector:
    """A vector of ``low`` … ``high`` random elements, its length uniform.

    Attributes:
        low: Smallest length.
        high: Largest length.
        element: Draws the elements: numbers, booleans or strings.
    """

    low: int
    high: int
    element: RandomInteger | RandomFloat | RandomBoolean | RandomString | RandomWords

    def __post_init__(self) -> None:
        _check_lengths(self)
        if not isinstance(self.element, RandomInteger | RandomFloat | RandomBoolean | RandomString | RandomWords):
            raise TypeError(f"element must draw numbers, booleans or strings, got {shown(self.element)}")


#: What the engine calls each random draw.
NATIVE_DRAWS: dict[type, str] = {
    RandomInteger: "integer",
    RandomFloat: "real",
    RandomBoolean: "boolean",
    RandomChar: "character",
    RandomString: "string",
    RandomWords: "words",
    RandomVector: "vector",
    RandomTag: "tag",
    RandomTagged: "tagged",
}
#: The classes of random draws.
RANDOM_DRAWS = tuple(NATIVE_DRAWS)
#: What a random gene is made of: a literal or symbol, taken as it is, or one of `RANDOM_DRAWS`.
Generator = Value
