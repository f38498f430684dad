"""Curves over generations, and totals over runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments.results import FinishedRun
from flexicase.report.statistics import kaplan_meier

#: The two counts of evaluations.
COUNTS = {"evaluations": "population pool", "evaluations_distinct": "distinct error vectors"}
#: Values from here on are gaps in charts: they overflow on the way to a coordinate.
MAX_DRAWN = 1e300
#: Means over fewer runs get no interval.
MIN_RUNS_FOR_INTERVAL = 3
#: Generations of the moving average of `last_curve`, and how many of its last values are kept.
WINDOW, LAST = 20, 50


class Curve(NamedTuple):
    """Means over the runs still active in a generation, with 95 % intervals and the number of these runs."""

    generation: NDArray[np.int64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    active: NDArray[np.int64]


def mean_curve(runs: list[FinishedRun], column: str) -> Curve:
    """The mean of a column in each generation, over the runs that select parents in it: all but the last of a run."""
    return _curve_of_means(_by_generation(runs, column))


def median_curve(runs: list[FinishedRun], column: str, window: int = 1) -> Curve:
    """As `mean_curve`, with medians and quartiles over ``window`` neighbouring generations."""
    table = _by_generation(runs, column)
    active = (~np.isnan(table)).sum(axis=0)
    around = [table[:, max(0, g - window // 2) : g + window // 2 + 1] for g in range(active.size)]
    known = (values[~np.isnan(values)] for values in around)
    parts = [np.quantile(values, (0.25, 0.5, 0.75)) if values.size else np.full(3, np.nan) for values in known]
    low, middle, high = np.array(parts).reshape(-1, 3).T
    return Curve(np.arange(active.size), middle, low, high, active)


def last_curve(runs: list[FinishedRun], column: str) -> Curve:
    """The last 50 values of a moving average over 20 generations, averaged over runs of the same length.

    The curve covers the generations -50 … -1; it is shorter if the runs are.
    """
    kernel = np.full(WINDOW, 1 / WINDOW)
    smooth = [np.convolve(run.columns[column], kernel, "valid")[-LAST:] for run in runs if run.generations >= WINDOW]
    length = min(map(len, smooth), default=0)
    table = np.array([values[len(values) - length :] for values in smooth], dtype=np.float64)
    return _curve_of_means(table.reshape(len(smooth), length), first=-length)


def _curve_of_means(table: NDArray[np.float64], first: int = 0) -> Curve:
    """The means of a (runs, generations) table with NaN where a run has ended."""
    from scipy.stats import t

    active = (~np.isnan(table)).sum(axis=0)
    mean = np.where(active > 0, np.nansum(table, axis=0) / np.maximum(active, 1), np.nan)
    spread = np.nansum((table - mean) ** 2, axis=0) / np.maximum(active - 1, 1)
    widths = np.where(active >= MIN_RUNS_FOR_INTERVAL, t.ppf(0.975, np.maximum(active - 1, 1)), 0.0)
    half = widths * np.sqrt(spread / np.maximum(active, 1))
    return Curve(np.arange(first, first + active.size), mean, mean - half, mean + half, active)


def survival(times: list[int], ended: list[bool]) -> dict[str, list[float]]:
    """Points of a line: the share of runs that have not ended; arguments as of `kaplan_meier`."""
    moments, shares = kaplan_meier(times, ended)
    surviving = [1.0, *shares.tolist()]
    return {"x": [0, *moments.tolist(), max(times)], "y": [*surviving, surviving[-1]]}


def runs_with(runs: list[FinishedRun], column: str) -> list[FinishedRun]:
    """The runs that have a column: some methods do not count evaluations."""
    return [run for run in runs if column in run.columns]


def pairs_by_seed(mine: list[FinishedRun], theirs: list[FinishedRun]) -> list[tuple[FinishedRun, FinishedRun]]:
    """The runs of two methods side by side, for each seed that both have."""
    others = {run.seed: run for run in theirs}
    return [(run, others[run.seed]) for run in mine if run.seed in others]


def totals(runs: list[FinishedRun], column: str) -> NDArray[np.float64]:
    """The sum of a column over the generations of each run that has it."""
    return np.array([np.asarray(run.columns[column], np.float64).sum() for run in runs_with(runs, column)])


def per_generation(runs: list[FinishedRun], column: str) -> NDArray[np.float64]:
    """The mean of a column over the generations in which a run selects parents; runs without any are left out."""
    bred = [_while_selecting(run, column) for run in runs_with(runs, column)]
    return np.array([values.mean() for values in bred if values.size])


def log_ratios(mine: list[FinishedRun], theirs: list[FinishedRun], column: str) -> NDArray[np.float64]:
    """The paper's measure for two methods: (seeds,) mean log ratios of a column, matched by seed and generation.

    Means are over the generations in which both runs of a seed select parents and have a finite count above 0.
    Generation 0 is the same population for all methods of a seed, and is left out.
    """
    logs = []
    for runs in pairs_by_seed(runs_with(mine, column), runs_with(theirs, column)):
        pair = [_while_selecting(run, column)[1:] for run in runs]
        both = np.stack([values[: min(map(len, pair))] for values in pair])
        both = both[:, (np.isfinite(both) & (both > 0)).all(axis=0)]
        if both.size:
            logs.append(float(np.log(both[0] / both[1]).mean()))
    return np.array(logs)


def _by_generation(runs: list[FinishedRun], column: str) -> NDArray[np.float64]:
    """(runs, generations) values, NaN where a run has ended."""
    bred = [_while_selecting(run, column) for run in runs_with(runs, column)]
    table = np.full((len(bred), max(map(len, bred), default=0)), np.nan)
    for row, values in zip(table, bred, strict=True):
        row[: len(values)] = values
    return table


def _while_selecting(run: FinishedRun, column: str) -> NDArray[np.float64]:
    """The values in the generations in which parents are selected: in all, if a run does not count events."""
    values = np.asarray(run.columns[column], np.float64)
    events = run.columns.get("events")
    return values if events is None else values[np.asarray(events) > 0]
