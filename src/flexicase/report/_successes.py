"""The success table: how many runs of each method solved each problem, and how the methods compare."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flexicase.experiments.results import StudyResults
from flexicase.report import _paper as paper
from flexicase.report._sections import Section, Table, each
from flexicase.report.statistics import Interval, fisher_exact, holm, wilson

BASELINE = "lexicase"
LEVEL = 0.05


@dataclass(frozen=True)
class SuccessRate:
    """The successes of a method on a problem.

    Attributes:
        interval: 95 % interval of the success rate.
        p_value: Of Fisher's exact test against the baseline; None for the baseline itself.
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

    @property
    def differs(self) -> bool:
        """Whether the rate is significantly different from the baseline's, at the 5 % level."""
        return self.p_value is not None and self.p_value < LEVEL


def success_table(results: StudyResults) -> list[SuccessRate]:
    """One cell for each problem and method of a study, the paper's methods first."""
    cells, comparable = [], not paper.differences("gp", results.spec.settings, ())
    for problem, method, runs in each(results):
        solved = sum(run.success for run in runs)
        published = paper.SUCCESSES.get((problem, method)) if comparable else None
        cells.append(SuccessRate(problem, method, solved, len(runs), wilson(solved, len(runs)), published=published))
    return [cell for problem in results.problems for cell in _tested([c for c in cells if c.problem == problem])]


def _tested(cells: list[SuccessRate]) -> list[SuccessRate]:
    baseline = next((cell for cell in cells if cell.method == BASELINE), None)
    if baseline is None:
        return cells
    others = [cell for cell in cells if cell is not baseline]
    p_values = [fisher_exact(c.successes, c.runs, baseline.successes, baseline.runs) for c in others]
    tests = dict(zip((c.method for c in others), zip(p_values, holm(p_values), strict=True), strict=True))
    return [replace(c, p_value=p, adjusted=q) for c in cells for p, q in [tests.get(c.method, (None, None))]]


def baseline_rate(cells: list[SuccessRate], problem: str) -> float:
    """The success rate of lexicase on a problem."""
    return next(cell.rate for cell in cells if cell.problem == problem and cell.method == BASELINE)


def format_p(p: float | None) -> str:
    """Format a p-value; empty where there is none.

    >>> format_p(0.0421), format_p(0.00042), format_p(None)
    ('0.042', '4e-04', '')
    """
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def success_section(results: StudyResults, meaning: str) -> Section:
    """The success table with tests, and the paper's counts where it has them; ``meaning`` says what a success is."""
    cells = success_table(results)
    has_paper = any(cell.published is not None for cell in cells)
    rows = []
    for c in cells:
        mark = "" if not c.differs else " ↓" if c.rate < baseline_rate(cells, c.problem) else " ↑"
        names = [paper.title(c.problem), paper.title(c.method)]
        row = [*names, f"{c.successes}/{c.runs}{mark}", f"{c.interval.low:.2f}–{c.interval.high:.2f}"]
        rows.append([*row, format_p(c.p_value), format_p(c.adjusted), *([_published(c)] if has_paper else [])])
    header = ["problem", "method", "successes", "95 % interval", "p", "Holm p", *(["paper"] if has_paper else [])]
    text = (
        f"{meaning} Intervals: Wilson. p: Fisher's exact test against lexicase, two-sided; Holm p: adjusted for the "
        "other methods on the same problem. Arrows: different from lexicase at the 5 % level, unadjusted as in the "
        "paper; ↓ worse, ↑ better."
    )
    return Section("successes", "Successful runs", text, table=Table(header, rows))


def _published(cell: SuccessRate) -> str:
    mark = " ↓" if (cell.problem, cell.method) in paper.WORSE else ""
    return "" if cell.published is None else f"{cell.published}/{paper.RUNS}{mark}"
