"""The program-synthesis study: evaluations, generations to success, diversity and time of each method."""

from __future__ import annotations

from functools import partial

import numpy as np

from flexicase.experiments._tables import is_timing
from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.report.curves import COUNTS, mean_curve, median_curve, per_generation, totals
from flexicase.report.sections import (
    Line,
    Section,
    View,
    charts_of,
    curve_lines,
    lines_of,
    quartiles,
    table_of,
)
from flexicase.report.statistics import kaplan_meier
from flexicase.report.successes import BASELINE

#: Generations whose times are taken together: single ones are at the mercy of whatever else the machine does.
WINDOW = 11
MILLISECONDS = 1000.0


def program_sections(results: StudyResults) -> list[Section]:
    """All parts of the page, in order.

    Args:
        results: The study.
    """
    parts = [_evaluations(results), _totals(results), _time_to_success(results), _diversity(results), _time(results)]
    return [part for part in parts if part.charts or part.table]


def _evaluations(results: StudyResults) -> Section:
    views = {
        count: View(label, partial(curve_lines, results, column=count, curve_of=mean_curve))
        for count, label in COUNTS.items()
    }
    text = (
        "The number of evaluations of a generation is summed over all its selection events, and averaged over the runs "
        "that are still active. Bands are 95 % intervals of the mean (Student), cut off where they would hide the "
        "lines, and left out where fewer than 3 runs are active. The population pool counts every individual; with "
        "distinct error vectors, individuals whose errors are the same on all cases count once. Methods that do not "
        "look at one case after another have no such number."
    )
    charts = charts_of(results, "evaluations", "mean evaluations per generation", "evaluations", views)
    return Section("evaluations", "Evaluations per generation", text, charts, scales=("linear", "log"))


def _totals(results: StudyResults) -> Section:
    def cells(_problem: str, _method: str, runs: list[FinishedRun]) -> list[str]:
        whole = (quartiles(totals(runs, count)) for count in COUNTS)
        return [*whole, quartiles(per_generation(runs, "evaluations"))]

    header = ["evaluations per run", "with distinct vectors", "evaluations per generation"]
    text = "Medians over the runs, with quartiles in brackets. A run that ends early makes fewer evaluations in total."
    return Section("totals", "Total evaluations per run", text, table=table_of(results, header, cells))


def _time_to_success(results: StudyResults) -> Section:
    charts = charts_of(
        results,
        "survival",
        "share of runs without a solution (Kaplan–Meier)",
        "share of runs",
        lambda problem: lines_of(results, problem, _survival),
        log=False,
        steps=True,
    )
    text = (
        "The share of runs that have not yet found a program which also solves the test cases. Runs that end without "
        "one count as unobserved from then on."
    )
    return Section("time-to-success", "Generations to success", text, charts)


def _survival(runs: list[FinishedRun]) -> Line:
    times, shares = kaplan_meier([run.generations - 1 for run in runs], [run.success for run in runs])
    last = max((run.generations - 1 for run in runs), default=0)
    surviving = [1.0, *shares.tolist()]
    return {"x": [0, *times.tolist(), last], "y": [*surviving, surviving[-1]]}


def _diversity(results: StudyResults) -> Section:
    charts = charts_of(
        results,
        "diversity",
        "mean number of distinct error vectors",
        "distinct error vectors",
        lambda problem: curve_lines(results, problem, "n_distinct_errors"),
    )
    text = "How many different error vectors the population has, mean over the runs still active."
    return Section("diversity", "Distinct error vectors", text, charts)


def _time(results: StudyResults) -> Section:
    medians = partial(median_curve, window=WINDOW)
    charts = charts_of(
        results,
        "time",
        f"median milliseconds of selection per generation, with quartiles, {WINDOW} generations together",
        "milliseconds",
        lambda problem: curve_lines(results, problem, "seconds_select", medians, MILLISECONDS),
    )

    def cells(problem: str, method: str, runs: list[FinishedRun]) -> list[str]:
        mine, theirs = (_milliseconds(found) for found in (runs, results.runs_of(problem, BASELINE)))
        known = mine.size and theirs.size and method != BASELINE
        ratio = f"{np.median(mine) / np.median(theirs):.2f}" if known else ""
        return [quartiles(mine), ratio, f"{100 * np.median(_shares(runs)):.1f} %"]

    header = ["milliseconds per generation", "ratio to lexicase", "share of the run"]
    text = (
        "Time that selection takes on the machine that made the runs, several at a time and beside other work: it says "
        "how methods compare, not how fast they are on an idle machine. Ratios are of medians, shares are medians over "
        "the runs, since a pause of the machine falls into one phase of one run. Selection works natively on the whole "
        "matrix of errors, one individual for each distinct vector, and an evaluation is a look "
        "at a number; where it is a run of a program, one that is saved is worth more."
    )
    return Section("time", "Time of selection", text, charts, table_of(results, header, cells))


def _milliseconds(runs: list[FinishedRun]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return MILLISECONDS * per_generation(runs, "seconds_select")


def _shares(runs: list[FinishedRun]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    phases = {name for run in runs for name in run.columns if is_timing(name)}
    return totals(runs, "seconds_select") / np.maximum(sum(totals(runs, name) for name in phases), 1e-12)
