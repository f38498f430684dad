"""Claims of the paper: where each is made, how it is tested here, and what came out; those about programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from flexicase.experiments.results import StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import COUNTS, mean_curve, runs_with
from flexicase.report._paper import BASELINE
from flexicase.report._programs import evaluation_ratios
from flexicase.report._sections import MIN_ACTIVE_RUNS, Section, Table
from flexicase.report._successes import (
    LEVEL,
    SuccessRate,
    count_agreement,
    format_p,
    format_points,
    pooled_test,
    success_table,
)
from flexicase.report.statistics import PairedRatio, holm, mean_difference

Verdict = Literal["reproduced", "not reproduced", "depends on the count", "not testable here"]
#: A method is "consistently" the cheapest if it has the lowest mean in this share of the generations.
CONSISTENT = 0.95
#: Success rates are "comparable" if the interval of their difference lies within so many percentage points.
COMPARABLE_SUCCESS = 10.0
COMPARABLE_ACCURACY = 1.0
RULES = (
    "The same rules hold for all rows. Fewer evaluations: the interval of the ratio lies below 1 and its Holm-adjusted "
    "p-value is below 0.05; not reproduced if it lies above 1 and that p-value is below 0.05. "
    f"Consistently: the lowest mean in at least {100 * CONSISTENT:.0f} % of the generations in which every method has "
    f"at least {MIN_ACTIVE_RUNS} active runs. Comparable or similar: the 95 % interval of the difference lies within "
    f"±{COMPARABLE_SUCCESS:.0f} percentage points of success, or ±{COMPARABLE_ACCURACY:.0f} point of accuracy. No "
    "significant difference in one direction: no adjusted test finds one, and all intervals end within that margin; a "
    "test that finds nothing shows no equality. Where neither answer follows, a claim is not testable here. "
    "Where the two counts of evaluations give different answers, it depends on the count."
)
#: The note of a claim that the plan of its study does not name.
UNPLANNED = "Not in the plan."
RULES_BEFORE = "Measure and tests were fixed before the first run, but for the rows that are not in the plan."
RULES_AFTER = "The rules were written after the runs were made."
SUCCESS_TEST = "McNemar and Fisher, both Holm-adjusted"
HEADER = ["about", "claim", "verdict", "effect (95 %)", "by the distinct count", "tested by", "in the paper", "note"]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Attributes:
        about: Success, evaluations, accuracy or time.
        statement: What the paper says.
        place: Where it says so.
        test: How it is tested here.
        effect: The effect with its 95 % interval; for evaluations, by the population count.
        effect_distinct: The same by the distinct count; empty where only one exists.
        verdict: Whether it was reproduced.
        note: The reason for the verdict, where the effect does not say it.
    """

    about: str
    statement: str
    place: str
    test: str = ""
    effect: str = ""
    effect_distinct: str = ""
    verdict: Verdict = "not testable here"
    note: str = ""


#: Claims on program synthesis that no study here can test.
NOT_TESTED = (
    Claim(
        *("success", "The success rates align with those of Troise and Helmuth (2018).", "§4.2"),
        note="Their counts are of other problems and settings, and are not part of this study.",
    ),
    Claim(
        *("time", "Weighted shuffle has a positive impact on running time.", "§6"),
        note="Every program runs on every case before selection, here as in the paper's system, so fewer evaluations "
        "by this measure save no program run. The study of partial evaluation measures it.",
    ),
)


def claims_section(found: list[Claim], *, planned: bool = False) -> Section | None:
    """The claims as a table; None if there are none. ``planned``: measure and tests were fixed before the runs.

    A column that no claim fills, such as the distinct count of an image study, is left out.
    """
    if not found:
        return None
    rows = [[c.about, c.statement, c.verdict, c.effect, c.effect_distinct, c.test, c.place, c.note] for c in found]
    columns = [column for column in zip(HEADER, *rows, strict=True) if any(column[1:])]
    header, *rows = map(list, zip(*columns, strict=True))
    table = Table(header, rows, names=len(header), prose=True)
    text = f"{verdict_line(found)} {RULES} {RULES_BEFORE if planned else RULES_AFTER}"
    return Section("claims", "Claims of the paper", text, table=table)


def verdict_line(found: Iterable[Claim]) -> str:
    """How many claims came out how, in one sentence."""
    counts = Counter(claim.verdict for claim in found)
    parts = [f"{counts[verdict]} {verdict}" for verdict in get_args(Verdict) if counts[verdict]]
    return f"Of {counts.total()} claims of the paper: {', '.join(parts)}." if parts else ""


def claims(results: StudyResults) -> list[Claim]:
    """The paper's claims about program synthesis, as far as a study has their problems and methods."""
    cells = [c for c in success_table(results) if (c.problem, c.method) in paper.SUCCESSES]
    found = _success_claims(cells)
    for problem in results.problems:
        found += _evaluation_claims(results, problem) if problem in paper.PROBLEMS else []
    return [*found, *NOT_TESTED] if found else []


