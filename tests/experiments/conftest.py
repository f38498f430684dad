import os
import subprocess
import sys
from pathlib import Path

import pytest

import flexicase as package
from flexicase.experiments import Study, StudyOptions, parse_spec, run_study

from ._helpers import TROUBLE, VISITS, Notes, results, study_text

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="package", autouse=True)
def _workers_find_the_jobs():
    """Workers are processes of their own, and the kind of job that they run lives beside these tests."""
    with pytest.MonkeyPatch.context() as patch:
        paths = [ROOT, Path(package.__file__).parents[1], *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
        yield


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """Which steps were made, by run: ``visits()`` gives lists of (step, process)."""
    folder = tmp_path / "visits"
    folder.mkdir()
    monkeypatch.setenv(VISITS, str(folder))

    def read():
        return {
            path.name: [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
            for path in folder.iterdir()
        }

    return read


@pytest.fixture
def walks(tmp_path):
    """Run a study of walks in this process; gives how it ended, the notes and the study."""

    def call(options=None, **study):
        spec = parse_spec(study_text(**study), allow_code=True)
        notes = Notes()
        ending = run_study(tmp_path / "studies", spec, options or StudyOptions(workers=2), notes)
        return ending, notes.notes, Study(tmp_path / "studies" / spec.name)

    return call


@pytest.fixture(scope="package")
def undisturbed(tmp_path_factory):
    """What a study exports if nothing happens to it."""
    known = {}

    def call(**study):
        text = study_text(**study)
        if text not in known:
            folder, spec = tmp_path_factory.mktemp("undisturbed"), parse_spec(text, allow_code=True)
            with pytest.MonkeyPatch.context() as patch:
                for disturbance in (TROUBLE, VISITS):
                    patch.delenv(disturbance, raising=False)
                assert run_study(folder, spec, StudyOptions(workers=2)) == "complete"
            known[text] = results(Study(folder / spec.name))
        return known[text]

    return call


@pytest.fixture
def flexicase(tmp_path):
    """Start ``flexicase`` as a process; whatever happens, it is gone when the test ends."""
    started = []

    def call(*args):
        process = subprocess.Popen(
            [sys.executable, "-m", "flexicase", *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        started.append(process)
        return process

    yield call
    for process in started:
        process.kill()
        process.communicate()
