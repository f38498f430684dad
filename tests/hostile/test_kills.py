"""A few random kills; ``make hostile`` makes a hundred."""

import pytest

from tests.hostile.kills import VICTIMS, kill_process, kill_study, start_runs

pytestmark = pytest.mark.slow


def test_three_kills_of_a_study_change_nothing():
    """A finished run would be lost, made twice or exported differently."""
    done = kill_study(3, seed=2, kind="few walks")
    assert done["completed"] >= 1
    assert sum(done[victim] for victim in VICTIMS) == 3


def test_kills_of_runs_under_every_sampler_change_nothing():
    """A sample would be drawn otherwise after a resume, or its executions counted twice.

    For trainings, tests/cli and tests/torch have kills at the worst moments.
    """
    assert kill_process(3, seed=1, start=start_runs) >= 1