def _success_claims(cells: list[SuccessRate]) -> list[Claim]:
    if not cells:
        return []
    tested = [c for c in cells if c.paired is not None]
    hard = [c for c in tested if c.method in paper.HARD_FIRST]
    found = []
    if tested:
        found.append(_absence("No method solves significantly more runs than lexicase.", "Table 2, §4.2", tested, 1))
    if hard:
        found.append(_absence("No hard-first method solves significantly fewer runs than lexicase.", "§4.2", hard, -1))
    for c in tested:
        place, test = "Table 2", SUCCESS_TEST
        verdict: Verdict = "not testable here"
        note = f"McNemar p = {format_p(c.paired_adjusted)}, Fisher p = {format_p(c.adjusted)}, both Holm-adjusted."
        if (c.problem, c.method) in paper.WORSE:
            statement = "solves significantly fewer runs than lexicase"
            verdict = "reproduced" if c.differs and c.difference < 0 else verdict
        elif c.method in paper.EASY_FIRST:
            statement = "is not marked as significantly worse than lexicase"
            note += f" A missing mark is no claim of equality.{_agreement(c, cells)}"
        else:
            place, test = "§4.2", "paired difference with interval"
            statement = "has a success rate comparable to that of lexicase"
            verdict = within(100 * c.bounds.low, 100 * c.bounds.high, COMPARABLE_SUCCESS)
            note = "The interval is wider than the margin." if verdict == "not testable here" else ""
        found.append(Claim("success", f"{c.title} {statement}.", place, test, _points(c), "", verdict, note))
    return [*found, _counts_claim(cells)]


def _points(cell: SuccessRate) -> str:
    return f"{cell.describe_difference()} points"


def _absence(statement: str, place: str, tested: list[SuccessRate], sign: int) -> Claim:
    """The claim that no difference of this sign is significant."""

    def reach(cell: SuccessRate) -> float:
        return 100 * (cell.bounds.high if sign > 0 else -cell.bounds.low)

    against = [f"{c.title}: {_points(c)}" for c in tested if c.differs and sign * c.difference > 0]
    extreme = max(tested, key=reach)
    effect = f"{'highest' if sign > 0 else 'lowest'}: {extreme.title} {_points(extreme)}"
    verdict = _absent(against, reach(extreme))
    wide = f"No test finds one, but an interval goes beyond {COMPARABLE_SUCCESS:.0f} points."
    note = wide if verdict == "not testable here" else "; ".join(against)
    return Claim("success", statement, place, SUCCESS_TEST, effect, "", verdict, note)


def _absent(against: list[str], reach: float) -> Verdict:
    """The verdict on the absence of differences; ``reach`` is how many points they might be in spite of the tests."""
    return "not reproduced" if against else "reproduced" if reach <= COMPARABLE_SUCCESS else "not testable here"


def _agreement(cell: SuccessRate, cells: list[SuccessRate]) -> str:
    base = next(c for c in cells if c.problem == cell.problem and c.method == BASELINE)
    if cell.published is None or base.published is None:
        return ""
    pooled, p, power = pooled_test(cell, base)
    total = f"{base.successes + base.published}/{base.runs + paper.RUNS}"
    return (
        f" Counts agree: {cell.successes}/{cell.runs} here, {cell.published}/{paper.RUNS} in the paper, "
        f"p = {format_p(count_agreement(cell))}. Pooled: {pooled} against {total}, p = {p}; at these rates 50 runs a "
        f"method find a difference with a power of {power}."
    )


def _counts_claim(cells: list[SuccessRate]) -> Claim:
    published = [c for c in cells if c.published is not None]
    statement = "The success counts of Table 2."
    test = "mean difference with interval; Fisher's exact test of each count, Holm-adjusted"
    if not published:
        return Claim("success", statement, "Table 2", note="The study has another size than the paper's.")
    adjusted = holm([count_agreement(c) for c in published])
    other = [
        f"{c.title} {c.successes}/{c.runs}, paper {c.published}/{paper.RUNS}"
        for c, p in zip(published, adjusted, strict=True)
        if p < LEVEL
    ]
    mean, bounds = mean_difference([(c.successes, c.runs, c.published or 0, paper.RUNS) for c in published])
    effect = f"{format_points(mean, bounds)} points; smallest adjusted p of {len(published)}: {format_p(min(adjusted))}"
    verdict = _absent(other, 100 * max(-bounds.low, bounds.high))
    return Claim("success", statement, "Table 2", test, effect, "", verdict, "; ".join(other))


def within(low: float, high: float, margin: float) -> Verdict:
    """The verdict on "comparable": an interval inside the margin, outside of it, or neither."""
    if -margin <= low and high <= margin:
        return "reproduced"
    return "not reproduced" if low > margin or high < -margin else "not testable here"


