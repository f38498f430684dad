"""What happens to the coordinator, as a process of its own: kills, signals, a second one, a full disk."""

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from flexicase.experiments import Study, parse_spec
from flexicase.experiments.ledger import Ledger
from tests.processes import is_alive, wait_until

from .conftest import entries, results
from .walk import TROUBLE, study_text

pytestmark = pytest.mark.slow

SLOW = {"length": 8, "pause": 0.2}
DEADLINE = 60.0


@pytest.fixture
def spec(tmp_path):
    """Write a study of walks to a file; gives its path."""

    def write(**study):
        path = tmp_path / "walks.toml"
        path.write_text(study_text(**study))
        return path

    return write


def workers(visits):
    return {process for made in visits().values() for _, process in made}


def test_kill_9_of_the_coordinator_at_any_time_loses_nothing(flexicase, spec, tmp_path, undisturbed, visits):
    """Killed four times: twice in the middle of runs, then while the ledger's log grows, inside a commit."""
    path, study = spec(**SLOW), Study(tmp_path / "studies" / "walks")
    chance, acknowledged = random.Random(3), {}
    for attempt in range(4):
        process = flexicase("run", path, "--workers", 2)
        seen = sum(map(len, visits().values()))
        wait_until(lambda seen=seen: sum(map(len, visits().values())) > seen)
        if attempt < 2:
            time.sleep(chance.random() * 0.8)
        else:
            log = Path(f"{study.ledger}-wal")
            before = log.stat().st_mtime_ns
            while log.stat().st_mtime_ns == before:
                pass
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_until(lambda: not any(map(is_alive, workers(visits))))
        done = {entry.task.id: entry for entry in entries(study) if entry.state == "done"}
        assert all(done[run_id] == entry for run_id, entry in acknowledged.items())
        acknowledged = done
    last = flexicase("run", path, "--workers", 2)
    _, errors = last.communicate(timeout=DEADLINE)
    assert last.returncode == 0
    assert f"continuing after process {process.pid} on " in errors
    for made in visits().values():
        steps = [step for step, _ in made]
        assert sorted(set(steps)) == list(range(1, SLOW["length"] + 1))
        assert steps == sorted(steps), "a step was made again although it had been saved"
    assert all(entry.attempts == 1 for entry in entries(study))
    assert results(study) == undisturbed(**SLOW)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_it_and_the_same_command_continues(number, flexicase, spec, undisturbed, visits):
    path = spec(**SLOW, seeds=1)
    study = Study(path.parent / "studies" / "walks")
    process = flexicase("run", path, "--workers", 2)
    wait_until(visits)
    process.send_signal(number)
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 128 + number
    assert output == "stopped; the same command goes on from here\n"
    assert not any(map(is_alive, workers(visits)))
    assert {entry.state for entry in entries(study)} <= {"planned", "done"}
    again = flexicase("run", path, "--workers", 2)
    _, errors = again.communicate(timeout=DEADLINE)
    assert again.returncode == 0, errors
    assert results(study) == undisturbed(**SLOW, seeds=1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_repeated_run_and_leaves_nothing(number, flexicase, spec, tmp_path, *, visits, monkeypatch):
    path = spec(**SLOW, seeds=1)
    flexicase("run", path, "--workers", 2).communicate(timeout=DEADLINE)
    run_id = entries(Study(path.parent / "studies" / "walks"))[0].task.id
    made = sum(map(len, visits().values()))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = flexicase("rerun", run_id, "--allow-code")
    wait_until(lambda: sum(map(len, visits().values())) > made)
    process.send_signal(number)
    _, errors = process.communicate(timeout=DEADLINE)
    assert (process.returncode, errors) == (128 + number, "")
    assert not any(map(is_alive, workers(visits)))
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(closed, spec, tmp_path, undisturbed):
    """As under some cron jobs and daemons: what is opened next would take the place of the closed stream."""
    spec(seeds=1)
    for command in ("run walks.toml --workers 2", "status", "export walks"):
        line = f"{shlex.quote(sys.executable)} -m flexicase {command} {closed}"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, timeout=DEADLINE, check=False)
        assert done.returncode == (">&-" in closed.split()), (command, done.stderr)
    assert results(Study(tmp_path / "studies" / "walks")) == undisturbed(seeds=1)


