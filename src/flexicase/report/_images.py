"""The image study: evaluations, accuracy, and why selections ended, for gradient lexicase and its fast variants."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import LAST, WINDOW, last_curve, mean_curve, pairs_by_seed, totals
from flexicase.report._paper import BASELINE
from flexicase.report._sections import Section, Table, charts_of, curve_lines, format_si, quartiles, table_of
from flexicase.report._successes import format_p, is_complete, until_complete
from flexicase.report.statistics import MIN_PAIRS, PairedRatio, adjusted_ratios, mean_interval, paired_ratio, z_test
from flexicase.selection.protocol import Ended

#: Training accuracy, in percent, that pre-trained networks should reach.
MIN_PRETRAINED = 99.0


def total(runs: list[FinishedRun]) -> NDArray[np.float64]:
    """The evaluations of each run: (runs,)."""
    return totals(runs, "evaluations")


def typical(runs: list[FinishedRun]) -> NDArray[np.float64]:
    """The median over the last 50 generations of each run: (runs,); empty if a run has fewer."""
    return _of_last(runs, np.median)


def last_total(runs: list[FinishedRun]) -> NDArray[np.float64]:
    """The evaluations of each run in its last 50 generations: (runs,); empty if a run has fewer."""
    return _of_last(runs, np.sum)


def _of_last(runs: list[FinishedRun], summary: Callable[[NDArray[Any]], Any]) -> NDArray[np.float64]:
    if any(run.generations < LAST for run in runs):
        return np.array([])
    return np.array([float(summary(run.columns["evaluations"][-LAST:])) for run in runs])


def seconds(runs: list[FinishedRun]) -> NDArray[np.float64]:
    """The seconds of training and selection of each run: (runs,)."""
    return totals(runs, "seconds_train") + totals(runs, "seconds_select")


def is_tail(results: StudyResults) -> bool:
    """Whether the runs of a study start from pre-trained networks, so that they are the end of a training."""
    return bool(results.spec.settings.get("pretrain_epochs"))


def with_pretrained(results: StudyResults) -> StudyResults:
    """The runs that start from a network that reached the training accuracy it should."""
    runs = tuple(run for run in results.runs if 100 * run.summary["pretrain_accuracy"] >= MIN_PRETRAINED)
    return replace(results, runs=runs)


def tail_shares(runs: list[FinishedRun]) -> NDArray[np.float64]:
    """The share of each run's evaluations that it makes in the last tenth of its generations: (runs,)."""
    tails = np.array([float(run.columns["evaluations"][-math.ceil(run.generations / 10) :].sum()) for run in runs])
    return tails / np.maximum(total(runs), 1.0)


def accuracy_differences(results: StudyResults, problem: str, method: str) -> NDArray[np.float64]:
    """The accuracy of a method minus that of plain gradient lexicase with the same seed, in points: (seeds,)."""
    pairs = pairs_by_seed(results.runs_of(problem, method), results.runs_of(problem, BASELINE))
    return np.array([100 * (float(a.summary["accuracy"]) - float(b.summary["accuracy"])) for a, b in pairs])


def format_mean(points: NDArray[np.float64]) -> str:
    """Format the mean of differences in points, with its 95 % interval."""
    low, high = mean_interval(points)
    return f"{points.mean():+.2f} ({low:+.2f} to {high:+.2f})"


def log_ratios(
    results: StudyResults,
    problem: str,
    method: str,
    baseline: str = BASELINE,
    measure: Callable[[list[FinishedRun]], NDArray[np.float64]] = total,
) -> NDArray[np.float64]:
    """Logarithms of the evaluations of a method divided by those of another with the same seed: (seeds,)."""
    pairs = pairs_by_seed(results.runs_of(problem, method), results.runs_of(problem, baseline))
    mine, theirs = (measure([pair[i] for pair in pairs]) for i in (0, 1))
    return np.log(mine / theirs)


def compare(
    results: StudyResults,
    problem: str,
    method: str,
    baseline: str = BASELINE,
    measure: Callable[[list[FinishedRun]], NDArray[np.float64]] = total,
) -> PairedRatio | None:
    """Compare the evaluations of two methods, seed by seed; None if they share fewer than 3 seeds."""
    return paired_ratio(log_ratios(results, problem, method, baseline, measure)) if method != baseline else None


