"""What a run is: the problem, the method and every setting, checked before anything happens."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from flexicase._checks import check_count, check_threads, shown
from flexicase.gp.variation import Variation
from flexicase.problems import Problem, load
from flexicase.problems.problem import MAX_POPULATION, check_profile
from flexicase.push.instructions import Profile
from flexicase.rng import Seed, key_from_seed
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method
from flexicase.selection.weights import DefaultWeight

#: Steps of simplification in the benchmark suite.
SIMPLIFICATION_STEPS = 5000
DEFAULTS = get_args(DefaultWeight)


@dataclass(frozen=True)
class EvolveSettings:
    """Everything that a run depends on, and the threads it may use.

    Attributes:
        problem: The problem.
        method: The selection method, by name or as an object.
        population: Individuals.
        generations: The last generation.
        seed: The seed.
        partial: Whether, or how, only what selection needs is evaluated.
        parents: Selection events per generation; None for one per parent that a child needs.
        variation: How children are made.
        simplification_steps: Attempts to make the program of a solution smaller.
        profile: The list of instructions.
        threads: Threads to use; nothing depends on it.
    """

    problem: Problem
    method: str | Method
    population: int
    generations: int
    seed: int
    partial: bool | DefaultWeight | FastLexicase
    parents: int | None
    variation: Variation
    simplification_steps: int
    profile: Profile
    threads: int

    @classmethod
    def of(
        cls,
        problem: str | Problem,
        *,
        method: str | Method = "lexicase",
        population: int | None = None,
        generations: int | None = None,
        seed: Seed = 0,
        partial: bool | DefaultWeight | FastLexicase = False,
        parents: int | None = None,
        variation: Variation | None = None,
        simplification_steps: int = SIMPLIFICATION_STEPS,
        profile: Profile = "W",
        threads: int | None = None,
    ) -> EvolveSettings:
        """Check the arguments of a run and fill in what the problem knows."""
        chosen = load(problem) if isinstance(problem, str) else problem
        if not isinstance(chosen, Problem):
            raise TypeError(f"problem must be the name of a problem or a Problem, got {shown(problem)}")
        resolve_method(method)
        if not isinstance(partial, bool | FastLexicase) and not (isinstance(partial, str) and partial in DEFAULTS):
            raise TypeError(f"partial must be True, False, 'max', 'min' or a FastLexicase, got {shown(partial)}")
        if variation is not None and not isinstance(variation, Variation):
            raise TypeError(f"variation must be a Variation, got {shown(variation)}")
        settings = chosen.settings
        if population is None:
            population = settings.population
        return cls(
            problem=chosen,
            method=method,
            population=check_count(population, "population", 1, MAX_POPULATION),
            generations=check_count(settings.generations if generations is None else generations, "generations"),
            seed=_seed_number(seed),
            partial=partial,
            parents=None if parents is None else check_count(parents, "parents", 1, MAX_POPULATION),
            variation=variation or variation_of(chosen),
            simplification_steps=check_count(simplification_steps, "simplification_steps"),
            profile=check_profile(profile),
            threads=os.cpu_count() or 1 if threads is None else check_threads(threads),
        )

    @property
    def method_name(self) -> str:
        """What to call the method."""
        if isinstance(self.partial, FastLexicase):
            return "fast-lexicase"
        name = self.method if isinstance(self.method, str) else stable_repr(self.method)
        return f"partial {name}" if self.partial else name

    def as_dict(self) -> dict[str, Any]:
        """All that the outcome depends on, as plain values."""
        partial: Any = self.partial
        if isinstance(partial, FastLexicase):
            state = partial.state_dict()
            partial = {**state["settings"], "weights": state["weights"].tolist()}
        return {
            "problem": self.problem.name,
            "method": self.method if isinstance(self.method, str) else stable_repr(self.method),
            "population": self.population,
            "generations": self.generations,
            "seed": self.seed,
            "partial": partial,
            "variation": self.variation.as_dict(),
            "simplification_steps": self.simplification_steps,
            "profile": self.profile,
            "steps": self.problem.settings.steps,
            "error_threshold": self.problem.settings.error_threshold,
            **({} if self.parents is None else {"parents": self.parents}),
        }


def stable_repr(value: object) -> str:
    """The representation of an object without the places of functions in memory, the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def variation_of(problem: Problem) -> Variation:
    """How children are made in runs on a problem, unless told otherwise.

    >>> from flexicase import problems
    >>> variation_of(problems.load("mirror-image")).max_genes
    300
    """
    settings = problem.settings
    return Variation(
        operators=settings.operators,
        alignment_deviation=settings.alignment_deviation,
        tweak_rate=settings.constant_tweak_rate,
        max_points=settings.max_points,
        max_initial_genome=settings.max_initial_genome,
        close_marker=settings.close_marker,
    )


def _seed_number(seed: Seed) -> int:
    """A seed as a number that can be written down."""
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        key_from_seed(seed)
        return int(seed)
    key = key_from_seed(seed)
    return key.k0 << 64 | key.k1
