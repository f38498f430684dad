"""How well observed draws agree with exact probabilities."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np
from scipy import stats

import flexicase as fx
from tests.selection.oracle import Outcome

LEAST_EXPECTED = 5.0
LEAST_P = 1e-4
MOST_STANDARD_ERRORS = 4.5


def chi_square_p(observed: Mapping[Hashable, int], expected: Mapping[Hashable, float]) -> float:
    """The p-value of observed numbers under exact probabilities; 0 if something impossible was seen.

    Outcomes expected fewer than five times are thrown together.
    """
    possible = {k: p for k, p in expected.items() if p > 0}
    assert math.isclose(sum(possible.values()), 1.0, rel_tol=1e-9)
    if not set(observed) <= set(possible):
        return 0.0
    n = sum(observed.values())
    seen, wanted, rare_seen, rare_wanted = [], [], 0.0, 0.0
    for outcome, p in possible.items():
        if p * n < LEAST_EXPECTED:
            rare_seen, rare_wanted = rare_seen + observed.get(outcome, 0), rare_wanted + p * n
        else:
            seen.append(float(observed.get(outcome, 0)))
            wanted.append(p * n)
    if rare_wanted > 0:
        seen.append(rare_seen)
        wanted.append(rare_wanted)
    if len(seen) == 1:
        return 1.0
    chi2 = sum((s - w) ** 2 / w for s, w in zip(seen, wanted, strict=True))
    return float(stats.chi2.sf(chi2, len(seen) - 1))


def tally(selection: fx.Selection) -> dict[Outcome, int]:
    """How often each joint outcome (parent and all four counts) was seen."""
    fields = (selection.indices, selection.evaluations, selection.evaluations_distinct, selection.cases_used)
    columns = np.stack([*fields, selection.ended.astype(np.int64)])
    sizes = columns.max(axis=1) + 1
    codes, numbers = np.unique(np.ravel_multi_index(tuple(columns), tuple(sizes)), return_counts=True)
    outcomes = np.stack(np.unravel_index(codes, tuple(sizes)), axis=1)
    return {tuple(o): int(k) for o, k in zip(outcomes.tolist(), numbers, strict=True)}


def marginal(joint: Mapping[Outcome, float], field: int) -> dict[Hashable, float]:
    """The distribution of one field of the outcome."""
    out: dict[Hashable, float] = {}
    for outcome, p in joint.items():
        out[outcome[field]] = out.get(outcome[field], 0) + p
    return out


def standard_errors_off(values: np.ndarray, expected: Mapping[Hashable, float]) -> float:
    """How many standard errors the mean of ``values`` is from its exact expectation."""
    mean = sum(v * p for v, p in expected.items())
    variance = sum((v - mean) ** 2 * p for v, p in expected.items())
    off = abs(float(values.mean()) - mean)
    if variance < 1e-12:
        return 0.0 if off < 1e-9 else math.inf
    return off / math.sqrt(variance / len(values))


def assert_agrees(selection: fx.Selection, exact: Mapping[Outcome, float]) -> None:
    """Parents, joint outcomes and mean counts all agree with their exact distribution."""
    seen = tally(selection)
    assert chi_square_p(marginal(seen, 0), marginal(exact, 0)) > LEAST_P, "parents"
    assert chi_square_p(seen, exact) > LEAST_P, "joint outcomes"
    counts = (selection.evaluations, selection.evaluations_distinct, selection.cases_used)
    for field, values in enumerate(counts, start=1):
        assert standard_errors_off(values, marginal(exact, field)) < MOST_STANDARD_ERRORS, f"mean of field {field}"
