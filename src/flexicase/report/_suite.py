"""Sections of a study of many problems: one row per problem beside published counts, and the settings that differ."""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.problems import Suite
from flexicase.report import _paper as paper
from flexicase.report._curves import survival
from flexicase.report._paper import BASELINE
from flexicase.report._sections import Chart, Line, Section, Table, each, format_si, lines_of
from flexicase.report._successes import LEVEL, format_p, format_points, is_complete, until_complete
from flexicase.report.statistics import fisher_exact, holm, holm_of_known, mean_difference, paired_outcomes

#: A study of more problems than this has the page of a suite.
FEW_PROBLEMS = 3
#: What is counted of each run, and its name on the page.
MEASURES = {"solved": "solved", "success_unsimplified": "generalised", "success": "generalised simplified"}
#: Parts of a run's settings that no published setting is compared with.
NOT_COMPARED = ("problem", "seed", "profile", "record_samples", "default_weight", "check", "error_threshold")


@dataclass(frozen=True)
class PublishedCounts:
    """Published counts of a suite's runs.

    Attributes:
        settings: Arguments of `evolve` that repeat these runs.
        notes: Differences that are not settings.
        columns: The names of the counts, keys of `MEASURES`.
        counts: By problem, one count for each column; None where it is not known.
    """

    name: str
    suite: Suite
    runs: int
    settings: dict[str, Any]
    source: str
    notes: str
    columns: list[str]
    counts: dict[str, list[float | None]]

    def count(self, problem: str, measure: str) -> float | None:
        return dict(zip(self.columns, self.counts.get(problem, ()), strict=False)).get(measure)


@cache
def published_counts() -> tuple[PublishedCounts, ...]:
    """All published counts that the package has."""
    text = Path(__file__).with_name("published.json").read_text(encoding="utf-8")
    return tuple(PublishedCounts(**entry) for entry in json.loads(text))


@dataclass(frozen=True)
class SuiteCell:
    """How many runs of a method on a problem have a property, a key of `MEASURES`, and the published count.

    Fisher's exact test, two-sided, compares them if all runs are done and no setting differs; ``adjusted`` is its
    p-value, Holm-adjusted for the method's problems.
    """

    problem: str
    method: str
    measure: str
    count: int
    runs: int
    published: float | None = None
    published_runs: int = 0
    p_value: float | None = None
    adjusted: float | None = None


def settings_by_method(results: StudyResults) -> dict[str, dict[str, Any]]:
    """The settings of the runs of each method of a study."""
    spec = results.spec
    return {
        " ".join([name, *(f"{key}={value}" for key, value in own.items())]): {**spec.settings, **own}
        for name, own in spec.method_settings()
    }


def published_for(results: StudyResults, problem: str, method: str) -> PublishedCounts | None:
    """Published counts of the same suite and sampling of cases; None for other methods and other numbers of parents."""
    settings = settings_by_method(results).get(method, {})
    if method.partition(" ")[0] != BASELINE or settings.get("partial") or settings.get("n_selections"):
        return None
    sampling = settings.get("sampling", "none")
    found = (t for t in published_counts() if t.settings.get("sampling", "none") == sampling and problem in t.counts)
    return next(found, None)


def suite_cells(results: StudyResults) -> list[SuiteCell]:
    """A cell for each problem, method and measure."""
    families: dict[tuple[str, str], list[SuiteCell]] = defaultdict(list)
    settings = settings_by_method(results)
    for problem, method, runs in each(results):
        table = published_for(results, problem, method)
        tested = table and is_complete(results) and not any(_differences(problem, settings[method], table.settings))
        for measure in MEASURES:
            count = sum(bool(run.summary.get(measure)) for run in runs)
            cell = SuiteCell(problem, method, measure, count, len(runs))
            published = table.count(problem, measure) if table else None
            if table and published is not None:
                p = fisher_exact(count, len(runs), round(published), table.runs) if tested else None
                cell = replace(cell, published=published, published_runs=table.runs, p_value=p)
            families[method, measure].append(cell)
    return [
        replace(cell, adjusted=p)
        for family in families.values()
        for cell, p in zip(family, holm_of_known([cell.p_value for cell in family]), strict=True)
    ]


def suite_sections(results: StudyResults) -> list[Section]:
    parts = [_problems(results), _methods(results), _cost(results), _settings(results), _executions(results)]
    return [part for part in parts if part]


def _methods_of(results: StudyResults) -> list[str]:
    return paper.paper_order(tuple(dict.fromkeys(run.method for run in results.runs)))


def _baseline(results: StudyResults) -> str:
    """The method that the others are compared with: lexicase, or the first one of a study without it."""
    return _methods_of(results)[0]


def _baseline_name(results: StudyResults) -> str:
    title = paper.title(_baseline(results))
    return title[:1].lower() + title[1:]


