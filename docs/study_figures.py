"""Figures of the pages of results that compare whole studies, drawn from the exports in results/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter
from numpy.typing import NDArray

from flexicase.experiments.results import StudyResults
from flexicase.plot._style import style
from flexicase.report import _paper as paper
from flexicase.report._curves import COUNTS
from flexicase.report._same_populations import savings
from flexicase.report._variants import Share
from flexicase.report.statistics import wilson

INCHES_PER_PROBLEM = 0.24
#: For a narrow range and for a wide one.
DENSE_TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5)
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
#: Width and height of a figure of which three fit on a screen.
FLAT = (7.5, 1.5)


def draw_ratios(results: StudyResults, path: Path) -> None:
    """The ratios to lexicase on each problem of a same-populations study, in the order of the ranked order's."""
    found = {(m, c): {s.problem: s for s in savings(results, m, c)} for m in paper.HARD_FIRST for c in COUNTS}
    ranked = found[paper.HARD_FIRST[-1], next(iter(COUNTS))]
    problems = sorted(ranked, key=lambda problem: -ranked[problem].ratio)
    figure = Figure(figsize=(7.5, 1.4 + INCHES_PER_PROBLEM * len(problems)), layout="constrained")
    panels = figure.subplots(1, len(COUNTS), sharex=True, sharey=True)
    for axes, (count, label) in zip(panels, COUNTS.items(), strict=True):
        for i, method in enumerate(paper.HARD_FIRST):
            for row, problem in enumerate(problems):
                saving = found[method, count][problem]
                low, high = saving.interval or (saving.ratio, saving.ratio)
                colour, y = style(method, i).safe, row + 0.15 - 0.3 * i
                axes.plot([low, high], [y, y], color=colour, linewidth=1.2)
                title = paper.title(method) if not row else None
                axes.plot(saving.ratio, y, "os"[i], color=colour, markersize=3.5, label=title)
        axes.axvline(1.0, color="#555555", linewidth=0.8)
        axes.set_title(label, fontsize=10)
        _tidy(axes)
    _ratio_axis(panels[0])
    panels[0].set_yticks(range(len(problems)), [paper.title(problem) for problem in problems], fontsize=8)
    panels[0].set_ylim(-0.7, len(problems) - 0.3)
    figure.supxlabel("evaluations divided by those of lexicase, 95 % intervals; left of 1 saves", fontsize=9)
    drawn = panels[0].get_legend_handles_labels()
    figure.legend(*drawn, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)


def _ratio_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    low, high = np.clip(axes.get_xlim(), (0.1, 1.1), (0.9, 10))
    axes.set_xlim(low, high)
    ticks = [tick for tick in (DENSE_TICKS if high < 2.5 * low else TICKS) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8)
    axes.xaxis.set_minor_locator(NullLocator())


class Dots(NamedTuple):
    """A row of a figure of ratios: a point for each of them, a bar in the middle, and an interval of the middle."""

    label: str
    method: str
    ratios: Sequence[float]
    middle: float
    interval: tuple[float, float] | None = None


def draw_dots(rows: Sequence[Dots], label: str, path: Path) -> None:
    """Ratios of evaluations, a row for each method and count or study; ``label`` is that of their axis."""
    figure = Figure(figsize=(FLAT[0], 0.7 + INCHES_PER_PROBLEM * len(rows)), layout="constrained")
    axes = figure.subplots()
    for row, dots in enumerate(rows):
        colour = style(dots.method, 0).safe
        if dots.interval:
            axes.plot(dots.interval, [-row, -row], color="black", linewidth=1.2)
        axes.plot(dots.ratios, np.full(len(dots.ratios), -row), "o", color=colour, alpha=0.6, markersize=5)
        axes.plot(dots.middle, -row, "|", color="black", markersize=14)
    axes.axvline(1.0, color="#555555", linewidth=0.8)
    axes.set_yticks([-row for row in range(len(rows))], [dots.label for dots in rows], fontsize=8)
    axes.set_ylim(-len(rows) + 0.5, 0.5)
    _ratio_axis(axes)
    axes.set_xlabel(label, fontsize=9)
    _tidy(axes)
    figure.savefig(path, dpi=150)


def draw_selections(shares: Mapping[tuple[str, str], Sequence[Share]], solved: Mapping[str, str], path: Path) -> None:
    """Two panels: shares of the matrix against selections per generation, by problem, and runs solved by each method.

    ``solved`` has counts as "successes/runs" by label.
    """
    figure = Figure(figsize=(FLAT[0], FLAT[1] + 0.3), layout="constrained")
    axes, counts = figure.subplots(1, 2, width_ratios=(1.3, 1))
    first = next(iter(shares))[0]
    for (problem, method), found in shares.items():
        x, y = [share.selections for share in found], [share.median for share in found]
        line, label = ("o-", paper.title(method)) if problem == first else ("o:", None)
        axes.plot(x, y, line, markersize=3.5, color=style(method, 0).safe, label=label)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=8)
    _label_shares(axes, "selections per generation (population 500)")
    for row, count in enumerate(solved.values()):
        successes, runs = map(int, count.split("/"))
        counts.plot([100 * bound for bound in wilson(successes, runs)], [-row, -row], color="black", linewidth=1.2)
        counts.plot(100 * successes / runs, -row, "o", color="black", markersize=5)
    counts.set_yticks([-row for row in range(len(solved))], [f"{name}: {count}" for name, count in solved.items()])
    counts.set_ylim(-len(solved) + 0.5, 0.5)
    counts.set_xlim(0, 103)
    counts.xaxis.set_major_formatter(PercentFormatter())
    counts.set_xlabel("runs solved", fontsize=9)
    for panel in (axes, counts):
        _tidy(panel)
    figure.savefig(path, dpi=150)


def draw_training(shares: Mapping[str, NDArray[np.float64]], path: Path) -> None:
    """The share of all (candidate, case) pairs that each generation of gradient lexicase computes, by method."""
    figure = Figure(figsize=FLAT, layout="constrained")
    axes = figure.subplots()
    for i, (method, values) in enumerate(shares.items()):
        drawn = style(method, i)
        line = ":" if drawn.dotted else "-"
        axes.plot(100 * values, color=drawn.safe, linestyle=line, linewidth=1.4, label=paper.title(method))
    _label_shares(axes, "generation of a training on the digits (mean of the runs)")
    figure.legend(loc="outside right center", frameon=False, fontsize=7)
    _tidy(axes)
    figure.savefig(path, dpi=150)


def _label_shares(axes: Axes, label: str) -> None:
    """Label shares of the matrix, in percent; ``label`` is that of the other axis."""
    axes.set_ylim(0, 103)
    axes.yaxis.set_major_formatter(PercentFormatter())
    axes.set_xlabel(label, fontsize=9)
    axes.set_ylabel("of the matrix", fontsize=9)


def _tidy(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
