"""Ratios on the same populations must be of matching generations, or one lucky seed decides a problem."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.experiments.spec import read_spec
from flexicase.report._same_populations import (
    Saving,
    early_and_late,
    same_population_sections,
    same_population_verdict,
    savings,
    sign_test,
)
from flexicase.report.write import layout_of

SPEC = """name = "same"
kind = "same-populations"
problems = ["median", "smallest"]
methods = ["lexicase"]
seeds = 4
[settings]
compared = ["lexicase", "weighted-num-zeros", "ranked-num-zeros", "weighted-num-nonzeros", "ranked-num-nonzeros"]
"""
COMPARED = ("weighted_num_zeros", "ranked_num_zeros", "weighted_num_nonzeros", "ranked_num_nonzeros")


def run(problem: str, seed: int, ratios: list[float]) -> FinishedRun:
    """A run whose generations 0, 5, 10 … have these ratios to lexicase, for all methods and both counts."""
    base = np.array([1000 * (1 + g) for g in range(len(ratios))])
    columns = {"generation": 5 * np.arange(len(ratios)), "events": np.full(len(ratios), 9)}
    for count, size in (("evaluations", 2), ("evaluations_distinct", 1)):
        columns[f"{count}_lexicase"] = size * base
        columns |= {f"{count}_{name}": (size * base * ratios).astype(np.int64) for name in COMPARED}
    return FinishedRun(f"{problem}-{seed}", problem, "lexicase", "base", seed, {"success": False}, columns, {})


def study(*runs: FinishedRun, planned: int | None = None) -> StudyResults:
    return StudyResults(read_spec(SPEC), planned or len(runs), runs)


@pytest.fixture
def results() -> StudyResults:
    median = [run("median", seed, [9.0, 0.5, 0.5 + 0.1 * seed]) for seed in range(3)]
    return study(*median, run("smallest", 0, [0.1]), run("smallest", 1, [0.1, 1.25]))


def test_ratios_are_means_of_logs_over_generations_from_5_on_and_then_over_seeds(results):
    found, other = savings(results, "ranked-num-nonzeros", "evaluations")
    logs = [(math.log(0.5) + math.log(0.5 + 0.1 * seed)) / 2 for seed in range(3)]
    assert found.ratio == pytest.approx(math.exp(sum(logs) / 3))
    half = 4.302653 * np.std(logs, ddof=1) / math.sqrt(3)  # Student's t with 2 degrees of freedom
    assert found.interval == pytest.approx([math.exp(sum(logs) / 3 - half), math.exp(sum(logs) / 3 + half)])
    assert (other.ratio, other.interval, other.seeds) == (pytest.approx(1.25), None, 1), "one run ended in generation 0"


def test_a_run_solved_in_generation_0_has_zeros_and_is_left_out():
    empty = run("smallest", 0, [1.0])
    for values in empty.columns.values():
        values[:] = 0
    assert savings(study(empty), "ranked-num-nonzeros", "evaluations") == []
    assert same_population_sections(study(empty))[0].id == "ratios", "the table says which problems have no seeds"
    assert "is not complete" in same_population_verdict(study(empty, planned=2))


def test_an_incomplete_study_is_not_tested(results):
    """A look at a p-value before the end would be one test more."""
    half = study(*results.runs, planned=99)
    assert "p = " in same_population_verdict(results)
    assert "p = " not in same_population_verdict(half)
    tested = [[row[4] for row in same_population_sections(part)[0].table.rows] for part in (results, half)]
    assert any(tested[0])
    assert not any(tested[1])


def test_the_sign_test_is_exact_and_two_sided():
    found = [Saving("p", ratio, None, 3) for ratio in [0.9] * 22 + [1.1] * 7]
    assert sign_test(found)[:2] == (22, 7)
    assert sign_test(found).p_value == pytest.approx(2 * sum(math.comb(29, k) for k in range(8)) / 2**29)
    assert sign_test([]).p_value == 1.0


def test_the_report_tests_hard_first_orders_only(results):
    assert layout_of(results).title == "methods on the same populations"
    table = same_population_sections(results)[0].table
    assert [row[4] != "" for row in table.rows] == [True] * 4 + [False] * 4
    assert [row[3] for row in table.rows] == ["1/2"] * 8
    assert "Ranked – Num-Nonzeros on 1 of 2 (population pool" in same_population_verdict(results)


def test_late_generations_are_compared_with_early_ones_of_the_same_runs():
    """Problems that are solved early would otherwise change the mean between the two."""
    long = [run("median", 0, [9.0, 0.25, 1.0, *[9.0] * 5, 0.2, 0.2]), run("smallest", 0, [1.0, *[0.8] * 9])]
    short = run("smallest", 1, [0.1, 0.1])
    found = study(*long, short)
    ratios = early_and_late(found, "ranked-num-nonzeros", "evaluations")
    assert ratios == pytest.approx(np.array([[0.5, 0.2], [0.8, 0.8]]))
    rows = next(part for part in same_population_sections(found) if part.id == "late").table.rows
    assert [row[3:] for row in rows] == [["0.65", "0.50", "1/2", "2/2", "0.500"]] * 4
    unfinished = next(part for part in same_population_sections(study(*long, planned=9)) if part.id == "late")
    assert {row[-1] for row in unfinished.table.rows} == {""}
    assert "late" not in [part.id for part in same_population_sections(study(short))]


def test_a_column_that_is_missing_is_named(results):
    del results.runs[0].columns["evaluations_lexicase"]
    with pytest.raises(ValueError, match="run 'median-0': its rows must have the evaluations of"):
        same_population_sections(results)
