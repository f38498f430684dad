"""Genetic programming on Push: populations, variation, and runs."""

from flexicase._checkpoint import CheckpointError
from flexicase.gp.evolve import Callback, evolve
from flexicase.gp.population import Population
from flexicase.gp.records import Generation, Run, Seconds
from flexicase.gp.simplify import simplify
from flexicase.gp.variation import Breeder, Plan, Variation

__all__ = [
    "Breeder",
    "Callback",
    "CheckpointError",
    "Generation",
    "Plan",
    "Population",
    "Run",
    "Seconds",
    "Variation",
    "evolve",
    "simplify",
]
