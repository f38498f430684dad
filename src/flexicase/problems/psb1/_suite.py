"""What the problems of the suite share."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from flexicase.problems.cases import FixedCases, Inputs, read_carried
from flexicase.problems.problem import Problem
from flexicase.problems.random_inputs import Rng
from flexicase.problems.settings import ProblemSettings, Variation
from flexicase.push import RandomTag, RandomTagged, Symbol

__all__ = ["Inputs", "Rng", "fixed", "inputs", "rounded", "suite_problem", "suite_settings", "tags"]


def fixed(name: str, start: int = 0, stop: int | None = None) -> FixedCases:
    """The carried cases of a problem, or some of them, as training cases of every run."""
    return FixedCases(read_carried(name).inputs[start:stop])


def suite_problem(*, name: str, **fields: Any) -> Problem:
    """A problem whose fixed cases are those that the package carries."""
    return Problem(name=name, carried_cases=partial(read_carried, name), **fields)


def tags(*stacks: str) -> tuple[RandomTag, RandomTagged]:
    """Random tag instructions for these stacks."""
    return RandomTag(stacks), RandomTagged()


def inputs(n: int) -> list[Symbol]:
    """The input instructions in1 … inN."""
    return [Symbol(f"in{i}") for i in range(1, n + 1)]


def suite_settings(
    max_points: int, steps: int, *, generations: int = 300, error_threshold: float = 0.0, **variation: Any
) -> ProblemSettings:
    """Settings with random genomes of up to half the genes that a genome may have."""
    sizes = Variation(max_points=max_points, max_initial_genome=max_points // 8, **variation)
    return ProblemSettings(generations=generations, steps=steps, error_threshold=error_threshold, variation=sizes)


def rounded(value: float, decimals: int) -> float:
    """The nearest number with some decimals, ties toward infinity.

    >>> rounded(0.66666666, 5), rounded(-0.00005, 4)
    (0.66667, 0.0)
    """
    scaled = value * float(10**decimals)
    below = math.floor(scaled)
    whole: int = below + (scaled - below >= 0.5)
    return float(whole / 10**decimals)
