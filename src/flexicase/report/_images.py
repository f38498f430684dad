"""The image study: evaluations, accuracy, and why selections ended, for gradient lexicase and its fast variants."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import LAST, WINDOW, last_curve, mean_curve, totals
from flexicase.report._sections import Section, charts_of, curve_lines, quartiles, table_of
from flexicase.report.statistics import Interval, z_test
from flexicase.selection.protocol import Ended

BASELINE = "lexicase"


@dataclass(frozen=True)
class EvaluationRatio:
    """The evaluations of two methods on the same seeds.

    Attributes:
        ratio: Geometric mean over the seeds.
        interval: 95 % interval of the ratio (Student's t on the logarithms).
        lower: Seeds with a ratio below 1.
        p_value: Wilcoxon signed-rank test, two-sided.
    """

    ratio: float
    interval: Interval
    lower: int
    seeds: int
    p_value: float


def total(runs: list[FinishedRun]) -> NDArray[np.float64]:
    """The evaluations of each run: (runs,)."""
    return totals(runs, "evaluations")


def typical(runs: list[FinishedRun]) -> NDArray[np.float64]:
    """The median over the last 50 generations of each run: (runs,)."""
    return np.array([float(np.median(run.columns["evaluations"][-LAST:])) for run in runs])


def compare(
    results: StudyResults,
    problem: str,
    method: str,
    baseline: str = BASELINE,
    measure: Callable[[list[FinishedRun]], NDArray[np.float64]] = total,
) -> EvaluationRatio | None:
    """Compare the evaluations of two methods, measured by ``measure``; None if they share fewer than two seeds."""
    from scipy.stats import t, wilcoxon

    mine, theirs = ({run.seed: run for run in results.runs_of(problem, name)} for name in (method, baseline))
    seeds = sorted(mine.keys() & theirs.keys())
    if len(seeds) < 2 or method == baseline:
        return None
    logs = np.log(measure([mine[s] for s in seeds]) / measure([theirs[s] for s in seeds]))
    half = float(t.ppf(0.975, len(seeds) - 1)) * logs.std(ddof=1) / math.sqrt(len(seeds))
    p = float(wilcoxon(logs).pvalue) if np.any(logs) else 1.0
    mean = float(logs.mean())
    ratio, low, high = np.exp([mean, mean - half, mean + half]).tolist()
    return EvaluationRatio(ratio, Interval(low, high), int((logs < 0).sum()), len(seeds), p)


def image_sections(results: StudyResults) -> list[Section]:
    """All sections of the page."""
    return [_evaluations(results), _ratios(results), _accuracy(results), _endings(results), _passes(results)]


def _evaluations(results: StudyResults) -> Section:
    charts = []
    for place, what, curve_of, x in (
        ("evaluations", "evaluations of each generation's selection", mean_curve, "generation"),
        (
            "last-generations",
            f"the last {LAST}, moving average of {WINDOW}, aligned at the end",
            last_curve,
            "generation, from the end",
        ),
    ):
        lines = partial(curve_lines, results, column="evaluations", curve_of=curve_of)
        charts += charts_of(results, place, what, "evaluations", lines, x=x)
    text = (
        "Sizes of the pool summed over the cases that a generation's selection looked at, mean over the runs with 95 % "
        "intervals. When candidates have become alike, a selection runs out of cases and costs all of them."
    )
    return Section("evaluations", "Evaluations per generation", text, charts, scales=("linear",))


def _ratios(results: StudyResults) -> Section:
    def cells(problem: str, method: str, runs: list[FinishedRun]) -> list[str]:
        mean = total(runs) / np.array([run.generations for run in runs])
        found: list[str] = []
        for values, measure in ((mean, total), (typical(runs), typical)):
            found += [quartiles(values), *_against_plain(compare(results, problem, method, measure=measure))]
        return found

    against = ["ratio to plain (95 %)", "fewer in", "p"]
    header = ["per generation", *against, f"median of the last {LAST}", *against]
    text = (
        "Evaluations: medians over the runs with quartiles in brackets; of the mean per generation, which the few "
        "selections that run out of cases sway, and of the median generation, which they do not. Ratio: geometric mean "
        "over the seeds of that number by that of plain gradient lexicase with the same seed. p: Wilcoxon signed-rank "
        "test, two-sided, not adjusted."
    )
    return Section("ratios", "Against plain gradient lexicase", text, table=table_of(results, header, cells, "data"))


def _against_plain(found: EvaluationRatio | None) -> list[str]:
    if found is None:
        return ["", "", ""]
    ratio = f"{found.ratio:.2f} ({found.interval.low:.2f}–{found.interval.high:.2f})"
    return [ratio, f"{found.lower}/{found.seeds}", f"{found.p_value:.3f}"]


def _accuracy(results: StudyResults) -> Section:
    def cells(problem: str, method: str, runs: list[FinishedRun]) -> list[str]:
        right, trials = _pooled(runs)
        base = _pooled(results.runs_of(problem, BASELINE))
        tested = method != BASELINE and base[1] > 0
        p = f"{z_test(right / trials, base[0] / base[1], trials)[1]:.3f}" if tested else ""
        accuracies = [100 * float(run.summary["accuracy"]) for run in runs]
        spread = f"{min(accuracies):.2f}–{max(accuracies):.2f}" if len(runs) > 1 else ""
        return [f"{100 * right / trials:.2f}", spread, p, *([] if different else [_published(method)])]

    different = paper.differences("image", results.spec.settings, results.problems)
    header = ["accuracy, %", "of single runs", "p", *([] if different else ["paper (p)"])]
    text = (
        "The last parent on the test cases, all runs of a method together. p: one-proportion z-test, left-tailed, with "
        "the sample proportion in the variance as in the paper, against the accuracy of plain gradient lexicase. The "
        "test takes that accuracy as known, and runs on the same test cases are not independent; not to reject is no "
        "proof of equality."
    )
    return Section("accuracy", "Accuracy", text, table=table_of(results, header, cells, "data"))


def _published(method: str) -> str:
    accuracy, p = paper.ACCURACIES.get(method, (None, None))
    return "" if accuracy is None else f"{accuracy:.2f}" + ("" if p is None else f" ({p:g})")


def _endings(results: StudyResults) -> Section:
    endings = {ended: ended.label for ended in (Ended.ONE_LEFT, Ended.CASES_EXHAUSTED, Ended.ALL_FAILED)}

    def cells(_problem: str, _method: str, runs: list[FinishedRun]) -> list[str]:
        codes = np.concatenate([run.columns["ended"] for run in runs])
        return [f"{codes.size:,}", *(f"{int((codes == code).sum()):,}" for code in endings)]

    table = table_of(results, ["selections", *endings.values()], cells, "data")
    return Section("endings", "Why selections ended", "Over all runs and generations.", table=table)


def _passes(results: StudyResults) -> Section:
    def cells(_problem: str, _method: str, runs: list[FinishedRun]) -> list[str]:
        evaluations, passes = totals(runs, "evaluations").sum(), totals(runs, "pairs").sum()
        select, train = totals(runs, "seconds_select").sum(), totals(runs, "seconds_train").sum()
        calls = totals(runs, "forward_calls").sum()
        share = f"{100 * select / max(select + train, 1e-12):.0f} %"
        return [f"{passes:,.0f}", f"{passes / evaluations:.2f}", f"{passes / calls:.1f}", share]

    header = ["forward passes", "per evaluation", "per call of a network", "selection's share of time"]
    text = "What selection had really computed: blocks of cases in advance, of which some turn out not to be needed."
    return Section("passes", "Forward passes really computed", text, table=table_of(results, header, cells, "data"))


def _pooled(runs: list[FinishedRun]) -> tuple[int, int]:
    right, trials = (sum(int(run.summary[name]) for run in runs) for name in ("correct", "test_cases"))
    if runs and not 0 <= right <= trials != 0:
        raise ValueError(f"correct must lie between 0 and test_cases, a positive number, got {right} of {trials}")
    return right, trials
