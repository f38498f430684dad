"""Tests and intervals that the tables of a study state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

_NORMAL = NormalDist()
_Key = TypeVar("_Key")
#: Fewer pairs than this give no interval.
MIN_PAIRS = 3
#: 97.5 % point of the normal distribution.
Z_975 = _NORMAL.inv_cdf(0.975)


class Interval(NamedTuple):
    """Ends of a confidence interval."""

    low: float
    high: float


class PairedOutcomes(NamedTuple):
    """Two methods with the same seeds: the pairs in which only one succeeds, the difference of rates, McNemar's p."""

    gained: int
    lost: int
    difference: float
    bounds: Interval
    p_value: float


class PairedRatio(NamedTuple):
    """A geometric mean ratio over seeds, its 95 % interval (Student's t on logarithms) and Wilcoxon's p-value."""

    ratio: float
    interval: Interval
    lower: int
    seeds: int
    p_value: float

    def __str__(self) -> str:
        return f"{self.ratio:.2f} ({self.interval.low:.2f}–{self.interval.high:.2f})"


def paired_ratio(logs: ArrayLike) -> PairedRatio | None:
    """The ratio behind (seeds,) logarithms of ratios, one per seed; None for fewer than 3 seeds.

    >>> print(paired_ratio([-0.1, -0.2, -0.3, -0.2]))
    0.82 (0.72–0.93)
    """
    from scipy.stats import wilcoxon

    values = np.asarray(logs, dtype=np.float64)
    if values.size < MIN_PAIRS:
        return None
    p = float(wilcoxon(values).pvalue) if np.any(values) else 1.0
    ratio, low, high = np.exp([values.mean(), *mean_interval(values)]).tolist()
    return PairedRatio(ratio, Interval(low, high), int((values < 0).sum()), values.size, p)


