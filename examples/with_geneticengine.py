"""Lexicase selection in GeneticEngine: fit a polynomial, with the error on every row as an objective."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from geneticengine.algorithms.gp.operators.combinators import SequenceStep
from geneticengine.algorithms.gp.operators.mutation import GenericMutationStep
from geneticengine.algorithms.gp.operators.selection import LexicaseSelection
from geneticengine.evaluation.budget import EvaluationBudget
from geneticengine.evaluation.tracker import ProgressTracker
from geneticengine.prelude import GeneticProgramming, IntRange, ListSizeBetween, NativeRandomSource, extract_grammar
from geneticengine.problems import MultiObjectiveProblem
from geneticengine.representations.tree.initializations import MaxDepthDecider
from geneticengine.representations.tree.treebased import TreeBasedRepresentation

from flexicase.adapters.geneticengine import LexicaseStep

X = np.linspace(-1, 1, 50)
Y = X**4 - X**3 + X**2 - X


@dataclass
class Polynomial:
    """What the grammar derives: the factors of a polynomial."""

    factors: Annotated[list[Annotated[int, IntRange(-2, 2)]], ListSizeBetween(1, 8)]

    def errors(self) -> list[float]:
        """The error on every row."""
        return np.abs(np.polyval(self.factors, X) - Y).tolist()


class Best(list):
    """Mean errors of what was evaluated. The tracker's own Pareto front takes minutes on 50 objectives."""

    def append(self, individual: object) -> bool:
        super().append(np.mean(individual.get_fitness().fitness_components))
        return self[-1] == min(self)

    to_list = list.copy


def run(lexicase: bool, seed: int, evaluations: int = 3000) -> float:
    """The smallest mean error of a polynomial."""
    problem = MultiObjectiveProblem(Polynomial.errors, minimize=[True] * len(X))
    random, grammar, tracker = NativeRandomSource(seed), extract_grammar([], Polynomial), ProgressTracker(problem)
    representation = TreeBasedRepresentation(grammar, MaxDepthDecider(random, grammar, 6))
    tracker.memory = Best()
    select = LexicaseStep("epsilon-lexicase") if lexicase else LexicaseSelection(epsilon=True)
    step = SequenceStep(select, GenericMutationStep(0.9))
    budget = EvaluationBudget(evaluations)
    GeneticProgramming(problem, budget, representation, random, tracker, step=step).perform_search()
    return float(min(tracker.memory))


if __name__ == "__main__":
    print(f"mean error: GeneticEngine's own step {run(False, 1):.4f}, flexicase's {run(True, 1):.4f}")
