"""The figures as pictures: PNG for looking at, SVG for printing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments.results import StudyResults
from flexicase.plot._style import style
from flexicase.report import paper
from flexicase.report.curves import LARGEST, Curve, last_curve, mean_curve
from flexicase.report.sections import unique_name
from flexicase.report.variants import by_selections

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COUNTS = {"evaluations": "population pool", "evaluations_distinct": "distinct error vectors"}
DOTTED = (0, (1.0, 1.2))
#: How far bands may reach above the highest line, as a factor.
BAND_ROOM = 1.5
LONGEST_LABEL = 80


def draw_evaluations(results: StudyResults, folder: Path) -> list[Path]:
    """Draw the mean evaluations per generation of each problem, for both counts, with linear and logarithmic axes.

    Args:
        results: The study.
        folder: Where the files go.

    Returns:
        The files.
    """
    files, taken = [], set[str]()
    for problem in results.problems:
        for count, words in COUNTS.items():
            curves = {m: mean_curve(results.of(problem, m), count) for m in paper.paper_order(results.methods(problem))}
            if not any(curve.mean.size for curve in curves.values()):
                continue
            for scale in ("linear", "log"):
                stem = unique_name(f"{count}-{problem}-{scale}", taken)
                title = f"{paper.title(problem)}: evaluations per generation ({words})"
                files += _draw(curves, title, scale, folder / stem)
    return files


def draw_image_evaluations(results: StudyResults, folder: Path) -> list[Path]:
    """Draw the image study's evaluations: all generations, and the last ones smoothed and aligned at the end.

    Args:
        results: The study.
        folder: Where the files go.

    Returns:
        The files.
    """
    files, taken = [], set[str]()
    for problem in results.problems:
        methods = paper.paper_order(results.methods(problem))
        for stem, curve_of, words in (
            ("evaluations", mean_curve, "evaluations per generation"),
            ("last-generations", last_curve, "last generations, moving average of 20"),
        ):
            curves = {method: curve_of(results.of(problem, method), "evaluations") for method in methods}
            files += _draw(
                curves, f"{paper.title(problem)}: {words}", "linear", folder / unique_name(f"{stem}-{problem}", taken)
            )
    return files


def draw_shares(results: StudyResults, folder: Path) -> list[Path]:
    """Draw how much of the full matrix is computed, by the number of selections per generation.

    Args:
        results: The study, one with variants.
        folder: Where the files go.

    Returns:
        The files.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(results.problems), 3.6), layout="constrained")
    panels = figure.subplots(1, len(results.problems), sharey=True, squeeze=False)[0]
    for axes, problem in zip(panels, results.problems, strict=True):
        for place, method in enumerate(paper.paper_order(results.methods(problem))):
            found = by_selections(results, problem, method)
            x = [share.selections for share in found]
            line = line_of(method, place)
            axes.plot(x, [share.median for share in found], marker="o", label=_label(paper.title(method)), **line)
            bounds = [share.low for share in found], [share.high for share in found]
            axes.fill_between(x, *bounds, color=line["color"], alpha=0.12, linewidth=0)
        axes.set(title=_label(paper.title(problem)), xlabel="selections per generation", ylim=(0, 103))
        if axes.dataLim.width > 0:
            axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("pairs computed, % of the full matrix")
    panels[-1].legend(frameon=False, fontsize=9, loc="lower right")
    return _save(figure, folder / "pairs-by-selections")


def _draw(curves: dict[str, Curve], title: str, scale: str, stem: Path) -> list[Path]:
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    for place, (method, curve) in enumerate(curves.items()):
        if curve.mean.size:
            _draw_method(above, below, method, place, curve)
    above.set_title(_label(title), fontsize=11)
    above.set_yscale(scale)
    above.set_ylabel("mean evaluations, 95 % interval")
    above.set_ylim(*_limits(curves, scale))
    above.yaxis.set_major_formatter(EngFormatter(sep=" "))
    above.legend(frameon=False, fontsize=9)
    below.set_ylabel("active runs")
    below.set_ylim(bottom=0)
    below.set_xlabel("generation")
    below.xaxis.get_major_locator().set_params(integer=True)
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    return _save(figure, stem)


def _limits(curves: dict[str, Curve], scale: str) -> tuple[float, float | None]:
    """The range of the vertical axis: all lines, and bands as far as they leave the lines readable."""
    lines = [value for curve in curves.values() for value in curve.mean.tolist() if abs(value) < LARGEST]
    bands = [value for curve in curves.values() for value in curve.high.tolist() if abs(value) < LARGEST]
    most = max(lines, default=1.0)
    top = min(max(bands, default=1.0), BAND_ROOM * most) * 1.03
    positive = [value for value in lines if value > 0]
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


def _drawable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values with NaN, a gap, where no axis reaches."""
    return np.where(np.abs(values) < LARGEST, values, np.nan)


def _draw_method(above: Axes, below: Axes, method: str, place: int, curve: Curve) -> None:
    line = line_of(method, place)
    marker = "o" if curve.mean.size == 1 else None
    mean, low, high = map(_drawable, (curve.mean, curve.low, curve.high))
    above.plot(curve.generation, mean, label=_label(paper.title(method)), marker=marker, **line)
    above.fill_between(curve.generation, low, high, color=line["color"], alpha=0.12, linewidth=0)
    below.step(curve.generation, curve.active, where="mid", **line)


def line_of(method: str, place: int) -> dict[str, Any]:
    """How matplotlib draws a method's line."""
    looks = style(method, place)
    return {"color": looks.colour, "linestyle": DOTTED if looks.dotted else "-", "linewidth": 1.6}
