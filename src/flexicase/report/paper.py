"""What the paper reports, to be set beside what comes out here."""

from __future__ import annotations

PROBLEMS = ("mirror-image", "last-index-of-zero")
RUNS = 50
SETTINGS = {"population": 1000, "generations": 300}

#: Successful runs out of 50, by problem and method.
SUCCESSES: dict[tuple[str, str], int] = {
    ("mirror-image", "lexicase"): 43,
    ("mirror-image", "weighted-num-nonzeros"): 45,
    ("mirror-image", "ranked-num-nonzeros"): 46,
    ("mirror-image", "weighted-num-zeros"): 48,
    ("mirror-image", "ranked-num-zeros"): 35,
    ("last-index-of-zero", "lexicase"): 20,
    ("last-index-of-zero", "weighted-num-nonzeros"): 11,
    ("last-index-of-zero", "ranked-num-nonzeros"): 21,
    ("last-index-of-zero", "weighted-num-zeros"): 2,
    ("last-index-of-zero", "ranked-num-zeros"): 5,
}
#: Cells that the paper marks as significantly worse than lexicase selection.
WORSE = {("last-index-of-zero", "weighted-num-zeros"), ("last-index-of-zero", "ranked-num-zeros")}
#: The method that is said to make the fewest evaluations in every generation.
FEWEST_EVALUATIONS = "ranked-num-nonzeros"
#: Orders that look at hard cases first.
HARD_FIRST = ("weighted-num-nonzeros", "ranked-num-nonzeros")
EASY_FIRST = ("weighted-num-zeros", "ranked-num-zeros")
#: Rows of the tables in the paper's order.
ROWS = ("lexicase", *HARD_FIRST, *EASY_FIRST)

#: The image study: rows in the paper's order; accuracy on CIFAR-10 in percent, and the p-value printed beside it.
IMAGE_ROWS = (
    "lexicase",
    "weighted-num-nonzeros default_weight=max",
    "weighted-num-nonzeros default_weight=min",
    "weighted-num-zeros default_weight=max",
    "weighted-num-zeros default_weight=min",
)
ACCURACIES: dict[str, tuple[float, float | None]] = dict(
    zip(IMAGE_ROWS, ((93.34, None), (93.19, 0.276), (92.99, 0.085), (93.29, 0.421), (93.17, 0.25)), strict=True)
)

SPLIT_MAX = "weighted-split default_weight=max"

TITLES = {
    "weighted-num-nonzeros default_weight=max": "Fast – Num-Nonzeros, Default-Max",
    "weighted-num-nonzeros default_weight=min": "Fast – Num-Nonzeros, Default-Min",
    "weighted-num-zeros default_weight=max": "Fast – Num-Zeros, Default-Max",
    "weighted-num-zeros default_weight=min": "Fast – Num-Zeros, Default-Min",
    "weighted-split default_weight=max": "Fast – Split, Default-Max",
    "weighted-split default_weight=min": "Fast – Split, Default-Min",
    "cifar10": "CIFAR-10",
    "lexicase": "Lexicase",
    "weighted-num-nonzeros": "Weighted – Num-Nonzeros",
    "ranked-num-nonzeros": "Ranked – Num-Nonzeros",
    "weighted-num-zeros": "Weighted – Num-Zeros",
    "ranked-num-zeros": "Ranked – Num-Zeros",
    "mirror-image": "Mirror Image",
    "last-index-of-zero": "Last Index of Zero",
    "replace-space-with-newline": "Replace Space with Newline",
}


def title(name: str) -> str:
    """A method's or problem's name as tables print it.

    >>> title("ranked-num-zeros"), title("string-lengths-backwards")
    ('Ranked – Num-Zeros', 'String Lengths Backwards')
    """
    return TITLES.get(name, name.replace("-", " ").title())


def paper_order(methods: tuple[str, ...]) -> list[str]:
    """Methods in the order of the paper's table, others after them.

    >>> paper_order(("tournament", "ranked-num-zeros", "lexicase"))
    ['lexicase', 'ranked-num-zeros', 'tournament']
    """
    rows = (*ROWS, *IMAGE_ROWS)
    return sorted(methods, key=lambda name: rows.index(name) if name in rows else len(rows))
