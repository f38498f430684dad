"""Files that do not belong together must be refused, not put together wrongly."""

from dataclasses import fields

import pytest

from flexicase._provenance import Provenance
from flexicase.experiments._tables import write_tables
from flexicase.experiments.results import PROVENANCE_COLUMNS, PROVENANCE_FIELDS, RUN_COLUMNS, read_runs

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
