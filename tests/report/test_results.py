"""An export read wrongly would put one run's rows under another's name."""

import json
import shutil

import pytest

from flexicase.experiments.results import read_results
from tests.report.conftest import METHODS, PROBLEMS, SEEDS


def test_only_finished_runs_are_read_and_all_are_counted(results):
    assert len(results.runs) == SEEDS * 6
    assert results.planned == (SEEDS + 1) * 6
    assert results.problems == PROBLEMS
    assert results.methods("mirror-image") == METHODS


def test_rows_belong_to_their_run(results):
    run = results.runs_of("last-index-of-zero", "lexicase")[3]
    assert run.seed == 3
    assert run.columns["evaluations"].tolist() == [203, 213, 223, 233, 0]
    assert run.columns["seconds_select"] == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.05])
    assert run.generations == 5
    assert not run.success


def test_settings_and_name_come_from_the_specification(results):
    assert results.spec.name == "known"
    assert results.spec.settings == {"population": 10, "generations": 6}


def test_a_missing_export_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"manifest\.json"):
        read_results(tmp_path)


def test_a_damaged_table_is_named(export, tmp_path):
    folder = shutil.copytree(export, tmp_path / "copy")
    (folder / "rows.parquet").write_bytes((folder / "rows.parquet").read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read"):
        read_results(folder)


@pytest.mark.parametrize("content", [b"[", b"\xff"])
def test_a_damaged_study_is_named(content, export, tmp_path):
    folder = shutil.copytree(export, tmp_path / "copy")
    (folder / "study.toml").write_bytes(content)
    with pytest.raises(ValueError, match=r"study\.toml(: not valid TOML| cannot be read)"):
        read_results(folder)


def test_a_study_without_finished_runs_says_so(export, tmp_path):
    folder = shutil.copytree(export, tmp_path / "copy")
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["tables"]["rows"], manifest["tables"]["timings"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="no run of this study is finished"):
        read_results(folder)


def test_a_single_variant_is_not_taken_for_the_problem_as_it_is(export, tmp_path):
    """Its settings are others: the paper's numbers do not stand beside it."""
    folder = shutil.copytree(export, tmp_path / "copy")
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text + "[variants.base]\npopulation = 5\n")
    assert read_results(folder).problems == ("mirror-image-base", "last-index-of-zero-base")
