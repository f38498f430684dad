"""The success table: how many runs of each method solved each problem, and how the methods compare."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import pairs_by_seed
from flexicase.report._paper import BASELINE
from flexicase.report._sections import Section, Table, each
from flexicase.report.statistics import Interval, fisher_exact, fisher_power, holm_of_known, paired_outcomes, wilson

LEVEL = 0.05
NO_INTERVAL = Interval(float("nan"), float("nan"))


@dataclass(frozen=True)
class SuccessRate:
    """The successes of a method on a problem, compared with lexicase where it is not lexicase itself.

    Attributes:
        interval: 95 % interval of the success rate.
        difference: The rate minus that of lexicase on the same seeds; with its 95 % interval, ``bounds``.
        p_value: Of Fisher's exact test; ``adjusted`` by Holm for all methods of the problem.
        paired: The p-value of McNemar's exact test on the same seeds; ``paired_adjusted`` in the same way.
        published: Successes out of 50 in the paper; None where it has none, or for a study of another size.
    """

    problem: str
    method: str
    successes: int
    runs: int
    interval: Interval
    difference: float = 0.0
    bounds: Interval = NO_INTERVAL
    p_value: float | None = None
    adjusted: float | None = None
    paired: float | None = None
    paired_adjusted: float | None = None
    published: int | None = None

    @property
    def differs(self) -> bool:
        """Whether both adjusted tests find a difference from lexicase at the 5 % level."""
        return all(p is not None and p < LEVEL for p in (self.adjusted, self.paired_adjusted))

    @property
    def title(self) -> str:
        return f"{paper.title(self.method)} on {paper.title(self.problem)}"

    def describe_difference(self) -> str:
        return format_points(self.difference, self.bounds) if self.paired is not None else ""


def success_table(results: StudyResults) -> list[SuccessRate]:
    """One cell for each problem and method of a study, the paper's methods first."""
    published = {} if paper.differences("gp", results.spec.settings, ()) else paper.SUCCESSES
    cells = []
    for problem in results.problems:
        baseline = results.runs_of(problem, BASELINE)
        found = [_cell(p, m, runs, baseline, published.get((p, m))) for p, m, runs in each(results) if p == problem]
        fisher, paired = holm_of_known([c.p_value for c in found]), holm_of_known([c.paired for c in found])
        adjusted = zip(found, fisher, paired, strict=True)
        cells += [replace(cell, adjusted=p, paired_adjusted=q) for cell, p, q in adjusted]
    return cells


def _cell(
    problem: str, method: str, runs: list[FinishedRun], baseline: list[FinishedRun], published: int | None
) -> SuccessRate:
    solved = sum(run.success for run in runs)
    cell = SuccessRate(problem, method, solved, len(runs), wilson(solved, len(runs)), published=published)
    if method == BASELINE or not baseline:
        return cell
    p = fisher_exact(solved, len(runs), sum(run.success for run in baseline), len(baseline))
    pairs = [(mine.success, theirs.success) for mine, theirs in pairs_by_seed(runs, baseline)]
    if not pairs:
        return replace(cell, p_value=p)
    found = paired_outcomes(pairs)
    return replace(cell, p_value=p, paired=found.p_value, difference=found.difference, bounds=found.bounds)


def is_complete(results: StudyResults) -> bool:
    """Whether all runs of a study are done: a test that was planned for all is not made before."""
    return len(results.runs) == results.planned


def until_complete(results: StudyResults) -> str:
    """What a text that explains tests says at its end while runs are missing."""
    return "" if is_complete(results) else " The study is not complete, so nothing is tested yet."


def format_p(p: float | None) -> str:
    """Format a p-value; empty where there is none.

    >>> format_p(0.0421), format_p(0.00042), format_p(None)
    ('0.042', '4e-04', '')
    """
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def format_points(difference: float, bounds: Interval) -> str:
    """Format a difference of rates in percentage points, with its interval.

    >>> format_points(-0.12, Interval(-0.25, 0.02))
    '-12 (-25 to +2)'
    """
    return f"{100 * difference:+.0f} ({100 * bounds.low:+.0f} to {100 * bounds.high:+.0f})"


def success_section(results: StudyResults, meaning: str) -> Section:
    """The success table with tests; ``meaning`` says what a success is."""
    rows = []
    for c in success_table(results):
        mark = "" if not c.differs else " ↓" if c.difference < 0 else " ↑"
        row = [paper.title(c.problem), paper.title(c.method), f"{c.successes}/{c.runs}{mark}"]
        row += [f"{c.interval.low:.2f}–{c.interval.high:.2f}", c.describe_difference()]
        rows.append(row + [format_p(p) for p in (c.paired, c.paired_adjusted, c.p_value, c.adjusted)])
    header = ["problem", "method", "successes", "95 % interval", "difference, points (95 %)"]
    header += ["McNemar p", "Holm", "Fisher p", "Holm"]
    text = (
        f"{meaning} Intervals: Wilson. Methods share the initial population of a seed, so the difference from lexicase "
        "is paired by seed (Agresti and Min) and tested by McNemar's exact test; Fisher's exact test ignores the "
        "pairs. All tests are two-sided, Holm-adjusted for the methods on the same problem. Arrows: both adjusted "
        "p-values are below 0.05; ↓ fewer, ↑ more successes than lexicase."
    )
    return Section("successes", "Successful runs", text, table=Table(header, rows))


def agreement_section(results: StudyResults) -> Section | None:
    """The paper's counts beside those here; None for a study of another size."""
    cells = [c for c in success_table(results) if c.published is not None]
    rows = []
    for c in cells:
        row = [paper.title(c.problem), paper.title(c.method), f"{c.successes}/{c.runs}"]
        row += [f"{c.published}/{paper.RUNS}", format_p(count_agreement(c))]
        base = next((b for b in cells if b.problem == c.problem and b.method == BASELINE), None)
        rows.append([*row, *(pooled_test(c, base) if base and c.method != BASELINE else ("", "", ""))])
    header = ["problem", "method", "here", "paper", "p, here against paper", "both together"]
    header += ["p against lexicase", "power of 50 runs"]
    text = (
        "Chance decides whether one count crosses the 5 % level, so compare counts, not labels. p, here against "
        "paper: Fisher's exact test, two-sided. Both together: the runs here and the paper's pooled, and Fisher's test "
        "against lexicase, pooled in the same way. Power: the chance that 50 runs a method show the pooled difference "
        "at the 5 % level."
    )
    return Section("agreement", "Agreement with the paper's counts", text, table=Table(header, rows)) if rows else None


def count_agreement(cell: SuccessRate) -> float:
    """The p-value of Fisher's exact test of a count against the published one."""
    return fisher_exact(cell.successes, cell.runs, cell.published or 0, paper.RUNS)


def pooled_test(cell: SuccessRate, base: SuccessRate) -> tuple[str, str, str]:
    """A count pooled with the published one: the count, the p-value against lexicase, and the power of 50 runs."""
    (a, n), (b, m) = ((c.successes + (c.published or 0), c.runs + paper.RUNS) for c in (cell, base))
    return f"{a}/{n}", format_p(fisher_exact(a, n, b, m)), f"{100 * fisher_power(a / n, b / m, paper.RUNS):.0f} %"
