import gzip
import json
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from flexicase._files import LockedError
from flexicase.experiments import Study, StudyOptions, export_study, import_study, parse_spec, read_results, run_study
from flexicase.experiments._tables import FORMATS, write_tables
from flexicase.experiments.export import _stack
from flexicase.experiments.ledger import ChangedSpecError, Ledger

from ._helpers import KIND, TROUBLE, results, study_text


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished study."""
    folder, spec = tmp_path_factory.mktemp("finished"), parse_spec(study_text(), allow_code=True)
    assert run_study(folder, spec, StudyOptions(workers=2)) == "complete"
    return Study(folder / spec.name)


@pytest.mark.slow
@pytest.mark.parametrize("style", FORMATS)
def test_an_export_can_be_imported_elsewhere_and_exports_the_same(style, finished, tmp_path):
    first = export_study(finished, tmp_path / "first", style)
    assert (first.done, first.planned, first.rows) == (4, 4, 20)
    study, new = import_study(tmp_path / "first", tmp_path / "elsewhere", allow_code=True)
    assert new == 4
    again = export_study(study, tmp_path / "again", style)
    assert [path.name for path in again.files] == [path.name for path in first.files]
    for one, other in zip(first.files, again.files, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    assert [entry.result.summary for entry in study.entries()] == [entry.result.summary for entry in finished.entries()]
    assert [entry.provenance for entry in study.entries()] == [entry.provenance for entry in finished.entries()]
    assert import_study(tmp_path / "first", tmp_path / "elsewhere", allow_code=True)[1] == 0


@pytest.mark.slow
def test_the_processor_time_of_a_run_is_recorded_exported_and_imported(finished, tmp_path):
    recorded = [entry.processor_seconds for entry in finished.entries()]
    assert all(0.05 < seconds < 60.0 for seconds in recorded)
    export_study(finished, tmp_path / "export")
    exported = read_results(tmp_path / "export")
    assert [run.provenance["processor_seconds"] for run in exported.runs] == recorded
    study, _ = import_study(tmp_path / "export", tmp_path / "elsewhere", allow_code=True)
    assert [entry.processor_seconds for entry in study.entries()] == recorded


@pytest.mark.slow
def test_the_processor_time_of_earlier_attempts_counts(walks, monkeypatch):
    """A run that was interrupted an hour before its end would seem to cost an hour less."""
    monkeypatch.setenv(TROUBLE, "always_die")
    _, _, study = walks(StudyOptions(workers=2, max_attempts=1))
    killed = [entry.task.id for entry in study.entries() if entry.state == "quarantined"]
    for run_id in killed:
        saved = study.save(run_id) / "processor_seconds"
        assert float(saved.read_text()) > 0
        saved.write_text("1000.0")
    monkeypatch.delenv(TROUBLE)
    walks(StudyOptions(workers=2, retry_quarantined=True))
    assert {entry.task.id for entry in study.entries() if entry.processor_seconds > 1000} == set(killed)


@pytest.mark.slow
def test_a_study_goes_on_from_an_export_of_what_was_done(walks, undisturbed, tmp_path, monkeypatch, visits):
    monkeypatch.setenv(TROUBLE, "always_die")
    ending, _, study = walks(StudyOptions(workers=2, max_attempts=1))
    assert ending == "incomplete"
    monkeypatch.delenv(TROUBLE)
    assert export_study(study, tmp_path / "export").done == 2
    made = set(visits())
    _, new = import_study(tmp_path / "export", tmp_path / "elsewhere", allow_code=True)
    assert new == 2
    before = {run_id: len(steps) for run_id, steps in visits().items()}
    assert (
        run_study(tmp_path / "elsewhere", parse_spec((tmp_path / "export" / "study.toml").read_text(), allow_code=True))
        == "complete"
    )
    redone = {run_id for run_id in made if len(visits()[run_id]) > before[run_id]}
    assert redone == {entry.task.id for entry in study.entries() if entry.state == "quarantined"}
    assert results(Study(tmp_path / "elsewhere" / "walks")) == undisturbed()


def test_an_export_before_the_first_result(tmp_path):
    study = Study(tmp_path / "walks")
    study.make_folders()
    Ledger.create(study.ledger, parse_spec(study_text(), allow_code=True)).close()
    exported = export_study(study, tmp_path / "export")
    assert (exported.done, exported.planned, exported.rows) == (0, 4, 0)
    assert import_study(tmp_path / "export", tmp_path / "elsewhere", allow_code=True)[1] == 0


@pytest.mark.slow
def test_an_edited_export_is_refused(finished, tmp_path):
    export_study(finished, tmp_path / "export", "csv")
    path = tmp_path / "export" / "rows.csv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    run_id, *cells = lines[3].split(",")
    lines[3] = ",".join([run_id, cells[0], "0.5", *cells[2:]])
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    with pytest.raises(ValueError, match=f"run {run_id.strip(chr(34))}: the exported rows are damaged"):
        import_study(tmp_path / "export", tmp_path / "elsewhere", allow_code=True)


@pytest.mark.slow
def test_an_export_that_does_not_fit_its_study_is_refused(finished, tmp_path):
    export_study(finished, tmp_path / "export")
    shutil.copytree(tmp_path / "export", tmp_path / "other")
    (tmp_path / "other" / "study.toml").write_text(study_text(length=6))
    with pytest.raises(ValueError, match=r"the runs are not those that study\.toml plans"):
        import_study(tmp_path / "other", tmp_path / "elsewhere", allow_code=True)
    import_study(tmp_path / "export", tmp_path / "elsewhere", allow_code=True)
    changed = Study(tmp_path / "elsewhere" / "walks")
    with pytest.raises(ChangedSpecError), Ledger(changed.ledger) as ledger:
        ledger.check_same(parse_spec(study_text(length=6), allow_code=True))
    manifest = json.loads((tmp_path / "export" / "manifest.json").read_text())
    (tmp_path / "export" / "manifest.json").write_text(json.dumps({**manifest, "format": 7}))
    with pytest.raises(ValueError, match="expected format 2, got 7"):
        import_study(tmp_path / "export", tmp_path / "elsewhere", allow_code=True)


def test_a_running_study_takes_no_import(finished, tmp_path):
    export_study(finished, tmp_path / "export")
    with finished.lock(), pytest.raises(LockedError, match="study 'walks' is locked by process"):
        import_study(tmp_path / "export", finished.folder.parent, allow_code=True)


@pytest.mark.parametrize(
    "found",
    ['name = "other"\n', "[tool.poetry]\n", "not TOML", "name = 7\n", study_text(length=6), "", "a = " + "[" * 10**5],
)
def test_a_study_file_of_somebody_else_is_not_replaced(found, finished, tmp_path):
    """``export --out .`` beside a study of one's own must not overwrite it."""
    (tmp_path / "study.toml").write_text(found)
    with pytest.raises(ValueError, match=r"study\.toml|another study"):
        export_study(finished, tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("study.toml", found)]


