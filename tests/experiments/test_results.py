"""Files that do not belong together are refused; exports of format 1 keep runs and numbers when migrated."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import migrate_results
from flexicase._provenance import Provenance
from flexicase.experiments import export_study, import_study, load_spec, parse_spec, read_results
from flexicase.experiments._tables import MANIFEST, write_tables
from flexicase.experiments.results import PROVENANCE_COLUMNS, PROVENANCE_FIELDS, RUN_COLUMNS, read_runs
from flexicase.experiments.spec import plan

pa = pytest.importorskip("pyarrow")


VALUES = {"string": ["a", "b"], "int64": [1, 2], "float64": [0.5, 1.5]}


@pytest.fixture
def tables():
    """A study of three runs, two of them done."""
    return {
        "runs": pa.table(
            {name: ["a", "b", "c"] for name in RUN_COLUMNS} | {"seed": [1, 2, 3], "state": ["done", "done", "planned"]}
        ),
        "provenance": pa.table({name: VALUES[kind] for name, kind in PROVENANCE_COLUMNS.items()}),
        "rows": pa.table({"id": ["a", "a", "b"], "generation": [0, 1, 0]}),
        "timings": pa.table({"id": ["a", "a", "b"], "seconds": [0.5, 0.25, 1.0]}),
    }


def test_every_run_gets_its_own_rows(tables, tmp_path):
    write_tables(tmp_path, tables, "parquet")
    exported = read_runs(tmp_path)
    assert [line["id"] for line in exported.runs] == ["a", "b", "c"]
    assert {name: columns["generation"].tolist() for name, columns in exported.rows.items()} == {"a": [0, 1], "b": [0]}
    assert exported.rows["a"]["seconds"].tolist() == [0.5, 0.25]
    assert set(exported.provenance) == {"a", "b"}


def test_exports_that_were_made_before_processor_time_was_recorded_have_none(tables, tmp_path):
    tables["provenance"] = tables["provenance"].drop_columns("processor_seconds")
    write_tables(tmp_path, tables, "parquet")
    assert {line["processor_seconds"] for line in read_runs(tmp_path).provenance.values()} == {None}


def test_a_study_without_finished_runs_has_no_rows(tables, tmp_path):
    del tables["rows"], tables["timings"]
    write_tables(tmp_path, tables, "parquet")
    assert read_runs(tmp_path).rows == {}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("runs", lambda t: t.drop_columns("digest"), "table 'runs' has no column 'digest'"),
        ("provenance", lambda t: t.drop_columns("attempts"), "table 'provenance' has no column 'attempts'"),
        ("rows", lambda t: t.drop_columns("id"), "rows and timings do not belong together"),
        ("timings", lambda t: t.drop_columns("id"), "rows and timings do not belong together"),
        ("timings", lambda t: t.slice(1), "rows and timings do not belong together"),
        ("runs", lambda t: t.slice(1), "run 'a' has rows but no finished run in runs and provenance"),
        ("provenance", lambda t: t.slice(0, 1), "run 'b' has rows but no finished run in runs and provenance"),
        ("runs", lambda t: pa.concat_tables([t, t.slice(0, 1)]), "table 'runs': duplicate id 'a'"),
        ("provenance", lambda t: pa.concat_tables([t, t]), "table 'provenance': duplicate id 'a'"),
        ("runs", lambda t: t.set_column(4, "seed", [["x"] * 3]), "column 'seed' must be int64, got string"),
        ("runs", lambda t: t.set_column(1, "problem", [["x", None, "y"]]), "'problem' must have a value in every"),
        ("runs", lambda t: t.set_column(5, "state", [["planned"] * 3]), "run 'a' has rows but no finished run"),
        (
            "rows",
            lambda t: t.set_column(1, "generation", [["x", None, "y"]]),
            "'generation' of rows or timings must hold",
        ),
        ("timings", lambda t: t.set_column(1, "seconds", [["x"] * 3]), "'seconds' of rows or timings must hold"),
    ],
)
def test_tables_that_do_not_belong_together_are_refused(name, change, message, tables, tmp_path):
    write_tables(tmp_path, {**tables, name: change(tables[name])}, "parquet")
    with pytest.raises(ValueError, match=message) as caught:
        read_runs(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_rows_without_their_times_are_refused(tables, tmp_path):
    del tables["timings"]
    write_tables(tmp_path, tables, "parquet")
    with pytest.raises(ValueError, match="rows and timings do not belong together"):
        read_runs(tmp_path)


def test_the_rows_of_a_run_that_lie_apart_are_refused(tables, tmp_path):
    """The last part would stand for the whole run."""
    for name in ("rows", "timings"):
        tables[name] = pa.concat_tables([tables[name], tables[name].slice(0, 1)])
    write_tables(tmp_path, tables, "parquet")
    with pytest.raises(ValueError, match="the rows of run 'a' must lie together"):
        read_runs(tmp_path)


def test_what_made_a_run_is_exported_whole():
    """A new field of the provenance would be lost on the way."""
    assert tuple(field.name for field in fields(Provenance)) == PROVENANCE_FIELDS


# Exports of format 1 must come out of the migration with the same runs and the same numbers under their new names.


RESULTS = Path(__file__).resolve().parents[2] / "results"
OLD = """name = "old"
problems = ["mirror-image"]
methods = ["lexicase"]
seeds = 1
[variants.few]  # a comment that stays
partial = "min"
parents = 10
[variants.all]
partial = "max"
"""


def old_export(folder, distinct=(-1, -1, -1)):
    """Two runs in format 1."""
    columns = ("generation", "events", "evaluations", "pairs", "solved_cases", "evaluations_distinct")
    runs, rows, timings, made = [], [], [], []
    for number, variant in enumerate(("few", "all")):
        own = {name: np.arange(3) + number for name in columns} | {"steps": np.arange(3) + 5}
        own |= {"distinct_errors": np.array(distinct), "median_error": np.array([np.nan, 1.5, np.nan])}
        own |= {name: np.arange(3) + 0.5 for name in ("best_error", "mean_error", "genome_size", "program_size")}
        run = {"id": variant, "problem": "mirror-image", "method": "lexicase", "variant": variant, "seed": 0}
        runs.append({**run, "state": "done", "digest": migrate_results.old_digest(own), "success": True})
        for i in range(3):
            rows.append({"id": variant, **{name: values[i].item() for name, values in own.items()}})
            phases = ("translate", "evaluate", "select", "vary", "other")
            timings.append({"id": variant, **{f"seconds_{name}": 0.5 + i for name in phases}})
        times = {"attempts": 1, "started": 0.0, "finished": 1.0, "seconds": 1.0}
        made.append({"id": variant, **times, "version": "1", "machine": "m", "command": "c"})
    contents = {"runs": runs, "rows": rows, "timings": timings, "provenance": made}
    tables = {name: pa.Table.from_pylist(lines) for name, lines in contents.items()}
    write_tables(folder, tables, "parquet", {"study.toml": OLD.encode()})
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**manifest, "format": 1}))
    return folder


def test_names_change_and_numbers_stay(tmp_path):
    folder = old_export(tmp_path / "old")
    with pytest.raises(ValueError, match="expected format 2, got 1: made by another version"):
        read_results(folder)
    ids = migrate_results.migrate(folder)
    spec = load_spec(folder / "study.toml")
    assert list(ids.values()) == [task.id for task in plan(spec)]
    assert (
        '[variants.few]  # a comment that stays\npartial = true\ndefault_weight = "min"\nn_selections = 10' in spec.text
    )
    first, second = read_results(folder).runs
    assert first.columns["push_steps"].tolist() == [5, 6, 7]
    assert second.columns["evaluations"].tolist() == [1, 2, 3]
    assert "n_distinct_errors" not in first.columns
    assert np.isnan(first.columns["median_error"]).tolist() == [True, False, True]
    study, new = import_study(folder, tmp_path / "studies")
    assert new == 2
    for path in export_study(study, tmp_path / "again").files:
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_damaged_rows_are_not_migrated(tmp_path):
    folder = old_export(tmp_path / "old")
    other = old_export(tmp_path / "other", distinct=(1, 2, 3))
    shutil.copy(other / "rows.parquet", folder / "rows.parquet")
    with pytest.raises(ValueError, match="the rows of run few are damaged"):
        migrate_results.migrate(folder)


def test_a_migrated_export_is_not_migrated_again(tmp_path):
    folder = old_export(tmp_path / "old")
    migrate_results.migrate(folder)
    with pytest.raises(ValueError, match="expected format 1, got 2"):
        migrate_results.migrate(folder)


def test_methods_and_settings_of_image_studies():
    text = (
        'methods = [\n  "gradient-lexicase",\n  "fast-num-zeros-min",\n]\n[settings]\non_all_fail = "stop"\ntrain = 5\n'
    )
    assert migrate_results.new_text(text) == (
        'methods = [\n  "lexicase",\n  { method = "weighted-num-zeros", default_weight = "min" },\n]\n[settings]\n'
        "stop_on_all_fail = true\ntrain_cases = 5\n"
    )
    assert migrate_results.new_method("fast-split-max", "base") == ("weighted-split", "default_weight=max")
    assert migrate_results.new_method("gradient-lexicase", "base") == ("lexicase", "base")


@pytest.mark.parametrize("study", ["fast-laptop", "image-laptop"])
def test_committed_results_are_the_runs_that_their_studies_plan(study):
    runs = read_results(RESULTS / study).runs
    assert [run.id for run in runs] == [task.id for task in plan(load_spec(RESULTS / study / "study.toml"))]


def test_methods_with_settings_are_planned_apart():
    """Two entries of one method differ in their settings, so in their ids, and results tell them apart."""
    text = 'name = "t"\nkind = "image"\nproblems = ["digits"]\nseeds = 1\nmethods = ["lexicase", '
    text += (
        '{ method = "weighted-split", default_weight = "max" }, { method = "weighted-split", default_weight = "min" }]'
    )
    tasks = plan(parse_spec(f'{text}\n[settings]\narch = "digits"\ngenerations = 1'))
    assert [task.variant for task in tasks] == ["base", "default_weight=max", "default_weight=min"]
    assert [task.settings.get("default_weight") for task in tasks] == [None, "max", "min"]
    assert len({task.id for task in tasks}) == 3


# What is recorded with a run is published with it.


def test_a_command_is_recorded_without_where_things_lie(monkeypatch):
    arguments = ["/opt/bin/flexicase", "run", "/home/me/my study.toml", "--studies=/data/studies", "--nice", "10"]
    monkeypatch.setattr("sys.argv", arguments)
    assert Provenance.here().command == "flexicase run 'my study.toml' --studies=studies --nice 10"
    monkeypatch.setattr("sys.argv", ["flexicase", "run", "here/study.toml"])
    assert Provenance.here().command == "flexicase run here/study.toml"
