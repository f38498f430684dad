"""What the paper says, and whether the data here agree: each claim with the test behind it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

from flexicase.experiments.results import StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import COUNTS, mean_curve, per_generation, runs_with
from flexicase.report._images import BASELINE, EvaluationRatio, compare
from flexicase.report._successes import LEVEL, SuccessRate, baseline_rate, format_p, success_table
from flexicase.report.statistics import fisher_exact, holm

Verdict = Literal["reproduced", "not reproduced", "depends on the count", "not testable here"]
#: Means over fewer active runs than this are not compared.
MIN_ACTIVE_RUNS = 5
#: With fewer runs per method than this, that nothing is significant says nothing.
MIN_RUNS_FOR_ABSENCE = 30


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and what came out.

    Attributes:
        statement: What the paper says.
        verdict: Whether it was reproduced; ``"depends on the count"`` where the two counts of evaluations disagree,
            ``"not testable here"`` where the data cannot tell.
        evidence: The numbers and the test that decide it.
    """

    statement: str
    verdict: Verdict
    evidence: str


def claims(results: StudyResults) -> list[Claim]:
    """The paper's statements on the methods and problems of a program-synthesis study."""
    cells = [cell for cell in success_table(results) if (cell.problem, cell.method) in paper.SUCCESSES]
    tested = [cell for cell in cells if cell.p_value is not None]
    hard = [cell for cell in tested if cell.method in paper.HARD_FIRST]
    easy = [cell for cell in tested if cell.method in paper.EASY_FIRST]
    marked = [cell for cell in easy if (cell.problem, cell.method) in paper.WORSE]
    found = [_none_better(tested, cells), _none_worse("No hard-first method (Num-Nonzeros)", "", hard, cells)]
    found += [_easy_first_worse(cell, baseline_rate(cells, cell.problem)) for cell in marked]
    for problem in results.problems:
        unmarked = [cell for cell in easy if cell.problem == problem and cell not in marked]
        found += [_none_worse("No easy-first method (Num-Zeros)", f" on {paper.title(problem)}", unmarked, cells)]
    found += [_fewest(results, problem) for problem in results.problems]
    found += [_rates(cells, paper.differences("gp", results.spec.settings, ()))]
    return [claim for claim in found if claim is not None]


def _compared(cell: SuccessRate) -> str:
    return (
        f"{paper.title(cell.method)} on {paper.title(cell.problem)} {cell.successes}/{cell.runs} "
        f"(p = {format_p(cell.p_value)}, adjusted {format_p(cell.adjusted)})"
    )


def _absence(tested: list[SuccessRate], contradicted: bool) -> Verdict:
    """The verdict on a claim that something is not there."""
    if contradicted:
        return "not reproduced"
    return "reproduced" if min(cell.runs for cell in tested) >= MIN_RUNS_FOR_ABSENCE else "not testable here"


def _none_better(tested: list[SuccessRate], cells: list[SuccessRate]) -> Claim | None:
    if not tested:
        return None
    better = [cell for cell in tested if cell.differs and cell.rate > baseline_rate(cells, cell.problem)]
    least = format_p(_least(cells, 1)) or "that of none: no rate is better"
    evidence = "; ".join(map(_compared, better)) or f"the smallest p-value of a better rate is {least}"
    return Claim(
        "No method solves significantly more runs than lexicase selection.",
        _absence(tested, bool(better)),
        f"Fisher's exact test, two-sided, 5 % level: {evidence}.",
    )


def _none_worse(methods: str, where: str, tested: list[SuccessRate], cells: list[SuccessRate]) -> Claim | None:
    if not tested:
        return None
    worse = [cell for cell in tested if cell.differs and cell.rate < baseline_rate(cells, cell.problem)]
    return Claim(
        f"{methods} solves significantly fewer runs than lexicase selection{where}.",
        _absence(tested, bool(worse)),
        f"Fisher's exact test, two-sided, 5 % level: {'; '.join(map(_compared, worse or tested))}.",
    )


