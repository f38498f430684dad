"""Pictures of runs and trainings, generation by generation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flexicase._checks import require_package
from flexicase.plot._style import BLACK, BLUE, RED
from flexicase.selection.protocol import Ended

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flexicase.gp.records import EvolutionResult
    from flexicase.torch.records import TrainingRecord

GREY = "#7f7f7f"
POOL, DISTINCT = "selection, population pool", "selection, one per error vector"

#: Label and scale of each panel; label, field of a record and colour of each of its lines.
EVOLUTION = (
    (
        "total error",
        "symlog",
        (("best", "best_error", BLACK), ("median", "median_error", BLUE), ("mean", "mean_error", GREY)),
    ),
    ("zero errors of the best (of {cases})", "linear", (("best", "solved_cases", BLACK),)),
    ("distinct error vectors", "linear", (("all", "n_distinct_errors", BLUE),)),
    (
        "evaluations",
        "log",
        ((POOL, "evaluations", RED), (DISTINCT, "evaluations_distinct", BLUE), ("evaluated pairs", "pairs", BLACK)),
    ),
    ("mean size", "linear", (("program, points", "program_size", BLACK), ("genome, genes", "genome_size", BLUE))),
    ("seconds", "linear", (("all", "seconds", BLACK), ("running programs", "seconds_evaluate", RED))),
)
TRAINING = (
    ("mean training loss", "linear", (("loss", "loss", BLACK),)),
    ("parent on the test cases", "linear", (("accuracy", "accuracy", BLACK),)),
    ("selection", "log", (("evaluations", "evaluations", RED), ("forward passes", "pairs", BLUE))),
    ("seconds", "linear", (("training", "seconds_train", BLACK), ("selection", "seconds_select", RED))),
)


def run_picture(run: EvolutionResult) -> Figure:
    """Draw the errors, diversity, evaluations, sizes and times of a run of `flexicase.gp.evolve` in six panels.

    >>> from flexicase.gp import evolve
    >>> from flexicase.plot import run_picture
    >>> figure = run_picture(evolve("simple-regression", population=30, generations=2, seed=1, threads=1))
    >>> len(figure.axes)
    6
    """
    figure, axes = _panels(3, 11.0)
    sampled = run.settings["sampling"] is not None
    cases = "the sample" if sampled else len(run.train_errors)
    for number, (ax, (label, scale, lines)) in enumerate(zip(axes, EVOLUTION, strict=True)):
        _draw(ax, run.records, lines, scale)
        on_sample = ", on the sample" if sampled and number in (0, 2) else ""
        ax.set_ylabel(label.format(cases=cases) + on_sample)
        if scale != "log":
            ax.set_ylim(bottom=0)
    figure.suptitle(_title(run))
    return figure


def training_picture(records: Sequence[TrainingRecord]) -> Figure:
    """Draw the loss, accuracy, evaluations and times of the records that `GradientLexicase.fit` gives.

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
    figure, axes = _panels(2, 9.0)
    for ax, (label, scale, lines) in zip(axes, TRAINING, strict=True):
        _draw(ax, records, lines, scale, first=1)
        ax.set_ylabel(label)
    exhausted = [record for record in records if record.ended == Ended.CASES_EXHAUSTED]
    if exhausted:
        x, y = [r.generation + 1 for r in exhausted], [r.evaluations for r in exhausted]
        axes[2].plot(x, y, "x", color=BLACK, label="ran out of cases")
        axes[2].legend(frameon=False)
    return figure


def _panels(columns: int, width: float) -> tuple[Figure, list[Axes]]:
    require_package("pictures need", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 6.0), layout="constrained")
    axes = figure.subplots(2, columns, sharex=True)
    for ax in axes[-1]:
        ax.set_xlabel("generation")
        ax.xaxis.get_major_locator().set_params(integer=True)
    return figure, list(axes.ravel())


def _draw(
    ax: Axes, records: Sequence[Any], lines: tuple[tuple[str, str, str], ...], scale: str, first: int = 0
) -> None:
    """Draw each line at the generations where its value is known: the last one of a run has no selection."""
    for label, name, colour in lines:
        counts = name.startswith("evaluations")
        known = [(r.generation + first, getattr(r, name)) for r in records if r.events or not counts]
        known = [(x, y) for x, y in known if y is not None]
        if known:
            marker = "o" if len(known) == 1 else None
            ax.plot(*zip(*known, strict=True), label=label, color=colour, linewidth=1.6, marker=marker)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_lines():
        if len(lines) > 1:
            ax.legend(frameon=False)
        if scale != "linear":
            ax.set_yscale(scale, **({"linthresh": 1} if scale == "symlog" else {}))


def _title(run: EvolutionResult) -> str:
    solved = {
        True: "solves the test cases",
        False: "solves the training cases only",
        None: "solves the training cases, no test cases",
    }[run.success]
    end = solved if run.solved else "not solved"
    return f"{run.problem}, {run.method}, seed {run.seed}: {end}, generation {run.generation}"
