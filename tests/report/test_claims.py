"""A verdict must follow from the data: the same statement has to come out either way."""

from dataclasses import replace

import pytest

from flexicase.experiments.spec import read_spec
from flexicase.report.claims import claims
from tests.report.conftest import SPEC


def verdict(results, words):
    found = [claim for claim in claims(results) if words in claim.statement]
    assert len(found) == 1, words
    return found[0]


def with_success(results, rule):
    """The same runs with other outcomes, each of them six times over."""
    runs = [
        replace(run, summary={"success": rule(run)}, seed=run.seed + 8 * copy)
        for copy in range(6)
        for run in results.runs
    ]
    return replace(results, runs=tuple(runs), spec=read_spec(SPEC.partition("[settings]")[0]))


def test_few_runs_leave_the_absence_of_a_difference_open(results):
    same = replace(results, runs=tuple(replace(run, summary={"success": False}) for run in results.runs))
    assert verdict(same, "significantly more runs").verdict == "not testable here"


def test_many_equal_runs_agree_that_no_method_is_better(results):
    assert (
        verdict(with_success(results, lambda run: run.seed % 2 == 0), "significantly more runs").verdict == "reproduced"
    )


def test_a_better_method_contradicts_the_paper(results):
    better = with_success(results, lambda run: run.method == "ranked-num-nonzeros")
    claim = verdict(better, "significantly more runs")
    assert claim.verdict == "not reproduced"
    assert "48/48" in claim.evidence


def test_a_worse_hard_first_method_contradicts_the_paper(results):
    worse = with_success(results, lambda run: run.method != "ranked-num-nonzeros")
    assert verdict(worse, "No hard-first method").verdict == "not reproduced"


@pytest.mark.parametrize(("solves", "expected"), [(False, "not reproduced"), (True, "reproduced")])
def test_easy_first_that_the_paper_does_not_mark(results, solves, expected):
    changed = with_success(results, lambda run: run.method == "lexicase" or solves)
    assert verdict(changed, "No easy-first method (Num-Zeros)").verdict == expected


def test_a_cell_that_the_paper_marks_as_worse_does_not_count_as_unmarked(results):
    changed = with_success(results, lambda run: run.method == "lexicase" or run.problem == "mirror-image")
    claim = verdict(changed, "No easy-first method (Num-Zeros)")
    assert claim.verdict == "reproduced"
    assert "Last Index of Zero" not in claim.statement + claim.evidence


@pytest.mark.parametrize(("solves", "expected"), [(False, "reproduced"), (True, "not testable here")])
def test_easy_first_on_last_index_of_zero(results, solves, expected):
    changed = with_success(results, lambda run: run.method == "lexicase" or solves)
    assert verdict(changed, "Weighted – Num-Zeros on Last Index of Zero").verdict == expected


def test_easy_first_that_is_better_does_not_agree_with_worse(results):
    changed = with_success(results, lambda run: run.method == "weighted-num-zeros")
    assert verdict(changed, "Weighted – Num-Zeros on Last Index of Zero").verdict != "reproduced"


def test_fewest_evaluations_agree_where_the_method_has_them(results):
    claim = verdict(with_success(results, lambda run: True), "on Mirror Image, consistently")
    assert claim.verdict == "reproduced"
    assert "100 % of the" in claim.evidence


def test_fewest_evaluations_differ_where_another_has_them(results):
    swapped = {"lexicase": "ranked-num-nonzeros", "ranked-num-nonzeros": "lexicase"}
    runs = tuple(replace(run, method=swapped.get(run.method, run.method)) for run in results.runs)
    claim = verdict(replace(results, runs=runs), "on Mirror Image, consistently")
    assert claim.verdict == "not reproduced"
    assert "; Lexicase has it in " in claim.evidence


def test_counts_of_a_smaller_study_are_not_compared_with_the_papers(results):
    claim = verdict(results, "success counts")
    assert claim.verdict == "not testable here"
    assert "population 10 instead of 1000" in claim.evidence


def test_counts_far_from_the_papers_differ(results):
    claim = verdict(with_success(results, lambda run: False), "success counts")
    assert claim.verdict == "not reproduced"
    assert "0/48 against the paper's 43/50" in claim.evidence


def test_evaluations_on_a_problem_that_the_paper_has_not_are_told_apart(results):
    others = replace(results, runs=tuple(replace(run, problem=f"other-{run.problem}") for run in results.runs))
    found = [claim.statement for claim in claims(others)]
    assert len(found) == 2
    assert all(statement.startswith("Beyond the paper: Ranked shuffle") for statement in found)
