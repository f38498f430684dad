"""Charts as pictures, drawn by Matplotlib: PNG for looking at, SVG for printing; ``page/charts.js`` is their twin."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexicase.plot._style import DOTTED
from flexicase.report.curves import LARGEST
from flexicase.report.sections import Chart, Line, Section, unique_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: How far bands may reach above the highest line, as a factor.
BAND_ROOM = 1.5
LONGEST_LABEL = 80


def draw_figures(sections: Iterable[Section], folder: Path) -> list[Path]:
    """Draw the charts of all sections that are to be pictures, each view with each of the section's scales.

    Args:
        sections: The parts of a page.
        folder: Where the files go.

    Returns:
        The files.
    """
    files, taken = [], set[str]()
    for section in sections:
        for chart in section.charts if section.scales else ():
            for view in chart.views:
                for scale in section.scales:
                    words = [chart.place if len(chart.views) == 1 else view, chart.problem]
                    words += [scale] if len(section.scales) > 1 else []
                    files += draw_chart(chart, view, scale, folder / unique_name("-".join(words), taken))
    return files


def draw_chart(chart: Chart, view: str, scale: str, stem: Path) -> list[Path]:
    """Draw one view of a chart, and below it how many runs are active if its lines know.

    Args:
        chart: The chart.
        view: Which of its views.
        scale: ``"linear"`` or ``"log"``.
        stem: The files without their suffixes.

    Returns:
        The files.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    lines: list[Any] = chart.views[view]["lines"]
    counted = any("active" in line for line in lines)
    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    ratios = (4, 1) if counted else (1,)
    panels = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios, squeeze=False)[:, 0]
    for line in lines:
        if line["x"]:
            _draw_line(panels, line, chart.steps)
    title = chart.title.removesuffix(".")
    label = chart.views[view]["label"]
    panels[0].set_title(_label(title if len(chart.views) == 1 else f"{title} ({label})"), fontsize=11)
    panels[0].set_yscale(scale)
    panels[0].set_ylabel(chart.y)
    panels[0].set_ylim(*_limits(lines, scale))
    panels[0].yaxis.set_major_formatter(EngFormatter(sep=" "))
    panels[0].legend(frameon=False, fontsize=9)
    if counted:
        panels[-1].set_ylabel("active runs")
        panels[-1].set_ylim(bottom=0)
    panels[-1].set_xlabel(chart.x)
    if chart.log_x:
        if panels[0].dataLim.width > 0:
            panels[0].set_xscale("log")
        panels[0].xaxis.set_major_formatter("{x:g}")
    else:
        panels[-1].xaxis.get_major_locator().set_params(integer=True)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    return _save(figure, stem)


def _draw_line(panels: NDArray[Any], line: Line, steps: bool) -> None:
    drawn = {"color": line["colour"], "linestyle": DOTTED if line["dotted"] else "-", "linewidth": 1.6}
    above: Axes = panels[0]
    above.plot(
        line["x"],
        _drawable(line["y"]),
        label=_label(line["title"]),
        marker="o" if len(line["x"]) <= FEW_POINTS else None,
        drawstyle="steps-post" if steps else "default",
        **drawn,
    )
    if "low" in line:
        bounds = _drawable(line["low"]), _drawable(line["high"])
        above.fill_between(line["x"], *bounds, color=drawn["color"], alpha=0.12, linewidth=0)
    if "active" in line:
        panels[-1].step(line["x"], line["active"], where="mid", **drawn)


#: Lines of so few points show them, as on the page.
FEW_POINTS = 8


def _limits(lines: list[Any], scale: str) -> tuple[float, float | None]:
    """The range of the vertical axis: all lines, and bands as far as they leave the lines readable."""
    values = [value for line in lines for value in line["y"] if abs(value) < LARGEST]
    bands = [value for line in lines for value in line.get("high", line["y"]) if abs(value) < LARGEST]
    top = min(max(bands, default=1.0), BAND_ROOM * max(values, default=1.0)) * 1.03
    positive = [value for value in values if value > 0]
    if scale == "linear":
        return 0.0, top if top > 0 else None
    return (min(positive) / 1.5, max(top, *positive)) if positive else (0.1, 1.0)


def _save(figure: Figure, stem: Path) -> list[Path]:
    files = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a character that the font does not have is no reason to speak up
        figure.savefig(files[0], dpi=150)
        figure.savefig(files[1], metadata={"Date": None})
    return files


def _label(text: str) -> str:
    """A text of one short line that Matplotlib shows as it is: no formulas, and no name that hides it."""
    short = " ".join(text.split()).replace("$", r"\$")
    return f" {short[:LONGEST_LABEL]}" if short.startswith("_") else short[:LONGEST_LABEL]


def _drawable(values: list[float]) -> NDArray[np.float64]:
    """The values with NaN, a gap, where no axis reaches."""
    numbers = np.array(values, dtype=np.float64)
    return np.where(np.abs(numbers) < LARGEST, numbers, np.nan)
