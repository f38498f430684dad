"""A study file must not run code unless its reader agrees, and code in the current folder replaces no library."""

import os
import shutil
import sys

import pytest

from flexicase.experiments import (
    SpecError,
    Study,
    StudyOptions,
    export_study,
    import_study,
    load_spec,
    parse_spec,
    run_study,
)
from flexicase.experiments.jobs import check_progress, load_job
from flexicase.experiments.reruns import rerun

from ._helpers import KIND, ODD_ENDS, ODD_PROGRESS, Notes, odd_study_text, study_text

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


# Whatever a job of one's own returns or raises, the study goes on, and what it exports can be imported.

REFUSED = {
    "huge step": "ValueError: progress: step must be an integer from 0 to 9223372036854775807, got 9223372036854775808",
    "no step": "ValueError: progress: step must be an integer from 0 to 9223372036854775807, got '1'",
    "surrogate error": "ValueError: na\\udcffme",
    "surrogate file": "FileNotFoundError: [Errno 2] No such file: 'na\\udcffme'",
    "silent error": "SilentError: no description: RuntimeError",
    "exit": "SystemExit: 7",
    "seed in summary": "ValueError: summary: key 'seed' is reserved "
    "(reserved: id, problem, method, variant, seed, state, digest)",
    "state in summary": "ValueError: summary: key 'state' is reserved "
    "(reserved: id, problem, method, variant, seed, state, digest)",
    "id in rows": "ValueError: rows: column names must be non-empty strings other than 'id', got 'id'",
    "no rows": "ValueError: rows: must have at least one row, got none in column 'step'",
    "list in summary": "ValueError: summary: 'last' must be a bool, a number, a string or None, got [1]",
    "huge summary": "ValueError: summary: 'last' must fit into 64 bits, got 9223372036854775808",
    "other type": "rows: expected columns step (int64), seconds (float64) as in the study's other runs, "
    "got step (float64), seconds (float64)",
    "other column": "rows: expected columns step (int64), seconds (float64) as in the study's other runs, "
    "got step (int64), seconds (float64), more (int64)",
    "other summary": "summary: 'success' must be a bool as in the study's other runs, got a string: 'yes'",
}


@pytest.fixture(scope="module")
def odd_study(tmp_path_factory):
    """A study with every oddity: how it ended, the notes, its folder."""
    root, notes = tmp_path_factory.mktemp("odd"), Notes()
    spec = parse_spec(odd_study_text(["good", *ODD_PROGRESS, *ODD_ENDS]), allow_code=True)
    ending = run_study(root, spec, StudyOptions(workers=1, max_attempts=1), notes)
    return ending, notes.notes, Study(root / "odd")


def test_a_job_that_breaks_the_rules_fails_with_a_reason_and_the_rest_is_done(odd_study):
    """A lone surrogate, a huge step or a reserved key stopped the study, at every start."""
    ending, _, study = odd_study
    assert ending == "incomplete"
    assert {entry.task.problem: entry.failure for entry in study.entries() if entry.failure} == REFUSED
    done = {entry.task.problem: entry for entry in study.entries() if entry.state == "done"}
    assert set(done) == {"good", *ODD_PROGRESS, *ODD_ENDS} - set(REFUSED)
    assert done["numpy summary"].result.summary == {"last": 1.5, "success": True}
    assert done["surrogate summary"].result.summary == {"words": "na\\udcffme"}
    assert {path.stem for path in (study.folder / "rows").iterdir()} == {entry.task.id for entry in done.values()}


def test_notes_are_escaped_before_the_worker_sends_them():
    assert check_progress(ODD_PROGRESS["surrogate note"]).note == "na\\udcffme"


def test_what_is_left_of_such_a_study_can_be_exported_and_imported(odd_study, tmp_path):
    _, _, study = odd_study
    first = export_study(study, tmp_path / "export")
    imported, new = import_study(tmp_path / "export", tmp_path / "elsewhere", allow_code=True)
    assert new == first.done == 7
    again = export_study(imported, tmp_path / "again")
    for one, other in zip(first.files, again.files, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_going_on_remembers_the_columns_of_earlier_runs(tmp_path):
    """The first finished run may be from yesterday."""
    spec = parse_spec(odd_study_text(["good", "other column", "other type"]), allow_code=True)
    for _ in range(2):
        assert run_study(tmp_path, spec, StudyOptions(max_attempts=1, retry_quarantined=True)) == "incomplete"
    assert [entry.state for entry in Study(tmp_path / "odd").entries()] == ["done", "quarantined", "quarantined"]
