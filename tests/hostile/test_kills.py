"""Processes of a study are killed at random moments; the long version is ``python -m tests.hostile.kills 100``."""

import pytest

from tests.hostile.kills import VICTIMS, kill_study

pytestmark = pytest.mark.slow


def test_three_kills_change_nothing():
    """A finished run would be lost, made twice or exported differently."""
    done = kill_study(3, seed=2)
    assert done["completed"] >= 1
    assert sum(done[victim] for victim in VICTIMS) == 3
