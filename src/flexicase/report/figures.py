"""The figures as pictures: PNG for looking at, SVG for printing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexicase.report import paper
from flexicase.report.curves import Curve, last_curve, mean_curve
from flexicase.report.results import Results
from flexicase.report.style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COUNTS = {"evaluations": "population pool", "evaluations_distinct": "distinct error vectors"}
DOTTED = (0, (1.0, 1.2))


def draw_evaluations(results: Results, folder: Path) -> list[Path]:
    """Draw the mean evaluations per generation of each problem, for both counts, with linear and logarithmic axes.

    Args:
        results: The study.
        folder: Where the files go.

    Returns:
        The files.
    """
    files = []
    for problem in results.problems:
        for count, words in COUNTS.items():
            curves = {m: mean_curve(results.of(problem, m), count) for m in paper.in_order(results.methods(problem))}
            for scale in ("linear", "log"):
                stem = f"{count.replace('_', '-')}-{problem}-{scale}"
                title = f"{paper.title(problem)}: evaluations per generation ({words})"
                files += _draw(curves, title, scale, folder / stem)
    return files


def draw_image_evaluations(results: Results, folder: Path) -> list[Path]:
    """Draw the image study's evaluations: all generations, and the last ones smoothed and aligned at the end.

    Args:
        results: The study.
        folder: Where the files go.

    Returns:
        The files.
    """
    files = []
    for problem in results.problems:
        methods = paper.in_order(results.methods(problem))
        for stem, curve_of, words in (
            ("evaluations", mean_curve, "evaluations per generation"),
            ("last-generations", last_curve, "last generations, moving average of 20"),
        ):
            curves = {method: curve_of(results.of(problem, method), "evaluations") for method in methods}
            files += _draw(curves, f"{paper.title(problem)}: {words}", "linear", folder / f"{stem}-{problem}")
    return files


def _draw(curves: dict[str, Curve], title: str, scale: str, stem: Path) -> list[Path]:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(
        2, 1, sharex=True, figsize=(7.5, 5.2), height_ratios=(4, 1), layout="constrained"
    )
    for place, (method, curve) in enumerate(curves.items()):
        _draw_method(above, below, method, place, curve)
    above.set_title(title, fontsize=11)
    above.set_yscale(scale)
    above.set_ylabel("mean evaluations, 95 % interval")
    if scale == "linear":
        above.set_ylim(bottom=0)
    above.legend(frameon=False, fontsize=9)
    below.set_ylabel("active runs")
    below.set_ylim(bottom=0)
    below.set_xlabel("generation")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    files = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    figure.savefig(files[0], dpi=150)
    figure.savefig(files[1], metadata={"Date": None})
    pyplot.close(figure)
    return files


def _draw_method(above: Axes, below: Axes, method: str, place: int, curve: Curve) -> None:
    looks = style(method, place)
    line: dict[str, Any] = {"color": looks.colour, "linestyle": DOTTED if looks.dotted else "-", "linewidth": 1.6}
    above.plot(curve.generation, curve.mean, label=paper.title(method), **line)
    above.fill_between(curve.generation, curve.low, curve.high, color=looks.colour, alpha=0.12, linewidth=0)
    below.step(curve.generation, curve.active, where="mid", **line)
