"""The readable kernel on its own, against exact probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from tests.selection._helpers import Variant, assert_agrees, small_matrices

SMALL = small_matrices()
DRAWS = 3000

VARIANTS = [
    Variant(),
    Variant(order="weighted", bias=(3.0, 0.0, 1.0, 0.0, 0.5)),
    Variant(order="ranked", bias=(2.0, 2.0, 1.0, 7.0, 1.0)),
    Variant(epsilon=(0.0, 1.0, 0.5, 2.0, 0.0)),
    Variant(epsilon="static"),
    Variant(epsilon="semi-dynamic", batch=2),
    Variant(epsilon="dynamic"),
    Variant(depth="random", slippage=0.2),
]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_reference_is_exact(variant: Variant) -> None:
    errors = SMALL["duplicates"]
    drawn = fx.select(errors, DRAWS, variant.method(), seed=77, backend="reference")
    assert_agrees(drawn, variant.outcomes(errors))


@pytest.mark.parametrize("matrix", ["one-row", "one-case", "all-equal", "no-cases"])
def test_the_reference_is_exact_on_degenerate_matrices(matrix: str) -> None:
    drawn = fx.select(SMALL[matrix], 1000, seed=78, backend="reference")
    assert_agrees(drawn, Variant().outcomes(SMALL[matrix]))


def test_the_reference_ignores_the_number_of_threads() -> None:
    errors = SMALL["ties"]
    one, eight = (fx.select(errors, 40, seed=1, threads=t, backend="reference") for t in (1, 8))
    assert np.array_equal(one.indices, eight.indices)