def _easy_first_worse(cell: SuccessRate, baseline: float) -> Claim:
    where = f"{paper.title(cell.method)} on {paper.title(cell.problem)}"
    worse = cell.differs and cell.rate < baseline
    return Claim(
        f"{where} solves significantly fewer runs than lexicase selection.",
        "reproduced" if worse else "not testable here",
        f"Fisher's exact test, two-sided: {_compared(cell)}"
        + ("." if worse else "; not significant here, which does not show that the rates are equal."),
    )


def _least(cells: list[SuccessRate], sign: int) -> float | None:
    p_values = [
        cell.p_value
        for cell in cells
        if cell.p_value is not None and sign * (cell.rate - baseline_rate(cells, cell.problem)) > 0
    ]
    return min(p_values, default=None)


def _fewest(results: StudyResults, problem: str) -> Claim | None:
    """Ranked shuffle with Num-Nonzeros makes the fewest evaluations in every generation."""
    found = [_fewest_by(results, problem, count) for count in COUNTS]
    known = [each for each in found if each is not None]
    if not known:
        return None
    verdict, evidence = known[0]
    if {verdict, known[-1][0]} == {"reproduced", "not reproduced"}:
        verdict = "depends on the count"
        evidence = " ".join(
            f"By {words}, {each[0]}: {each[1]}" for words, each in zip(COUNTS.values(), found, strict=True) if each
        )
    return Claim(
        f"{'' if problem in paper.PROBLEMS else 'Beyond the paper: '}Ranked shuffle with Num-Nonzeros makes fewer "
        f"evaluations per generation than every other method on {paper.title(problem)}, consistently.",
        verdict,
        evidence,
    )


def _fewest_by(results: StudyResults, problem: str, count: str) -> tuple[Verdict, str] | None:
    """The same by one of the two counts: the verdict, and the evidence."""
    counted = (m for m in results.methods(problem) if runs_with(results.runs_of(problem, m), count))
    methods = paper.paper_order(tuple(counted))
    others = [method for method in methods if method != paper.FEWEST_EVALUATIONS]
    if paper.FEWEST_EVALUATIONS not in methods or not others:
        return None
    leaders = _leaders(results, problem, [*others, paper.FEWEST_EVALUATIONS], count)
    length = leaders.total()
    if length == 0:
        return None
    lowest = leaders[paper.FEWEST_EVALUATIONS] / length
    tests = {method: _fewer_p_value(results, problem, method, count) for method in others}
    adjusted = dict(zip(tests, holm(list(tests.values())), strict=True))
    few = min(len(results.runs_of(problem, method)) for method in methods) < MIN_RUNS_FOR_ABSENCE
    verdict: Verdict = "not reproduced" if lowest < 0.5 or not few else "not testable here"
    if lowest > 0.95 and max(adjusted.values()) < LEVEL:
        verdict = "reproduced"
    details = ", ".join(f"{paper.title(m)} {format_p(p)}" for m, p in adjusted.items())
    elsewhere = "".join(f"; {paper.title(m)} has it in {leaders[m]}" for m in others if leaders[m])
    return (
        verdict,
        f"It has the lowest mean in {100 * lowest:.0f} % of the {length} generations in which every method has at "
        f"least {MIN_ACTIVE_RUNS} active runs{elsewhere}. Mean evaluations per generation of a run over the "
        f"generations it lasted, Mann–Whitney test one-sided, Holm-adjusted p against {details}.",
    )


def _leaders(results: StudyResults, problem: str, methods: list[str], count: str) -> Counter[str]:
    """In how many generations each method has the lowest mean; of equals the first. Few active runs do not count."""
    curves = {method: mean_curve(results.runs_of(problem, method), count) for method in methods}
    length = min(int((curve.active >= MIN_ACTIVE_RUNS).sum()) for curve in curves.values())
    return Counter(min(methods, key=lambda method: curves[method].mean[g]) for g in range(length))


