"""Figures of the pages of results that compare whole studies, drawn from the exports in results/."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from flexicase.experiments.results import StudyResults
from flexicase.plot._style import style
from flexicase.report import _paper as paper
from flexicase.report._curves import COUNTS
from flexicase.report._same_populations import savings

INCHES_PER_PROBLEM = 0.24


def draw_ratios(results: StudyResults, path: Path) -> None:
    """The ratio of evaluations to lexicase on each problem of a same-populations study, with intervals, by both counts.

    Problems are in the order of the ratio of the ranked order by the population count.
    """
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
        axes.spines[["top", "right"]].set_visible(False)
    _ratio_axis(panels[0])
    panels[0].set_yticks(range(len(problems)), [paper.title(problem) for problem in problems], fontsize=8)
    panels[0].set_ylim(-0.7, len(problems) - 0.3)
    figure.supxlabel("evaluations divided by those of lexicase, 95 % intervals; left of 1 saves", fontsize=9)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False, fontsize=9
    )
    figure.savefig(path, dpi=150)


def _ratio_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    low, high = (
        np.clip(bound, *limits) for bound, limits in zip(axes.get_xlim(), ((0.1, 0.9), (1.1, 10)), strict=True)
    )
    axes.set_xlim(low, high)
    ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2, 3, 5, 10) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8)
    axes.xaxis.set_minor_locator(NullLocator())
