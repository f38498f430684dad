"""A selection step for GeneticEngine: ``SequenceStep(LexicaseStep(), GenericCrossoverStep(0.8), ...)``.

GeneticEngine is not imported: the step has the methods of its ``GeneticStep``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexicase._checks import check_count
from flexicase.adapters._common import ValueSelector
from flexicase.selection.matrix import NanPolicy
from flexicase.selection.protocol import Method
from flexicase.selection.select import MAX_EVENTS

__all__ = ["LexicaseStep"]


class LexicaseStep:
    """Select individuals by lexicase selection, with replacement; every objective of the problem is a case.

    Objectives are minimised or maximised as the problem says. The seed comes from the random source of the search.
    Individuals of invalid fitness are the worst on every case.

    Args:
        method: A method's name (`flexicase.methods` lists them) or object.
        solved: The value of a solved objective, one for all or one per objective; None takes the problem's target.
            Without one, 0 is solved if all objectives are minimised; otherwise methods with a bias need it.
        nan: ``"worst"`` counts NaN as the worst value, ``"raise"`` refuses it.
        threads: Number of threads; the outcome does not depend on it.

    Example:
        >>> from flexicase.adapters.geneticengine import LexicaseStep
        >>> str(LexicaseStep("epsilon-lexicase"))
        'LexicaseStep(epsilon-lexicase)'
    """

    def __init__(
        self,
        method: str | Method = "lexicase",
        *,
        solved: ArrayLike | None = None,
        nan: NanPolicy = "worst",
        threads: int = 1,
    ) -> None:
        self._select = ValueSelector(method, solved=solved, nan=nan, threads=threads)
        self._use_target = solved is None
        self._name = method

    def iterate(  # noqa: PLR0917, the signature of GeneticStep
        self,
        problem: Any,
        evaluator: Any,
        representation: Any,
        random: Any,
        population: Iterator[Any],
        target_size: int,
        generation: int,
    ) -> Iterator[Any]:
        """Yield ``target_size`` selected individuals."""
        n = check_count(target_size, "target_size", 0, MAX_EVENTS)
        candidates = list(evaluator.evaluate(problem, list(population)))
        if not candidates or not n:
            return
        minimize = np.asarray(problem.minimize, dtype=bool)
        found = [candidate.get_fitness(problem) for candidate in candidates]
        values = [fitness.fitness_components if fitness.valid else [0.0] * len(minimize) for fitness in found]
        indices = self._select.draw(
            values,
            ~minimize,
            n,
            random.randint(0, 2**63 - 1),
            solved=problem.target if self._use_target else None,
            worst=np.array([not fitness.valid for fitness in found]),
        )
        yield from (candidates[i] for i in indices)

    apply = iterate

    def __str__(self) -> str:
        return f"{type(self).__name__}({self._name})"
