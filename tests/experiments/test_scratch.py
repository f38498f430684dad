"""Machines of a cluster run for months: a folder left behind by every killed run would fill their disks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flexicase.experiments._ray import PREFIX, ScratchFolder

OWNER = """
import time
from flexicase.experiments._ray import ScratchFolder
print(ScratchFolder().path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.fixture
def owner():
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_the_folder_of_a_killed_owner_is_removed_by_the_next(owner):
    left = Path(owner.stdout.readline().strip())
    (left / "rows").write_text("half a file")
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    assert left.exists()
    ScratchFolder().remove()
    assert not left.exists()


@pytest.mark.slow
def test_the_folder_of_a_living_owner_stays(owner, here):
    theirs = Path(owner.stdout.readline().strip())
    mine = ScratchFolder()
    assert set(here.iterdir()) == {theirs, mine.path}
    mine.remove()
    mine.remove()
    assert set(here.iterdir()) == {theirs}


def test_a_folder_whose_lock_is_not_there_yet_stays(here):
    (here / f"{PREFIX}new").mkdir()
    ScratchFolder().remove()
    assert (here / f"{PREFIX}new").exists()
