"""Studies on Ray and through submitit give the same results as on this machine, even if processes are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from flexicase._provenance import usable_cores
from flexicase.experiments import Study, StudyOptions, parse_spec, run_study
from flexicase.experiments._ray import PREFIX, RayExecutor, RemoteRun, ScratchFolder, read_files, write_files
from flexicase.experiments._slurm import SlurmExecutor
from flexicase.experiments.executors import Progressed, open_cluster
from flexicase.experiments.spec import plan
from tests.processes import wait_until

from . import slurm_stand_in
from ._helpers import TROUBLE, Notes, results, study_text

pytestmark = pytest.mark.slow

SLOW = {"length": 8, "pause": 0.25, "seeds": 1}
DEADLINE = 60.0


@pytest.fixture
def run_on(tmp_path):
    """Run a study of walks with an executor; gives how it ended, the notes and the study."""

    def call(executor, options=None, **study):
        spec, notes = parse_spec(study_text(**study), allow_code=True), Notes()
        made = []

        def make(study, nice):
            made.append(executor(study, nice))
            return made[-1]

        ending = run_study(tmp_path / "studies", spec, options or StudyOptions(workers=2), notes, make)
        return ending, notes.notes, Study(tmp_path / "studies" / spec.name)

    return call


def ray_executor(study, nice):
    return RayExecutor(study, nice, save_seconds=0.05)


def submitit_executor(study, nice):
    return SlurmExecutor(study, nice, cluster="local")


def killing(visits, whom):
    """A thread that kills a process once a run has made four steps."""

    def kill():
        wait_until(lambda: any(len(made) >= 4 for made in visits().values()))
        worker = next(made for made in visits().values() if len(made) >= 4)[0][1]
        os.kill(whom(worker), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


@pytest.mark.usefixtures("local_ray")
def test_a_study_on_ray_gives_what_it_gives_here(run_on, undisturbed, visits):
    ending, notes, study = run_on(ray_executor, **SLOW)
    assert (ending, notes) == ("complete", [])
    assert results(study) == undisturbed(**SLOW)
    assert all(entry.provenance.machine for entry in study.entries())
    assert not list((study.folder / "saves").iterdir())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up as on Linux")
@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize("whom", [lambda worker: worker, parent], ids=["run", "actor"])
def test_kill_9_on_ray_changes_nothing(run_on, undisturbed, visits, whom):
    """The run's own process, or the actor beside it as when a machine is lost: it goes on from what came back."""
    killer = killing(visits, whom)
    ending, notes, study = run_on(ray_executor, **SLOW)
    killer.join()
    assert ending == "complete"
    assert len(notes) == 1
    assert "it will be tried again" in notes[0]
    assert results(study) == undisturbed(**SLOW)
    broken = next(made for made in visits().values() if len({process for _, process in made}) == 2)
    first = [step for step, process in broken if process == broken[0][1]]
    second = [step for step, process in broken if process != broken[0][1]]
    assert second[0] > 1, "it began again, although it had saved"
    assert second[0] <= first[-1] + 1


@pytest.mark.usefixtures("local_ray")
def test_a_hung_run_on_ray_is_ended(run_on, undisturbed, monkeypatch):
    """It hangs at its second step, in its first attempt only."""
    expected = undisturbed(seeds=1)
    monkeypatch.setenv(TROUBLE, "hang_until_saved")
    ending, notes, study = run_on(ray_executor, StudyOptions(workers=2, hang_timeout=6.0), seeds=1)
    assert ending == "complete"
    assert any("made no progress for" in note for note in notes)
    assert results(study) == expected


def test_what_a_run_saves_travels_both_ways(tmp_path):
    """Contents, names of folders and the lock that must stay behind."""
    task = plan(parse_spec(study_text(length=3), allow_code=True))[0]
    run, events, saves = RemoteRun(task, {"deep/down": b"kept"}, 0, {}, 0.0), [], []
    while not events or isinstance(events[-1], Progressed):
        update = run.update()
        events += update.events
        saves += [] if update.save is None else [update.save]
    assert saves[-1]["deep/down"] == b"kept"
    assert set(saves[-1]) == {"deep/down", "processor_seconds", "walk.npy"}


def test_what_came_back_is_kept_file_by_file(tmp_path, monkeypatch):
    """A coordinator that dies or finds the disk full while it keeps a save must leave whole files, old or new."""
    write_files(tmp_path, {"deep/new": b"1", "deep/old": b"0"})
    write_files(tmp_path, {"deep/new": b"2"})
    assert read_files(tmp_path) == {"deep/new": b"2"}
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(OSError, match="no space left"):
        write_files(tmp_path, {"deep/new": b"3"})
    assert read_files(tmp_path) == {"deep/new": b"2"}


