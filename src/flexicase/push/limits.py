"""Limits of a run."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

from flexicase import _native
from flexicase._checks import check_count, check_flag, shown

#: No limit can be above this one.
MAX_LIMIT = 2**60


@dataclass(frozen=True)
class Limits:
    """What a program may use; each limit that is reached has a termination status of its own.

    Attributes:
        steps: Steps of the interpreter; opening a list is one.
        points: Points of translated programs, of code that instructions build and of items that they duplicate.
        stack: Items on a stack, and entries of the tag map.
        memory: Bytes for the strings, vectors and lists that one run makes, counted in pieces of 256 KiB.
        code: Points of any code, also that of loops.
        keep_nan: Results that are not a number stay so (instruction list W) instead of becoming 0.0.
        seed: What random instructions draw from; a run draws the same each time.

    >>> Limits(steps=150).steps
    150
    """

    steps: int = 600
    points: int = 1200
    stack: int = 100_000
    memory: int = 64 << 20
    code: int = 1_000_000
    keep_nan: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "points", "stack", "memory", "code"):
            object.__setattr__(self, name, check_count(getattr(self, name), name, 0, MAX_LIMIT))
        object.__setattr__(self, "keep_nan", check_flag(self.keep_nan, "keep_nan"))
        object.__setattr__(self, "seed", check_count(self.seed, "seed", 0, 2**64 - 1))

    @cached_property
    def native(self) -> _native.PushLimits:
        """The form that the engine reads."""
        return _native.PushLimits(*astuple(self))

    def __reduce__(self) -> tuple[type[Limits], tuple[Any, ...]]:
        return Limits, astuple(self)


def check_limits(limits: Any) -> Limits:
    """An argument that must be `Limits`."""
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be Limits, such as Limits(steps=600), got {shown(limits)}")
    return limits