def test_the_export_of_another_study_is_not_replaced(finished, tmp_path):
    """It may be the only copy of that study, and a name alone does not tell two studies apart."""
    for change in ({"name": "others"}, {"length": 6}):
        folder = tmp_path / "-".join(change)
        other = Study(folder / "other")
        other.make_folders()
        Ledger.create(other.ledger, parse_spec(study_text(**change), allow_code=True)).close()
        export_study(other, folder / "export")
        before = {path.name: path.read_bytes() for path in (folder / "export").iterdir()}
        with pytest.raises(ValueError, match="export holds another study"):
            export_study(finished, folder / "export")
        assert {path.name: path.read_bytes() for path in (folder / "export").iterdir()} == before


def test_an_export_beside_the_study_file_itself_and_over_a_damaged_one_is_written(finished, tmp_path):
    (tmp_path / "study.toml").write_text(study_text())
    assert export_study(finished, tmp_path).done == 4
    (tmp_path / "runs.parquet").write_bytes(b"damaged")
    assert export_study(finished, tmp_path).done == 4
    assert import_study(tmp_path, tmp_path / "elsewhere", allow_code=True)[1] == 4


KILLED_EXPORTS = """
import os, sys
from pathlib import Path
import flexicase.experiments.export

def export(kills):
    "In a process that ends before it renames a file for the so manyth time."
    left, real = [kills], os.replace
    def replace(*paths):
        left[0] -= 1
        left[0] or os.kill(os.getpid(), 9)
        real(*paths)
    os.replace = replace
    study, folder = (Path(argument) for argument in sys.argv[1:])
    flexicase.experiments.export.export_study(flexicase.experiments.Study(study), folder / str(kills))
    os._exit(0)

for kills in range(1, 12):
    child = os.fork() or export(kills)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(ended)
    if ended == 0:
        break
"""


