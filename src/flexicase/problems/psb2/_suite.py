"""What the problems of the suite share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import numpy as np

from flexicase.problems.cases import CaseSource, FixedCases, Inputs, RandomCases
from flexicase.problems.problem import Problem
from flexicase.problems.psb1._suite import inputs, integer_cases, string_cases, tags
from flexicase.problems.random_inputs import Rng
from flexicase.problems.settings import ProblemSettings, Variation
from flexicase.push import ErrorMeasure
from flexicase.push.draws import Generator
from flexicase.push.measures import ErrorName

__all__ = ["ErrorMeasure", "FixedCases", "Inputs", "RandomCases", "Rng", "integer_cases", "string_cases"]

#: The inputs that the authors chose for each problem.
CHOSEN: dict[str, list[list[Any]]] = json.loads(
    resources.files("flexicase.problems").joinpath("data", "psb2-inputs.json").read_text(encoding="utf-8")
)
#: Uniform addition and deletion alone, as in the paper.
SETTINGS = ProblemSettings(
    steps=2000,
    instruction_set="psb2",
    variation=Variation(
        operators={"uniform_addition_and_deletion": 1.0},
        addition_and_deletion_rate=0.09,
        max_points=2000,
        max_initial_genome=250,
    ),
)
#: Shares of inputs and of constants among random genes.
GENE_SHARES = (0.15, 0.05)


def suite_problem(
    *, sources: Sequence[CaseSource], stacks: Sequence[str], constants: Sequence[Generator], **more: Any
) -> Problem:
    """A problem with the suite's settings, whose genes are the constants, the inputs and tags of its stacks."""
    return Problem(
        sources=sources,
        stacks=stacks,
        generators=(*constants, *inputs(sources), *tags(*stacks)),
        gene_shares=GENE_SHARES,
        settings=SETTINGS,
        **more,
    )


def fixed(name: str, start: int = 0, stop: int | None = None) -> FixedCases:
    """The inputs chosen for a problem, or some of them, as training cases of every run."""
    return FixedCases([tuple(case) for case in CHOSEN[name][start:stop]])


def slots(count: int, error: ErrorName, penalty: float, **options: Any) -> tuple[ErrorMeasure, ...]:
    """One error for each output slot."""
    return tuple(ErrorMeasure(f"output{i + 1}", error, penalty, target=_part(i), **options) for i in range(count))


def _part(i: int) -> Callable[[Sequence[Any], Any], Any]:
    return lambda _, answers: answers[i]


def single(value: float) -> float:
    """The nearest number of single precision.

    >>> single(0.1)
    0.10000000149011612
    """
    return float(np.float32(value))


def rounded(value: float, decimals: int) -> float:
    """A number to some decimals.

    >>> rounded(0.125, 2)
    0.13
    """
    scale = 10.0**decimals
    return math.floor(value * scale + 0.5) / scale
