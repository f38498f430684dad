"""A study file must not run code unless its reader agrees, and code in the current folder replaces no library."""

import os
import shutil
import sys

import pytest

from flexicase.experiments import SpecError, export_study, load_spec
from flexicase.experiments.jobs import load_job
from flexicase.experiments.reruns import rerun

from ._helpers import KIND, study_text

pytestmark = pytest.mark.slow

DEADLINE = 60.0


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module that leaves a file when it is imported; gives that file."""
    mark = tmp_path / "imported"
    (tmp_path / "trapped_job.py").write_text(f"open({str(mark)!r}, 'w').close()\ndef Job(): raise RuntimeError('x')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "trapped_job", raising=False)
    return mark


def test_reading_a_study_does_not_import_its_kind(trap, tmp_path):
    """Otherwise `flexicase import` of a downloaded export would run whatever its study.toml names."""
    (tmp_path / "study.toml").write_text(study_text().replace(KIND, "trapped_job:Job"))
    with pytest.raises(SpecError, match=r"kind: 'trapped_job:Job' is code from outside flexicase.*allow_code=True"):
        load_spec(tmp_path / "study.toml")
    assert not trap.exists()
    with pytest.raises(SpecError, match="cannot load job 'trapped_job:Job': RuntimeError: x"):
        load_spec(tmp_path / "study.toml", allow_code=True)


def test_a_kind_that_is_no_job_is_refused_by_name():
    """Every exception of the module is a message about the kind, not a traceback."""
    for kind, reason in (
        ("os:getpid", "it has no attribute 'settings'"),
        ("os:nothing", "AttributeError"),
        ("no_such_module:Job", "ModuleNotFoundError"),
        ("os:", "AttributeError"),
        (":Job", "ValueError"),
    ):
        with pytest.raises(ValueError, match=f"cannot load job {kind!r}: .*{reason}"):
            load_job(kind, allow_code=True)
    with pytest.raises(ValueError, match="unknown kind 'gpp'; did you mean 'gp'"):
        load_job("gpp")


def test_rerun_asks_before_it_imports_a_kind(walks, flexicase):
    """A study's folder may come from somebody else, and its ledger names the code."""
    _, _, study = walks(seeds=1)
    entry = study.entries()[0]
    with pytest.raises(ValueError, match=r"is code from outside flexicase"):
        rerun(study, entry)
    assert rerun(study, entry, allow_code=True).identical
    refused = flexicase("rerun", entry.task.id)
    assert "is code from outside flexicase" in refused.communicate(timeout=DEADLINE)[1]
    assert refused.returncode == 1
    allowed = flexicase("rerun", entry.task.id, "--allow-code")
    assert "identical" in allowed.communicate(timeout=DEADLINE)[0]


def test_modules_in_the_current_folder_replace_no_library(walks, flexicase, tmp_path):
    """An export with a file called pydantic.py must not run it when commands are given inside the folder."""
    _, _, study = walks(seeds=1)
    export_study(study, study.folder / "results")
    for name in ("pydantic", "json", "pyarrow", "numpy", "signal"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\n")
    run_id = study.entries()[0].task.id
    for command in (("rerun", run_id, "--allow-code"), ("status",), ("export", "walks")):
        process = flexicase(*command)
        output, errors = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, errors
        assert not (tmp_path / "ran").exists(), (command, output)


def test_a_job_beside_the_study_file_is_found(flexicase, tmp_path):
    """`flexicase run` finds a kind in the current folder, which comes last on the path."""
    shutil.copy(os.path.join(os.path.dirname(__file__), "_helpers.py"), tmp_path / "my_walk.py")
    (tmp_path / "walks.toml").write_text(study_text(seeds=1).replace(KIND, "my_walk:Walk"))
    process = flexicase("run", "walks.toml", "--workers", 1)
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, errors
