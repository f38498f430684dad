"""Runs that fail in every way a run can fail, each in a real process of its own."""

import pytest

from flexicase.experiments import StudyOptions, export_study, parse_spec
from flexicase.experiments._database import DamagedLedgerError
from flexicase.experiments._tables import DamagedTableError
from flexicase.experiments.ledger import ChangedSpecError
from flexicase.experiments.runner import FullDiskError, run_study

from .conftest import entries, results
from .walk import TROUBLE, study_text

pytestmark = pytest.mark.slow

LENGTH = 5


def test_an_undisturbed_study(walks, undisturbed):
    ending, notes, study = walks()
    assert (ending, notes) == ("complete", [])
    assert [(entry.state, entry.attempts) for entry in entries(study)] == [("done", 1)] * 4
    assert all(entry.provenance.version and entry.provenance.machine for entry in entries(study))
    assert results(study) == undisturbed()
    assert sorted(path.name for path in study.folder.iterdir()) == [
        *("ledger.sqlite", "lock", "logs", "results", "rows", "saves")
    ]
    assert not list((study.folder / "saves").iterdir()) + list((study.folder / "logs").iterdir())


def test_the_same_command_again_makes_nothing_again(walks, visits):
    _, _, study = walks(seeds=1)
    before, made = entries(study), visits()
    ending, notes, _ = walks(seeds=1)
    assert (ending, notes, entries(study), visits()) == ("complete", [], before, made)


@pytest.mark.parametrize("trouble", ["die", "fail", "die_writing", "die_before_telling"])
def test_a_run_that_breaks_off_is_tried_again_and_repeats_no_step(trouble, walks, undisturbed, visits, monkeypatch):
    monkeypatch.setenv(TROUBLE, trouble)
    ending, notes, study = walks(seeds=1)
    assert ending == "complete"
    assert len(notes) == 2
    assert all("it will be tried again" in note for note in notes)
    assert [entry.attempts for entry in entries(study)] == [2] * 2
    assert all([step for step, _ in made] == list(range(1, LENGTH + 1)) for made in visits().values())
    assert not list((study.folder / "rows").glob("*.partial"))
    monkeypatch.delenv(TROUBLE)
    assert results(study) == undisturbed(seeds=1)


def test_a_run_that_always_breaks_is_quarantined_and_the_rest_go_on(walks, undisturbed, monkeypatch):
    monkeypatch.setenv(TROUBLE, "always_die")
    ending, notes, study = walks(StudyOptions(workers=2, max_attempts=2))
    assert ending == "incomplete"
    states = {entry.task.seed: (entry.state, entry.attempts, entry.failure) for entry in entries(study)}
    assert states == {0: ("done", 1, None), 1: ("quarantined", 2, "worker killed by SIGKILL")}
    assert sum("it is quarantined" in note for note in notes) == 2
    assert walks()[0] == "incomplete"
    monkeypatch.delenv(TROUBLE)
    assert walks(StudyOptions(workers=2, retry_quarantined=True))[0] == "complete"
    assert results(study) == undisturbed()


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
    assert {entry.attempts for entry in entries(study)} == {1}
    assert results(study) == undisturbed(seeds=1)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-10])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def test_damaged_rows_are_named_and_those_runs_rerun_with_status(walks, undisturbed, visits):
    _, _, study = walks()
    before = entries(study)
    for entry, damage in zip(before[:3], (truncate, flip, lambda path: path.unlink()), strict=True):
        damage(study.rows(entry.task.id))
    with pytest.raises(DamagedTableError, match=before[0].task.id):
        export_study(study, study.folder / "results")
    ending, notes, _ = walks()
    assert ending == "complete"
    for entry, note, how in zip(before[:3], notes, ("is damaged", "is damaged", "is missing"), strict=True):
        assert f"{study.rows(entry.task.id)} {how}" in note
        assert f"run {entry.task.id} will be repeated" in note
    assert entries(study)[3] == before[3]
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
    before = entries(study)
    with pytest.raises(ChangedSpecError, match=r"seeds: \[0\] -> \[0, 1\]"):
        run_study(tmp_path / "studies", parse_spec(study_text(seeds=2), allow_code=True))
    assert entries(study) == before


def test_going_on_with_another_version_is_told(walks, monkeypatch):
    walks(seeds=1)
    monkeypatch.setattr("flexicase.experiments.runner.version", lambda: "9.9")
    _, (note,), study = walks(seeds=1)
    assert note == f"some finished runs were made by version {entries(study)[0].provenance.version}; this is 9.9"


def test_a_version_that_changes_under_way_is_told_and_recorded(walks, monkeypatch):
    """Each run is a new process and imports what is there then."""
    monkeypatch.setattr("flexicase._provenance.version", lambda: "9.9")
    _, notes, study = walks(seeds=1)
    (found,) = {entry.provenance.version for entry in entries(study)}
    assert found != "9.9"
    assert notes == [f"runs are now made by version {found}; the study was started by 9.9"]
