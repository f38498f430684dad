"""Genetic programming on Push: populations, variation, and runs."""

from flexicase._checkpoint import CheckpointError
from flexicase.gp.evolve import Callback, evolve
from flexicase.gp.population import Population
from flexicase.gp.records import EvolutionResult, GenerationRecord, PhaseSeconds
from flexicase.gp.simplify import simplify
from flexicase.gp.variation import OffspringGenerator, OffspringPlan, Variation

__all__ = [
    "Callback",
    "CheckpointError",
    "EvolutionResult",
    "GenerationRecord",
    "OffspringGenerator",
    "OffspringPlan",
    "PhaseSeconds",
    "Population",
    "Variation",
    "evolve",
    "simplify",
]
