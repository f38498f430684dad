"""Small runs that exercise everything, and what of them must be the same."""

from __future__ import annotations

from typing import Any

from flexicase.gp import EvolutionResult, Variation, evolve

SMALL = {"population": 60, "generations": 4, "seed": 5, "simplification_steps": 50}


def small_run(**changes: Any) -> EvolutionResult:
    return evolve(changes.pop("problem", "mirror-image"), **{**SMALL, "threads": 1, **changes})


def fingerprint(run: EvolutionResult) -> dict[str, Any]:
    """All of a run but its times."""
    outcome = run.as_dict()
    outcome["records"] = [record._replace(seconds=None) for record in run.records]
    outcome["errors"] = (run.train_errors.tolist(), run.test_errors.tolist())
    outcome["genome"] = run.genome.genes
    return outcome


#: A run with plain copies, pipelines and operators that select for each gene.
MIXED = Variation(
    operators={"reproduction": 0.4, "alternation+uniform_mutation": 0.3, "gene_selection": 0.1, "genesis": 0.2}
)