def image_sections(results: StudyResults) -> list[Section]:
    parts = [_evaluations(results)]
    if is_tail(results):
        parts = [_pretraining(results), *parts, _ratios(results, "tail", last_total)]
    else:
        parts += [_ratios(results, "ratios", total), _ratios(results, "typical", typical)]
    parts += [_accuracy(results), _endings(results), _passes(results)]
    return [part for part in parts if part.charts or part.table]


def image_verdict(results: StudyResults) -> str:
    """What there is to say while runs are missing; nothing afterwards."""
    missing = until_complete(results)
    return missing and f"{len(results.runs)} of {results.planned} runs are done.{missing}"


def _pretraining(results: StudyResults) -> Section:
    """For each seed: the accuracies of the network that all its runs start from, and what selection cost from there."""
    found: dict[tuple[str, int], list[float]] = {}
    for run in results.runs:
        accuracies = [run.summary.get(name) for name in ("pretrain_accuracy", "pretrain_test_accuracy")]
        if any(not isinstance(value, int | float) for value in accuracies):
            raise ValueError(f"run {run.id!r}: expected accuracies of its pre-trained network, got {accuracies}")
        found[run.problem, run.seed] = [100 * float(value) for value in accuracies if value is not None]
    others = [method for method in dict.fromkeys(run.method for run in results.runs) if method != BASELINE]
    cost = {(r.problem, r.seed, r.method): float(x) for r in results.runs for x in last_total([r])}

    def cells(*seed: Any) -> list[str]:
        plain = cost.get((*seed, BASELINE))
        if plain is None:
            return [""] * (1 + len(others))
        return [format_si(plain), *(f"{cost[(*seed, m)] / plain:.2f}" if (*seed, m) in cost else "" for m in others)]

    rows = [[paper.title(p), str(s), *(f"{x:.2f}" for x in found[p, s]), *cells(p, s)] for p, s in sorted(found)]
    reached = sum(accuracies[0] >= MIN_PRETRAINED for accuracies in found.values())
    text = (
        f"All runs of a seed start from one network, trained by ordinary SGD. {reached} of {len(found)} networks have "
        f"a training accuracy of at least {MIN_PRETRAINED:.0f} %. The weights of the cases start cold: no selection "
        "before the first generation has taught a fast variant which cases are hard. Plain: the evaluations of plain "
        f"gradient lexicase in the last {LAST} generations; beside it, those of the fast variants divided by them. "
        "After a selection that reads all cases, every case has a weight of its own, and the two defaults act alike."
    )
    header = ["data", "seed", "training accuracy, %", "test accuracy, %", "plain", *map(paper.title, others)]
    return Section("pretraining", "Pre-trained networks", text, table=Table(header, rows))


def _evaluations(results: StudyResults) -> Section:
    whole, last = (partial(curve_lines, results, column="evaluations", curve_of=f) for f in (mean_curve, last_curve))
    title = "evaluations of each generation's selection"
    charts = charts_of(results, "evaluations", title, "evaluations", whole)
    title = f"the last {LAST}, moving average of {WINDOW}, aligned at the end"
    charts += charts_of(results, "last-generations", title, "evaluations", last, x="generation, from the end")
    text = (
        "Sizes of the pool summed over the cases that a generation's selection looked at, mean over the runs with 95 % "
        "intervals. When candidates have become alike, a selection runs out of cases and costs all of them."
    )
    return Section("evaluations", "Evaluations per generation", text, charts, scales=("linear",))


#: Title of a table of evaluations, name of its measure, and what it says of it.
MEASURES = {
    "ratios": (
        "Total evaluations against plain gradient lexicase",
        "evaluations per run",
        "All evaluations of a run, the measure of the claims. Few selections that run out of cases can make up much of "
        "it.",
    ),
    "tail": (
        f"Evaluations of the last {LAST} generations against plain gradient lexicase",
        f"evaluations of the last {LAST}",
        f"The primary measure, fixed before the first run: all evaluations of a run's last {LAST} generations. A "
        "selection that runs out of cases costs all of them, whatever their order.",
    ),
    "typical": (
        "A typical generation against plain gradient lexicase",
        f"median of the last {LAST}",
        f"Another measure: the median of the last {LAST} generations, which selections that run out of cases sway "
        "little.",
    ),
}


