"""Sections of a study with variants: how much of the full matrix they compute, what they solve, how long they take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import median_curve, per_generation
from flexicase.report._sections import Line, Section, Table, View, charts_of, curve_lines, each, format_si, lines_of
from flexicase.report.statistics import wilson

PERCENT = 100.0
MILLISECONDS = 1000.0
#: Columns whose sum is the time of evaluation and selection, which partial evaluation does not separate.
WORK = ("seconds_evaluate", "seconds_select")


class Share(NamedTuple):
    """Selection events per generation, and quartiles over the runs of the percentage of the matrix computed."""

    selections: float
    low: float
    median: float
    high: float


def of_variant(results: StudyResults, variant: str) -> StudyResults:
    """The runs of one variant without their last generation, in which no parents are selected."""
    runs = []
    for run in results.runs:
        if run.variant == variant:
            columns = {name: values[:-1] for name, values in run.columns.items()}
            columns["seconds_work"] = np.sum([columns[name] for name in WORK], axis=0)
            runs.append(replace(run, columns=columns))
    return replace(results, runs=tuple(runs))


def full_matrix(results: StudyResults, problem: str) -> int:
    """Pairs of an individual and a case that a generation without partial evaluation computes."""
    return max(1, *(int(run.columns["pairs"].max()) for run in results.runs if run.problem == problem))


def shares(results: StudyResults, problem: str, method: str) -> dict[str, Share]:
    """For each variant, the share of the full matrix that the runs of a method computed."""
    found = {}
    for variant in results.variants:
        runs = of_variant(results, variant).runs_of(problem, method)
        percent = PERCENT * per_generation(runs, "pairs") / full_matrix(results, problem)
        if percent.size:
            events = np.concatenate([run.columns["events"] for run in runs])
            found[variant] = Share(float(np.median(events)), *np.quantile(percent, (0.25, 0.5, 0.75)).tolist())
    return found


def by_selections(results: StudyResults, problem: str, method: str) -> list[Share]:
    """The shares of the variants with partial evaluation, one for each number of selections, in increasing order."""
    found: dict[str, Share] = {}
    for variant, share in shares(results, problem, method).items():
        settings = results.spec.settings_of(variant)
        if settings.get("partial"):
            found.setdefault(repr(settings.get("n_selections")), share)
    return sorted(found.values(), key=lambda share: share.selections)


def variant_sections(results: StudyResults) -> list[Section]:
    return [_summary(results), _selections(results), _generations(results), _time(results)]


def variant_verdict(results: StudyResults) -> str:
    """What partial evaluation computes and how long it takes with one selection per parent; successes with fewer."""
    settings = {variant: results.spec.settings_of(variant) for variant in results.variants}
    full = [v for v in settings if not settings[v].get("partial")]
    everything = [v for v in settings if settings[v].get("partial") and not settings[v].get("n_selections")]
    few = [v for v in settings if settings[v].get("n_selections") and "default_weight" not in settings[v]]
    percent, ratios = [], []
    for problem, method, _ in each(results):
        computed = shares(results, problem, method)
        seconds = {v: per_generation(of_variant(results, v).runs_of(problem, method), "seconds_work") for v in computed}
        percent += [computed[v].median for v in everything if v in computed]
        pairs = [(v, w) for v in everything for w in full if v in computed and w in computed]
        ratios += [float(np.median(seconds[v]) / np.median(seconds[w])) for v, w in pairs]
    if not ratios:
        return "Partial evaluation with different numbers of selections."
    solved = "; ".join(
        f"{paper.title(problem)} {', '.join(f'{solved_of(results, problem, v)} ({v})' for v in (*full, *few))}"
        for problem in results.problems
    )
    return (
        f"With one selection per parent, partial evaluation computes {min(percent):.0f}–{max(percent):.0f} % of the "
        f"full matrix and takes {min(ratios):.1f}–{max(ratios):.1f} times as long as computing all of it. Successes, "
        f"also with fewer selections: {solved}."
    )


def solved_of(results: StudyResults, problem: str, variant: str) -> str:
    """Successes and runs of a variant on a problem."""
    runs = [run for run in results.runs if (run.problem, run.variant) == (problem, variant)]
    return f"{sum(run.success for run in runs)}/{len(runs)}"


def _summary(results: StudyResults) -> Section:
    rows = []
    for problem, method, _ in each(results):
        computed = shares(results, problem, method)
        for variant in results.variants:
            runs = of_variant(results, variant).runs_of(problem, method)
            if runs:
                rows.append([paper.title(problem), paper.title(method), variant, *_cells(runs, computed.get(variant))])
    header = ["problem", "method", "variant", "selections", "successes", "95 % interval"]
    header += ["% of the matrix", "evaluations", "ms"]
    text = (
        "Per generation: selections; the share of all pairs of a program and a case that were computed, look-ahead "
        "included, with quartiles in brackets; evaluations in the paper's measure, which counts a pair each time a "
        "selection uses it; and milliseconds of evaluation and selection together. Medians over the runs. Intervals "
        "of the success rate: Wilson."
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
    def lines(problem: str) -> list[Line]:
        methods = lines_of(results, problem, lambda _: {})
        return [line | _points(by_selections(results, problem, line["name"])) for line in methods]

    title = "pairs computed per generation, by the number of selections; medians over the runs with quartiles"
    x, y = "selections per generation", "% of the full matrix"
    charts = charts_of(results, "pairs-by-selections", title, y, lines, x=x, log_x=True)
    text = (
        "Every selection starts from the whole population, so its first case costs one evaluation of each individual. "
        "Selections of one generation share what they compute: with more of them, more of the matrix is known."
    )
    return Section("selections", "Pairs computed, by the number of selections", text, charts, scales=("linear",))


def _points(found: list[Share]) -> Line:
    columns = {"x": "selections", "y": "median", "low": "low", "high": "high"}
    return {key: [float(f"{getattr(share, name):.6g}") for share in found] for key, name in columns.items()}


def _generations(results: StudyResults) -> Section:
    views = _views(results, "pairs", lambda problem: PERCENT / full_matrix(results, problem))
    charts = charts_of(results, "pairs", "pairs computed in each generation", "% of the full matrix", views)
    text = (
        "The same over the generations, medians over the runs still active with quartiles. When the individuals of a "
        "population have become alike, a selection runs out of cases and has then used all of them."
    )
    return Section("pairs", "Pairs computed, by generation", text, charts)


def _views(results: StudyResults, column: str, scale: Callable[[str], float]) -> dict[str, View]:
    """A view of a column for each variant, those without partial evaluation last; a problem has its own ``scale``."""

    def lines(part: StudyResults, problem: str) -> list[Line]:
        return curve_lines(part, problem, column, median_curve, scale(problem))

    ordered = sorted(results.variants, key=lambda name: not results.spec.settings_of(name).get("partial"))
    return {name: View(name, partial(lines, of_variant(results, name))) for name in ordered}


def _time(results: StudyResults) -> Section:
    title = "median milliseconds of evaluation and selection per generation, with quartiles"
    views = _views(results, "seconds_work", lambda _: MILLISECONDS)
    charts = charts_of(results, "time", title, "milliseconds", views)
    text = (
        "On the machine that made the runs, several at a time and beside other work. Programs that run in "
        "microseconds are cheapest to run on all cases at once. Computing fewer pairs saves time where a pair costs "
        "more than looking it up."
    )
    return Section("time", "Time of evaluation and selection", text, charts)
