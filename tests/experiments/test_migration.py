"""Exports of format 1 must come out of the migration with the same runs and the same numbers under their new names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from flexicase.experiments import export_study, import_study, load_spec, parse_spec, read_results
from flexicase.experiments._tables import MANIFEST, write_tables
from flexicase.experiments.spec import plan

pa = pytest.importorskip("pyarrow")
migrate_results = pytest.importorskip("migrate_results")

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
