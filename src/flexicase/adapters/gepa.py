"""A candidate selector for gepa: ``gepa.optimize(candidate_selection_strategy=LexicaseCandidateSelector())``.

gepa is not imported: a state is anything with ``prog_candidate_val_subscores``, one mapping from validation example to
score per candidate, higher is better, and ``i``, the iteration.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexicase._checks import shown
from flexicase.adapters._common import ValueSelector
from flexicase.rng import Seed, key_from_seed
from flexicase.selection.matrix import NanPolicy
from flexicase.selection.protocol import Method

__all__ = ["LexicaseCandidateSelector"]


class LexicaseCandidateSelector:
    """Select the candidate to improve by lexicase selection over the scores of the validation examples.

    gepa's random stream does not reach its selectors and its checkpoints do not hold them. The draws therefore depend
    on ``seed`` and the iteration alone, so a run that resumes from ``run_dir`` continues with the same draws.

    Args:
        method: A method's name (`flexicase.methods` lists them) or object.
        solved: The score of a solved example, as ``perfect_score`` of ``gepa.optimize``.
        seed: As for `flexicase.select`; pass the seed of ``gepa.optimize``.
        nan: ``"worst"`` counts an example that a candidate was not evaluated on as failed, ``"raise"`` refuses it.

    Example:
        >>> from types import SimpleNamespace as Some
        >>> from flexicase.adapters.gepa import LexicaseCandidateSelector
        >>> state = Some(i=0, prog_candidate_val_subscores=[{"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 0.0}, {"a": 1.0}])
        >>> LexicaseCandidateSelector().select_candidate_idx(state)
        1
    """

    def __init__(
        self,
        method: str | Method = "lexicase",
        *,
        solved: ArrayLike = 1.0,
        seed: Seed = 0,
        nan: NanPolicy = "worst",
    ) -> None:
        self._select = ValueSelector(method, solved=solved, nan=nan)
        self._key = key_from_seed(seed)
        self._last = (-2, 0)  # iteration and calls in it

    def select_candidate_idx(self, state: Any) -> int:
        """The index of the candidate to improve."""
        try:
            rows, iteration = [dict(row) for row in state.prog_candidate_val_subscores], int(state.i)
        except Exception:
            raise TypeError(f"state must be a GEPAState with validation scores, got {shown(state)}") from None
        examples = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
        if not examples:
            raise ValueError("state must have validation scores, got no candidate with a score")
        self._last = (iteration, self._last[1] + 1 if iteration == self._last[0] else 0)
        seed = np.random.SeedSequence((*self._key, *(abs(number) for number in self._last)))
        scores = [[row.get(example, math.nan) for example in examples] for row in rows]
        return int(self._select.draw(scores, True, 1, seed)[0])
