"""A study with variants: how much of the full matrix they compute, what they solve and how long they take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.report import paper
from flexicase.report.curves import median_curve, per_generation
from flexicase.report.sections import (
    Line,
    Section,
    Table,
    View,
    charts_of,
    curve_lines,
    each,
    format_si,
    lines_of,
)
from flexicase.report.statistics import wilson

PERCENT = 100.0
MILLISECONDS = 1000.0
#: Columns whose sum is the time of evaluation and selection: with partial evaluation they are one.
WORK = ("seconds_evaluate", "seconds_select")


@dataclass(frozen=True)
class Share:
    """The part of the full matrix that runs computed, per generation.

    Attributes:
        selections: Selection events per generation, median over all generations.
        low: Lower quartile over the runs, in percent of the full matrix.
        median: Median over the runs.
        high: Upper quartile.
    """

    selections: float
    low: float
    median: float
    high: float


def of_variant(results: StudyResults, variant: str) -> StudyResults:
    """The runs of one variant, up to the generation before the last: in the last one nothing is bred.

    Args:
        results: The study.
        variant: Its name.
    """
    runs = [_without_last_generation(run) for run in results.runs if run.variant == variant]
    return replace(results, runs=tuple(runs))


def _without_last_generation(run: FinishedRun) -> FinishedRun:
    columns = {name: values[:-1] for name, values in run.columns.items()}
    columns["seconds_work"] = np.sum([columns[name] for name in WORK], axis=0)
    return replace(run, columns=columns)


def full_matrix(results: StudyResults, problem: str) -> int:
    """Pairs of an individual and a case that a generation without partial evaluation computes.

    Args:
        results: The study.
        problem: The problem.
    """
    return max(1, *(int(run.columns["pairs"].max()) for run in results.runs if run.problem == problem))


def shares(results: StudyResults, problem: str, method: str) -> dict[str, Share]:
    """For each variant, the part of the full matrix that the runs of a method computed.

    Args:
        results: The study.
        problem: The problem.
        method: The method.
    """
    found = {}
    for variant in results.variants:
        runs = of_variant(results, variant).runs_of(problem, method)
        percent = PERCENT * per_generation(runs, "pairs") / full_matrix(results, problem)
        if percent.size:
            events = np.concatenate([run.columns["events"] for run in runs])
            found[variant] = Share(float(np.median(events)), *np.quantile(percent, (0.25, 0.5, 0.75)).tolist())
    return found


def by_selections(results: StudyResults, problem: str, method: str) -> list[Share]:
    """The shares of variants that differ in the number of selections, few selections first.

    Of variants with the same number the first counts; those that compute everything whatever selection looks at are
    left out.

    Args:
        results: The study.
        problem: The problem.
        method: The method.
    """
    full = {name for name in results.variants if not results.spec.settings_of(name).get("partial")}
    found: dict[str, Share] = {}
    for variant, share in shares(results, problem, method).items():
        if variant not in full:
            found.setdefault(repr(results.spec.settings_of(variant).get("n_selections")), share)
    return sorted(found.values(), key=lambda share: share.selections)


def variant_sections(results: StudyResults) -> list[Section]:
    """All parts of the page, in order.

    Args:
        results: The study.
    """
    return [_summary(results), _selections(results), _generations(results), _time(results)]


def _summary(results: StudyResults) -> Section:
    rows = []
    for problem, method, _ in each(results):
        computed = shares(results, problem, method)
        for variant in results.variants:
            runs = of_variant(results, variant).runs_of(problem, method)
            if runs:
                names = [paper.title(problem), paper.title(method), variant]
                rows.append([*names, *_cells(runs, computed.get(variant))])
    header = ["problem", "method", "variant", "selections", "successes", "95 % interval"]
    header += ["% of the matrix", "evaluations", "ms"]
    text = (
        "Per generation: selections; the share of all pairs of a program and a case that were really computed, "
        "look-ahead included, with quartiles in brackets; evaluations in the paper's measure, in which a pair counts "
        "whenever a selection looks at it; and the milliseconds of evaluation and selection together. Medians over "
        "the runs. Intervals of the success rate: Wilson."
    )
    return Section("summary", "What each variant computes", text, table=Table(header, rows, names=3))


def _cells(runs: list[FinishedRun], share: Share | None) -> list[str]:
    successes = sum(run.success for run in runs)
    interval = wilson(successes, len(runs))
    rate = [f"{successes}/{len(runs)}", f"{interval.low:.2f}–{interval.high:.2f}"]
    if share is None:
        return ["", *rate, "", "", ""]
    evaluations, seconds = (np.median(per_generation(runs, name)) for name in ("evaluations", "seconds_work"))
    percent = f"{share.median:.3g} [{share.low:.3g}–{share.high:.3g}]"
    return [f"{share.selections:,.0f}", *rate, percent, format_si(evaluations), format_si(MILLISECONDS * seconds)]


def _selections(results: StudyResults) -> Section:
    charts = charts_of(
        results,
        "pairs-by-selections",
        "pairs computed per generation, by the number of selections; medians over the runs with quartiles",
        "% of the full matrix",
        lambda problem: [
            {**line, **_points(by_selections(results, problem, line["name"]))}
            for line in lines_of(results, problem, lambda _: {})
        ],
        x="selections per generation",
        log_x=True,
    )
    text = (
        "Every selection starts from the whole population, so that its first case costs one evaluation of everybody. "
        "Selections of one generation share what they compute: the more there are, the more of the matrix is known."
    )
    return Section("selections", "Pairs computed, by the number of selections", text, charts, scales=("linear",))


def _points(found: list[Share]) -> Line:
    columns = {"x": "selections", "y": "median", "low": "low", "high": "high"}
    return {key: [float(f"{getattr(share, name):.6g}") for share in found] for key, name in columns.items()}


def _generations(results: StudyResults) -> Section:
    views = {
        variant: View(variant, partial(_percent_lines, results, of_variant(results, variant)))
        for variant in _partial_first(results)
    }
    charts = charts_of(results, "pairs", "pairs computed in each generation", "% of the full matrix", views)
    text = (
        "The same over the generations, medians over the runs still active with quartiles. When everybody in a "
        "population has come to behave alike, a selection runs out of cases before it has a winner, and has then "
        "looked at all of them."
    )
    return Section("pairs", "Pairs computed, by generation", text, charts)


def _partial_first(results: StudyResults) -> list[str]:
    """The variants, those that compute everything at the end."""
    return sorted(results.variants, key=lambda name: not results.spec.settings_of(name).get("partial"))


def _percent_lines(results: StudyResults, part: StudyResults, problem: str) -> list[Line]:
    return curve_lines(part, problem, "pairs", median_curve, PERCENT / full_matrix(results, problem))


def _time(results: StudyResults) -> Section:
    def views_of(variant: str) -> View:
        part = of_variant(results, variant)
        return View(variant, lambda problem: curve_lines(part, problem, "seconds_work", median_curve, MILLISECONDS))

    charts = charts_of(
        results,
        "time",
        "median milliseconds of evaluation and selection per generation, with quartiles",
        "milliseconds",
        {variant: views_of(variant) for variant in _partial_first(results)},
    )
    text = (
        "On the machine that made the runs, several at a time and beside other work. Programs that run in "
        "microseconds are cheapest to run on everything at once; what is saved in pairs shows in time where a pair "
        "costs more than looking it up."
    )
    return Section("time", "Time of evaluation and selection", text, charts)
