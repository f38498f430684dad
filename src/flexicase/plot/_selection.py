"""Pictures of selections, in the colours and line styles of the paper's figures.

Hard cases first is red, easy cases first is blue, a weighted shuffle is dotted, a ranked shuffle is solid, plain
lexicase is black.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import as_number_array, check_count, check_flag, check_text, require_package, shown
from flexicase.plot._style import BLACK, BLUE, DOTTED, OTHER_COLOURS, RED, style
from flexicase.rng import check_seed
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.methods import PAPER_METHODS, resolve_method
from flexicase.selection.orders import OrderKind, Uniform, first_case_probabilities
from flexicase.selection.protocol import Method, Selection
from flexicase.selection.select import select
from flexicase.selection.trace import trace
from flexicase.selection.weights import resolve_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE_EVENTS = 200

Methods = Iterable[str] | Mapping[str, str | Method]


def funnel(
    errors: ArrayLike,
    methods: Methods = PAPER_METHODS,
    *,
    n: int = 1000,
    seed: int = 0,
    ax: Axes | None = None,
    log: bool = True,
    distinct: bool = False,
    maximize: bool = False,
    solved: ArrayLike | None = None,
) -> Axes:
    """Draw the mean size of the pool against the number of cases used.

    Args:
        errors: (n_individuals, n_cases) numbers, lower is better.
        methods: Names of lexicase methods, or a mapping from labels to names or methods.
        n: Selection events per method; the first 200 of them make the curve, all of them the mean evaluations.
        seed: Seed of every method's events.
        ax: Where to draw; a new figure by default.
        log: Whether the pool size has a logarithmic axis.
        distinct: Count one individual per distinct error vector.
        maximize: Whether ``errors`` are scores, of which higher is better.
        solved: What counts as solved for biases, as for `flexicase.select`.

    Returns:
        The axes; the legend gives the mean evaluations per event.

    Example:
        >>> from flexicase import plot
        >>> from flexicase.data import example_errors
        >>> ax = plot.funnel(example_errors(), ["lexicase", "ranked-num-nonzeros"], n=20)
        >>> ax.get_xlabel()
        'cases used'
    """
    n, log, distinct = check_count(n, "n", 1), check_flag(log, "log"), check_flag(distinct, "distinct")
    labelled, values, key = _labelled(methods), as_number_array(errors, "errors"), check_seed(seed)
    better: Any = {"maximize": maximize, "solved": solved}
    ErrorMatrix.from_array(values, **better)  # refused before a figure is opened
    ax = _axes(ax)
    curves = []
    for i, (label, method) in enumerate(labelled.items()):
        curves.append(trace(values, min(n, CURVE_EVENTS), method, seed=key, **better).mean_pool(distinct=distinct))
        counts = _counts(select(values, n, method, seed=key, **better), label, distinct)
        ax.plot(curves[-1], label=f"{label}  ({counts.mean():,.0f} evaluations)", **_style(label, i))
    ax.set_xlim(0, max(map(_settled, curves), default=1))
    if log:
        ax.set_yscale("log")
        _label_log(ax.yaxis)
    counted = "distinct error vectors" if distinct else "candidates"
    ax.set(ylim=(0.9 if log else 0, None), xlabel="cases used", ylabel=f"{counted} left, mean")
    ax.legend(frameon=False, loc="upper right")
    return _tidy(ax)


def case_weights(
    errors: ArrayLike,
    method: str | Method = "weighted-num-nonzeros",
    *,
    ax: Axes | None = None,
    sort: bool = True,
    maximize: bool = False,
    solved: ArrayLike | None = None,
) -> Axes:
    """Draw the weight of each case and its probability of coming first.

    Args:
        errors: (n_individuals, n_cases) numbers, lower is better.
        method: A lexicase method with a weighted or ranked order, whose bias is drawn.
        ax: Where to draw; a new figure by default.
        sort: Put the heaviest case first instead of keeping the columns' order.
        maximize: Whether ``errors`` are scores, of which higher is better.
        solved: What counts as solved, as for `flexicase.select`.

    Returns:
        The axes of the probabilities; the weights are bars on a second axis.

    Example:
        >>> from flexicase import plot
        >>> ax = plot.case_weights([[0, 1, 1], [0, 0, 2]], "weighted-num-nonzeros")
        >>> [round(float(p), 2) for p in ax.get_lines()[0].get_ydata()]
        [0.67, 0.33, 0.0]
    """
    sort = check_flag(sort, "sort")
    chosen = resolve_method(method)
    if not isinstance(chosen, Lexicase) or isinstance(chosen.order, Uniform):
        raise TypeError(f"method must be a lexicase method with a weighted or ranked order, got {shown(method)}")
    bias = chosen.order.bias
    weights = resolve_weights(bias, ErrorMatrix.from_array(errors, maximize=maximize, solved=solved).statistics)
    ax = _axes(ax)
    weighted, ranked = (first_case_probabilities(kind, weights) for kind in (OrderKind.WEIGHTED, OrderKind.RANKED))
    order = np.argsort(-weights, kind="stable") if sort else np.arange(len(weights))
    x = np.arange(len(weights))
    name = bias.replace("-", "_") if isinstance(bias, str) else ""
    colour = {"num_nonzeros": RED, "num_zeros": BLUE}.get(name, BLACK)
    bars = ax.twinx()
    bars.bar(x, weights[order], width=1.0, color="#e3e3e3", label="weight (right axis)")
    bars.set_ylabel(f"weight ({bias})" if isinstance(bias, str) else "weight", color="#6b6b6b")
    bars.tick_params(axis="y", colors="#6b6b6b", length=0)
    bars.set_ylim(0, 1.35 * float(weights.max(initial=0.0)) or 1.0)
    ax.plot(x, weighted[order], color=colour, linestyle=DOTTED, linewidth=2.2, label="first, weighted shuffle")
    ax.plot(x, ranked[order], color=colour, linewidth=1.8, label="first, ranked shuffle")
    ax.axhline(1 / max(len(x), 1), color=BLACK, linewidth=0.9, linestyle="--", label="first, uniform shuffle")
    ax.set_zorder(bars.get_zorder() + 1)
    ax.patch.set_visible(False)
    highest = 1.25 * float(max(ranked.max(initial=0.0), weighted.max(initial=0.0))) or 1.0
    ax.set(xlim=(-0.5, len(x) - 0.5), xlabel="cases, heaviest first" if sort else "case")
    ax.set(ylim=(0, highest), ylabel="probability of coming first")
    handles = [*ax.get_legend_handles_labels()[0], *bars.get_legend_handles_labels()[0]]
    ax.legend(handles=handles, frameon=False, loc="upper right")
    _tidy(bars)
    return _tidy(ax)


def evaluations(selections: Mapping[str, Selection], *, ax: Axes | None = None, distinct: bool = False) -> Axes:
    """Draw how the evaluations of a selection event are distributed, per method.

    Args:
        selections: What `flexicase.select` gave for each method; a ValueError names one without counts.
        ax: Where to draw; a new figure by default.
        distinct: Use the counts with one individual per distinct error vector.

    Returns:
        The axes: for every method, the fraction of events that needed at most so many evaluations.

    Example:
        >>> import flexicase as fx
        >>> from flexicase import plot
        >>> names = ["lexicase", "ranked-num-nonzeros"]
        >>> errors = [[0, 1, 2], [1, 0, 2], [2, 2, 0]]
        >>> ax = plot.evaluations({name: fx.select(errors, 50, name, seed=1) for name in names})
        >>> len(ax.get_lines())
        2
    """
    if not isinstance(selections, Mapping):
        raise TypeError(f"selections must be a mapping from labels to selections, got {shown(selections)}")
    distinct = check_flag(distinct, "distinct")
    counts = {label: _counts(selection, label, distinct) for label, selection in selections.items()}
    ax = _axes(ax)
    for i, (label, values) in enumerate(counts.items()):
        ax.ecdf(np.maximum(values, 1), label=f"{label}  (mean {values.mean():,.0f})", **_style(label, i))
    ax.set_xscale("log")
    _label_log(ax.xaxis)
    label = "evaluations of an event" + (", one per distinct error vector" if distinct else "")
    ax.set(ylim=(0, 1.02), xlabel=label, ylabel="fraction of events")
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return _tidy(ax)


def _counts(selection: Selection, label: str, distinct: bool) -> NDArray[np.int64]:
    if not isinstance(selection, Selection):
        raise TypeError(f"selections must be what select returns, got {shown(selection)} for {shown(label)}")
    if not selection.counted:
        raise ValueError(f"selections must have counts, but {shown(label)} has none; use a lexicase method")
    return selection.evaluations_distinct if distinct else selection.evaluations


def _settled(curve: NDArray[np.float64]) -> int:
    """The step after which a curve stays as it is, to within two per cent."""
    return max(int(np.count_nonzero(curve > 1.02 * curve[-1])), 1)


def _label_log(axis: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter("{x:,.0f}")
    axis.set_minor_formatter(NullFormatter())


def _labelled(methods: Methods) -> dict[str, str | Method]:
    if isinstance(methods, str):
        methods = [methods]
    try:
        labelled = dict(methods) if isinstance(methods, Mapping) else {check_text(name, ""): name for name in methods}
    except Exception:
        raise TypeError(f"methods must be names, or a mapping from labels to methods, got {shown(methods)}") from None
    for label, method in labelled.items():
        if not isinstance(resolve_method(method), Lexicase):
            raise TypeError(f"methods must be lexicase methods, which use one case after another, got {shown(label)}")
    return labelled


def _style(label: str, i: int) -> dict[str, Any]:
    """Line style of a method: the paper's for the paper's, a colour-blind safe cycle for others."""
    if label not in PAPER_METHODS:
        return {"color": OTHER_COLOURS[i % len(OTHER_COLOURS)], "linewidth": 1.8, "linestyle": "-."}
    drawn = style(label, i)
    width, line = (2.2, DOTTED) if drawn.dotted else (1.8, "-")
    return {"color": drawn.colour, "linewidth": width, "linestyle": line}


def _axes(ax: Axes | None) -> Axes:
    require_package("pictures need", "matplotlib")
    from matplotlib import pyplot
    from matplotlib.axes import Axes

    if not (ax is None or isinstance(ax, Axes)):
        raise TypeError(f"ax must be matplotlib axes or None, got {shown(ax)}")
    return ax if ax is not None else pyplot.subplots(figsize=(7.0, 4.2), layout="constrained")[1]


def _tidy(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    return ax
