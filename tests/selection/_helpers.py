"""An evaluator that keeps a record, for the tests of partial evaluation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import flexicase as fx
from flexicase.selection.protocol import Method
from tests.selection import oracle
from tests.selection.oracle import Outcome


class Evaluator:
    """Looks errors up, and keeps a record of what was asked for."""

    def __init__(self, errors) -> None:
        self.errors = np.asarray(errors)
        self.asked: list[tuple[list[int], list[int]]] = []

    def __call__(self, individuals: np.ndarray, cases: np.ndarray) -> np.ndarray:
        assert individuals.dtype == cases.dtype == np.int64
        self.asked.append((individuals.tolist(), cases.tolist()))
        return self.errors[np.ix_(individuals, cases)]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [pair for asked in self.asked for pair in itertools.product(*asked)]


def method_of(order: str = "weighted", bias: object = "num_nonzeros", epsilon: object = None) -> fx.Lexicase:
    """A lexicase method from the parts that Fast Lexicase can use."""
    orders = {"uniform": fx.Uniform(), "weighted": fx.Weighted(bias), "ranked": fx.Ranked(bias)}
    return fx.Lexicase(order=orders[order], epsilon=epsilon)


def outcome(s: fx.FastSelection) -> list[list[int]]:
    return [a.tolist() for a in (s.indices, s.evaluations, s.cases_used, s.ended)]


Errors = np.ndarray
Rng = np.random.Generator


def small_matrices() -> dict[str, Errors]:
    """At most six cases each, so that all orders can be enumerated."""
    rng = np.random.default_rng(20220712)
    ties = rng.integers(0, 3, (8, 5))
    duplicates = rng.integers(0, 3, (4, 5))[[0, 1, 1, 2, 3, 3, 3, 0]]
    constant = rng.integers(0, 3, (6, 5))
    constant[:, 1], constant[:, 3] = 0, 2
    return {
        "ties": ties,
        "duplicates": duplicates,
        "constant-columns": constant,
        "six-cases": rng.integers(0, 4, (9, 6)),
        "mostly-solved": (rng.random((7, 5)) < 0.35).astype(np.uint8),
        "eighths": rng.integers(0, 40, (7, 5)) / 8.0,
        "trade-offs": np.array([[0, 2, 2], [2, 0, 2], [2, 2, 0], [1, 1, 1], [0, 3, 3]]),
        "one-row": rng.integers(0, 3, (1, 4)),
        "one-case": np.array([[2], [0], [1], [0], [0]]),
        "all-equal": np.ones((5, 4), dtype=np.int64),
        "two-rows": np.array([[0, 1, 2, 0.5], [1, 0, 1, 0.5]]),
        "no-cases": np.empty((4, 0)),
    }


def _integers(dtype: type, low: int, high: int) -> Callable[[Rng, int, int], Errors]:
    return lambda rng, n, m: rng.integers(low, high, (n, m), dtype=dtype, endpoint=True)


def _penalties(rng: Rng, n: int, m: int) -> Errors:
    errors = rng.integers(0, 30, (n, m)).astype(np.float64)
    errors[rng.random((n, m)) < 0.2] = 1e6
    return errors


def _infinite(rng: Rng, n: int, m: int) -> Errors:
    errors = np.round(rng.random((n, m)) * 8)
    errors[rng.random((n, m)) < 0.3] = np.inf
    errors[:, : m // 10] = np.inf
    return errors


def _nearly_bytes(rng: Rng, n: int, m: int) -> Errors:
    """Bytes, and in a few places one number that a careless conversion would take for one."""
    errors = rng.integers(0, 256, (n, m)).astype(np.float64)
    impostors = np.array([-1.0, 256.0, 0.5, 254.5, 2.0**31, -(2.0**31), 2.0**32, -(2.0**32), -(2.0**51), 2.0**52])
    errors[rng.random((n, m)) < 0.05] = rng.choice(impostors)
    return errors


def _signed_zeros(rng: Rng, n: int, m: int) -> Errors:
    return rng.choice(np.array([0.0, -0.0, 1.0, -1.0]), (n, m))


def _subnormal(rng: Rng, n: int, m: int) -> Errors:
    return rng.choice(np.array([5e-324, 1e-323, 2.5e-320, 0.0, 2.3e-308]), (n, m))


def _few_kinds(rng: Rng, n: int, m: int) -> Errors:
    return rng.integers(0, 5, (max(1, n // 6), m))[rng.integers(0, max(1, n // 6), n)]


def _constant_columns(rng: Rng, n: int, m: int) -> Errors:
    errors = rng.integers(0, 3, (n, m), dtype=np.int16)
    errors[:, rng.random(m) < 0.7] = 1
    return errors


def _hard_binary(rng: Rng, n: int, m: int) -> Errors:
    return rng.random((n, m)) < rng.random(m)


def _two_left(rng: Rng, n: int, m: int) -> Errors:
    """Two rows ahead of all others nearly everywhere, alike but for a few cases."""
    errors = rng.integers(3, 9, (n, m), dtype=np.int32)
    errors[:2] = 2
    errors[0, rng.random(m) < 0.02] = 1
    return errors


KINDS: dict[str, Callable[[Rng, int, int], Errors]] = {
    "int8": _integers(np.int8, -128, 127),
    "int8-few": _integers(np.int8, -2, 2),
    "int16": _integers(np.int16, -3, 400),
    "int32": _integers(np.int32, 0, 12),
    "int32-wide": _integers(np.int32, -(2**31), 2**31 - 1),
    "int64": _integers(np.int64, 0, 6),
    "int64-huge": _integers(np.int64, 2**53, 2**53 + 6),
    "int64-extremes": lambda rng, n, m: rng.choice(np.array([-(2**63), 2**63 - 1, 0, -1]), (n, m)),
    "uint8": _integers(np.uint8, 0, 255),
    "uint8-few": _integers(np.uint8, 0, 3),
    "uint16": _integers(np.uint16, 0, 65535),
    "uint32": _integers(np.uint32, 2**31 - 2, 2**31 + 2),
    "uint64-huge": _integers(np.uint64, 2**64 - 5, 2**64 - 1),
    "bool": _hard_binary,
    "float16": lambda rng, n, m: rng.integers(0, 9, (n, m)).astype(np.float16),
    "float32": lambda rng, n, m: rng.random((n, m), dtype=np.float32),
    "float32-few": lambda rng, n, m: rng.integers(0, 300, (n, m)).astype(np.float32) / 10,
    "float64": lambda rng, n, m: rng.standard_normal((n, m)),
    "float64-rounded": lambda rng, n, m: np.round(rng.exponential(size=(n, m)), 1),
    "float64-overflowing": lambda rng, n, m: rng.choice(np.array([1.7e308, 1e308, 9e307, 0.0]), (n, m)),
    "nearly-bytes": _nearly_bytes,
    "penalties": _penalties,
    "infinite": _infinite,
    "signed-zeros": _signed_zeros,
    "subnormal": _subnormal,
    "few-kinds": _few_kinds,
    "constant-columns": _constant_columns,
    "two-left": _two_left,
}


def _negative(errors: Errors) -> Errors:
    return errors[::-1, ::-1].copy()[::-1, ::-1]


def _sliced(errors: Errors) -> Errors:
    n, m = errors.shape
    wide = np.zeros((2 * n + 1, 3 * m + 2), dtype=errors.dtype)
    wide[1::2, 2::3] = errors
    return wide[1::2, 2::3]


def _read_only(errors: Errors) -> Errors:
    copy = errors.copy()
    copy.flags.writeable = False
    return copy


def _unaligned(errors: Errors) -> Errors:
    packed = np.zeros(errors.shape, dtype=[("pad", "u1"), ("error", errors.dtype)])
    packed["error"] = errors
    return packed["error"]


def _swapped(errors: Errors) -> Errors:
    return errors.astype(errors.dtype.newbyteorder())


LAYOUTS: dict[str, Callable[[Errors], Errors]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "negative-strides": _negative,
    "sliced": _sliced,
    "read-only": _read_only,
    "unaligned": _unaligned,
    "byte-swapped": _swapped,
}


BIAS_NAMES = (
    "num_zeros",
    "num_nonzeros",
    "average",
    "median",
    "variance",
    "split",
    "num_zeros_inverse",
    "num_nonzeros_inverse",
    "average_inverse",
    "median_inverse",
    "variance_inverse",
)


@dataclass(frozen=True)
class Variant:
    """One member of the family."""

    order: str = "uniform"
    bias: str | tuple[float, ...] = "num_nonzeros"
    epsilon: float | tuple[float, ...] | str | None = None
    batch: int = 1
    depth: int | str | None = None
    slippage: float = 0.0

    def __str__(self) -> str:
        """Its distinguishing marks, as a test's id."""
        changed = {k: v for k, v in vars(self).items() if v != getattr(Variant, k)}
        if self.order == "uniform":
            changed.pop("bias", None)
        return "-".join(f"{k}={v}" for k, v in changed.items()) or "plain"

    def method(self) -> fx.Lexicase:
        """As the package spells it."""
        epsilon = fx.MadEpsilon(self.epsilon) if isinstance(self.epsilon, str) else self.epsilon
        order = {"uniform": fx.Uniform, "weighted": fx.Weighted, "ranked": fx.Ranked}[self.order]
        return fx.Lexicase(
            order=order() if self.order == "uniform" else order(self.bias),
            epsilon=epsilon,
            batch_size=self.batch,
            max_cases=self.depth,
            slippage=self.slippage,
        )

    def outcomes(self, errors: np.ndarray) -> dict[oracle.Outcome, float]:
        """Exact probabilities of all outcomes."""
        rows = errors.tolist()
        return oracle.outcomes(
            rows,
            self._orders(rows),
            epsilon=self.epsilon,
            batch=self.batch,
            depth=self.depth,
            slippage=self.slippage,
        )

    def _orders(self, rows: list[list[float]]) -> Iterator[tuple[oracle.Order, float]]:
        if self.order == "uniform":
            return oracle.uniform_orders(len(rows[0]))
        weights = self.bias
        if isinstance(weights, str):
            weights = tuple(oracle.bias_weight(weights, column) for column in zip(*rows, strict=True))
        return (oracle.ranked_orders if self.order == "ranked" else oracle.weighted_orders)(weights)


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
    from scipy import stats  # a second to import, which processes that share these matrices need not spend

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