def test_a_study_through_submitit_gives_what_it_gives_here(run_on, undisturbed):
    """With the executor that submitit has for one machine; Slurm's differs in how a job is handed in."""
    pytest.importorskip("submitit", reason="submitit is not installed (the cluster extra)")
    ending, notes, study = run_on(submitit_executor, **SLOW)
    assert (ending, notes) == ("complete", [])
    assert results(study) == undisturbed(**SLOW)
    assert [path.name for path in (study.folder / "local").iterdir()] == []


def test_kill_9_through_submitit_changes_nothing(run_on, undisturbed, visits):
    pytest.importorskip("submitit", reason="submitit is not installed (the cluster extra)")
    killer = killing(visits, lambda worker: worker)
    ending, notes, study = run_on(submitit_executor, **SLOW)
    killer.join()
    assert ending == "complete"
    assert "killed by SIGKILL" in notes[0]
    assert results(study) == undisturbed(**SLOW)


def test_places():
    with open_cluster() as here:
        assert here.workers == usable_cores()
    with (
        pytest.raises(ValueError, match="options are for a cluster, got num_gpus and no cluster"),
        open_cluster(None, {"num_gpus": 1}),
    ):
        pass
    with (
        pytest.raises(ValueError, match="cluster must be ray, ray://HOST:PORT or slurm, got 'slurm://x'"),
        open_cluster("slurm://x"),
    ):
        pass


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """The commands of Slurm, played by a script that starts an array's jobs on this machine."""
    submitit = pytest.importorskip("submitit", reason="submitit is not installed (the cluster extra)")
    monkeypatch.setattr(submitit.SlurmJob, "watcher", type(submitit.SlurmJob.watcher)(delay_s=600))  # ids repeat here
    slurm_stand_in.install(tmp_path / "slurm")
    monkeypatch.setenv("PATH", f"{tmp_path / 'slurm'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("flexicase.experiments._slurm.CHECK_SECONDS", 1.0)
    monkeypatch.setattr("flexicase.experiments._slurm.RESULT_SECONDS", 1.0)
    return tmp_path / "slurm"


def test_runs_on_slurm_are_handed_in_as_arrays(slurm, run_on, undisturbed, visits):
    """What submitit hands to sbatch does the work; the commands themselves are played by a script here."""
    study = {"seeds": 2, "length": 3}
    ending, notes, made = run_on(SlurmExecutor, StudyOptions(workers=4), **study)
    assert (ending, notes) == ("complete", [])
    assert (slurm / "jobs").read_text() == "4\n"
    assert results(made) == undisturbed(**study)


def test_a_job_that_slurm_loses_is_rerun_with_status(slurm, run_on, undisturbed, visits):
    """Cancelled from outside, as for running out of time: no result, no word from the job."""

    def lose():
        wait_until(lambda: any(len(made) >= 4 for made in visits().values()))
        slurm_stand_in.STATES = slurm / "states"
        slurm_stand_in.scancel("1_0")

    thread = threading.Thread(target=lose)
    thread.start()
    ending, notes, study = run_on(SlurmExecutor, StudyOptions(workers=2), **SLOW)
    thread.join()
    assert ending == "complete"
    assert "job 1_0 was lost" in notes[0]
    assert (slurm / "jobs").read_text().splitlines()[0] == "2"
    assert results(study) == undisturbed(**SLOW)


def test_a_job_that_slurm_does_not_know_is_given_up(slurm, run_on, undisturbed, monkeypatch):
    """It was awaited for ever."""
    monkeypatch.setattr("flexicase.experiments._slurm.UNKNOWN_SECONDS", 1.0)
    (slurm / "forgetful").touch()

    def remember():
        wait_until(lambda: (slurm / "jobs").read_text() == "2\n")
        (slurm / "forgetful").unlink()

    thread = threading.Thread(target=remember)
    thread.start()
    study = {"seeds": 1, "length": 3}
    ending, notes, made = run_on(SlurmExecutor, **study)
    thread.join()
    assert ending == "complete"
    assert sum("job 1_0 was lost, UNKNOWN" in note for note in notes) == 1
    assert results(made) == undisturbed(**study)


def test_a_job_that_slurm_does_not_know_gives_no_sign_of_life_and_can_be_ended(slurm, tmp_path):
    """`--hang-timeout` had no effect: waiting counted as a sign of life, and nobody said that the job was gone."""
    (slurm / "forgetful").touch()
    study = Study(tmp_path / "walks")
    study.make_folders()
    executor = SlurmExecutor(study)
    for task in plan(parse_spec(study_text(seeds=1), allow_code=True)):
        executor.start(task)
    assert executor.events(0.5) == []
    first, second = executor.running
    executor.kill(first)
    failures = []
    wait_until(lambda: failures.extend(executor.events(0.5)) or failures)
    assert [failure.run_id for failure in failures] == [first]
    assert "was lost, UNKNOWN" in failures[0].reason
    assert executor.running == [second]


def test_a_submission_that_fails_leaves_running_jobs_alone(slurm, run_on, undisturbed, visits, monkeypatch):
    """One failing sbatch cancelled every job of the study."""
    monkeypatch.setattr("flexicase.experiments._slurm.RESUBMIT_SECONDS", 0.1)
    study = {"seeds": 2, "length": 6, "pause": 0.25}

    def refuse():
        wait_until(visits)
        (slurm / "refusals").write_text("1")

    thread = threading.Thread(target=refuse)
    thread.start()
    ending, notes, made = run_on(SlurmExecutor, StudyOptions(workers=2), **study)
    thread.join()
    assert ending == "complete"
    assert all("could not be submitted: " in note and "Unable to contact slurm controller" in note for note in notes)
    assert 1 <= len(notes) <= 2
    assert all(len({process for _, process in steps}) == 1 for steps in visits().values())
    assert results(made) == undisturbed(**study)


def test_a_slurm_that_refuses_every_submission_ends_the_study(slurm, run_on, monkeypatch):
    monkeypatch.setattr("flexicase.experiments._slurm.RESUBMIT_SECONDS", 0.1)
    (slurm / "refusals").write_text("100")
    ending, _, made = run_on(SlurmExecutor, StudyOptions(workers=2, max_attempts=2), seeds=1)
    assert ending == "incomplete"
    assert {entry.state for entry in made.entries()} == {"quarantined"}


def test_jobs_of_a_coordinator_that_was_killed_are_cancelled(slurm, tmp_path, visits):
    """Otherwise two jobs would work on the same run."""
    study = Study(tmp_path / "walks")
    study.make_folders()
    orphaned = SlurmExecutor(study)
    for task in plan(parse_spec(study_text(seeds=1, length=100, pause=0.5), allow_code=True)):
        orphaned.start(task)
    wait_until(lambda: orphaned.events(0.1))
    SlurmExecutor(study)
    wait_until(lambda: {(slurm / "states" / job).read_text() for job in ("1_0", "1_1")} == {"CANCELLED 0"})
    steps = visits()
    time.sleep(1.2)
    assert visits() == steps, "a cancelled job goes on"


def test_without_slurm_the_command_says_so(flexicase, tmp_path):
    pytest.importorskip("submitit", reason="submitit is not installed (the cluster extra)")
    (tmp_path / "walks.toml").write_text(study_text())
    process = flexicase("run", "walks.toml", "--cluster", "slurm")
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1
    assert errors.startswith("flexicase: error: Slurm not found: ")


def test_a_wrong_address_is_told_at_once(flexicase, tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed (the cluster extra)")
    (tmp_path / "walks.toml").write_text(study_text())
    process = flexicase("run", "walks.toml", "--cluster", "ray://127.0.0.1:1")
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1
    assert "flexicase: error: no Ray cluster answers at 127.0.0.1:1: use the address that 'ray start'" in errors


def test_ctrl_c_stops_a_study_on_ray_and_the_same_command_continues(
    flexicase, tmp_path, undisturbed, visits, monkeypatch
):
    """With a Ray that the command starts and stops itself."""
    pytest.importorskip("ray", reason="Ray is not installed (the cluster extra)")
    monkeypatch.setenv("RAY_worker_niceness", "0")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    (tmp_path / "walks.toml").write_text(study_text(**SLOW))
    study = Study(tmp_path / "studies" / "walks")
    command = ("run", "walks.toml", "--cluster", "ray", "--workers", 2, "--cluster-option", "num_cpus=0.5")
    first = flexicase(*command)
    wait_until(lambda: any(len(made) >= 2 for made in visits().values()))
    first.send_signal(signal.SIGINT)
    output, errors = first.communicate(timeout=DEADLINE)
    assert (first.returncode, output) == (130, "stopped; the same command continues the study\n"), errors
    assert {entry.state for entry in study.entries()} <= {"planned", "done"}
    again = flexicase(*command)
    output, errors = again.communicate(timeout=DEADLINE)
    assert again.returncode == 0, errors
    assert results(study) == undisturbed(**SLOW)


# Machines of a cluster run for months: a folder left behind by every killed run would fill their disks.

OWNER = """
import time
from flexicase.experiments._ray import ScratchFolder
print(ScratchFolder().path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.fixture
def owner(here):
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
