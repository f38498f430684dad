"""Runs that fail in every way a run can fail, and coordinators that are killed or stopped, in real processes."""

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

from flexicase.experiments import Study, StudyOptions, export_study, parse_spec
from flexicase.experiments._tables import DamagedTableError
from flexicase.experiments.ledger import ChangedSpecError, DamagedLedgerError, Ledger
from flexicase.experiments.runner import FullDiskError, run_study
from tests.processes import is_alive, small_file_system, wait_until

from ._helpers import TROUBLE, results, study_text

pytestmark = pytest.mark.slow

LENGTH = 5


def test_an_undisturbed_study(walks, undisturbed):
    ending, notes, study = walks()
    assert (ending, notes) == ("complete", [])
    assert [(entry.state, entry.attempts) for entry in study.entries()] == [("done", 1)] * 4
    assert all(entry.provenance.version and entry.provenance.machine for entry in study.entries())
    assert results(study) == undisturbed()
    assert sorted(path.name for path in study.folder.iterdir()) == [
        *("ledger.sqlite", "lock", "logs", "results", "rows", "saves")
    ]
    assert not list((study.folder / "saves").iterdir()) + list((study.folder / "logs").iterdir())


def test_the_same_command_again_makes_nothing_again(walks, visits):
    _, _, study = walks(seeds=1)
    before, made = study.entries(), visits()
    ending, notes, _ = walks(seeds=1)
    assert (ending, notes, study.entries(), visits()) == ("complete", [], before, made)


@pytest.mark.parametrize("trouble", ["die", "fail", "die_writing", "die_before_telling"])
def test_a_run_that_breaks_off_is_tried_again_and_repeats_no_step(trouble, walks, undisturbed, visits, monkeypatch):
    monkeypatch.setenv(TROUBLE, trouble)
    ending, notes, study = walks(seeds=1)
    assert ending == "complete"
    assert len(notes) == 2
    assert all("it will be tried again" in note for note in notes)
    assert [entry.attempts for entry in study.entries()] == [2] * 2
    assert all([step for step, _ in made] == list(range(1, LENGTH + 1)) for made in visits().values())
    assert not list((study.folder / "rows").glob("*.partial"))
    monkeypatch.delenv(TROUBLE)
    assert results(study) == undisturbed(seeds=1)


def test_a_run_that_always_breaks_is_quarantined_and_the_rest_go_on(walks, undisturbed, monkeypatch):
    monkeypatch.setenv(TROUBLE, "always_die")
    ending, notes, study = walks(StudyOptions(workers=2, max_attempts=2))
    assert ending == "incomplete"
    states = {entry.task.seed: (entry.state, entry.attempts, entry.failure) for entry in study.entries()}
    assert states == {0: ("done", 1, None), 1: ("quarantined", 2, "worker killed by SIGKILL")}
    assert sum("it is quarantined" in note for note in notes) == 2
    assert walks()[0] == "incomplete"
    monkeypatch.delenv(TROUBLE)
    assert walks(StudyOptions(workers=2, retry_quarantined=True))[0] == "complete"
    assert results(study) == undisturbed()


def test_the_end_of_a_log_larger_than_memory_is_quoted(walks, monkeypatch):
    monkeypatch.setenv(TROUBLE, "die_of_much_to_say")
    _, _, study = walks(StudyOptions(workers=2, max_attempts=1))
    failures = {entry.failure for entry in study.entries() if entry.state == "quarantined"}
    assert failures == {"worker killed by SIGKILL: last words"}


def test_a_run_that_hangs_is_ended_and_tried_again(walks, undisturbed, monkeypatch):
    monkeypatch.setenv(TROUBLE, "hang")
    ending, notes, study = walks(StudyOptions(workers=2, hang_timeout=6.0), seeds=1)
    assert ending == "complete"
    assert sum("made no progress for 6 s" in note for note in notes) >= 2
    assert results(study) == undisturbed(seeds=1)


def test_a_worker_without_space_stops_the_study_and_costs_no_attempt(walks, undisturbed, monkeypatch):
    monkeypatch.setenv(TROUBLE, "find_no_space")
    with pytest.raises(FullDiskError, match="free some space and give the same command again"):
        walks(StudyOptions(workers=1), seeds=1)
    monkeypatch.delenv(TROUBLE)
    ending, _, study = walks(seeds=1)
    assert ending == "complete"
    assert {entry.attempts for entry in study.entries()} == {1}
    assert results(study) == undisturbed(seeds=1)


