"""The parts of the page: charts as data, with the words around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.report import paper
from flexicase.report.curves import Curve, mean_curve, median_curve, per_generation, totals
from flexicase.report.figures import COUNTS
from flexicase.report.results import Results, Run
from flexicase.report.statistics import kaplan_meier
from flexicase.report.style import style

Line = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A chart of the page.

    Attributes:
        id: Its place on the page.
        title: What it shows.
        x: Label of the horizontal axis.
        y: Label of the vertical axis.
        views: What can be chosen between; each has a label and lines.
        log: Whether a logarithmic scale is offered.
        steps: Whether values hold until the next one.
    """

    id: str
    title: str
    x: str
    y: str
    views: dict[str, dict[str, Any]]
    log: bool = True
    steps: bool = False


@dataclass(frozen=True)
class Table:
    """A table of the page."""

    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, a paragraph, charts, perhaps a table."""

    id: str
    title: str
    text: str
    charts: list[Chart] = field(default_factory=list)
    table: Table | None = None


def sections(results: Results) -> list[Section]:
    """All parts of the page, in order.

    Args:
        results: The study.
    """
    return [_evaluations(results), _totals(results), _time_to_success(results), _diversity(results), _time(results)]


def _evaluations(results: Results) -> Section:
    return Section(
        "evaluations",
        "Evaluations per generation",
        "The number of evaluations of a generation is summed over all its selection events, and averaged over the runs "
        "that are still active. Bands are 95 % intervals of the mean. The population pool counts every individual; "
        "with distinct error vectors, individuals whose errors are the same on all cases count once.",
        [
            Chart(
                id=f"evaluations-{problem}",
                title=f"{paper.title(problem)}: mean evaluations per generation.",
                x="generation",
                y="evaluations",
                views={
                    count: {"label": label, "lines": curve_lines(results, problem, count)}
                    for count, label in COUNTS.items()
                },
            )
            for problem in results.problems
        ],
    )


def _totals(results: Results) -> Section:
    rows = []
    for problem in results.problems:
        for method in paper.in_order(results.methods(problem)):
            runs = results.of(problem, method)
            rows.append(
                [
                    paper.title(problem),
                    paper.title(method),
                    quartiles(totals(runs, "evaluations")),
                    quartiles(totals(runs, "evaluations_distinct")),
                    quartiles(per_generation(runs, "evaluations")),
                ]
            )
    header = ["problem", "method", "evaluations per run", "distinct vectors", "evaluations per generation"]
    return Section(
        "totals",
        "Total evaluations per run",
        "Medians over the runs, with quartiles in brackets. A run that ends early makes fewer evaluations in total.",
        table=Table(header, rows),
    )


def _time_to_success(results: Results) -> Section:
    charts = [
        _single(
            f"survival-{problem}",
            f"{paper.title(problem)}: share of runs without a solution (Kaplan–Meier).",
            "share of runs",
            _lines(results, problem, _survival),
            steps=True,
        )
        for problem in results.problems
    ]
    text = (
        "The share of runs that have not yet found a program which also solves the test cases. Runs that end without "
        "one count as unobserved from then on."
    )
    return Section("time-to-success", "Generations to success", text, charts)


def _diversity(results: Results) -> Section:
    charts = [
        _single(
            f"diversity-{problem}",
            f"{paper.title(problem)}: mean number of distinct error vectors.",
            "distinct error vectors",
            curve_lines(results, problem, "distinct_errors"),
        )
        for problem in results.problems
    ]
    text = "How many different error vectors the population has, mean over the runs still active."
    return Section("diversity", "Distinct error vectors", text, charts)


def _time(results: Results) -> Section:
    charts = [
        _single(
            f"time-{problem}",
            f"{paper.title(problem)}: median seconds of selection per generation, with quartiles.",
            "seconds",
            curve_lines(results, problem, "seconds_select", median_curve),
        )
        for problem in results.problems
    ]
    rows = []
    for problem in results.problems:
        for method in paper.in_order(results.methods(problem)):
            runs = results.of(problem, method)
            share = totals(runs, "seconds_select").sum() / max(_all_seconds(runs), 1e-12)
            seconds = 1000 * per_generation(runs, "seconds_select")
            rows.append([paper.title(problem), paper.title(method), quartiles(seconds), f"{100 * share:.1f} %"])
    header = ["problem", "method", "milliseconds of selection per generation", "share of the run"]
    text = (
        "Time that selection takes on the machine that made the runs, several runs at a time: it says how methods "
        "compare, not how fast they are on an idle machine."
    )
    return Section("time", "Time of selection", text, charts, Table(header, rows))


def _all_seconds(runs: list[Run]) -> float:
    columns = {name for run in runs for name in run.columns if name.startswith("seconds")}
    return float(sum(totals(runs, name).sum() for name in columns))


def _single(place: str, title: str, y: str, lines: list[Line], *, steps: bool = False) -> Chart:
    return Chart(place, title, "generation", y, {"all": {"label": "all", "lines": lines}}, log=not steps, steps=steps)


def _lines(results: Results, problem: str, values: Callable[[list[Run]], Line]) -> list[Line]:
    lines = []
    for place, method in enumerate(paper.in_order(results.methods(problem))):
        looks = style(method, place)._asdict()
        lines.append({"name": method, "title": paper.title(method), **looks, **values(results.of(problem, method))})
    return lines


def curve_lines(
    results: Results, problem: str, column: str, curve_of: Callable[[list[Run], str], Curve] = mean_curve
) -> list[Line]:
    """A line for each method: a column's curve over the generations.

    Args:
        results: The study.
        problem: The problem.
        column: The column.
        curve_of: What makes a curve of a method's runs.
    """

    def values(runs: list[Run]) -> Line:
        curve = curve_of(runs, column)
        drawn = {"y": curve.mean, "low": curve.low, "high": curve.high}
        rounded = {key: [float(f"{value:.6g}") for value in points] for key, points in drawn.items()}
        return {"x": curve.generation.tolist(), **rounded, "active": curve.active.tolist()}

    return _lines(results, problem, values)


def _survival(runs: list[Run]) -> Line:
    curve = kaplan_meier([run.generations - 1 for run in runs], [run.success for run in runs])
    last = max((run.generations - 1 for run in runs), default=0)
    surviving = [1.0, *curve.surviving.tolist()]
    return {"x": [0, *curve.times.tolist(), last], "y": [*surviving, surviving[-1]]}


def quartiles(values: NDArray[np.float64]) -> str:
    """A median with its quartiles, as tables print it.

    Args:
        values: (runs,) numbers.
    """
    if not values.size:
        return "–"
    low, middle, high = map(_short, np.quantile(values, (0.25, 0.5, 0.75)).tolist())
    return f"{middle} [{low}–{high}]"


def _short(value: float) -> str:
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}" if value < 1000 * size else f"{value / size:,.0f}{unit}"
    return f"{value:.3g}"
