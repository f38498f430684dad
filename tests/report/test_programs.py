"""Times are taken on machines that do other work too: what one pause does to one run must not become a figure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flexicase.experiments.results import StudyResults
from flexicase.report._programs import program_sections


def time_table(results: StudyResults) -> list[list[str]]:
    return next(section.table.rows for section in program_sections(results) if section.id == "time" and section.table)


@pytest.fixture
def paused(results: StudyResults) -> StudyResults:
    """The same study, but the machine slept for an hour during one selection of one run."""
    first, *others = results.runs
    seconds = first.columns["seconds_select"].copy()
    seconds[0] += 3600
    return replace(results, runs=(replace(first, columns={**first.columns, "seconds_select": seconds}), *others))


def test_the_share_of_selection_is_the_one_of_the_runs(results):
    assert {row[-1] for row in time_table(results)} == {"25.0 %"}  # 10 ms of selection beside 30 ms of evaluation


def test_a_pause_during_one_selection_does_not_change_the_share(paused):
    assert {row[-1] for row in time_table(paused)} == {"25.0 %"}