@pytest.mark.slow
def test_a_kill_during_an_export_leaves_one_that_can_be_imported(finished, tmp_path):
    """The process ends between two renames, when some files are new and some are old."""
    for kills in range(1, 12):
        export_study(finished, tmp_path / str(kills), "csv")
    done = subprocess.run(
        [sys.executable, "-c", KILLED_EXPORTS, str(finished.folder), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=60,
    )
    ended = [int(code) for code in done.stdout.split()]
    assert len(ended) > 2
    assert set(ended[:-1]) == {-signal.SIGKILL}
    assert ended[-1] in (0, -signal.SIGKILL)
    for kills in range(1, len(ended) + 1):
        assert import_study(tmp_path / str(kills), tmp_path / f"elsewhere-{kills}", allow_code=True)[1] == 4


def test_importing_runs_no_code_unless_allowed(finished, tmp_path, monkeypatch):
    """The kind of a study is the name of a class: a file from elsewhere could name any code."""
    (tmp_path / "trap.py").write_text("import pathlib\npathlib.Path(__file__).with_name('sprung').touch()\n")
    monkeypatch.syspath_prepend(tmp_path)
    export_study(finished, tmp_path / "export")
    text = study_text()
    for kind in ("trap:Trap", "os:abort", "os.path:join", "flexicase.cli:main"):
        (tmp_path / "export" / "study.toml").write_text(text.replace(KIND, kind))
        with pytest.raises(ValueError, match=re.escape(kind) + ".*allow"):
            import_study(tmp_path / "export", tmp_path / "elsewhere")
    assert not (tmp_path / "sprung").exists()
    assert not (tmp_path / "elsewhere").exists()


def test_runs_with_other_columns_are_refused():
    rows = [("a", {"step": np.arange(2)}), ("b", {"stop": np.arange(2)})]
    with pytest.raises(ValueError, match="run b: expected columns step as in the others, got stop"):
        _stack(dict(rows), timings=False)


def test_long_runs_take_little_space(tmp_path):
    """500 runs of 300 generations must stay below 20 MB, so 50 of them below 2 MB, even if everything in them is noise
    and counts are those of a population a hundred times as large."""
    from flexicase.gp import GenerationRecord, evolve

    records = evolve("mirror-image", population=30, generations=30, seed=1, threads=1).records
    rows = GenerationRecord.to_columns([records[i % len(records)] for i in range(300)])
    noise = np.random.default_rng(0)
    runs = []
    for number in range(50):
        noisy = {}
        for name, values in rows.items():
            if name.startswith("seconds") or values.dtype == float:
                noisy[name] = values * noise.random(300)
            elif values.dtype == bool:
                noisy[name] = noise.random(300) < 0.5
            elif name.startswith(("executions", "sample", "n_c", "informed", "n_distinct_columns")):
                noisy[name] = values  # without sampling these are constant, sums of others, or not counted
            else:
                noisy[name] = values + noise.integers(0, 1 + 100 * values.max(), 300)
        runs.append((f"{number:016x}", noisy))
    tables = {name: _stack(dict(runs), timings=name == "timings") for name in ("rows", "timings")}
    assert sum(path.stat().st_size for path in write_tables(tmp_path, tables, "parquet")) < 2e6
