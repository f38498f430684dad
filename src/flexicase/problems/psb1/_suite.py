"""What the problems of the suite share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from flexicase.problems.cases import CaseSource, FixedCases, Inputs, RandomCases
from flexicase.problems.files import read_carried
from flexicase.problems.problem import Problem
from flexicase.problems.random_inputs import Rng, generator, integer, string
from flexicase.problems.settings import ProblemSettings, Variation
from flexicase.push import ErrorMeasure, RandomString, RandomTag, RandomTagged, RandomWords, Symbol
from flexicase.push.draws import Generator

__all__ = ["ErrorMeasure", "FixedCases", "Inputs", "RandomCases", "Rng"]


def suite_problem(
    name: str, *, sources: Sequence[CaseSource], stacks: Sequence[str], constants: Sequence[Generator] = (), **more: Any
) -> Problem:
    """A problem with carried cases. Its genes are the constants, tags of its stacks, in their order, and the inputs."""
    return Problem(
        name=name,
        sources=sources,
        stacks=stacks,
        generators=(*constants, *tags(*stacks), *inputs(sources)),
        carried_cases=partial(read_carried, name),
        **more,
    )


def tags(*stacks: str) -> tuple[RandomTag, RandomTagged]:
    """Random tag instructions for these stacks; nothing can be tagged on ``print``."""
    return RandomTag(tuple(stack for stack in stacks if stack != "print")), RandomTagged()


def inputs(sources: Sequence[CaseSource]) -> list[Symbol]:
    """The input instructions in1 … inN of cases from these sources."""
    case = sources[0].draw_case(generator(0))
    return [Symbol(f"in{i + 1}") for i in range(len(case))]


def fixed(name: str, start: int = 0, stop: int | None = None) -> FixedCases:
    """The carried cases of a problem, or some of them, as training cases of every run."""
    return FixedCases(read_carried(name).inputs[start:stop])


def string_cases(kind: RandomString | RandomWords, train: int, test: int) -> RandomCases:
    """Cases whose input is one random string."""
    return RandomCases(lambda rng: (string(rng, kind),), train, test)


def integer_cases(low: int, high: int, train: int, test: int = 0) -> RandomCases:
    """Cases whose input is one integer, uniform on ``low`` … ``high``."""
    return RandomCases(lambda rng: (integer(rng, low, high),), train, test)


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
