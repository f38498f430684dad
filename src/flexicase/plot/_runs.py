"""Pictures of runs. Needs matplotlib (``pip install 'flexicase[report]'``), imported when a picture is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from flexicase._checks import require_package
from flexicase.plot._style import BLACK, BLUE, RED
from flexicase.selection.protocol import Ended

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flexicase.gp.records import EvolutionResult, GenerationRecord
    from flexicase.torch.records import TrainingRecord

GREY = "#7f7f7f"

#: Label, value and colour of each line of a panel.
Lines: TypeAlias = "tuple[tuple[str, Callable[[GenerationRecord], float | None], str], ...]"


def _if_bred(name: str) -> Callable[[GenerationRecord], float | None]:
    """A count of a generation's selection; None in the last generation."""
    return lambda record: getattr(record, name) if record.events else None


#: Label, lines and scale of each panel.
PANELS: tuple[tuple[str, Lines, str], ...] = (
    (
        "total error",
        (
            ("best", lambda r: r.best_error, BLACK),
            ("median", lambda r: r.median_error, BLUE),
            ("mean", lambda r: r.mean_error, GREY),
        ),
        "symlog",
    ),
    ("zero errors of the best (of {cases})", (("best", lambda r: r.solved_cases, BLACK),), "linear"),
    ("distinct error vectors", (("all", lambda r: r.n_distinct_errors, BLUE),), "linear"),
    (
        "evaluations",
        (
            ("selection, population pool", _if_bred("evaluations"), RED),
            ("selection, one per error vector", _if_bred("evaluations_distinct"), BLUE),
            ("evaluated pairs", lambda r: r.pairs, BLACK),
        ),
        "log",
    ),
    (
        "mean size",
        (("program, points", lambda r: r.program_size, BLACK), ("genome, genes", lambda r: r.genome_size, BLUE)),
        "linear",
    ),
    (
        "seconds",
        (("all", lambda r: r.seconds, BLACK), ("running programs", lambda r: r.seconds_evaluate, RED)),
        "linear",
    ),
)


def run_picture(run: EvolutionResult) -> Figure:
    """Draw the errors, diversity, evaluations, sizes and times of a run, generation by generation.

    Args:
        run: The result of `flexicase.gp.evolve`.

    Returns:
        A figure with six panels; ``savefig`` writes it.

    >>> from flexicase.gp import evolve
    >>> from flexicase.plot import run_picture
    >>> figure = run_picture(evolve("simple-regression", population=30, generations=2, seed=1, threads=1))
    >>> len(figure.axes)
    6
    """
    require_package("pictures need", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 6.0), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True)
    sampled = run.settings["sampling"] is not None
    cases = "the sample" if sampled else len(run.train_errors)
    for number, (ax, (label, lines, scale)) in enumerate(zip(axes.ravel(), PANELS, strict=True)):
        _lines(ax, run, lines)
        on_sample = ", on the sample" if sampled and number in (0, 2) else ""
        ax.set_ylabel(label.format(cases=cases) + on_sample)
        if scale != "linear" and ax.get_lines():
            ax.set_yscale(scale, **({"linthresh": 1} if scale == "symlog" else {}))
        if scale != "log":
            ax.set_ylim(bottom=0)
    for ax in axes[-1]:
        ax.set_xlabel("generation")
        ax.xaxis.get_major_locator().set_params(integer=True)
    figure.suptitle(_title(run))
    return figure


def _lines(ax: Axes, run: EvolutionResult, lines: Lines) -> None:
    """Draw each line at the generations where its value is known."""
    for label, value, colour in lines:
        known = [(record.generation, value(record)) for record in run.records if value(record) is not None]
        if known:
            x, y = zip(*known, strict=True)
            marker = "o" if len(known) == 1 else None
            ax.plot(x, y, label=label, color=colour, linewidth=1.6, marker=marker)
    ax.spines[["top", "right"]].set_visible(False)
    if len(lines) > 1 and ax.get_lines():
        ax.legend(frameon=False)


def _title(run: EvolutionResult) -> str:
    solved = {
        True: "solves the test cases",
        False: "solves the training cases only",
        None: "solves the training cases, no test cases",
    }[run.success]
    end = solved if run.solved else "not solved"
    return f"{run.problem}, {run.method}, seed {run.seed}: {end}, generation {run.generation}"


def training_picture(records: Sequence[TrainingRecord]) -> Figure:
    """Loss, accuracy, evaluations and time, generation by generation.

    Args:
        records: What `GradientLexicase.fit` gives.

    Example:
        >>> from flexicase.plot import training_picture
        >>> from flexicase.selection.protocol import Ended
        >>> from flexicase.torch import TrainingRecord
        >>> record = TrainingRecord(
        ...     generation=0, parent=2, evaluations=9, pairs=12, cases_used=3, ended=Ended.ONE_LEFT, forward_calls=8,
        ...     lr=0.1, loss=2.3,
        ... )
        >>> len(training_picture([record]).axes)
        4
    """
    require_package("pictures need", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    (loss, accuracy), (evaluations, seconds) = figure.subplots(2, 2, sharex=True)
    x = np.array([record.generation + 1 for record in records])
    loss.plot(x, [record.loss for record in records], color=BLACK)
    loss.set_ylabel("mean training loss")
    tested = [record for record in records if record.accuracy is not None]
    accuracy.plot([r.generation + 1 for r in tested], [r.accuracy for r in tested], color=BLACK, marker="o", ms=3)
    accuracy.set_ylabel("parent on the test cases")
    evaluations.plot(x, [record.evaluations for record in records], color=RED, label="evaluations")
    evaluations.plot(x, [record.pairs for record in records], color=BLUE, lw=0.8, label="forward passes")
    exhausted = np.array([record.ended == Ended.CASES_EXHAUSTED for record in records])
    if exhausted.any():
        counts = np.array([record.evaluations for record in records])
        evaluations.plot(x[exhausted], counts[exhausted], "x", color=BLACK, ms=5, label="ran out of cases")
    evaluations.set_yscale("log")
    evaluations.set_ylabel("selection")
    evaluations.legend(frameon=False, fontsize=8)
    seconds.plot(x, [record.seconds_train for record in records], color=BLACK, label="training")
    seconds.plot(x, [record.seconds_select for record in records], color=RED, label="selection")
    seconds.set_ylabel("seconds")
    seconds.legend(frameon=False, fontsize=8)
    for axes in (evaluations, seconds):
        axes.set_xlabel("generation")
    return figure
