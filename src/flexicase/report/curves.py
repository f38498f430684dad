"""Curves over generations, and totals over runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase.report.results import Run

#: Half the width of a 95 % interval in standard errors.
WIDTH = 1.96


@dataclass(frozen=True)
class Curve:
    """Means over the runs that are still active in a generation.

    Attributes:
        generation: (n,) generations.
        mean: (n,) means.
        low: (n,) lower ends of the 95 % interval of the mean; the mean itself where a single run is left.
        high: (n,) upper ends.
        active: (n,) runs still active.
    """

    generation: NDArray[np.int64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    active: NDArray[np.int64]


def mean_curve(runs: list[Run], column: str, *, breeding: bool = True) -> Curve:
    """The mean of a column in each generation, over the runs that reach it.

    Args:
        runs: Runs of one method on one problem.
        column: The column.
        breeding: Only generations in which parents were selected: the last one of a run has none.
    """
    series = [np.asarray(run.columns[column], dtype=np.float64) for run in runs]
    if breeding:
        series = [values[np.asarray(run.columns["events"]) > 0] for values, run in zip(series, runs, strict=True)]
    longest = max((len(values) for values in series), default=0)
    table = np.full((len(series), longest), np.nan)
    for row, values in zip(table, series, strict=True):
        row[: len(values)] = values
    active = (~np.isnan(table)).sum(axis=0)
    mean = np.nansum(table, axis=0) / np.maximum(active, 1)
    spread = np.nansum((table - mean) ** 2, axis=0) / np.maximum(active - 1, 1)
    half = WIDTH * np.sqrt(spread / np.maximum(active, 1))
    return Curve(np.arange(longest, dtype=np.int64), mean, mean - half, mean + half, active.astype(np.int64))


def totals(runs: list[Run], column: str) -> NDArray[np.float64]:
    """The sum of a column over the generations of each run.

    Returns:
        (runs,) sums.
    """
    return np.array([np.asarray(run.columns[column], dtype=np.float64).sum() for run in runs])


def per_generation(runs: list[Run], column: str) -> NDArray[np.float64]:
    """The mean of a column over the generations of each run in which parents were selected.

    Returns:
        (runs,) means; runs that never selected are left out.
    """
    bred = [(np.asarray(run.columns[column], dtype=np.float64), np.asarray(run.columns["events"]) > 0) for run in runs]
    return np.array([values[active].mean() for values, active in bred if active.any()])
