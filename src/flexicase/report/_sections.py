"""The parts of a page: charts as data, tables, and the text around them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.plot._style import style
from flexicase.report import _paper as paper
from flexicase.report._curves import Curve, mean_curve

Line: TypeAlias = dict[str, Any]
MAX_NAME_LENGTH = 100
#: Means over fewer active runs than this are not compared.
MIN_ACTIVE_RUNS = 5


@dataclass(frozen=True)
class Chart:
    """A chart as data, drawn by ``page/charts.js`` and by `flexicase.report.figures`.

    Attributes:
        kind: The first part of its id: what charts of its kind show.
        views: Alternatives that the reader chooses from; each has a label and lines.
        log: Whether a logarithmic scale is offered.
        steps: Whether a value holds until the next one.
        caption: A note below the chart: how many runs its means rest on.
    """

    id: str
    kind: str
    problem: str
    title: str
    x: str
    y: str
    views: dict[str, dict[str, Any]]
    log: bool = True
    log_x: bool = False
    steps: bool = False
    caption: str = ""


@dataclass(frozen=True)
class Table:
    """A table; rows with the same first cell form a group; the first ``names`` columns are text, or all (``prose``)."""

    header: list[str]
    rows: list[list[str]]
    names: int = 2
    prose: bool = False

    def groups(self) -> list[list[list[str]]]:
        return [list(rows) for _, rows in groupby(self.rows, key=lambda row: row[0])]


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph, charts and perhaps a table.

    ``scales`` lists the scales, ``"linear"`` or ``"log"``, in which its charts are also written as image files.
    """

    id: str
    title: str
    text: str
    charts: list[Chart] = field(default_factory=list)
    table: Table | None = None
    scales: tuple[str, ...] = ()


class View(NamedTuple):
    """A view of a chart: its label, and the lines for a problem."""

    label: str
    lines: Callable[[str], list[Line]]


def charts_of(
    results: StudyResults,
    kind: str,
    title: str,
    y: str,
    views: dict[str, View] | Callable[[str], list[Line]],
    *,
    x: str = "generation",
    **options: bool,
) -> list[Chart]:
    """Make a chart for each problem of a study that has any data; ``options`` are those of `Chart`."""
    chosen = {"all": View("all", views)} if callable(views) else views
    charts = []
    for problem in results.problems:
        drawn = {key: (view.label, view.lines(problem)) for key, view in chosen.items()}
        filled = {line["name"] for _, lines in drawn.values() for line in lines if line["x"]}
        full: dict[str, dict[str, Any]] = {
            key: {"label": label, "lines": [line for line in lines if line["name"] in filled]}
            for key, (label, lines) in drawn.items()
            if any(line["x"] for line in lines)
        }
        if full:
            title_here = f"{paper.title(problem)}: {title}."
            caption = _caption(next(iter(full.values()))["lines"])
            charts.append(Chart(f"{kind}-{problem}", kind, problem, title_here, x, y, full, caption=caption, **options))
    return charts


def _caption(lines: list[Line]) -> str:
    """The runs behind the curves of a chart: at the start, at the end, and from when on they are few."""
    counted = [line for line in lines if line.get("active")]
    if not counted:
        return ""
    start, end = (
        "–".join(map(str, dict.fromkeys((min(runs), max(runs)))))
        for runs in zip(*((line["active"][0], line["active"][-1]) for line in counted), strict=True)
    )
    few = [
        f"{line['title']} {line['x'][enough]} ({line['active'][-1]} at the end)"
        for line in counted
        if (enough := sum(n >= MIN_ACTIVE_RUNS for n in line["active"])) < len(line["x"])
    ]
    text = f"Active runs of a method: {start}" + (f" at the start, {end} at the end" if end != start else "")
    return f"{text}; fewer than {MIN_ACTIVE_RUNS} from generation: {', '.join(few)}." if few else f"{text}."


def table_of(
    results: StudyResults,
    header: Sequence[str],
    cells: Callable[[str, str, list[FinishedRun]], list[str]],
    group: str = "problem",
) -> Table:
    """Make a table with a row for each problem and method; ``cells`` gives the further columns."""
    rows = [[paper.title(p), paper.title(m), *cells(p, m, runs)] for p, m, runs in each(results)]
    return Table([group, "method", *header], rows)


def each(results: StudyResults) -> list[tuple[str, str, list[FinishedRun]]]:
    """All problems and methods of a study with their runs, the paper's methods first."""
    return [
        (problem, method, results.runs_of(problem, method))
        for problem in results.problems
        for method in paper.paper_order(results.methods(problem))
    ]


def lines_of(results: StudyResults, problem: str, points: Callable[[list[FinishedRun]], Line]) -> list[Line]:
    """A line for each method; ``points`` makes it from the method's runs."""
    methods = enumerate(paper.paper_order(results.methods(problem)))
    return [line_of(method, i) | points(results.runs_of(problem, method)) for i, method in methods]


def line_of(method: str, i: int) -> Line:
    """The line of the i-th method, without its points."""
    return {"name": method, "title": paper.title(method), **style(method, i)._asdict()}


def curve_lines(
    results: StudyResults,
    problem: str,
    column: str,
    curve_of: Callable[[list[FinishedRun], str], Curve] = mean_curve,
    scale: float = 1.0,
) -> list[Line]:
    """A line for each method: a column's curve over the generations, times ``scale``."""

    def points(runs: list[FinishedRun]) -> Line:
        curve = curve_of(runs, column)
        drawn = {"y": curve.mean, "low": curve.low, "high": curve.high}
        rounded = {key: six_digits(scale * values) for key, values in drawn.items()}
        return {"x": curve.generation.tolist(), **rounded, "active": curve.active.tolist()}

    return lines_of(results, problem, points)


def six_digits(values: Iterable[float]) -> list[float]:
    """Numbers as they are stored for a chart."""
    return [float(f"{value:.6g}") for value in values]


def unique_name(text: str, taken: set[str]) -> str:
    """Make a name for a file or an element of the page that is not taken yet, and add it to ``taken``.

    Names of problems come from data: unchanged, they could be paths.

    >>> taken = set()
    >>> unique_name("time-mirror-image", taken), unique_name("../Ä/x", taken), unique_name("x", taken)
    ('time-mirror-image', 'x', 'x-2')
    """
    stem = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:MAX_NAME_LENGTH] or "unnamed"
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def quartiles(values: NDArray[np.float64]) -> str:
    """Format a median with its quartiles.

    >>> import numpy as np
    >>> quartiles(np.array([1e6, 2e6, 3e6])), quartiles(np.array([]))
    ('2 M [1.5 M–2.5 M]', '–')
    """
    if not values.size:
        return "–"
    low, middle, high = map(format_si, np.quantile(values, (0.25, 0.5, 0.75)).tolist())
    return f"{middle} [{low}–{high}]"


def format_si(value: float) -> str:
    """Format a number with three digits.

    >>> format_si(0.01234), format_si(52_345), format_si(3_069_123_456), format_si(float("nan"))
    ('0.0123', '52.3 k', '3,069 M', '–')
    """
    if math.isnan(value):
        return "–"
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}" if value < 1000 * size else f"{value / size:,.0f}{unit}"
    return f"{value:.3g}"
