"""What the paper says about images, and whether the data here agree."""

from __future__ import annotations

from flexicase.report import paper
from flexicase.report.claims import Claim, Verdict
from flexicase.report.image import BASELINE, Comparison, compare
from flexicase.report.results import Results
from flexicase.report.successes import LEVEL

#: (method, the method it is set against, what is said of it).
STATEMENTS = (
    (
        "fast-num-nonzeros-max",
        BASELINE,
        "Num-Nonzeros with Default-Max makes significantly fewer evaluations than plain.",
    ),
    (
        "fast-num-zeros-max",
        BASELINE,
        "Num-Zeros with Default-Max too makes significantly fewer evaluations than plain.",
    ),
    (
        "fast-num-zeros-min",
        BASELINE,
        "Num-Zeros with Default-Min too makes significantly fewer evaluations than plain.",
    ),
    (
        "fast-num-nonzeros-max",
        "fast-num-nonzeros-min",
        "With Num-Nonzeros, Default-Max makes fewer evaluations than Default-Min.",
    ),
    ("fast-split-max", "fast-num-nonzeros-max", "Beyond the paper: Split makes fewer evaluations than Num-Nonzeros."),
    (
        "fast-num-zeros-min",
        "fast-num-zeros-max",
        "With Num-Zeros, Default-Min makes fewer evaluations than Default-Max.",
    ),
)


def image_claims(results: Results) -> list[Claim]:
    """The paper's statements on evaluations, on the data sets that a study has.

    Args:
        results: The study.
    """
    found = []
    for problem in results.problems:
        for method, other, statement in STATEMENTS:
            comparison = compare(results, problem, method, other)
            if comparison is not None:
                found.append(Claim(statement, _verdict(comparison), _evidence(comparison, problem, other)))
    return found


def _verdict(found: Comparison) -> Verdict:
    if found.p_value >= LEVEL:
        return "open"
    return "agrees" if found.ratio < 1 else "differs"


def _evidence(found: Comparison, problem: str, other: str) -> str:
    return (
        f"{paper.title(problem)}, totals by those of {paper.title(other)}: {found.ratio:.2f} (95 % interval "
        f"{found.interval.low:.2f} to {found.interval.high:.2f}), fewer in {found.lower} of {found.seeds} seeds, "
        f"p = {found.p_value:.3f} (Wilcoxon signed-rank)."
    )
