"""The study of methods that select from the same populations: evaluations against lexicase, problem by problem."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import COUNTS
from flexicase.report._paper import BASELINE
from flexicase.report._sections import Chart, Line, Section, Table, line_of, six_digits
from flexicase.report._successes import format_p, is_complete, until_complete
from flexicase.report.statistics import MIN_PAIRS, Interval, mcnemar, mean_interval

#: Earlier comparisons do not count: the first populations are random programs.
FIRST_GENERATION = 5
#: Compared generations of the planned 50, near the first and near the last one.
EARLY, LATE = (5, 10), (40, 45)


class Saving(NamedTuple):
    """Evaluations divided by those of lexicase on one problem: geometric mean over seeds, 95 % interval if known."""

    problem: str
    ratio: float
    interval: Interval | None
    seeds: int

    def __str__(self) -> str:
        return f"{self.ratio:.2f}" + (f" ({self.interval.low:.2f}–{self.interval.high:.2f})" if self.interval else "")


class SignTest(NamedTuple):
    """Number of problems with fewer and with more evaluations than lexicase, and the two-sided p-value."""

    fewer: int
    more: int
    p_value: float


def compared_methods(results: StudyResults) -> list[str]:
    """The methods that are compared with lexicase, in the paper's order; none if lexicase is not among them."""
    names = paper.paper_order(tuple(results.spec.settings["compared"]))
    return [name for name in names if name != BASELINE] if BASELINE in names else []


def savings(results: StudyResults, method: str, count: str) -> list[Saving]:
    """The ratio on each problem that has a comparison from generation 5 on."""
    found = []
    for problem in results.problems:
        runs = [_log_ratios(run, method, count) for run in results.runs if run.problem == problem]
        late = [ratios[generations >= FIRST_GENERATION] for generations, ratios in runs]
        logs = np.array([ratios.mean() for ratios in late if ratios.size])
        if logs.size:
            interval = Interval(*np.exp(mean_interval(logs)).tolist()) if logs.size >= MIN_PAIRS else None
            found.append(Saving(problem, float(np.exp(logs.mean())), interval, logs.size))
    return found


def _all_savings(results: StudyResults) -> Iterator[tuple[str, str, list[Saving]]]:
    """Each compared method and count, where any problem has a ratio: the method, the count's label, the ratios."""
    for method, (count, label) in product(compared_methods(results), COUNTS.items()):
        if found := savings(results, method, count):
            yield method, label, found


def sign_test(found: list[Saving]) -> SignTest:
    """The two-sided sign test over problems; a ratio of exactly 1 does not count.

    >>> sign_test([Saving("a", 0.8, None, 1), Saving("b", 0.9, None, 1), Saving("c", 1.0, None, 1)])
    SignTest(fewer=2, more=0, p_value=0.5)
    """
    fewer, more = (sum(sign * np.log(saving.ratio) < 0 for saving in found) for sign in (1, -1))
    return SignTest(int(fewer), int(more), mcnemar(int(fewer), int(more)))


def same_population_sections(results: StudyResults) -> list[Section]:
    parts = [_over_problems(results), _early_and_late(results), _by_problem(results), _over_generations(results)]
    return [part for part in parts if part.charts or (part.table and part.table.rows)]


def same_population_verdict(results: StudyResults) -> str:
    """On how many problems hard-first orders make fewer evaluations, and how many fewer."""
    parts = []
    for method, label, found in _all_savings(results):
        if method in paper.HARD_FIRST:
            fewer, more, p = sign_test(found)
            middle = f"median ratio {np.median([each.ratio for each in found]):.2f}"
            middle += f", p = {format_p(p)}" if is_complete(results) else ""
            parts.append(f"{paper.title(method)} on {fewer} of {fewer + more} ({label}; {middle})")
    counted = "Problems with fewer evaluations than lexicase on the same populations"
    return f"{counted}: {'; '.join(parts)}.{until_complete(results)}"


