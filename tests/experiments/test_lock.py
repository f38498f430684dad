import os
import subprocess
import sys
import time

import pytest

from flexicase.experiments import LockedError
from flexicase.experiments.lock import FileLock

HOLD = """
import sys, time
from pathlib import Path
from flexicase.experiments.lock import FileLock
FileLock(Path(sys.argv[1]), "it").acquire()
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_second_is_told_who_holds_it(tmp_path, holder):
    with pytest.raises(LockedError, match=f"it is locked by process {holder.pid} on "):
        FileLock(tmp_path / "lock", "it").acquire()


def test_a_dead_owner_is_noticed_and_not_in_the_way(tmp_path, holder):
    holder.kill()
    holder.wait()
    with FileLock(tmp_path / "lock", "it") as lock:
        assert lock.previous["pid"] == holder.pid
    with FileLock(tmp_path / "lock", "it") as lock:
        assert lock.previous is None


def test_waiting_for_a_predecessor(tmp_path, holder):
    os.kill(holder.pid, 9)
    started = time.monotonic()
    with FileLock(tmp_path / "lock", "it", patience=30.0):
        assert time.monotonic() - started < 30.0
