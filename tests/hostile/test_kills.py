"""A few random kills; ``make hostile`` makes a hundred."""

import pytest

from tests.hostile.kills import VICTIMS, kill_process, kill_study, start_runs, start_training

pytestmark = pytest.mark.slow


def test_three_kills_of_a_study_change_nothing():
    """A finished run would be lost, made twice or exported differently."""
    done = kill_study(3, seed=2)
    assert done["completed"] >= 1
    assert sum(done[victim] for victim in VICTIMS) == 3


@pytest.mark.parametrize(("start", "n"), [(start_runs, 3), (start_training, 1)])
def test_kills_of_runs_under_every_sampler_and_of_trainings_change_nothing(start, n):
    """A sample would be drawn otherwise after a resume, or its executions counted twice; or a generation be lost."""
    assert kill_process(n, seed=1, start=start) >= 1
