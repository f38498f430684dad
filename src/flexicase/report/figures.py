"""Charts as image files, drawn by Matplotlib; ``page/charts.js`` draws the same charts on the page."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexicase.plot._style import DOTTED
from flexicase.report._curves import MAX_DRAWN
from flexicase.report._sections import Chart, Line, Section, unique_name

#: How far bands may reach above the highest line, as a factor.
BAND_ROOM = 1.5
MAX_LABEL_LENGTH = 80
#: Lines of so few points show them, as on the page.
FEW_POINTS = 8
SUFFIXES = ("png", "svg")


class Figure(NamedTuple):
    """One view of a chart in one scale, and the name of its image files without suffix."""

    chart: Chart
    view: str
    scale: str
    name: str


def figures_of(sections: Iterable[Section]) -> list[Figure]:
    """The image files of all charts whose sections ask for them, each view in each scale."""
    figures, taken = [], set[str]()
    for section in sections:
        for chart in section.charts if section.scales else ():
            for view, scale in product(chart.views, section.scales):
                words = [chart.kind if len(chart.views) == 1 else view, chart.problem]
                words += [scale] if len(section.scales) > 1 else []
                figures.append(Figure(chart, view, scale, unique_name("-".join(words), taken)))
    return figures


def draw_figures(sections: Iterable[Section], folder: Path) -> list[Path]:
    """Draw the figures of all sections as PNG and SVG."""
    return [path for figure in figures_of(sections) for path in draw_chart(figure, folder)]


def draw_chart(drawn: Figure, folder: Path) -> list[Path]:
    """Draw one view of a chart in one scale, above the number of active runs if its lines have it."""
    from matplotlib import figure as matplotlib_figure
    from matplotlib.ticker import EngFormatter

    chart, view, scale, name = drawn
    lines: list[Any] = chart.views[view]["lines"]
    counted = any("active" in line for line in lines)
    figure = matplotlib_figure.Figure(figsize=(7.5, 5.2), layout="constrained")
    ratios = (4, 1) if counted else (1,)
    panels = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios, squeeze=False)[:, 0]
    for line in lines:
        if line["x"]:
            _draw_line(panels, line, chart.steps)
    main, last = panels[0], panels[-1]
    title = chart.title.removesuffix(".") + ("" if len(chart.views) == 1 else f" ({chart.views[view]['label']})")
    main.set_title(_label(title), fontsize=11)
    main.set(yscale=scale, ylabel=chart.y, ylim=_limits(lines, scale))
    main.yaxis.set_major_formatter(EngFormatter(sep=" "))
    main.legend(frameon=False, fontsize=9)
    if counted:
        last.set(ylabel="active runs", ylim=(0, None))
    last.set_xlabel(chart.x)
    if chart.log_x:
        if main.dataLim.width > 0:
            main.set_xscale("log")
        main.xaxis.set_major_formatter("{x:g}")
    else:
        last.xaxis.get_major_locator().set_params(integer=True)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    files = [folder / f"{name}.{suffix}" for suffix in SUFFIXES]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the font may lack a character
        figure.savefig(files[0], dpi=150)
        figure.savefig(files[1], metadata={"Date": None})
    return files


def _draw_line(panels: NDArray[Any], line: Line, steps: bool) -> None:
    drawn = {"color": line["colour"], "linestyle": DOTTED if line["dotted"] else "-", "linewidth": 1.6}
    marker = "o" if len(line["x"]) <= FEW_POINTS else None
    drawstyle = "steps-post" if steps else "default"
    panels[0].plot(
        line["x"], _drawable(line["y"]), label=_label(line["title"]), marker=marker, drawstyle=drawstyle, **drawn
    )
    if "low" in line:
        bounds = _drawable(line["low"]), _drawable(line["high"])
        panels[0].fill_between(line["x"], *bounds, color=drawn["color"], alpha=0.12, linewidth=0)
    if "active" in line:
        panels[-1].step(line["x"], line["active"], where="mid", **drawn)


def _limits(lines: list[Any], scale: str) -> tuple[float, float | None]:
    """The range of the vertical axis: all lines, and bands as far as they leave the lines readable."""
    values = [value for line in lines for value in line["y"] if abs(value) < MAX_DRAWN]
    bands = [value for line in lines for value in line.get("high", line["y"]) if abs(value) < MAX_DRAWN]
    top = min(max(bands, default=1.0), BAND_ROOM * max(values, default=1.0)) * 1.03
    positive = [value for value in values if value > 0]
    if scale == "linear":
        return 0.0, top if top > 0 else None
    return (min(positive) / 1.5, max(top, *positive)) if positive else (0.1, 1.0)


def _label(text: str) -> str:
    """One short line that Matplotlib shows unchanged: no formula, no leading underscore, which hides a label."""
    short = " ".join(text.split()).replace("$", r"\$")
    return f" {short[:MAX_LABEL_LENGTH]}" if short.startswith("_") else short[:MAX_LABEL_LENGTH]


def _drawable(values: list[float]) -> NDArray[np.float64]:
    """The values with NaN, a gap, in place of those that no axis reaches."""
    numbers = np.array(values, dtype=np.float64)
    return np.where(np.abs(numbers) < MAX_DRAWN, numbers, np.nan)
