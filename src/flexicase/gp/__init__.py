"""Genetic programming with Push: `evolve` and its parts."""

from flexicase._checkpoint import CheckpointError
from flexicase.gp.evolve import Callback, evolve, simplify
from flexicase.gp.parents import ParentSelection
from flexicase.gp.records import EvolutionResult, GenerationRecord
from flexicase.gp.variation import OffspringGenerator, OffspringPlan, Population
from flexicase.problems.settings import Variation

__all__ = [
    "Callback",
    "CheckpointError",
    "EvolutionResult",
    "GenerationRecord",
    "OffspringGenerator",
    "OffspringPlan",
    "ParentSelection",
    "Population",
    "Variation",
    "evolve",
    "simplify",
]
