import os
import subprocess
import sys
from pathlib import Path

import pytest

from flexicase.experiments import Options, Study, export_study, parse_spec, run_study
from flexicase.experiments.monitor import Monitor

from .walk import study_text

ROOT = Path(__file__).resolve().parents[2]
DETERMINED = ("runs.parquet", "rows.parquet", "study.toml", "manifest.json")


class Notes(Monitor):
    """Keeps what it is told."""

    def __init__(self):
        self.notes = []

    def noted(self, text):
        self.notes.append(text)


@pytest.fixture(autouse=True)
def _workers_find_the_jobs(monkeypatch):
    """Workers are processes of their own, and the kind of job that they run lives beside these tests."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


@pytest.fixture
def walks(tmp_path):
    """Run a study of walks in this process: ``walks(problem=…, length=…)`` gives ending, notes and study."""

    def call(*, options=None, **study):
        spec = parse_spec(study_text(**study))
        notes = Notes()
        ending = run_study(tmp_path / "studies", spec, options or Options(workers=2), notes)
        return ending, notes.notes, Study(tmp_path / "studies" / spec.name)

    return call


def results(study, folder):
    """The bytes of what an export says about the study itself."""
    export_study(study, folder)
    return {name: (folder / name).read_bytes() for name in DETERMINED}


@pytest.fixture
def undisturbed(tmp_path):
    """What a study exports if nothing happens to it."""

    def call(**study):
        spec = parse_spec(study_text(**study))
        assert run_study(tmp_path / "undisturbed", spec, Options(workers=2)) == "complete"
        return results(Study(tmp_path / "undisturbed" / spec.name), tmp_path / "undisturbed-results")

    return call


@pytest.fixture
def command():
    """Start ``flexicase`` as a process; whatever happens, it is gone when the test ends."""
    started = []

    def call(*args, program=("-m", "flexicase")):
        process = subprocess.Popen(
            [sys.executable, *program, *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield call
    for process in started:
        process.kill()
        process.communicate()