def _log_ratios(run: FinishedRun, method: str, count: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The compared generations of a run in which parents were selected, and the log ratio in each."""
    columns = [run.columns.get(f"{count}_{name.replace('-', '_')}") for name in (method, BASELINE)]
    if any(values is None for values in columns):
        raise ValueError(f"run {run.id!r}: its rows must have the evaluations of {method!r} and {BASELINE!r}")
    mine, theirs = (np.asarray(values, np.float64) for values in columns)
    selecting = (mine > 0) & (theirs > 0)
    return np.asarray(run.columns["generation"])[selecting], np.log(mine[selecting] / theirs[selecting])


def _over_problems(results: StudyResults) -> Section:
    rows = []
    for method, label, found in _all_savings(results):
        fewer, more, p = sign_test(found)
        ratios = [each.ratio for each in found]
        intervals = [each.interval for each in found if each.interval]
        below, above = sum(high < 1 for _, high in intervals), sum(low > 1 for low, _ in intervals)
        spread = f"{np.median(ratios):.2f} [{min(ratios):.2f}–{max(ratios):.2f}]"
        tested = format_p(p) if method in paper.HARD_FIRST and is_complete(results) else ""
        row = ["all problems", paper.title(method), label, f"{fewer}/{fewer + more}", tested, spread]
        rows.append([*row, str(below), str(above)])
    header = ["over", "method", "count", "fewer than lexicase on", "sign test, p", "median ratio [range]"]
    header += ["intervals below 1", "above 1"]
    text = (
        "Measure and test were fixed before the first run. Fewer: problems on which the ratio of evaluations to "
        "lexicase is below 1. Sign test: two-sided, over the problems, for the hard-first orders; four tests, not "
        "adjusted, and made when all runs are done. Intervals: problems whose 95 % interval lies below or above 1."
    )
    table = Table(header, rows, names=3)
    return Section("problems", "On how many problems hard cases first save evaluations", text, table=table)


def early_and_late(results: StudyResults, method: str, count: str) -> NDArray[np.float64]:
    """The ratios in early and in late generations of the runs that have both, problem by problem: (problems, 2)."""
    found = []
    for problem in results.problems:
        logs = []
        for run in results.runs_of(problem, BASELINE):
            generations, ratios = _log_ratios(run, method, count)
            known = dict(zip(generations.tolist(), ratios.tolist(), strict=True))
            if known.keys() >= {*EARLY, *LATE}:
                logs.append([np.mean([known[g] for g in window]) for window in (EARLY, LATE)])
        found += [np.exp(np.mean(logs, axis=0))] if logs else []
    return np.reshape(found, (-1, 2))


def _early_and_late(results: StudyResults) -> Section:
    rows = []
    for method, (count, label) in product(compared_methods(results), COUNTS.items()):
        if method in paper.HARD_FIRST and (ratios := early_and_late(results, method, count)).size:
            early, late = ratios.T
            n, medians = len(ratios), [f"{np.median(each):.2f}" for each in (early, late)]
            lower, below = int((late < early).sum()), int((late < 1).sum())
            row = ["all problems", paper.title(method), label, *medians, f"{lower}/{n}", f"{below}/{n}"]
            p = mcnemar(below, int((late > 1).sum()))
            rows.append([*row, format_p(p) if is_complete(results) else ""])
    header = [
        "over",
        "method",
        "count",
        "median ratio, early",
        "late",
        "lower than early on",
        "below 1 on",
        "sign test, p",
    ]
    text = (
        f"Early: generations {EARLY[0]} and {EARLY[1]}; late: {LATE[0]} and {LATE[1]}, of the runs that last so long. "
        "The last three columns are about the late ratios: problems on which they are lower than the early ones, and "
        "below 1, with the two-sided sign test of the latter. The plan in `results/plans` does not have this table."
    )
    table = Table(header, rows, names=3)
    return Section("late", "Early and late generations", text, table=table)


def _by_problem(results: StudyResults) -> Section:
    rows = []
    for first, methods in (("hard cases first", paper.HARD_FIRST), ("easy cases first", paper.EASY_FIRST)):
        if not {*methods} <= {*compared_methods(results)}:
            continue
        columns = [{s.problem: s for s in savings(results, m, count)} for m in methods for count in COUNTS]
        for problem in results.problems:
            cells = [found.get(problem, "") for found in columns]
            seeds = columns[0][problem].seeds if problem in columns[0] else 0
            rows.append([first, paper.title(problem), *map(str, cells), str(seeds)])
    columns_of = [f"{order}, {count}" for order in ("weighted", "ranked") for count in ("population", "distinct")]
    text = (
        "Every method selects a generation's parents from the same errors, those of a run of lexicase, at every fifth "
        "generation. The cells are evaluations divided by those of lexicase: the mean over the seeds of the mean log "
        f"ratio over the compared generations from {FIRST_GENERATION} on, with Student's 95 % interval over the seeds. "
        "Population: every individual counts; distinct: one individual per distinct error vector. A run that ends "
        f"before generation {FIRST_GENERATION} has no comparison, so some problems have fewer seeds; with fewer than "
        f"{MIN_PAIRS} there is no interval."
    )
    table = Table(["order", "problem", *columns_of, "seeds"], rows)
    return Section("ratios", "Evaluations by problem", text, table=table)


def _over_generations(results: StudyResults) -> Section:
    views: dict[str, dict[str, Any]] = {
        count: {"label": label, "lines": [_line(results, m, i, count) for i, m in enumerate(compared_methods(results))]}
        for count, label in COUNTS.items()
    }
    name, title = "ratio-by-generation", "evaluations relative to lexicase, geometric mean over the problems."
    chart = Chart(name, name, "all problems", title, "generation", "ratio to lexicase", views, log=False)
    text = "Ratios per problem are geometric means over the runs that select parents in a generation."
    lines = [line for view in views.values() for line in view["lines"] if line["x"]]
    return Section("generations", "Evaluations over the generations", text, [chart] if lines else [])


def _line(results: StudyResults, method: str, i: int, count: str) -> Line:
    logs: dict[int, dict[str, list[float]]] = {}
    for run in results.runs:
        for generation, value in zip(*_log_ratios(run, method, count), strict=True):
            logs.setdefault(int(generation), {}).setdefault(run.problem, []).append(float(value))
    means = {g: np.exp(np.mean([np.mean(values) for values in by.values()])) for g, by in sorted(logs.items())}
    return line_of(method, i) | {"x": list(means), "y": six_digits(means.values())}
