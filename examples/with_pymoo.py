"""Lexicase selection in pymoo: fit eight weights, with the error on every row as a case."""

import numpy as np
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.problem import Problem
from pymoo.operators.selection.tournament import TournamentSelection, compare
from pymoo.optimize import minimize

from flexicase.adapters.pymoo import LexicaseSelection

ROWS, WEIGHTS = 200, 8


class Regression(Problem):
    """Find the weights of a linear function; ``out["cases"]`` carries the absolute errors along."""

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        self.inputs, self.wanted = rng.normal(size=(ROWS, WEIGHTS)), rng.uniform(-1, 1, WEIGHTS)
        super().__init__(n_var=WEIGHTS, n_obj=1, xl=-2.0, xu=2.0)

    def _evaluate(self, x: np.ndarray, out: dict, *_: object, **__: object) -> None:
        out["cases"] = np.abs((x - self.wanted) @ self.inputs.T)
        out["F"] = out["cases"].mean(axis=1)


def by_error(pop: np.ndarray, contests: np.ndarray, **_: object) -> np.ndarray:
    """The better of two by mean error, for the tournament."""
    better = [compare(a, pop[a].F[0], b, pop[b].F[0], method="smaller_is_better") for a, b in contests]
    return np.array(better, dtype=int)[:, None]


def run(lexicase: bool, seed: int, generations: int = 40) -> float:
    """The mean error of the best weights."""
    selection = LexicaseSelection("epsilon-lexicase", key="cases") if lexicase else TournamentSelection(by_error)
    return float(minimize(Regression(), GA(100, selection=selection), ("n_gen", generations), seed=seed).F[0])


if __name__ == "__main__":
    print(f"mean error: tournament {run(False, 1):.4f}, epsilon-lexicase {run(True, 1):.4f}")