def suite_verdict(results: StudyResults) -> str:
    """Runs that solved and generalised, by method too, and how many counts differ from the published ones."""
    runs = results.runs
    counted = ", ".join(f"{sum(bool(r.summary.get(m)) for r in runs)} {name}" for m, name in MEASURES.items())
    text = f"{len(runs)} runs on {len(results.problems)} problems: {counted}."
    if not is_complete(results):
        return text + until_complete(results)
    by_method = [
        f"{method} {n} {change}".strip() for name, method, n, change, *_ in method_rows(results) if name == "solved"
    ]
    if by_method:
        against = _baseline_name(results)
        text += f" Solved, and the difference from {against} in points (95 %): {'; '.join(by_method)}."
    tested = [cell for cell in suite_cells(results) if cell.adjusted is not None]
    agree = sum((cell.adjusted or 0.0) >= LEVEL for cell in tested)
    if not tested:
        return text
    text += f" {agree} of {len(tested)} counts show no difference from the published ones."
    return f"{text} {_mean_differences(tested)}"


def _mean_differences(cells: list[SuiteCell]) -> str:
    """The mean difference to the published shares, by measure."""
    found = []
    for measure, name in MEASURES.items():
        counts = [(c.count, c.runs, c.published or 0.0, c.published_runs) for c in cells if c.measure == measure]
        if counts:
            found.append(f"{name} {format_points(*mean_difference(counts))}")
    return f"Mean difference to the published shares, in points (95 %): {'; '.join(found)}."


def _problems(results: StudyResults) -> Section:
    cells = {(cell.method, cell.problem, cell.measure): cell for cell in suite_cells(results)}
    compared = {cell.measure for cell in cells.values() if cell.published is not None}
    tested = {cell.measure for cell in cells.values() if cell.adjusted is not None}
    columns = {}
    for measure, name in MEASURES.items():
        columns[measure] = [name, "published", "p (Holm)"][: 1 + (measure in compared) + (measure in tested)]
    methods = _methods_of(results)
    rows = []
    for problem, method, runs in sorted(each(results), key=lambda found: methods.index(found[1])):
        row = [paper.title(method), paper.title(problem)]
        for measure in MEASURES:
            row += _formatted(cells[method, problem, measure])[: len(columns[measure])]
        rows.append([*row, format_si(median_executions(runs))])
    tests = (
        " Published counts are out of 100 runs. Where no setting differs, they are compared with those here when all "
        "runs are done. p: Fisher's exact test, two-sided; in brackets Holm-adjusted for the problems. Arrows: the "
        "adjusted p-value is below 0.05."
    )
    text = (
        "Runs with a program that solves all training cases, and runs whose program also solves all test cases, as it "
        f"evolved and simplified.{tests if compared else ''} Executions to success: the Kaplan–Meier median of the "
        "executions of programs on cases until a run ends with a simplified program that generalises; – if fewer than "
        "half of the runs do."
    )
    header = ["method", "problem", *chain(*columns.values()), "executions to success"]
    return Section("problems", "Problem by problem", text, table=Table(header, rows))


def _formatted(cell: SuiteCell) -> list[str]:
    here = f"{cell.count}/{cell.runs}"
    if cell.published is None:
        return [here, "–", ""]
    if cell.adjusted is None:
        return [here, f"{cell.published:g}", ""]
    mark = "" if cell.adjusted >= LEVEL else " ↑" if cell.count / cell.runs > cell.published / 100 else " ↓"
    return [f"{here}{mark}", f"{cell.published:g}", f"{format_p(cell.p_value)} ({format_p(cell.adjusted)})"]


def method_rows(results: StudyResults) -> list[list[str]]:
    """Each method against the first over all problems, paired by problem and seed; empty without another method."""
    methods, baseline = _methods_of(results), _baseline(results)
    if len(methods) < 2:
        return []
    rows = []
    for measure, name in MEASURES.items():
        outcome = {(r.method, r.problem, r.seed): bool(r.summary.get(measure)) for r in results.runs}
        lines: list[tuple[list[str], float]] = []
        for method in methods:
            mine = [(key, won) for key, won in outcome.items() if key[0] == method]
            row = [name, paper.title(method), f"{sum(won for _, won in mine)}/{len(mine)}"]
            pairs = [(won, base) for key, won in mine if (base := outcome.get((baseline, *key[1:]))) is not None]
            if method == baseline or not pairs:
                rows.append([*row, "", "", "", ""])
                continue
            gained, lost, difference, bounds, p = paired_outcomes(pairs)
            lines.append(([*row, format_points(difference, bounds), f"+{gained} −{lost}"], p))
        adjusted = zip(lines, holm([p for _, p in lines]), strict=True)
        rows += [
            [*row, *((format_p(p), format_p(q)) if is_complete(results) else ("", ""))] for (row, p), q in adjusted
        ]
    return rows


def _methods(results: StudyResults) -> Section | None:
    rows = method_rows(results)
    if not rows:
        return None
    header = ["measure", "method", "runs", "difference, points (95 %)", "gained and lost", "McNemar p", "Holm"]
    against = _baseline_name(results)
    text = (
        f"Runs of all problems together. The difference from {against} is paired by problem and seed (Agresti and "
        f"Min); gained and lost are the pairs in which only this method, or only {against}, has the property. "
        "McNemar's exact test, two-sided, Holm-adjusted for the methods; made when all runs are done."
    )
    return Section("methods", "Methods over all problems", text, table=Table(header, rows))