def mean_interval(values: NDArray[np.float64]) -> Interval:
    """The 95 % interval of a mean (Student)."""
    from scipy.stats import t

    half = float(t.ppf(0.975, values.size - 1)) * values.std(ddof=1) / math.sqrt(values.size)
    return Interval(float(values.mean()) - half, float(values.mean()) + half)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided p-value of the exact test of two paired proportions (McNemar, 1947), from the discordant pairs.

    >>> f"{mcnemar(1, 8):.4f}"
    '0.0391'
    """
    from scipy.stats import binomtest

    n = only_first + only_second
    return float(binomtest(only_first, n).pvalue) if n else 1.0


def paired_difference(only_first: int, only_second: int, pairs: int) -> tuple[float, Interval]:
    """The difference of two paired proportions, and its adjusted Wald interval (Agresti and Min, 2005).

    >>> difference, (low, high) = paired_difference(3, 9, 50)
    >>> f"{difference:+.2f} {low:+.2f} {high:+.2f}"
    '-0.12 -0.25 +0.02'
    """
    _check_counts(only_first + only_second, pairs)
    n, b, c = pairs + 2, only_first + 0.5, only_second + 0.5
    middle, half = (b - c) / n, Z_975 * math.sqrt(b + c - (b - c) ** 2 / n) / n
    return (only_first - only_second) / pairs, Interval(middle - half, middle + half)


def paired_outcomes(pairs: Sequence[tuple[bool, bool]]) -> PairedOutcomes:
    """Compare successes of two methods, one pair per seed."""
    gained, lost = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    return PairedOutcomes(gained, lost, *paired_difference(gained, lost, len(pairs)), mcnemar(gained, lost))


def mean_difference(counts: Sequence[tuple[float, int, float, int]]) -> tuple[float, Interval]:
    """The mean difference of two rates over independent problems, with its 95 % interval.

    Each problem has the successes and trials of one side, then of the other. Variances are those of Agresti and Caffo
    (2000), with a success and a failure added to both sides.

    >>> difference, (low, high) = mean_difference([(8, 10, 50, 100), (2, 10, 50, 100)])
    >>> f"{difference:.2f} {low:.2f} {high:.2f}"
    '0.00 -0.19 0.19'
    """
    n = len(counts)
    difference = sum(a / trials - b / others for a, trials, b, others in counts) / n
    pairs = ((x + 1, m + 2) for a, trials, b, others in counts for x, m in ((a, trials), (b, others)))
    deviation = math.sqrt(sum(x / m * (1 - x / m) / m for x, m in pairs)) / n
    return difference, Interval(difference - Z_975 * deviation, difference + Z_975 * deviation)


def fisher_power(rate: float, other: float, trials: int, level: float = 0.05) -> float:
    """The chance that Fisher's exact test of ``trials`` runs a side is significant when these are the true rates.

    >>> f"{fisher_power(0.5, 0.9, 20):.2f}"
    '0.74'
    """
    from scipy.stats import binom

    counts = np.arange(trials + 1)
    return float(binom.pmf(counts, trials, rate) @ _rejected(trials, level) @ binom.pmf(counts, trials, other))


@cache
def _rejected(trials: int, level: float) -> NDArray[np.bool_]:
    counts = range(trials + 1)
    return np.array([[fisher_exact(a, trials, b, trials) < level for b in counts] for a in counts])


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """The score interval of a proportion (Wilson, 1927).

    >>> low, high = wilson(43, 50)
    >>> f"{low:.3f} {high:.3f}"
    '0.738 0.930'
    """
    from scipy.stats import binomtest

    _check_counts(successes, trials)
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    found = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    return Interval(float(found.low), float(found.high))


def fisher_exact(successes: int, trials: int, other_successes: int, other_trials: int) -> float:
    """Two-sided p-value that two proportions are the same (Fisher, 1922).

    >>> f"{fisher_exact(3, 4, 1, 4):.4f}"
    '0.4857'
    """
    from scipy import stats

    _check_counts(successes, trials)
    _check_counts(other_successes, other_trials)
    table = [[successes, trials - successes], [other_successes, other_trials - other_successes]]
    return min(1.0, float(stats.fisher_exact(table).pvalue))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for testing them together (Holm, 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p in p_values:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p_values must lie between 0 and 1, found {p}")
    values = np.array(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = np.minimum(1.0, np.arange(values.size, 0, -1) * values[order])
    values[order] = np.maximum.accumulate(scaled)
    return list(map(float, values))


def holm_of_known(p_values: Sequence[float | None]) -> list[float | None]:
    """As `holm`, with None where there is no p-value."""
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(adjusted) for p in p_values]


def adjusted_ratios(ratios: Mapping[_Key, PairedRatio | None]) -> dict[_Key, tuple[PairedRatio, float]]:
    """The ratios that are known, each with its p-value, Holm-adjusted over all of them."""
    known = {key: ratio for key, ratio in ratios.items() if ratio is not None}
    adjusted = holm([ratio.p_value for ratio in known.values()])
    return {key: (ratio, p) for (key, ratio), p in zip(known.items(), adjusted, strict=True)}


def z_test(
    accuracy: float, baseline: float, trials: int, variance: Literal["sample", "null"] = "sample"
) -> tuple[float, float]:
    """The one-proportion left-tailed z-test of an accuracy against a baseline that is taken as known.

    ``variance="sample"`` estimates the variance from the observed proportion, as the paper's values do; ``"null"``
    takes it from the baseline. Returns the statistic and its p-value.

    >>> z, p = z_test(0.9319, 0.9334, 10_000)
    >>> f"{z:.3f} {p:.3f}"
    '-0.595 0.276'
    """
    for name, value in (("accuracy", accuracy), ("baseline", baseline)):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} must lie between 0 and 1, got {value}")
    if trials < 1:
        raise ValueError(f"trials must be positive, got {trials}")
    if variance not in ("sample", "null"):
        raise ValueError(f"variance must be 'sample' or 'null', got {variance!r}")
    share = accuracy if variance == "sample" else baseline
    error = math.sqrt(share * (1 - share) / trials)
    if error == 0.0:
        z = math.copysign(math.inf, accuracy - baseline) if accuracy != baseline else 0.0
    else:
        z = (accuracy - baseline) / error
    return z, _NORMAL.cdf(z)


def kaplan_meier(times: ArrayLike, ended: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The times at which a run ended, and the share of runs that last beyond each (Kaplan and Meier, 1958).

    ``times`` (n,) is how long each run was observed, ``ended`` (n,) whether it ended then or only its observation did.

    >>> moments, surviving = kaplan_meier([6, 6, 6, 7, 10], [True, True, False, True, False])
    >>> moments.tolist(), [round(share, 3) for share in surviving.tolist()]
    ([6.0, 7.0], [0.6, 0.3])
    """
    from scipy.stats import CensoredData, ecdf

    observed = np.asarray(times, dtype=np.float64)
    events = np.asarray(ended, dtype=bool)
    if observed.ndim != 1 or observed.shape != events.shape:
        raise ValueError(f"times and ended must be two lists of one length, got {observed.shape} and {events.shape}")
    if np.isnan(observed).any():
        raise ValueError(f"times must be numbers, found NaN at {int(np.flatnonzero(np.isnan(observed))[0])}")
    curve = ecdf(CensoredData.right_censored(observed, ~events)).sf
    is_end = np.isin(curve.quantiles, observed[events])
    return curve.quantiles[is_end], curve.probabilities[is_end]


def _check_counts(successes: int, trials: int) -> None:
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"successes must lie between 0 and trials, a positive number, got {successes} of {trials}")