def children(visits):
    return {process for made in visits().values() for step, process in made if step == 0}


@pytest.mark.parametrize("trouble", ["leave_child", "leave_session", "die_with_child", "hang_with_child"])
def test_a_process_that_a_run_has_forked_does_not_hold_up_the_study(
    trouble, flexicase, spec, tmp_path, *, undisturbed, visits, monkeypatch
):
    """It holds the pipe that the worker reports through; the study waited for it for ever."""
    monkeypatch.setenv(TROUBLE, trouble)
    process = flexicase("run", spec(seeds=1), "--workers", 2, "--hang-timeout", 6, "--max-attempts", 20)
    try:
        _, errors = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, errors
        assert len(children(visits)) == 2
        left = {child for child in children(visits) if is_alive(child)}
        assert left == (children(visits) if trouble == "leave_session" else set())
    finally:
        for child in children(visits):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
    monkeypatch.delenv(TROUBLE)
    assert results(Study(tmp_path / "studies" / "walks")) == undisturbed(seeds=1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_processes_that_runs_have_forked_end_with_the_coordinator(number, flexicase, spec, visits, monkeypatch):
    """Ctrl-C and kill -9 left them behind."""
    monkeypatch.setenv(TROUBLE, "hang_with_child")
    process = flexicase("run", spec(seeds=1), "--workers", 2)
    try:
        wait_until(lambda: len(children(visits)) == 2)
        process.send_signal(number)
        process.communicate(timeout=DEADLINE)
        wait_until(lambda: not any(map(is_alive, workers(visits))), 30.0)
    finally:
        for child in children(visits):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def test_a_second_coordinator_is_told_and_the_first_goes_on(flexicase, spec, tmp_path, undisturbed, visits):
    path, study = spec(**SLOW, seeds=1), Study(tmp_path / "studies" / "walks")
    first = flexicase("run", path, "--workers", 2)
    wait_until(visits)
    first.send_signal(signal.SIGSTOP)  # it shall not be finished before the second looks
    second = flexicase("run", path)
    output, errors = second.communicate(timeout=DEADLINE)
    first.send_signal(signal.SIGCONT)
    assert (second.returncode, output) == (1, "")
    expected = (
        rf"flexicase: error: study 'walks' is locked by process {first.pid} on .* one process at a time runs a study"
    )
    assert re.match(expected, errors)
    first.communicate(timeout=DEADLINE)
    assert first.returncode == 0
    assert results(study) == undisturbed(**SLOW, seeds=1)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a small file system here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk, spare):
    """Leave so many bytes free."""
    space = os.statvfs(disk)
    (disk / "filler").write_bytes(bytes(max(0, space.f_bavail * space.f_frsize - spare)))


@pytest.mark.parametrize("spare", [0, 16_384, 150_000])
def test_a_full_disk_is_named_and_the_study_continues_when_there_is_space(
    spare, flexicase, spec, small_disk, undisturbed
):
    """With no space at all the ledger cannot be made; with little the first run cannot start; then saves fail."""
    study_of = {"padding": 100_000, "seeds": 1}
    path, study = spec(**study_of), Study(small_disk / "walks")
    if spare == 16_384:
        study.make_folders()
        Ledger.create(study.ledger, parse_spec(path.read_text(), allow_code=True)).close()
    fill(small_disk, spare)
    process = flexicase("run", path, "--workers", 2, "--studies", small_disk)
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1
    assert f"flexicase: error: {study.folder}: no space left; everything recorded is safe" in errors
    (small_disk / "filler").unlink()
    again = flexicase("run", path, "--workers", 2, "--studies", small_disk)
    _, errors = again.communicate(timeout=DEADLINE)
    assert again.returncode == 0, errors
    assert {entry.attempts for entry in entries(study)} == {1}
    assert results(study) == undisturbed(**study_of)
