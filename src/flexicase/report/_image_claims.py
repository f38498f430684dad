"""The paper's claims about images."""

from __future__ import annotations

import numpy as np

from flexicase.experiments.results import StudyResults
from flexicase.report import _paper as paper
from flexicase.report._images import (
    MIN_PRETRAINED,
    accuracy_differences,
    compare,
    format_mean,
    is_tail,
    last_total,
    seconds,
    tail_shares,
    total,
    with_pretrained,
)
from flexicase.report._paper import BASELINE
from flexicase.report._successes import format_p, is_complete
from flexicase.report.claims import COMPARABLE_ACCURACY, UNPLANNED, Claim, Verdict, all_of, cheaper, within
from flexicase.report.statistics import MIN_PAIRS, adjusted_ratios, mean_interval

_, HARD_MAX, HARD_MIN, EASY_MAX, EASY_MIN = paper.IMAGE_ROWS
#: (method, the method that it is compared with, what is said of it, where).
AGAINST_PLAIN = (
    (HARD_MAX, BASELINE, "makes significantly fewer evaluations than plain gradient lexicase", "§5.3, Fig. 4"),
    (HARD_MIN, BASELINE, "makes significantly fewer evaluations than plain gradient lexicase", "Fig. 3"),
    (EASY_MAX, BASELINE, "makes significantly fewer evaluations than plain gradient lexicase", "§6, Fig. 3"),
    (EASY_MIN, BASELINE, "makes significantly fewer evaluations than plain gradient lexicase", "§6, Fig. 3"),
)
AMONG_VARIANTS = (
    (HARD_MAX, EASY_MAX, "makes fewer evaluations than Num-Zeros with the same default", "§6"),
    (HARD_MIN, EASY_MIN, "makes fewer evaluations than Num-Zeros with the same default", "§6"),
    (HARD_MAX, HARD_MIN, "makes fewer evaluations than with Default-Min", "§6"),
    (EASY_MIN, EASY_MAX, "makes fewer evaluations than with Default-Max", "§6"),
)


def image_claims(results: StudyResults) -> list[Claim]:
    """The paper's claims about images, on each data set of a study.

    A study of the end of training has the measure of its plan, and adjusts the comparisons that the plan names by
    themselves. No study is judged before all of its runs are done.
    """
    if not is_complete(results):
        return []
    found: list[Claim] = []
    tail = is_tail(results)
    for problem in results.problems:
        found += _evaluation_claims(results, problem)
        found += [] if tail else _tail_claim(results, problem)
        found += _time_claims(results, problem)
        found += _accuracy_claims(results, problem)
    if found and not tail:
        note = "Every run here, as Algorithm 2, has a fixed number of generations."
        statement = "Fast gradient lexicase ends up with fewer generations."
        found.append(Claim("evaluations", statement, "§5.3, Fig. 3", note=note))
    return found


def _evaluation_claims(results: StudyResults, problem: str) -> list[Claim]:
    tail, where = is_tail(results), paper.title(problem)
    measure, what = (last_total, "evaluations of the last 50 generations") if tail else (total, "total evaluations")
    test = f"paired ratio of {what}, Wilcoxon, Holm-adjusted"
    found = []
    for contrasts in (AGAINST_PLAIN, AMONG_VARIANTS) if tail else (AGAINST_PLAIN + AMONG_VARIANTS,):
        ratios = adjusted_ratios({c: compare(results, problem, c[0], c[1], measure) for c in contrasts})
        for (mine, other, statement, place), (ratio, p) in ratios.items():
            notes = [f"Fewer in {ratio.lower} of {ratio.seeds} seeds."]
            if tail and other != BASELINE:
                notes.append(UNPLANNED)
            elif tail and (part := compare(with_pretrained(results), problem, mine, measure=measure)) is not None:
                notes.append(f"The {part.seeds} with a training accuracy of at least {MIN_PRETRAINED:.0f} %: {part}.")
            effect, name = f"{ratio}, p = {format_p(p)}", f"{paper.title(mine)} {statement} ({where})."
            found.append(Claim("evaluations", name, place, test, effect, "", cheaper(ratio, p), " ".join(notes)))
    others = [m for m in paper.IMAGE_ROWS if m != HARD_MAX]
    known = adjusted_ratios({m: compare(results, problem, HARD_MAX, m, measure) for m in others})
    if len(known) == len(others):
        verdict = all_of([cheaper(*each) for each in known.values()])
        closest, (ratio, p) = max(known.items(), key=lambda each: each[1][0].ratio)
        effect = f"largest ratio, to {paper.title(closest)}: {ratio}, p = {format_p(p)}"
        statement = f"Num-Nonzeros with Default-Max is the cheapest of all methods ({where})."
        test = f"paired ratios of {what} to all others, Wilcoxon, Holm-adjusted"
        note = UNPLANNED if tail else ""
        found.append(Claim("evaluations", statement, "Fig. 4, §7", test, effect, "", verdict, note))
    return found


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


def _time_claims(results: StudyResults, problem: str) -> list[Claim]:
    hard_first = {m: compare(results, problem, m, measure=seconds) for m in (HARD_MAX, HARD_MIN)}
    test = "paired ratio of the seconds of training and selection, Wilcoxon, Holm-adjusted"
    note = f"Several runs at a time, beside other work.{f' {UNPLANNED}' if is_tail(results) else ''}"
    found = []
    for method, (ratio, p) in adjusted_ratios(hard_first).items():
        statement = f"{paper.title(method)} takes less time than plain gradient lexicase ({paper.title(problem)})."
        effect = f"{ratio}, p = {format_p(p)}"
        found.append(Claim("time", statement, "§6", test, effect, "", cheaper(ratio, p), note))
    return found


def _accuracy_claims(results: StudyResults, problem: str) -> list[Claim]:
    change = _largest_change(results, problem)
    found = []
    for method in paper.IMAGE_ROWS[1:]:
        points = accuracy_differences(results, problem, method)
        if points.size < MIN_PAIRS:
            continue
        statement = f"{paper.title(method)} has an accuracy similar to that of plain ({paper.title(problem)})."
        test = "paired difference of accuracies with interval"
        verdict, note = within(*mean_interval(points), COMPARABLE_ACCURACY), ""
        if change < COMPARABLE_ACCURACY:
            verdict = "not testable here"
            note = f"Every run ends within {change:.2f} points of the network that it starts from: too near to differ."
        found.append(Claim("accuracy", statement, "Table 3", test, f"{format_mean(points)} points", "", verdict, note))
    return found


def _largest_change(results: StudyResults, problem: str) -> float:
    """How far the accuracy of any run ends from that of its pre-trained network, in points; inf without one."""
    if not is_tail(results):
        return np.inf
    facts = [run.summary for run in results.runs if run.problem == problem]
    return max(abs(100 * (float(f["accuracy"]) - float(f["pretrain_test_accuracy"]))) for f in facts)