def test_a_log_that_cannot_be_written_costs_no_attempt(walks, undisturbed, small_disk, monkeypatch):
    """On a full disk the log of a run is full, too; its worker must still say why it ends, or that it is done."""
    fill(small_disk, 0)
    monkeypatch.setattr(Study, "log", lambda study, run_id: small_disk / f"{run_id}.log")
    monkeypatch.setenv(TROUBLE, "find_no_space")
    with pytest.raises(FullDiskError, match="free some space and give the same command again"):
        walks(StudyOptions(workers=1), seeds=1)
    monkeypatch.setenv(TROUBLE, "talk")
    ending, notes, study = walks(seeds=1)
    assert (ending, notes) == ("complete", [])
    assert {entry.attempts for entry in study.entries()} == {1}
    assert results(study) == undisturbed(seeds=1)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-10])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def test_damaged_rows_are_named_and_those_runs_rerun_with_status(walks, undisturbed, visits):
    _, _, study = walks()
    before = study.entries()
    for entry, damage in zip(before[:3], (truncate, flip, lambda path: path.unlink()), strict=True):
        damage(study.rows(entry.task.id))
    with pytest.raises(DamagedTableError, match=before[0].task.id):
        export_study(study, study.folder / "results")
    ending, notes, _ = walks()
    assert ending == "complete"
    for entry, note, how in zip(before[:3], notes, ("is damaged", "is damaged", "is missing"), strict=True):
        assert f"{study.rows(entry.task.id)} {how}" in note
        assert f"run {entry.task.id} will be repeated" in note
    assert study.entries()[3] == before[3]
    assert [len(visits()[entry.task.id]) for entry in before] == [2 * LENGTH] * 3 + [LENGTH]
    assert results(study) == undisturbed()


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_a_lost_ledger_beside_finished_rows_is_refused(damage, walks, visits):
    """Everything was silently made again."""
    _, _, study = walks(seeds=1)
    made, rows = visits(), {path: path.read_bytes() for path in (study.folder / "rows").iterdir()}
    damage(study.ledger)
    with pytest.raises(DamagedLedgerError, match=r"missing or empty.*rows.*import the study's last export"):
        walks(seeds=1)
    assert visits() == made
    assert {path: path.read_bytes() for path in (study.folder / "rows").iterdir()} == rows


def test_a_changed_study_is_refused_before_anything_happens(walks, tmp_path):
    _, _, study = walks(seeds=1)
    before = study.entries()
    with pytest.raises(ChangedSpecError, match=r"seeds: \[0\] -> \[0, 1\]"):
        run_study(tmp_path / "studies", parse_spec(study_text(seeds=2), allow_code=True))
    assert study.entries() == before


def test_going_on_with_another_version_is_told(walks, monkeypatch):
    walks(seeds=1)
    monkeypatch.setattr("flexicase.experiments.runner.version", lambda: "9.9")
    _, (note,), study = walks(seeds=1)
    assert note == f"some finished runs were made by version {study.entries()[0].provenance.version}; this is 9.9"


def test_a_version_that_changes_under_way_is_told_and_recorded(walks, monkeypatch):
    """Each run is a new process and imports what is there then."""
    monkeypatch.setattr("flexicase._provenance.version", lambda: "9.9")
    _, notes, study = walks(seeds=1)
    (found,) = {entry.provenance.version for entry in study.entries()}
    assert found != "9.9"
    assert notes == [f"runs are now made by version {found}; the study was started by 9.9"]


# What happens to the coordinator, as a process of its own: kills, signals, a second one, a full disk.


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
        done = {entry.task.id: entry for entry in study.entries() if entry.state == "done"}
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
    assert all(entry.attempts == 1 for entry in study.entries())
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
    assert output == "stopped; the same command continues the study\n"
    assert not any(map(is_alive, workers(visits)))
    assert {entry.state for entry in study.entries()} <= {"planned", "done"}
    again = flexicase("run", path, "--workers", 2)
    _, errors = again.communicate(timeout=DEADLINE)
    assert again.returncode == 0, errors
    assert results(study) == undisturbed(**SLOW, seeds=1)


def test_a_signal_ends_a_repeated_run_and_leaves_nothing(walks, flexicase, tmp_path, visits, monkeypatch):
    _, _, study = walks(**SLOW, seeds=1)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    for number in (signal.SIGTERM, signal.SIGHUP):
        made = sum(map(len, visits().values()))
        process = flexicase("rerun", study.entries()[0].task.id, "--allow-code")
        wait_until(lambda made=made: sum(map(len, visits().values())) > made)
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
        rf"flexicase: error: study 'walks' is locked by process {first.pid} on .* only one process may run a study"
    )
    assert re.match(expected, errors)
    first.communicate(timeout=DEADLINE)
    assert first.returncode == 0
    assert results(study) == undisturbed(**SLOW, seeds=1)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte."""
    yield from small_file_system(tmp_path / "disk", "1m")


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
    assert {entry.attempts for entry in study.entries()} == {1}
    assert results(study) == undisturbed(**study_of)
