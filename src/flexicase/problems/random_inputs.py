"""Random inputs: integers, vectors, characters and strings from a NumPy generator.

>>> rng = generator(7)
>>> integer(rng, 1, 6) == integer(generator(7), 1, 6), chance(rng, 1.0), pick(rng, "aaa")
(True, True, 'a')
>>> len(integers(rng, 5, -10, 10)), len(floats(rng, 5, -1.0, 1.0)), sorted(shuffled(rng, [1, 2, 3]))
(5, 5, [1, 2, 3])
>>> text(rng, 3, "a"), string(rng, RandomString(2, 2, ((1.0, "a"),)))
('aaa', 'aa')
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from flexicase.push.draws import RandomString, RandomWords
from flexicase.rng import Seed, key_from_seed

T = TypeVar("T")
Rng = np.random.Generator


def generator(seed: Seed) -> Rng:
    """The generator that a seed stands for, the same on every platform."""
    key = key_from_seed(seed)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([key.k0, key.k1])))


def integer(rng: Rng, low: int, high: int) -> int:
    """An integer, uniform on ``low`` … ``high``, both included."""
    return int(rng.integers(low, high, endpoint=True))


def integers(rng: Rng, size: int, low: int, high: int) -> list[int]:
    """A vector of integers, uniform on ``low`` … ``high``, both included."""
    values: list[int] = rng.integers(low, high, endpoint=True, size=size).tolist()
    return values


def floats(rng: Rng, size: int, low: float, high: float) -> list[float]:
    """A vector of floats, uniform on [``low``, ``high``)."""
    values: list[float] = (low + (high - low) * rng.random(size)).tolist()
    return values


def chance(rng: Rng, probability: float) -> bool:
    """True with this probability."""
    return bool(rng.random() < probability)


def pick(rng: Rng, items: Sequence[T]) -> T:
    """One of the items, uniform."""
    return items[integer(rng, 0, len(items) - 1)]


def shuffled(rng: Rng, items: Sequence[T]) -> list[T]:
    """The items in random order."""
    return [items[i] for i in rng.permutation(len(items))]


def text(rng: Rng, size: int, characters: str) -> str:
    """A string of characters, each uniform on those given."""
    return "".join(map(characters.__getitem__, rng.integers(len(characters), size=size).tolist()))


def by_weight(rng: Rng, weights: Sequence[float], size: int | None = None) -> Any:
    """An index, or an array of ``size`` indices, each drawn with a probability proportional to its weight."""
    shares = np.array(weights, dtype=np.float64)
    bounds = np.cumsum(shares / shares.sum())[:-1]
    return np.searchsorted(bounds, rng.random(size), side="right")


def string(rng: Rng, kind: RandomString | RandomWords) -> str:
    """A string as a gene of that kind is drawn."""
    size = integer(rng, kind.low, kind.high)
    if isinstance(kind, RandomWords):
        return _words(rng, size, kind)
    if len(kind.groups) == 1 and not kind.words:
        return text(rng, size, kind.groups[0][1])
    groups = by_weight(rng, [weight for weight, _ in kind.groups], size)
    sizes = np.array([len(characters) for _, characters in kind.groups])[groups]
    places = (rng.random(size) * sizes).astype(np.int64)
    drawn = "".join(kind.groups[group][1][i] for group, i in zip(groups.tolist(), places.tolist(), strict=True))
    return re.sub(" +", " ", drawn).strip(" ") if kind.words else drawn


def _words(rng: Rng, size: int, kind: RandomWords) -> str:
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        if len(parts) % 2:
            _, characters = kind.separators[by_weight(rng, [weight for weight, _ in kind.separators])]
            parts.append(pick(rng, characters))
        else:
            _, low, high = kind.lengths[by_weight(rng, [weight for weight, _, _ in kind.lengths])]
            parts.append(text(rng, integer(rng, low, high), kind.letters))
    if parts and len(parts) % 2 == 0:
        parts.pop()
    return "".join(parts)[:size]
