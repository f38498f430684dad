"""Every claim of the paper about a study: where it is made, how it is tested here, and what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from flexicase.experiments.results import StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import COUNTS, mean_curve, runs_with
from flexicase.report._images import (
    MIN_PRETRAINED,
    accuracy_differences,
    compare,
    format_mean,
    is_tail,
    last_total,
    tail_shares,
    total,
    with_pretrained,
)
from flexicase.report._paper import BASELINE
from flexicase.report._programs import evaluation_ratios
from flexicase.report._sections import MIN_ACTIVE_RUNS, Section, Table
from flexicase.report._successes import (
    LEVEL,
    SuccessRate,
    count_agreement,
    format_p,
    is_complete,
    pooled_test,
    success_table,
)
from flexicase.report.statistics import MIN_PAIRS, PairedRatio, adjusted_ratios, holm, mean_interval

Verdict = Literal["reproduced", "not reproduced", "depends on the count", "not testable here"]
#: With fewer runs per method than this, the absence of a significant difference decides nothing.
MIN_RUNS_FOR_ABSENCE = 30
#: A method is "consistently" the cheapest if it has the lowest mean in this share of the generations.
CONSISTENT = 0.95
#: Success rates are "comparable" if the interval of their difference lies within so many percentage points.
COMPARABLE_SUCCESS = 10.0
COMPARABLE_ACCURACY = 1.0
RULES = (
    "The same rules hold for all rows. Fewer evaluations: the interval of the ratio lies below 1 and its Holm-adjusted "
    "p-value is below 0.05; not reproduced if it lies above 1. "
    f"Consistently: the lowest mean in at least {100 * CONSISTENT:.0f} % of the generations in which every method has "
    f"at least {MIN_ACTIVE_RUNS} active runs. Comparable or similar: the 95 % interval of the difference lies within "
    f"±{COMPARABLE_SUCCESS:.0f} percentage points of success, or ±{COMPARABLE_ACCURACY:.0f} point of accuracy. Where "
    "an interval allows both answers, a claim is not testable here. Where the two counts of evaluations give different "
    "answers, it depends on the count."
)
RULES_BEFORE = "Measure and tests were fixed before the first run."
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
            verdict = _within(100 * c.bounds.low, 100 * c.bounds.high, COMPARABLE_SUCCESS)
            note = "The interval is wider than the margin." if verdict == "not testable here" else ""
        found.append(Claim("success", f"{c.title} {statement}.", place, test, _points(c), "", verdict, note))
    return [*found, _counts_claim(cells)]


def _points(cell: SuccessRate) -> str:
    return f"{cell.describe_difference()} points"


def _absence(statement: str, place: str, tested: list[SuccessRate], sign: int) -> Claim:
    """The claim that no difference of this sign is significant."""
    against = [f"{c.title}: {_points(c)}" for c in tested if c.differs and sign * c.difference > 0]
    extreme = max(tested, key=lambda c: sign * c.difference)
    effect = f"{'highest' if sign > 0 else 'lowest'}: {extreme.title} {_points(extreme)}"
    verdict = _none_of(against, tested)
    few = f"Fewer than {MIN_RUNS_FOR_ABSENCE} runs a method."
    note = few if verdict == "not testable here" else "; ".join(against)
    return Claim("success", statement, place, SUCCESS_TEST, effect, "", verdict, note)


def _none_of(against: list[str], tested: list[SuccessRate]) -> Verdict:
    """The verdict on the absence of significant differences, which few runs cannot show."""
    if against:
        return "not reproduced"
    return "not testable here" if min(c.runs for c in tested) < MIN_RUNS_FOR_ABSENCE else "reproduced"


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
    statement, test = "The success counts of Table 2.", "Fisher's exact test of each count, Holm-adjusted"
    if not published:
        return Claim("success", statement, "Table 2", note="The study has another size than the paper's.")
    adjusted = holm([count_agreement(c) for c in published])
    other = [
        f"{c.title} {c.successes}/{c.runs}, paper {c.published}/{paper.RUNS}"
        for c, p in zip(published, adjusted, strict=True)
        if p < LEVEL
    ]
    effect = f"smallest adjusted p of {len(published)}: {format_p(min(adjusted))}"
    return Claim("success", statement, "Table 2", test, effect, "", _none_of(other, published), "; ".join(other))


def _within(low: float, high: float, margin: float) -> Verdict:
    """The verdict on "comparable": an interval inside the margin, outside of it, or neither."""
    if -margin <= low and high <= margin:
        return "reproduced"
    return "not reproduced" if low > margin or high < -margin else "not testable here"


def _cheaper(ratio: PairedRatio, adjusted: float) -> Verdict:
    low, high = ratio.interval
    if adjusted >= LEVEL or low <= 1 <= high:
        return "not testable here"
    return "reproduced" if high < 1 else "not reproduced"


def _all_of(verdicts: list[Verdict]) -> Verdict:
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
        verdict = _by_both([_cheaper(*each) for each in by_count])
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
            verdict = _all_of([_cheaper(*test) for test in mine]) if consistent else "not reproduced"
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


_, HARD_MAX, HARD_MIN, EASY_MAX, EASY_MIN = paper.IMAGE_ROWS
#: (method, the method that it is compared with, what is said of it, where).
IMAGE_CONTRASTS = (
    (HARD_MAX, BASELINE, "makes significantly fewer evaluations than plain gradient lexicase", "§5.3, Fig. 4"),
    (HARD_MIN, BASELINE, "makes significantly fewer evaluations than plain gradient lexicase", "Fig. 3"),
    (EASY_MAX, BASELINE, "makes significantly fewer evaluations than plain gradient lexicase", "§6, Fig. 3"),
    (EASY_MIN, BASELINE, "makes significantly fewer evaluations than plain gradient lexicase", "§6, Fig. 3"),
    (HARD_MAX, HARD_MIN, "makes fewer evaluations than with Default-Min", "§6"),
    (EASY_MIN, EASY_MAX, "makes fewer evaluations than with Default-Max", "§6"),
)


def image_claims(results: StudyResults) -> list[Claim]:
    """The paper's claims about images, on each data set of a study.

    A study of the end of training tests what its plan says: the four fast variants against plain, and accuracies. No
    study is judged before all of its runs are done.
    """
    found: list[Claim] = []
    if not is_complete(results):
        return found
    tail = is_tail(results)
    contrasts = [c for c in IMAGE_CONTRASTS if c[1] == BASELINE or not tail]
    measure, what = (last_total, "evaluations of the last 50 generations") if tail else (total, "total evaluations")
    for problem in results.problems:
        where, test = paper.title(problem), f"paired ratio of {what}, Wilcoxon, Holm-adjusted"
        ratios = adjusted_ratios({c: compare(results, problem, c[0], c[1], measure) for c in contrasts})
        for (mine, _, statement, place), (ratio, p) in ratios.items():
            note = f"Fewer in {ratio.lower} of {ratio.seeds} seeds."
            if tail and (part := compare(with_pretrained(results), problem, mine, measure=measure)) is not None:
                note += f" The {part.seeds} with a training accuracy of at least {MIN_PRETRAINED:.0f} %: {part}."
            effect = f"{ratio}, p = {format_p(p)}"
            name = f"{paper.title(mine)} {statement} ({where})."
            found.append(Claim("evaluations", name, place, test, effect, "", _cheaper(ratio, p), note))
        if not tail:
            found += [*_cheapest_of_all(results, problem), *_tail_claim(results, problem)]
        found += _accuracy_claims(results, problem)
    if found and not tail:
        note = "Every run here, as Algorithm 2, has a fixed number of generations."
        statement = "Fast gradient lexicase ends up with fewer generations."
        found.append(Claim("evaluations", statement, "§5.3, Fig. 3", note=note))
    return found


def _cheapest_of_all(results: StudyResults, problem: str) -> list[Claim]:
    others = [m for m in paper.IMAGE_ROWS if m != HARD_MAX]
    known = adjusted_ratios({m: compare(results, problem, HARD_MAX, m) for m in others})
    if len(known) < len(others):
        return []
    verdict = _all_of([_cheaper(*each) for each in known.values()])
    closest, (ratio, p) = max(known.items(), key=lambda each: each[1][0].ratio)
    effect = f"largest ratio, to {paper.title(closest)}: {ratio}, p = {format_p(p)}"
    statement = f"Num-Nonzeros with Default-Max is the cheapest of all methods ({paper.title(problem)})."
    test = "paired ratios of total evaluations to all others, Wilcoxon, Holm-adjusted"
    return [Claim("evaluations", statement, "Fig. 4, §7", test, effect, "", verdict)]


def _tail_claim(results: StudyResults, problem: str) -> list[Claim]:
    plain = tail_shares(results.runs_of(problem, BASELINE))
    if plain.size < MIN_PAIRS:
        return []
    low, high = mean_interval(plain)
    medians = [float(np.median(tail_shares(results.runs_of(problem, m)))) for m in results.methods(problem)]
    verdict: Verdict = "reproduced" if low > 0.5 else "not reproduced" if high < 0.5 else "not testable here"
    statement = f"Most evaluations happen in the last few generations ({paper.title(problem)})."
    test = "share of a plain run's evaluations in its last tenth, above one half"
    effect = f"{100 * plain.mean():.0f} % ({100 * low:.0f} to {100 * high:.0f})"
    note = f"Medians of all methods: {100 * min(medians):.0f}–{100 * max(medians):.0f} %."
    note += " The paper does not say how many generations are few."
    return [Claim("evaluations", statement, "§5.3, Fig. 3", test, effect, "", verdict, note)]


def _accuracy_claims(results: StudyResults, problem: str) -> list[Claim]:
    found = []
    for method in paper.IMAGE_ROWS[1:]:
        points = accuracy_differences(results, problem, method)
        if points.size < MIN_PAIRS:
            continue
        statement = f"{paper.title(method)} has an accuracy similar to that of plain ({paper.title(problem)})."
        test = "paired difference of accuracies with interval"
        verdict = _within(*mean_interval(points), COMPARABLE_ACCURACY)
        found.append(Claim("accuracy", statement, "Table 3", test, f"{format_mean(points)} points", "", verdict))
    return found
