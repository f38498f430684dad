"""Genetic-programming runs as jobs of a study, with a real worker that is really killed."""

import os
import signal
import time

import numpy as np
import pytest

from flexicase.experiments import Progress, RunSpec, SpecError, Study, StudyOptions, parse_spec, run_study
from flexicase.experiments._tables import read_rows, rows_digest
from flexicase.experiments.gp_job import GpJob
from flexicase.experiments.spec import plan
from flexicase.gp import evolve

STUDY = """
name = "regression"
problems = ["simple-regression"]
methods = ["lexicase", "ranked-num-nonzeros"]
seeds = [3]
[settings]
population = 60
generations = 6
"""


@pytest.mark.slow
def test_rows_are_the_records_of_the_run(tmp_path):
    study = Study(tmp_path / "regression")
    assert run_study(tmp_path, parse_spec(STUDY), StudyOptions(workers=2)) == "complete"
    for entry in study.entries():
        run = evolve("simple-regression", entry.task.method, population=60, generations=6, seed=3, threads=2)
        rows = read_rows(study.rows(entry.task.id), entry.result.checksum)
        names = ("generation", "best_error", "evaluations", "evaluations_distinct", "pairs", "push_steps", "mean_error")
        for name in names:
            assert rows[name].tolist() == [getattr(record, name) for record in run.records], name
        assert rows["seconds_evaluate"].min() > 0
        assert entry.result.summary["success"] is run.success
        assert entry.result.summary["best"] == str(run.best)
        assert entry.progress == Progress(run.generation, 6, "")


def test_what_the_method_does_not_count_is_missing(tmp_path):
    """In the last generation nothing is selected, so there the count is known: zero."""
    task = RunSpec("id", "gp", "simple-regression", "random", "base", 1, {"population": 20, "generations": 1})
    outcome = GpJob().run(task, tmp_path, lambda progress: None)
    assert outcome.rows["evaluations"].tolist() == [None, 0]


def test_samples_and_budgets_are_settings_of_a_study(tmp_path):
    """Rows and summary hold the executions by purpose; without the settings, ids are those of older studies."""
    text = STUDY.replace("generations = 6", 'sampling = "informed:0.2,every=2"\nbudget = 3000\ncheck = "first"')
    task = plan(parse_spec(text))[0]
    assert task.settings == {"population": 60, "sampling": "informed:0.2,every=2", "budget": 3000, "check": "first"}
    seen = []
    outcome = GpJob().run(task, tmp_path, seen.append)
    run = evolve("simple-regression", seed=3, threads=1, **task.settings)
    for name in ("solved", "executions", "executions_sample", "executions_informed", "executions_check", "sample_size"):
        assert outcome.rows[name].tolist() == [getattr(record, name) for record in run.records], name
    assert outcome.rows["solved"].dtype == bool
    assert outcome.rows["executions"].sum() == outcome.summary["executions"] == run.executions["total"]
    assert outcome.summary["budget"] == 3000
    assert outcome.summary["success_unsimplified"] is run.success_unsimplified
    assert abs(seen[len(seen) // 2].steps - run.generation) <= 3 or run.solved
    assert plan(parse_spec(STUDY))[0].id == "7b6bbb0f59d425cc"


def test_names_and_settings_are_checked_before_anything_runs():
    for old, new, message in (
        ("population = 60", 'sampling = "dwn:0.1"', "did you mean 'down'"),
        ("population = 60", 'sampling = "down:x"', "size must be an integer"),
        ("population = 60", "sampling = 0.1", "sampling: should be a valid string"),
        ("population = 60", 'sampling = "down:0.1"\npartial = true', "sampling must be left out with partial"),
        ("population = 60", "budget = -1", "budget: should be greater than or equal to 0"),
        ("population = 60", 'profile = "psb3"', "profile: should be 'psb1', 'psb2' or 'propeller'"),
        ("simple-regression", "simple-regresion", "did you mean 'simple-regression'"),
        ('"lexicase"', '"lexicas"', "unknown method 'lexicas'; did you mean 'lexicase'?"),
        ("population = 60", "populaton = 60", "settings: unknown key 'populaton'; did you mean 'population'?"),
        ("population = 60", "population = 0", "population: should be greater than or equal to 1, got 0"),
    ):
        with pytest.raises(SpecError) as caught:
            parse_spec(STUDY.replace(old, new))
        assert message in str(caught.value)


def test_a_run_goes_on_from_its_checkpoint_and_from_the_beginning_if_that_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr("flexicase.experiments.gp_job.SAVE_SECONDS", 0.0)
    task = plan(parse_spec(STUDY))[0]
    whole = GpJob().run(task, tmp_path / "whole", lambda progress: None)

    class Stop(Exception):
        pass

    def stop(progress):
        if progress.step == 4:
            raise Stop

    seen = []
    with pytest.raises(Stop):
        GpJob().run(task, tmp_path / "broken", stop)
    rest = GpJob().run(task, tmp_path / "broken", lambda progress: seen.append(progress.step))
    assert seen == [5, 6]
    assert (rows_digest(rest.rows), rest.summary) == (rows_digest(whole.rows), whole.summary)
    for path in (tmp_path / "broken" / "evolution").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    anew = GpJob().run(task, tmp_path / "broken", lambda progress: None)
    assert (rows_digest(anew.rows), anew.summary) == (rows_digest(whole.rows), whole.summary)


@pytest.mark.slow
def test_kill_9_of_the_coordinator_and_its_gp_runs(flexicase, tmp_path):
    text = STUDY.replace("population = 60", "population = 300").replace("generations = 6", "generations = 12")
    text = text.replace("simple-regression", "mirror-image").replace('"lexicase", ', "")
    (tmp_path / "regression.toml").write_text(text)
    study = Study(tmp_path / "studies" / "regression")
    process = flexicase("run", tmp_path / "regression.toml", "--workers", 1)
    deadline = time.monotonic() + 60
    while not list((study.folder / "saves").glob("*/evolution/run.checkpoint")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    again = flexicase("run", tmp_path / "regression.toml", "--workers", 1)
    again.communicate(timeout=120)
    assert again.returncode == 0
    for entry in study.entries():
        run = evolve("mirror-image", entry.task.method, population=300, generations=12, seed=3, threads=1)
        rows = read_rows(study.rows(entry.task.id), entry.result.checksum)
        assert np.array_equal(rows["evaluations"], [record.evaluations for record in run.records])
        assert entry.result.summary["simplified"] == (None if run.simplified is None else str(run.simplified))
    assert not list((study.folder / "saves").iterdir())
