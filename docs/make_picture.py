"""Draws the picture of the README: the paper's five methods on a population of the paper's study.

``python docs/make_picture.py`` repeats the first run of ``results/gp-paper`` (the smallest id) up to generation 10,
checks its records against the committed ones, and writes ``docs/images/funnel.png``. No run was chosen for its looks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexicase import plot
from flexicase.experiments.results import read_results
from flexicase.gp.evolve import Evolution, evolve_settings

ROOT = Path(__file__).parent.parent
STUDY = ROOT / "results" / "gp-paper"
PICTURE = ROOT / "docs" / "images" / "funnel.png"
GENERATION = 10
CHECKED = ("best_error", "median_error", "n_distinct_errors", "evaluations", "push_steps")


def population_errors() -> tuple[str, NDArray[np.float64]]:
    """The first run's id and the (n_individuals, n_cases) errors of its population, if it repeats the committed run."""
    first = min(read_results(STUDY).runs, key=lambda run: run.id)
    evolution = Evolution(evolve_settings(first.problem, method=first.method, seed=first.seed))
    for generation in range(GENERATION):
        again, _ = evolution.step()
        for name in CHECKED:
            if getattr(again, name) != first.columns[name][generation]:
                raise ValueError(f"run {first.id} differs in generation {generation}: {name}")
    settings = evolution.settings
    programs, _ = evolution.state.population.translate(settings.variation.max_points, settings.threads)
    return first.id, evolution.train.errors(programs)


def main() -> None:
    """Draw it."""
    run, errors = population_errors()
    plot.funnel(errors, n=1000, seed=0).figure.savefig(PICTURE, dpi=160)
    print(f"{PICTURE}: generation {GENERATION} of run {run}, {errors.shape[0]} programs, {errors.shape[1]} cases")


if __name__ == "__main__":
    main()
