"""The selector behind gradient lexicase: `FastLexicase`, with look-ahead that learns from the last selection."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from statistics import median
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from flexicase._checks import check_choice
from flexicase.evaluation._lookahead import BYTES_PER_PAIR, PATIENCE, Growing, LookAhead
from flexicase.rng import Key
from flexicase.selection.fast_lexicase import BLOCK_SHARE, FastLexicase
from flexicase.selection.weights import Default, PoolBias

SelectionName: TypeAlias = Literal["lexicase", "fast"]
SHORT = 2 * PATIENCE
RECENT = 5
LEAST_SHARE = 4


def make_selector(
    selection: SelectionName | FastLexicase,
    n_cases: int,
    population: int,
    *,
    bias: PoolBias | None,
    default: Default | None,
    epsilon: float | ArrayLike | str | None,
    on_all_fail: Literal["keep", "stop"] | None,
    lookahead: LookAhead,
    largest_block: int,
    key: Key,
) -> FastLexicase:
    """The selector that the arguments of `GradientLexicase` describe; see there.

    The largest weight is that of the whole population, also if not all of it takes part in the first selection.

    Raises:
        ValueError: A given selector is for another number of cases, or is contradicted by another argument.
    """
    if isinstance(selection, FastLexicase):
        for name, value in (("bias", bias), ("default", default), ("epsilon", epsilon), ("on_all_fail", on_all_fail)):
            if value is not None:
                raise ValueError(f"{name} must be left out when selection is a FastLexicase, which has its own")
        if selection.n_cases != n_cases:
            raise ValueError(
                f"selection must be for the {n_cases} cases of train_set, got a FastLexicase for {selection.n_cases}"
            )
        return _settled(copy.deepcopy(selection), population)
    check_choice(selection, "selection", ("lexicase", "fast"))
    made = FastLexicase(
        n_cases,
        order="uniform" if selection == "lexicase" else "weighted",
        bias=bias or "num_nonzeros",
        default=default or "max",
        epsilon=epsilon,
        on_all_fail=on_all_fail or "keep",
        lookahead=lookahead,
        memory=BLOCK_SHARE * BYTES_PER_PAIR * largest_block * population,
        seed=0,
    )
    made.load_state_dict({**made.state_dict(), "key": tuple(key)})
    return _settled(made, population)


def _settled(selector: FastLexicase, population: int) -> FastLexicase:
    state = selector.state_dict()
    if state["w_max"] is None:
        largest = population + 1.0
        selector.load_state_dict({**state, "w_max": largest, "weights": np.minimum(state["weights"], largest)})
    return selector


def lookahead_after(cases: Sequence[int]) -> LookAhead:
    """Look-ahead for a selection, from how many cases the last few looked at.

    Where a handful of cases decide, computing in advance costs more than it saves; where it takes many, a quarter of
    the usual number is almost always needed.

    Args:
        cases: Cases that each selection so far looked at.

    Example:
        >>> from flexicase.torch.selector import lookahead_after
        >>> lookahead_after([]), lookahead_after([50, 3, 2]), lookahead_after([3, 2, 9, 60, 40, 5, 100])
        ('patient', 'patient', Growing(least=10))
    """
    usual = int(median(cases[-RECENT:])) if cases else 0
    return "patient" if usual < SHORT else Growing(usual // LEAST_SHARE)
