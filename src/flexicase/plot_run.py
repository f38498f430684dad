"""Pictures of runs. Needs matplotlib (``pip install 'flexicase[report]'``), imported when a picture is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexicase.gp.records import Generation, Run
from flexicase.plot import BLACK, BLUE, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#7f7f7f"


def run_picture(run: Run) -> Figure:
    """Draw a run: errors, cases solved, evaluations of selection, and sizes, generation by generation.

    Args:
        run: What `flexicase.gp.evolve` returned.

    Returns:
        A figure with four panels; ``savefig`` writes it.

    >>> from flexicase.gp import evolve
    >>> figure = run_picture(evolve("simple-regression", population=30, generations=2, threads=1))
    >>> len(figure.axes)
    4
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'flexicase[report]'") from error
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    errors, solved, evaluations, sizes = figure.subplots(2, 2, sharex=True).ravel()
    _lines(errors, run, [("best", "best_error", BLACK), ("median", "median_error", BLUE), ("mean", "mean_error", GREY)])
    errors.set_yscale("symlog", linthresh=1)
    errors.set_ylim(bottom=0)
    errors.set_ylabel("total error")
    cases = len(run.train_errors)
    _lines(solved, run, [("solved by the best", "solved_cases", BLACK), ("different vectors", "distinct_errors", BLUE)])
    solved.axhline(cases, color=GREY, linewidth=0.8, linestyle=":")
    solved.set_ylim(bottom=0)
    solved.set_ylabel(f"errors that are zero (of {cases}); error vectors")
    _lines(
        evaluations,
        run,
        [
            ("population pool", "evaluations", RED),
            ("one per error vector", "evaluations_distinct", BLUE),
            ("programs × cases really run", "pairs", BLACK),
        ],
        bred_only=True,
    )
    if evaluations.get_lines():
        evaluations.set_yscale("log")
    evaluations.set_ylabel("evaluations per generation")
    evaluations.set_xlabel("generation")
    _lines(sizes, run, [("program, points", "program_size", BLACK), ("genome, genes", "genome_size", BLUE)])
    sizes.set_ylim(bottom=0)
    sizes.set_ylabel("mean size")
    sizes.set_xlabel("generation")
    figure.suptitle(_title(run))
    return figure


def _lines(ax: Axes, run: Run, lines: list[tuple[str, str, str]], bred_only: bool = False) -> None:
    """One line per field of the records that is known."""
    for label, name, colour in lines:
        known = [
            (record.generation, _value(record, name))
            for record in run.records
            if _value(record, name) is not None and (record.events or not bred_only)
        ]
        if known:
            x, y = zip(*known, strict=True)
            marker = "o" if len(known) == 1 else None
            ax.plot(x, y, label=label, color=colour, linewidth=1.6, marker=marker)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_lines():
        ax.legend(frameon=False)


def _value(record: Generation, name: str) -> Any:
    return getattr(record, name)


def _title(run: Run) -> str:
    end = "solves the test cases" if run.success else "solves the training cases only" if run.solved else "not solved"
    return f"{run.problem}, {run.method}, seed {run.seed}: {end}, generation {run.generation}"