DRAWS = 200_000


def awkward_matrices() -> dict[str, NDArray[np.generic]]:
    """Small matrices of every kind that has its own way through the code."""
    rng = np.random.default_rng(2023)
    duplicates = rng.integers(0, 3, (5, 6))[[0, 1, 1, 2, 3, 3, 3, 4, 0]]
    infinite = rng.random((6, 4))
    infinite[[0, 2], [1, 3]] = np.inf
    cases_major = np.asfortranarray(rng.integers(0, 4, (8, 5), dtype=np.int16))
    huge = np.array([[2**62 + 2**10, 0], [2**62, 0], [2**62, 1]], dtype=np.int64)
    return {
        "duplicates": duplicates,
        "bool": rng.random((9, 7)) < 0.4,
        "uint8": rng.integers(0, 5, (12, 6), dtype=np.uint8),
        "float32": rng.random((10, 5), dtype=np.float32),
        "float64": rng.random((10, 8)),
        "tenths": rng.integers(0, 9, (10, 7)) / 10,
        "negative": rng.normal(size=(6, 5)),
        "cases-major": cases_major,
        "every-other": rng.integers(0, 4, (14, 10))[::2, ::-2],
        "all-equal": np.ones((5, 3)),
        "one-row": rng.random((1, 4)),
        "one-case": np.array([[2], [0], [1], [0], [0]]),
        "no-case": np.empty((4, 0)),
        "infinite": infinite,
        "infinite-case": np.array([[np.inf, 1.0, 0.0], [np.inf, 0.0, 1.0], [np.inf, 0.0, 2.0]]),
        "all-infinite": np.full((4, 3), np.inf),
        "overflow": np.array([[1e308, 1e308, 0.0], [1e308, 0.0, 0.0], [0.0, 1e308, 1e308]]),
        "large-integers": huge,
    }


