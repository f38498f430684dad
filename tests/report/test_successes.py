"""Marks in the success table decide what a reader believes."""

from dataclasses import replace

import pytest

from flexicase.experiments.spec import read_spec
from flexicase.report._successes import success_table
from flexicase.report.statistics import fisher_exact, holm, mcnemar, wilson
from tests.report.conftest import SPEC


def cell_of(results, problem, method):
    return next(c for c in success_table(results) if (c.problem, c.method) == (problem, method))


def test_counts_intervals_and_published_numbers(results):
    cell = cell_of(results, "mirror-image", "lexicase")
    assert (cell.successes, cell.runs, cell.published) == (
        6,
        8,
        None,
    )  # another size than the paper's
    same_size = replace(results, spec=read_spec(SPEC.partition("[settings]")[0]))
    assert cell_of(same_size, "mirror-image", "lexicase").published == 43
    assert cell.interval == wilson(6, 8)
    assert cell.p_value is None
    assert not cell.differs


def test_p_values_are_fishers_against_lexicase_and_adjusted_within_a_problem(results):
    cells = [cell_of(results, "mirror-image", m) for m in ("ranked-num-nonzeros", "weighted-num-zeros")]
    raw = [fisher_exact(0, 8, 6, 8)] * 2
    assert [cell.p_value for cell in cells] == pytest.approx(raw)
    assert [cell.adjusted for cell in cells] == pytest.approx(holm(raw))
    assert [cell.paired for cell in cells] == pytest.approx([mcnemar(0, 6)] * 2)
    assert [cell.paired_adjusted for cell in cells] == pytest.approx([2 * mcnemar(0, 6)] * 2)
    assert [cell.difference for cell in cells] == [-0.75, -0.75]
    assert not any(cell.differs for cell in cells)  # McNemar's test needs more than six pairs


def test_a_difference_counts_where_both_tests_find_it(results):
    many = tuple(replace(run, seed=run.seed + 8 * copy) for copy in range(3) for run in results.runs)
    cell = cell_of(replace(results, runs=many), "mirror-image", "ranked-num-nonzeros")
    assert cell.differs
    assert cell.bounds.high < 0


def test_equal_counts_do_not_differ(results):
    cell = cell_of(results, "last-index-of-zero", "weighted-num-zeros")
    assert cell.p_value == 1.0
    assert not cell.differs


def test_rows_are_in_the_papers_order(results):
    methods = [c.method for c in success_table(results) if c.problem == "mirror-image"]
    assert methods == ["lexicase", "ranked-num-nonzeros", "weighted-num-zeros"]