def cheaper(ratio: PairedRatio, adjusted: float) -> Verdict:
    """The verdict on "fewer" and "less": interval and adjusted p-value must say the same."""
    low, high = ratio.interval
    if adjusted >= LEVEL or low <= 1 <= high:
        return "not testable here"
    return "reproduced" if high < 1 else "not reproduced"


def all_of(verdicts: list[Verdict]) -> Verdict:
    """The verdict on a claim about several ratios, from one on each."""
    if "not reproduced" in verdicts:
        return "not reproduced"
    return "reproduced" if set(verdicts) == {"reproduced"} else "not testable here"


def _by_both(verdicts: list[Verdict]) -> Verdict:
    return verdicts[0] if len(set(verdicts)) == 1 else "depends on the count"


def _evaluation_claims(results: StudyResults, problem: str) -> list[Claim]:
    """Claims on evaluations per generation, by both counts; ratios are adjusted over all pairs of a problem."""
    methods = [m for m in paper.paper_order(results.methods(problem)) if m in paper.ROWS]
    cheapest, weighted = paper.FEWEST_EVALUATIONS, paper.HARD_FIRST[0]
    others = [m for m in methods if m != cheapest]
    pairs = [(cheapest, other) for other in others]
    pairs += [(weighted, other) for other in (BASELINE, paper.EASY_FIRST[0]) if {weighted, other} <= {*methods}]
    counts = [c for c in COUNTS if all(runs_with(results.runs_of(problem, m), c) for m in methods)]
    ratios = {count: evaluation_ratios(results, problem, pairs, count) for count in counts}
    if cheapest not in methods or not others or not ratios or not all(ratios.values()):
        return []
    where, test = paper.title(problem), "paired ratio of evaluations per generation, Wilcoxon, Holm-adjusted"
    found = [_consistently(results, problem, methods, ratios)]
    for mine, other in pairs:
        if other == BASELINE:
            statement, place = "makes significantly fewer evaluations than lexicase", f"§4.2, {_figure(problem)}"
        elif other in paper.EASY_FIRST and mine.partition("-")[0] == other.partition("-")[0]:
            statement, place = "makes fewer evaluations than Num-Zeros with the same shuffle", "§6"
        else:
            continue
        by_count = [each[mine, other] for each in ratios.values() if (mine, other) in each]
        if len(by_count) < len(ratios):
            continue
        verdict = _by_both([cheaper(*each) for each in by_count])
        effects = [f"{ratio}, p = {format_p(p)}" for ratio, p in by_count]
        note = "An interval contains 1: these runs do not decide it." if verdict == "not testable here" else ""
        name = f"{paper.title(mine)} {statement} on {where}."
        found.append(Claim("evaluations", name, place, test, effects[0], "".join(effects[1:]), verdict, note))
    return found


def _figure(problem: str) -> str:
    return f"Fig. {1 + paper.PROBLEMS.index(problem)}"


def _consistently(
    results: StudyResults,
    problem: str,
    methods: list[str],
    ratios: dict[str, dict[tuple[str, str], tuple[PairedRatio, float]]],
) -> Claim:
    """The claim that ranked shuffle with Num-Nonzeros is the cheapest in every generation."""
    effects, verdicts = [], []
    for count, tests in ratios.items():
        leaders = _leaders(results, problem, methods, count)
        length, lowest = len(leaders), leaders.count(paper.FEWEST_EVALUATIONS)
        bred = leaders[1:].count(paper.FEWEST_EVALUATIONS)
        mine = [test for (method, _), test in tests.items() if method == paper.FEWEST_EVALUATIONS]
        ratio, p = max(mine, key=lambda test: test[1])
        verdict: Verdict = "not testable here"
        if length:
            consistent = lowest / length >= CONSISTENT
            verdict = all_of([cheaper(*test) for test in mine]) if consistent else "not reproduced"
        verdicts.append(verdict)
        effects.append(
            f"lowest in {lowest} of {length} generations ({bred} of {max(length - 1, 0)} without generation 0); "
            f"largest p of a ratio: {ratio}, p = {format_p(p)}"
        )
    where, differ = paper.title(problem), len(set(verdicts)) > 1
    statement = f"Ranked – Num-Nonzeros makes fewer evaluations than every other method on {where}, consistently."
    test = f"lowest mean in {100 * CONSISTENT:.0f} % of the generations, and all paired ratios"
    note = f"By the population count {verdicts[0]}, by the distinct count {verdicts[-1]}." if differ else ""
    effect, *distinct = effects
    return Claim("evaluations", statement, _figure(problem), test, effect, "".join(distinct), _by_both(verdicts), note)


def _leaders(results: StudyResults, problem: str, methods: list[str], count: str) -> list[str]:
    """The method with the lowest mean in each generation in which all methods have enough active runs."""
    curves = {m: mean_curve(results.runs_of(problem, m), count) for m in methods}
    length = min(int((curve.active >= MIN_ACTIVE_RUNS).sum()) for curve in curves.values())
    return [min(methods, key=lambda m: curves[m].mean[g]) for g in range(length)]
