"""The success table: how many runs of each method solved each problem, and what can be said of the difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from flexicase.experiments.results import StudyResults
from flexicase.report import paper
from flexicase.report.statistics import Interval, fisher_exact, holm, wilson

BASELINE = "lexicase"
LEVEL = 0.05


@dataclass(frozen=True)
class SuccessRate:
    """A method on a problem.

    Attributes:
        problem: The problem.
        method: The method.
        successes: Runs that solved it.
        runs: Finished runs.
        interval: 95 % interval of the success rate.
        p_value: That the rate is the baseline's; None for the baseline itself.
        adjusted: The same, adjusted for all methods of the problem.
        published: Successes out of 50 in the paper; None where it has none.
    """

    problem: str
    method: str
    successes: int
    runs: int
    interval: Interval
    p_value: float | None = None
    adjusted: float | None = None
    published: int | None = None

    @property
    def rate(self) -> float:
        """Share of the runs that succeeded."""
        return self.successes / self.runs


def success_table(results: StudyResults) -> list[SuccessRate]:
    """One cell for each problem and method of a study, the paper's order first.

    Args:
        results: The study.
    """
    return [cell for problem in results.problems for cell in _of_problem(results, problem)]


def differs(cell: SuccessRate, adjusted: bool = False) -> bool:
    """Whether a cell is significantly different from the baseline, at the 5 % level."""
    p = cell.adjusted if adjusted else cell.p_value
    return p is not None and p < LEVEL


def baseline_rate(cells: list[SuccessRate], problem: str) -> float:
    """The success rate of lexicase on a problem."""
    return next(cell.rate for cell in cells if cell.problem == problem and cell.method == BASELINE)


def format_p(p: float | None) -> str:
    """A p-value as tables print it; nothing where there is none.

    >>> format_p(0.0421), format_p(0.00042), format_p(None)
    ('0.042', '4e-04', '')
    """
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def _of_problem(results: StudyResults, problem: str) -> list[SuccessRate]:
    cells = [_cell(results, problem, method) for method in paper.paper_order(results.methods(problem))]
    baseline = next((cell for cell in cells if cell.method == BASELINE), None)
    if baseline is None:
        return cells
    others = [cell for cell in cells if cell is not baseline]
    p_values = [fisher_exact(c.successes, c.runs, baseline.successes, baseline.runs) for c in others]
    adjusted = holm(p_values)
    tested = {c.method: replace(c, p_value=p, adjusted=q) for c, p, q in zip(others, p_values, adjusted, strict=True)}
    return [tested.get(cell.method, cell) for cell in cells]


def _cell(results: StudyResults, problem: str, method: str) -> SuccessRate:
    runs = results.runs_of(problem, method)
    successes = sum(run.success for run in runs)
    published = paper.SUCCESSES.get((problem, method))
    return SuccessRate(problem, method, successes, len(runs), wilson(successes, len(runs)), published=published)


def success_groups(results: StudyResults) -> list[dict[str, Any]]:
    """The table as reports print it: for each problem a name, whether the paper has it, and rows of text.

    Args:
        results: The study.
    """
    cells = success_table(results)
    return [
        {
            "id": problem,
            "problem": paper.title(problem),
            "published": any(cell.published is not None for cell in cells if cell.problem == problem),
            "rows": [_shown(cell, cells) for cell in cells if cell.problem == problem],
        }
        for problem in results.problems
    ]


def _shown(cell: SuccessRate, cells: list[SuccessRate]) -> dict[str, Any]:
    mark = ""
    if differs(cell):
        mark = "worse" if cell.rate < baseline_rate(cells, cell.problem) else "better"
    return {
        "title": paper.title(cell.method),
        "successes": cell.successes,
        "runs": cell.runs,
        "interval": f"{cell.interval.low:.2f}–{cell.interval.high:.2f}",
        "p": format_p(cell.p_value),
        "adjusted": format_p(cell.adjusted),
        "published": "" if cell.published is None else f"{cell.published}/{paper.RUNS}",
        "mark": mark,
        "paper_mark": "worse" if (cell.problem, cell.method) in paper.WORSE else "",
    }
