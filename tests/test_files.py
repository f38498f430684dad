"""The file lock: who holds it, and when it is released."""

import fcntl
import os
import subprocess
import sys
import time

import pytest

from flexicase._files import FileLock, LockedError, describe

HOLD = """
import sys, time
from pathlib import Path
from flexicase._files import FileLock
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
    with FileLock(tmp_path / "lock", "it", timeout=30.0):
        assert time.monotonic() - started < 30.0


def test_deleting_the_file_lets_no_second_in(tmp_path, holder):
    """Two coordinators would write to one ledger."""
    (tmp_path / "lock").unlink()
    with pytest.raises(LockedError, match="it is locked by another process"):
        FileLock(tmp_path / "lock", "it").acquire()


def test_a_file_that_is_replaced_while_it_is_opened_is_not_taken_for_the_lock(tmp_path, monkeypatch):
    """The lock of a file that is no longer there keeps nobody out."""
    real, calls = fcntl.flock, []

    def flock(handle, operation):
        calls.append(handle)
        if len(calls) == 2:  # the first is that of the folder
            (tmp_path / "lock").unlink()
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with FileLock(tmp_path / "lock", "it") as lock:
        assert os.fstat(lock._handles[-1]).st_ino == (tmp_path / "lock").stat().st_ino
        assert len(calls) == 3


@pytest.mark.parametrize(
    "content",
    [
        *(
            b'{"pid": 1, "host": "h", "since": %s}' % since
            for since in (b"NaN", b"Infinity", b"-1e300", b'"x"', b"null")
        ),
        *(b"[" * 999, b"\xff\xfe", b"{}", b'{"pid": "x\\n", "host": ["h"], "since": 1}', b"0", b'"', bytes(1000)),
    ],
)
def test_damaged_content_is_not_in_the_way(content, tmp_path):
    (tmp_path / "lock").write_bytes(content)
    with FileLock(tmp_path / "lock", "it") as lock:
        describe(lock.previous)
    with FileLock(tmp_path / "lock", "it"):
        (tmp_path / "lock").write_bytes(content)
        with pytest.raises(LockedError, match="it is locked by "):
            FileLock(tmp_path / "lock", "it").acquire()


FORK = """
import os, sys, time
from pathlib import Path
from flexicase._files import FileLock
FileLock(Path(sys.argv[1]), "it").acquire()
if os.fork() == 0:
    print(os.getpid(), flush=True)
    time.sleep(60)
os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
def test_a_forked_process_does_not_keep_the_lock_of_a_dead_owner(tmp_path):
    """A run that is made again would wait for a process that the first attempt has left."""
    command = [sys.executable, "-c", FORK, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        child = int(owner.stdout.readline())
        try:
            assert owner.wait() == -9
            FileLock(tmp_path / "lock", "it").acquire()
        finally:
            os.kill(child, 9)