def _cost(results: StudyResults) -> Section | None:
    """What executions cost in processor time, and what that decides; None with one method or without known times."""
    known = {run.id: run.provenance.get("processor_seconds") for run in results.runs}
    seconds = {run: float(value) for run, value in known.items() if value is not None}
    methods, baseline = _methods_of(results), _baseline(results)
    if len(methods) < 2 or len(seconds) < len(known):
        return None
    limits = {}
    for problem in results.problems:
        failed = [seconds[run.id] for run in results.runs_of(problem, baseline) if not run.summary["solved"]]
        limits[problem] = statistics.fmean(failed) if failed else math.inf
    rows = []
    for method in methods:
        runs = [run for run in results.runs if run.method == method]
        took, executed = sum(seconds[run.id] for run in runs), sum(run.summary["executions"] for run in runs)
        within = sum(run.summary["solved"] and seconds[run.id] <= limits[run.problem] for run in runs)
        cost = [format_si(executed / len(runs)), f"{took / len(runs):.1f}", f"{1e6 * took / executed:.1f}"]
        rows.append(["all problems", paper.title(method), *cost, f"{within}/{len(runs)}"])
    header = [
        "runs",
        "method",
        "executions per run",
        "processor seconds per run",
        "per million executions",
        "solved in time",
    ]
    text = (
        "Means over the runs, with their simplification, beside other work. An execution does not cost the same in "
        "all methods: a program runs faster on many cases in succession, and a generation has other costs. Solved in "
        f"time: solved within the mean processor time of the runs of {_baseline_name(results)} that do not solve the "
        "same problem; without a limit on a problem that all of them solve. This measure is not tested."
    )
    return Section("cost", "Processor time", text, table=Table(header, rows))


def median_executions(runs: list[FinishedRun]) -> float:
    """The median number of executions until success (Kaplan–Meier); NaN if fewer than half of the runs succeed."""
    curve = _to_success(runs)
    return next((x for x, share in zip(curve["x"], curve["y"], strict=True) if share <= 0.5), math.nan)


def _to_success(runs: list[FinishedRun]) -> Line:
    """The share of runs without a success, by executions; a run that ends without one is never a success."""
    spent = [int(run.summary["executions"]) for run in runs]
    times = [n if run.success else max(spent) for n, run in zip(spent, runs, strict=True)]
    return survival(times, [run.success for run in runs])


def _executions(results: StudyResults) -> Section:
    views = {
        problem: {"label": paper.title(problem), "lines": lines_of(results, problem, _to_success)}
        for problem in results.problems
    }
    title = "Share of runs without a success (Kaplan–Meier), by problem."
    chart = Chart("survival", "survival", "all", title, "executions", "share of runs", views, log=False, steps=True)
    text = (
        "Executions of a program on a case: of selection, of informing and of checks together. A run that ends without "
        "a program that solves the test cases counts as unsuccessful to the end."
    )
    return Section("executions", "Executions to success", text, [chart])


def _settings(results: StudyResults) -> Section | None:
    """The sources of the published counts and the settings that differ; None without published counts."""
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    compared: dict[str, list[str]] = defaultdict(list)
    sources = {}
    for problem, method, _ in each(results):
        published = published_for(results, problem, method)
        if published:
            sources[published.name] = f"{published.name}: {published.source}. {published.notes}".strip()
            compared[paper.title(method)].append(paper.title(problem))
            for difference in _differences(problem, settings_by_method(results)[method], published.settings):
                found[(paper.title(method), *difference)].append(paper.title(problem))
    if not sources:
        return None
    rows = [[*key, "all" if where == compared[key[0]] else ", ".join(where)] for key, where in sorted(found.items())]
    differ = "The table lists" if rows else "No setting differs from"
    text = f"{' '.join(sources.values())} {differ} the settings of the published runs"
    text += " that differ here; counts of these problems are not tested." if rows else "."
    header = ["method", "setting", "here", "published", "problems"]
    table = Table(header, rows, names=len(header), prose=True) if rows else None
    return Section("published", "Published runs and settings that differ", text, table=table)


def _differences(problem: str, *arguments: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The settings of runs here and of published runs, by name, where they differ."""
    from flexicase.gp.evolve import evolve_settings

    try:
        settings = [evolve_settings(problem, BASELINE, seed=0, **given).as_dict() for given in arguments]
    except TypeError as error:  # the export of another version
        raise ValueError(f"settings of the study cannot be read: {error}") from error
    here, there = (found.pop("variation") | found for found in settings)
    for name, value in here.items():
        if name in NOT_COMPARED:
            continue
        mine, theirs = _format(value), _format(there.get(name))
        if mine != theirs:
            yield name.replace("_", " "), mine, theirs


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {share:g}" for name, share in value.items() if share)
    if isinstance(value, list):
        return ", ".join(map(_format, value))
    return "none" if value is None else f"{value:,}" if type(value) is int else str(value)