def _fewer_p_value(results: StudyResults, problem: str, other: str, count: str) -> float:
    from scipy.stats import mannwhitneyu

    mine = per_generation(results.runs_of(problem, paper.FEWEST_EVALUATIONS), count)
    theirs = per_generation(results.runs_of(problem, other), count)
    if not mine.size or not theirs.size:
        return 1.0
    p = float(mannwhitneyu(mine, theirs, alternative="less").pvalue)
    return 1.0 if math.isnan(p) else p


def _rates(cells: list[SuccessRate], different: str) -> Claim | None:
    statement = "The success counts of the paper's table."
    if not cells:
        return None
    if different:
        return Claim(statement, "not testable here", f"The study is not comparable with the paper's: {different}.")
    published = [(cell, cell.published) for cell in cells if cell.published is not None]
    adjusted = holm([fisher_exact(cell.successes, cell.runs, number, paper.RUNS) for cell, number in published])
    other = [(cell, number, p) for (cell, number), p in zip(published, adjusted, strict=True) if p < LEVEL]
    details = "; ".join(
        f"{paper.title(cell.method)} on {paper.title(cell.problem)} {cell.successes}/{cell.runs} against the paper's "
        f"{number}/{paper.RUNS} (adjusted p = {format_p(p)})"
        for cell, number, p in other
    )
    if other:
        outcome = f"{details}."
    else:
        outcome = f"none differs at the 5 % level; the smallest adjusted p is {format_p(min(adjusted))}."
    return Claim(
        statement,
        _absence(cells, bool(other)),
        f"Fisher's exact test of each count against the published one, Holm-adjusted over {len(cells)} cells: "
        + outcome,
    )


_, HARD_MAX, HARD_MIN, EASY_MAX, EASY_MIN = paper.IMAGE_ROWS
#: (method, the method it is set against, what is said of it).
STATEMENTS = (
    (HARD_MAX, BASELINE, "Num-Nonzeros with Default-Max makes significantly fewer evaluations than plain."),
    (EASY_MAX, BASELINE, "Num-Zeros with Default-Max too makes significantly fewer evaluations than plain."),
    (EASY_MIN, BASELINE, "Num-Zeros with Default-Min too makes significantly fewer evaluations than plain."),
    (HARD_MAX, HARD_MIN, "With Num-Nonzeros, Default-Max makes fewer evaluations than Default-Min."),
    (paper.SPLIT_MAX, HARD_MAX, "Beyond the paper: Split makes fewer evaluations than Num-Nonzeros."),
    (EASY_MIN, EASY_MAX, "With Num-Zeros, Default-Min makes fewer evaluations than Default-Max."),
)


def image_claims(results: StudyResults) -> list[Claim]:
    """The paper's statements on the evaluations of an image study."""
    found = []
    for problem in results.problems:
        for method, other, statement in STATEMENTS:
            comparison = compare(results, problem, method, other)
            if comparison is not None:
                found.append(Claim(statement, _verdict(comparison), _evidence(comparison, problem, other)))
    return found


def _verdict(found: EvaluationRatio) -> Verdict:
    if found.p_value >= LEVEL:
        return "not testable here"
    return "reproduced" if found.ratio < 1 else "not reproduced"


def _evidence(found: EvaluationRatio, problem: str, other: str) -> str:
    return (
        f"{paper.title(problem)}, totals by those of {paper.title(other)}: {found.ratio:.2f} (95 % interval "
        f"{found.interval.low:.2f} to {found.interval.high:.2f}), fewer in {found.lower} of {found.seeds} seeds, "
        f"p = {found.p_value:.3f} (Wilcoxon signed-rank)."
    )


def verdict_line(found: list[Claim]) -> str:
    """How many claims came out how, in one sentence."""
    counts = Counter(claim.verdict for claim in found)
    parts = [f"{counts[verdict]} {verdict}" for verdict in get_args(Verdict) if counts[verdict]]
    return f"Of {len(found)} claims of the paper: {', '.join(parts)}." if found else ""
