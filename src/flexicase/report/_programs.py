"""Sections of the program-synthesis study: evaluations, generations to success, diversity and time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments._tables import is_timing
from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.report._curves import COUNTS, log_ratios, median_curve, per_generation, survival, totals
from flexicase.report._paper import BASELINE
from flexicase.report._sections import Line, Section, View, charts_of, curve_lines, lines_of, quartiles, table_of
from flexicase.report._successes import agreement_section, format_p, success_section
from flexicase.report.statistics import PairedRatio, adjusted_ratios, paired_ratio

#: Generations whose times are taken together, since other work on the machine disturbs single ones.
WINDOW = 11
MILLISECONDS = 1000.0
SUCCESS = "A success solves every held-out test case."


def program_sections(results: StudyResults) -> list[Section]:
    parts = [success_section(results, SUCCESS), agreement_section(results), _evaluations(results), _ratios(results)]
    parts += [_totals(results), _time_to_success(results), _diversity(results), _time(results)]
    return [part for part in parts if part and (part.charts or part.table)]


def _evaluations(results: StudyResults) -> Section:
    views = {count: View(label, partial(curve_lines, results, column=count)) for count, label in COUNTS.items()}
    text = (
        "The evaluations of a generation are summed over all its selection events and averaged over the runs that are "
        "still active. Bands are 95 % intervals of the mean (Student). They are cut off where they would hide the "
        "lines, and left out where fewer than 3 runs are active. The population pool counts every individual; with "
        "distinct error vectors, individuals whose errors are the same on all cases count once. Methods that do not "
        "use one case after another have no such number."
    )
    charts = charts_of(results, "evaluations", "mean evaluations per generation", "evaluations", views)
    return Section("evaluations", "Evaluations per generation", text, charts, scales=("linear", "log"))


def evaluation_ratios(
    results: StudyResults, problem: str, contrasts: Iterable[tuple[str, str]], count: str
) -> dict[tuple[str, str], tuple[PairedRatio, float]]:
    """For pairs of methods, the ratio of evaluations per generation and its p-value, Holm-adjusted over the pairs."""

    def ratio(mine: str, theirs: str) -> PairedRatio | None:
        return paired_ratio(log_ratios(results.runs_of(problem, mine), results.runs_of(problem, theirs), count))

    return adjusted_ratios({pair: ratio(*pair) for pair in contrasts})


def _ratios(results: StudyResults) -> Section | None:
    def cells(problem: str, method: str, _runs: list[FinishedRun]) -> list[str]:
        row = []
        for count in COUNTS:
            ratio, p = ratios[problem, count].get((method, BASELINE), (None, None))
            row += [str(ratio or ""), format_p(p)]
        return [*row, str(ratio.seeds) if ratio else ""]

    contrasts = {p: [(m, BASELINE) for m in results.methods(p) if m != BASELINE] for p in results.problems}
    ratios = {
        (problem, count): evaluation_ratios(results, problem, pairs, count)
        for problem, pairs in contrasts.items()
        for count in COUNTS
    }
    if not any(ratios.values()):
        return None
    header = ["ratio, population pool (95 %)", "Holm p", "ratio, distinct vectors (95 %)", "Holm p", "seeds"]
    text = (
        "Evaluations per generation divided by those of lexicase, matched by seed and generation: the mean log ratio "
        "over the generations from 1 on in which both runs of a seed select parents, averaged over the seeds, with "
        "Student's interval over the seeds. p: Wilcoxon signed-rank test over the seeds, Holm-adjusted over the "
        "methods. Both counts are given, because they need not agree; the distinct count is the one that the "
        "reference system computes."
    )
    return Section("ratios", "Evaluations against lexicase", text, table=table_of(results, header, cells))


def _totals(results: StudyResults) -> Section:
    def cells(_problem: str, _method: str, runs: list[FinishedRun]) -> list[str]:
        return [quartiles(totals(runs, count)) for count in COUNTS]

    header = ["evaluations per run", "with distinct vectors"]
    text = "Medians over the runs, with quartiles in brackets. A run that ends early makes fewer evaluations in total."
    return Section("totals", "Total evaluations per run", text, table=table_of(results, header, cells))


def _time_to_success(results: StudyResults) -> Section:
    lines = partial(lines_of, results, points=_survival)
    title = "share of runs without a solution (Kaplan–Meier)"
    charts = charts_of(results, "survival", title, "share of runs", lines, log=False, steps=True)
    text = (
        "The share of runs that have not yet found a program that also solves the test cases. Runs that end without "
        "one count as unobserved from then on."
    )
    return Section("time-to-success", "Generations to success", text, charts)


def _survival(runs: list[FinishedRun]) -> Line:
    return survival([run.generations - 1 for run in runs], [run.success for run in runs])


def _diversity(results: StudyResults) -> Section:
    lines = partial(curve_lines, results, column="n_distinct_errors")
    title = "mean number of distinct error vectors"
    charts = charts_of(results, "diversity", title, "distinct error vectors", lines)
    text = "The number of distinct error vectors in the population, mean over the runs still active."
    return Section("diversity", "Distinct error vectors", text, charts)


def _time(results: StudyResults) -> Section:
    medians = partial(median_curve, window=WINDOW)
    lines = partial(curve_lines, results, column="seconds_select", curve_of=medians, scale=MILLISECONDS)
    title = f"median milliseconds of selection per generation, with quartiles, {WINDOW} generations together"
    charts = charts_of(results, "time", title, "milliseconds", lines)

    def cells(problem: str, method: str, runs: list[FinishedRun]) -> list[str]:
        both = (runs, results.runs_of(problem, BASELINE))
        mine, theirs = (MILLISECONDS * per_generation(found, "seconds_select") for found in both)
        known = mine.size and theirs.size and method != BASELINE
        ratio = f"{np.median(mine) / np.median(theirs):.2f}" if known else ""
        return [quartiles(mine), ratio, f"{100 * np.median(_shares(runs)):.1f} %"]

    header = ["milliseconds per generation", "ratio to lexicase", "share of the run"]
    text = (
        "Time of selection on the machine that made the runs, several at a time and beside other work: use it to "
        "compare methods, not as the speed of an idle machine. Ratios are of medians and shares are medians over the "
        "runs, so that one pause of the machine does not change them. Selection works natively on the whole matrix of "
        "errors, one individual for each distinct vector, and an evaluation is a lookup of a number. When an "
        "evaluation runs a program, each one avoided saves more."
    )
    return Section("time", "Time of selection", text, charts, table_of(results, header, cells))


def _shares(runs: list[FinishedRun]) -> NDArray[np.float64]:
    phases = {name for run in runs for name in run.columns if is_timing(name)}
    return totals(runs, "seconds_select") / np.maximum(sum(totals(runs, name) for name in phases), 1e-12)
