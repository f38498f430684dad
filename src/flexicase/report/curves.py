"""Curves over generations, and totals over runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments.results import FinishedRun

#: The two counts of evaluations, and words for them.
COUNTS = {"evaluations": "population pool", "evaluations_distinct": "distinct error vectors"}
#: No axis reaches further: larger numbers overflow on the way to a coordinate.
LARGEST = 1e300
#: Means over fewer runs get no interval.
FEWEST_RUNS = 3
#: Generations of the moving average of `last_curve`, and how many of its last values are kept.
WINDOW, LAST = 20, 50


@dataclass(frozen=True)
class Curve:
    """Means over the runs that are still active in a generation.

    Attributes:
        generation: (n,) generations.
        mean: (n,) means.
        low: (n,) lower ends of the 95 % interval of the mean; the mean itself where fewer than 3 runs are left.
        high: (n,) upper ends.
        active: (n,) runs still active.
    """

    generation: NDArray[np.int64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    active: NDArray[np.int64]


def mean_curve(runs: list[FinishedRun], column: str) -> Curve:
    """The mean of a column in each generation, over the runs that select parents in it: all but the last of a run.

    Args:
        runs: Runs of one method on one problem.
        column: The column.
    """
    table = _by_generation(runs, column)
    active = (~np.isnan(table)).sum(axis=0)
    mean = np.where(active > 0, np.nansum(table, axis=0) / np.maximum(active, 1), np.nan)
    spread = np.nansum((table - mean) ** 2, axis=0) / np.maximum(active - 1, 1)
    half = _widths(active) * np.sqrt(spread / np.maximum(active, 1))
    return Curve(np.arange(active.size, dtype=np.int64), mean, mean - half, mean + half, active.astype(np.int64))


def median_curve(runs: list[FinishedRun], column: str, window: int = 1) -> Curve:
    """As `mean_curve`, with the median in place of the mean and quartiles in place of its interval.

    Args:
        runs: Runs of one method on one problem.
        column: The column.
        window: How many generations are taken together, those before and after alike.
    """
    table = _by_generation(runs, column)
    active = (~np.isnan(table)).sum(axis=0)
    around = [table[:, max(0, g - window // 2) : g + window // 2 + 1] for g in range(active.size)]
    known = (values[~np.isnan(values)] for values in around)
    parts = [np.quantile(values, (0.25, 0.5, 0.75)) if values.size else np.full(3, np.nan) for values in known]
    low, middle, high = np.array(parts).reshape(-1, 3).T
    return Curve(np.arange(active.size, dtype=np.int64), middle, low, high, active.astype(np.int64))


def last_curve(runs: list[FinishedRun], column: str) -> Curve:
    """The last 50 values of a moving average over 20 generations, aligned at the end, averaged over the runs.

    Args:
        runs: Runs of one method on one data set, of the same length.
        column: The column.

    Returns:
        A curve over the generations -50 … -1; shorter if the runs are.
    """
    kernel = np.full(WINDOW, 1 / WINDOW)
    smooth = [np.convolve(run.columns[column], kernel, "valid")[-LAST:] for run in runs if run.generations >= WINDOW]
    length = min(map(len, smooth), default=0)
    table: NDArray[np.float64] = np.array([values[len(values) - length :] for values in smooth])
    table = table.reshape(len(smooth), length)
    n = max(len(table), 1)
    mean = table.sum(axis=0) / n
    half = _widths(np.array(n)) * table.std(axis=0, ddof=1) / np.sqrt(n) if len(table) > 1 else np.zeros(length)
    active = np.full(length, len(table), dtype=np.int64)
    return Curve(np.arange(-length, 0, dtype=np.int64), mean, mean - half, mean + half, active)


def _widths(active: NDArray[Any]) -> NDArray[np.float64]:
    """Half the width of the 95 % interval of a mean over so many runs, in standard errors; 0 for too few."""
    from scipy.stats import t

    return np.where(active >= FEWEST_RUNS, t.ppf(0.975, np.maximum(active - 1, 1)), 0.0)


def runs_with(runs: list[FinishedRun], column: str) -> list[FinishedRun]:
    """The runs that have a column: some methods do not count evaluations.

    Args:
        runs: Any runs.
        column: The column.
    """
    return [run for run in runs if column in run.columns]


def totals(runs: list[FinishedRun], column: str) -> NDArray[np.float64]:
    """The sum of a column over the generations of each run.

    Returns:
        (runs,) sums; runs that do not count it are left out.
    """
    return np.array([np.asarray(run.columns[column], dtype=np.float64).sum() for run in runs_with(runs, column)])


def per_generation(runs: list[FinishedRun], column: str) -> NDArray[np.float64]:
    """The mean of a column over the generations of each run in which parents were selected.

    Returns:
        (runs,) means; runs that never selected, or do not count it, are left out.
    """
    bred = [(np.asarray(run.columns[column], dtype=np.float64), _selecting(run)) for run in runs_with(runs, column)]
    return np.array([values[active].mean() for values, active in bred if active.any()])


def _by_generation(runs: list[FinishedRun], column: str) -> NDArray[np.float64]:
    """(runs, generations) values, NaN where a run has ended."""
    runs = runs_with(runs, column)
    selecting = list(map(_selecting, runs))
    table = np.full((len(runs), max((int(mask.sum()) for mask in selecting), default=0)), np.nan)
    for row, run, mask in zip(table, runs, selecting, strict=True):
        row[: mask.sum()] = np.asarray(run.columns[column], dtype=np.float64)[mask]
    return table


def _selecting(run: FinishedRun) -> NDArray[np.bool_]:
    """(generations,) whether parents are selected; always, in runs that know no selection."""
    events = run.columns.get("events")
    return np.ones(run.generations, dtype=bool) if events is None else np.asarray(events) > 0