MATRICES = awkward_matrices()


def assert_follows(indices: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
    """The draws fit the probabilities, and nothing impossible was drawn."""
    np.testing.assert_allclose(probabilities.sum(), 1.0, rtol=1e-12)
    seen = np.bincount(indices, minlength=len(probabilities)).astype(float)
    expected = probabilities * len(indices)
    assert not seen[probabilities == 0].any(), "an individual of probability 0 was selected"
    common = expected >= 5
    seen, expected = (np.append(x[common], x[~common & (probabilities > 0)].sum()) for x in (seen, expected))
    possible = expected > 0
    if possible.sum() > 1:
        from scipy import stats

        assert stats.chisquare(seen[possible], expected[possible]).pvalue > LEAST_P


def assert_backends_agree(errors: NDArray[np.generic], method: str | Method, n: int = 60) -> None:
    """Native and reference give the same draws, on one thread or several, in one go or in two."""
    reference = fx.select(errors, n, method, seed=11, backend="reference")
    assert reference.indices.min() >= 0
    assert reference.indices.max() < len(errors)
    for threads in (1, 3):
        native = fx.select(errors, n, method, seed=11, threads=threads, backend="native")
        np.testing.assert_array_equal(native.indices, reference.indices)
    selector = fx.Selector(errors, method, seed=11)
    split = np.concatenate([selector.draw(n // 3).indices, selector.draw_indices(n - n // 3)])
    np.testing.assert_array_equal(split, reference.indices)


def assert_no_counts(method: str | Method) -> None:
    """There are no counts, also when nothing is drawn."""
    for n in (0, 3):
        s = fx.select([[0, 1], [1, 0]], n, method, seed=1)
        assert len(s) == n
        assert not s.counted
        for name in ("evaluations", "evaluations_distinct", "cases_used", "ended"):
            with pytest.raises(ValueError, match=f"{name} was not counted"):
                getattr(s, name)
