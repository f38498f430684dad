"""Whatever a job of one's own returns or raises, the study goes on, and what it exports can be imported."""

import pytest

from flexicase.experiments import Study, StudyOptions, export_study, import_study, parse_spec, run_study
from flexicase.experiments._outcomes import check_progress

from ._helpers import ODD_ENDS, ODD_PROGRESS, Notes, odd_study_text

pytestmark = pytest.mark.slow

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
