"""Settings of a run, made from the arguments of `evolve` and checked before the run starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_args

import numpy as np

from flexicase._checks import MAX_COUNT, check_choice, check_count, check_flag, check_threads, shown
from flexicase._provenance import usable_cores
from flexicase.problems import Problem, load
from flexicase.problems.settings import MAX_POPULATION, Variation, check_variation
from flexicase.push.instructions import InstructionSetName, check_instruction_set
from flexicase.rng import Seed, key_from_seed
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method
from flexicase.selection.weights import DefaultWeight

#: Smallest and largest value of each count.
COUNTS = {
    "population": (1, MAX_POPULATION),
    "generations": (0, MAX_COUNT),
    "n_selections": (1, MAX_POPULATION),
    "simplification_steps": (0, MAX_COUNT),
}


@dataclass(frozen=True, kw_only=True)
class EvolveSettings:
    """Settings of a run; `evolve` has an argument of the same name for each."""

    problem: Problem
    method: str | Method
    population: int
    generations: int
    seed: int
    partial: bool
    default_weight: DefaultWeight
    n_selections: int | None
    variation: Variation
    simplification_steps: int
    instruction_set: InstructionSetName
    threads: int

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> EvolveSettings:
        """Check the arguments of `evolve`, and replace None by what the problem says."""
        given = {f.name: arguments[f.name] for f in fields(cls)}
        problem = load(given["problem"]) if isinstance(given["problem"], str) else given["problem"]
        if not isinstance(problem, Problem):
            raise TypeError(f"problem must be the name of a problem or a Problem, got {shown(problem)}")
        for name in ("population", "generations", "variation", "instruction_set"):
            if given[name] is None:
                given[name] = getattr(problem.settings, name)
        for name, (minimum, maximum) in COUNTS.items():
            if given[name] is not None:
                given[name] = check_count(given[name], name, minimum, maximum)
        resolve_method(given["method"])
        check_choice(given["default_weight"], "default_weight", get_args(DefaultWeight))
        check_variation(given["variation"])
        check_instruction_set(given["instruction_set"])
        given["problem"] = problem
        given["seed"] = _seed_number(given["seed"])
        given["partial"] = check_flag(given["partial"], "partial")
        given["threads"] = usable_cores() if given["threads"] is None else check_threads(given["threads"])
        return cls(**given)

    @property
    def method_name(self) -> str:
        """The name of the method, for people."""
        name = self.method if isinstance(self.method, str) else stable_repr(self.method)
        return f"partial {name}" if self.partial else name

    def as_dict(self) -> dict[str, Any]:
        """All settings that the result depends on, as plain values."""
        return {
            "problem": self.problem.name,
            "method": self.method if isinstance(self.method, str) else stable_repr(self.method),
            "population": self.population,
            "generations": self.generations,
            "seed": self.seed,
            "partial": self.partial,
            "default_weight": self.default_weight,
            "n_selections": self.n_selections,
            "variation": self.variation.as_dict(),
            "simplification_steps": self.simplification_steps,
            "instruction_set": self.instruction_set,
            "steps": self.problem.settings.steps,
            "error_threshold": self.problem.settings.error_threshold,
        }


def stable_repr(value: object) -> str:
    """The representation of an object without memory addresses, so that it is the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _seed_number(seed: Seed) -> int:
    """The seed as an integer that can be recorded; a 128-bit one is drawn from other kinds of seeds."""
    key = key_from_seed(seed)
    is_integer = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    return int(seed) if is_integer else key.k0 << 64 | key.k1  # type: ignore[arg-type]