def _ratios(results: StudyResults, name: str, measure: Callable[[list[FinishedRun]], NDArray[np.float64]]) -> Section:
    def cells(problem: str, method: str, runs: list[FinishedRun]) -> list[str]:
        against = [""] * 4
        if method in tested[problem]:
            ratio, p = tested[problem][method]
            values = (ratio.p_value, p) if is_complete(results) else (None, None)
            against = [str(ratio), f"{ratio.lower}/{ratio.seeds}", *map(format_p, values)]
        return [quartiles(measure(runs)), *against]

    tested = {
        problem: adjusted_ratios({m: compare(results, problem, m, measure=measure) for m in results.methods(problem)})
        for problem in results.problems
    }
    title, column, meaning = MEASURES[name]
    text = (
        f"{meaning} Medians over the runs with quartiles in brackets. Ratio: geometric mean over the seeds of the "
        "measure divided by that of plain gradient lexicase with the same seed, with Student's interval on the "
        "logarithms. p: Wilcoxon signed-rank test, two-sided; Holm p: adjusted over the methods."
        + until_complete(results)
    )
    header = [column, "ratio to plain (95 %)", "fewer in", "p", "Holm p"]
    has_values = any(measure(results.runs_of(p, m)).size for p in results.problems for m in results.methods(p))
    return Section(name, title, text, table=table_of(results, header, cells, "data") if has_values else None)


def _accuracy(results: StudyResults) -> Section:
    def cells(problem: str, method: str, runs: list[FinishedRun]) -> list[str]:
        right, trials = _pooled(runs)
        base = _pooled(results.runs_of(problem, BASELINE))
        compared = method != BASELINE and base[1] > 0
        tested = compared and is_complete(results)
        p = f"{z_test(right / trials, base[0] / base[1], trials)[1]:.3f}" if tested else ""
        accuracies = [100 * float(run.summary["accuracy"]) for run in runs]
        spread = f"{min(accuracies):.2f}–{max(accuracies):.2f}" if len(runs) > 1 else ""
        points = accuracy_differences(results, problem, method) if compared else np.array([])
        paired = format_mean(points) if points.size >= MIN_PAIRS else ""
        published = [] if different else [_published(method)]
        return [f"{100 * right / trials:.2f}", spread, paired, p, *published]

    different = paper.differences("image", results.spec.settings, results.problems)
    header = ["accuracy, %", "of single runs", "difference to plain, points (95 %)", "p, the paper's test"]
    header += [] if different else ["paper (p)"]
    text = (
        "The last parent on the test cases. Difference: mean over the seeds of the accuracy minus that of plain "
        "gradient lexicase with the same seed, with Student's interval. The paper's test is a one-proportion z-test, "
        "left-tailed, of all runs of a method together; it counts the same test images many times and takes the "
        "accuracy of plain as known, so it is given for comparison only." + until_complete(results)
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
        columns = ("evaluations", "pairs", "forward_calls", "seconds_select", "seconds_train")
        evaluations, passes, calls, select, train = (totals(runs, column).sum() for column in columns)
        share = f"{100 * select / max(select + train, 1e-12):.0f} %"
        return [f"{passes:,.0f}", f"{passes / evaluations:.2f}", f"{passes / calls:.1f}", share]

    header = ["forward passes", "per evaluation", "per call of a network", "selection's share of time"]
    text = "Selection computes blocks of cases in advance, and does not need all of them in the end."
    return Section("passes", "Forward passes computed", text, table=table_of(results, header, cells, "data"))


def _pooled(runs: list[FinishedRun]) -> tuple[int, int]:
    right, trials = (sum(int(run.summary[name]) for run in runs) for name in ("correct", "test_cases"))
    if runs and not 0 <= right <= trials != 0:
        raise ValueError(f"correct must lie between 0 and test_cases, a positive number, got {right} of {trials}")
    return right, trials
