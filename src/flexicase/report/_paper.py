"""What the paper reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flexicase.problems import NAMES, load

PROBLEMS = ("mirror-image", "last-index-of-zero")
RUNS = 50
#: Settings of the paper's studies by kind; a program-synthesis study has them by default.
SETTINGS: dict[str, dict[str, Any]] = {
    "gp": {"population": 1000, "generations": 300},
    "image": {"arch": "vgg16", "generations": 1000},
}

#: The method that all others are compared with.
BASELINE = "lexicase"
#: Orders that use hard cases first, and easy cases first.
HARD_FIRST = ("weighted-num-nonzeros", "ranked-num-nonzeros")
EASY_FIRST = ("weighted-num-zeros", "ranked-num-zeros")
#: Rows of the tables in the paper's order.
ROWS = (BASELINE, *HARD_FIRST, *EASY_FIRST)
#: Successful runs out of 50, by problem and method.
SUCCESSES: dict[tuple[str, str], int] = {
    (problem, method): successes
    for problem, row in zip(PROBLEMS, ((43, 45, 46, 48, 35), (20, 11, 21, 2, 5)), strict=True)
    for method, successes in zip(ROWS, row, strict=True)
}
#: Cells that the paper marks as significantly worse than lexicase selection.
WORSE = {("last-index-of-zero", method) for method in EASY_FIRST}
#: The method that is said to make the fewest evaluations in every generation.
FEWEST_EVALUATIONS = "ranked-num-nonzeros"

#: The image study: rows in the paper's order; accuracy on CIFAR-10 in percent, and the p-value printed beside it.
IMAGE_ROWS = (
    BASELINE,
    "weighted-num-nonzeros default_weight=max",
    "weighted-num-nonzeros default_weight=min",
    "weighted-num-zeros default_weight=max",
    "weighted-num-zeros default_weight=min",
)
ACCURACIES: dict[str, tuple[float, float | None]] = dict(
    zip(IMAGE_ROWS, ((93.34, None), (93.19, 0.276), (92.99, 0.085), (93.29, 0.421), (93.17, 0.25)), strict=True)
)
TITLES = {"cifar10": "CIFAR-10"}


def title(name: str) -> str:
    """The title of a method or problem.

    >>> title("ranked-num-zeros"), title("string-lengths-backwards")
    ('Ranked – Num-Zeros', 'String Lengths Backwards')
    >>> title("weighted-num-nonzeros default_weight=max")
    'Fast – Num-Nonzeros, Default-Max'
    >>> title("lexicase sampling=down:0.1")
    'Lexicase, sampling down:0.1'
    >>> title("lexicase partial=True n_selections=10")
    'Lexicase, partial, 10 selections'
    """
    method, _, own = name.partition(" ")
    order, _, bias = method.partition("-")
    if own.startswith("default_weight="):
        return f"Fast – {bias.title()}, Default-{own.removeprefix('default_weight=').title()}"
    if "=" in own:
        return ", ".join([title(method), *map(_setting, own.split())])
    if name in ROWS and bias:
        return f"{order.title()} – {bias.title()}"
    return load(name).title if name in NAMES else TITLES.get(name, name.replace("-", " ").title())


def _setting(text: str) -> str:
    name, _, value = text.partition("=")
    if name == "n_selections":
        return f"{value} selections"
    return name if value == "True" else f"{name} {value}"


def paper_order(methods: tuple[str, ...]) -> list[str]:
    """Methods in the order of the paper's table, others after them.

    >>> paper_order(("tournament", "ranked-num-zeros", "lexicase"))
    ['lexicase', 'ranked-num-zeros', 'tournament']
    """
    rows = (*ROWS, *IMAGE_ROWS)
    return sorted(methods, key=lambda name: rows.index(name) if name in rows else len(rows))


def differences(kind: str, settings: dict[str, Any], problems: Iterable[str]) -> str:
    """How a study differs from the paper's, as text; empty if its numbers can be compared with the paper's.

    >>> differences("gp", {"population": 500}, ["mirror-image"])
    'population 500 instead of 1000'
    """
    found = [
        f"{name} {settings[name]} instead of {value}"
        for name, value in SETTINGS.get(kind, {}).items()
        if settings.get(name, value) != value
    ]
    other = [title(name) for name in problems if name not in (*PROBLEMS, "cifar10")]
    return ", ".join([*found, *([f"{', '.join(other)} instead of the paper's data"] if other else [])])
