"""What is read from a folder of tables is what was written, or a message names the file that is wrong."""

import errno
import json
import os
import re
import sys

import numpy as np
import pytest

from flexicase._files import arrow_reader
from flexicase.experiments import _tables
from flexicase.experiments._tables import (
    FORMATS,
    MANIFEST,
    SUFFIXES,
    DamagedTableError,
    check_rows,
    read_rows,
    read_tables,
    rows_digest,
    write_rows,
    write_tables,
)

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.csv")
pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("style", FORMATS)
def test_tables_keep_every_value_exactly(style, tmp_path):
    """NaN, infinities, signed zeros, the last bit, empty and missing text."""
    real = np.array([np.nan, np.inf, -np.inf, -0.0, 0.1 + 0.2, 1.0, 5e-324])
    table = pa.table(
        {
            "words": pa.array(["", None, 'a "b"', "two\nlines", "nan", "x,y", "ü"]),
            "real": real,
            "whole": np.array([0, -1, 2**62, 1, 2, 3, 4]),
            "yes": pa.array([True, False, None, True, True, False, None]),
        }
    )
    write_tables(tmp_path, {"t": table}, style)
    back = read_tables(tmp_path, "t")["t"]
    assert back["words"].to_pylist() == table["words"].to_pylist()
    assert back["yes"].to_pylist() == table["yes"].to_pylist()
    assert back["whole"].to_pylist() == table["whole"].to_pylist()
    assert back["real"].to_numpy().tobytes() == real.tobytes()
    manifest = {"format": 2, "tables": {"t": {"words": "string", "real": "float64", "whole": "int64"}}}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"expected columns words, real, whole, got|cannot be read"):
        read_tables(tmp_path)


@pytest.mark.parametrize("style", FORMATS)
def test_a_folder_of_tables_comes_back(style, tmp_path):
    tables = {"runs": pa.table({"id": ["a", "b"]}), "rows": pa.table({"error": [0.5]})}
    files = write_tables(tmp_path, tables, style)
    assert sorted(files) == sorted(tmp_path.iterdir())
    back = read_tables(tmp_path, "runs")
    assert {name: table.to_pylist() for name, table in back.items()} == {
        name: table.to_pylist() for name, table in tables.items()
    }


def test_writing_in_another_format_leaves_no_second_copy(tmp_path):
    """Read back, the older of two copies could win."""
    write_tables(tmp_path, {"runs": pa.table({"seed": [1]})}, "parquet")
    write_tables(tmp_path, {"runs": pa.table({"seed": [2]})}, "csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == [MANIFEST, "runs.csv.gz"]
    assert read_tables(tmp_path)["runs"].to_pylist() == [{"seed": 2}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("\udcff", "cannot be read"),
        ("[]", "expected format 2, got None"),
        ("{}", "expected format 2, got None"),
        ('{"format": 7, "tables": {}}', "expected format 2, got 7"),
        ('{"format": 2}', "expected for each table its columns"),
        ('{"format": 2, "tables": {"runs": 3}}', "expected for each table its columns"),
        ('{"format": 2, "tables": {"runs": {"seed": "read_csv"}}}', "string, int64, float64, bool_"),
        ('{"format": 2, "tables": {"runs": {"seed": []}}}', "expected for each table its columns"),
        ('{"format": 2, "tables": {}}', "expected a table 'runs', got none"),
        ('{"format": 2, "tables": {"runs": {"id": "string"}}}', "expected columns id, got seed|cannot be read"),
    ],
)
@pytest.mark.parametrize("style", FORMATS)
def test_a_damaged_manifest_is_named(style, content, message, tmp_path):
    write_tables(tmp_path, {"runs": pa.table({"seed": [1]})}, style)
    (tmp_path / MANIFEST).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=message) as caught:
        read_tables(tmp_path, "runs")
    assert str(tmp_path) in str(caught.value)


def test_a_missing_table_is_named(tmp_path):
    write_tables(tmp_path, {"runs": pa.table({"seed": [1]})}, "parquet")
    types = json.loads((tmp_path / MANIFEST).read_text())
    types["tables"]["rows"] = {"error": "float64"}
    (tmp_path / MANIFEST).write_text(json.dumps(types))
    with pytest.raises(FileNotFoundError) as caught:
        read_tables(tmp_path)
    assert str(tmp_path / "rows.parquet") in str(caught.value)


class Killed(BaseException):
    """The process ends here: nothing after it is carried out."""


SYSTEM_CALLS = ("open", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "fsync")


def interrupt(patch, call, error):
    """Raise at the given system call; if the error is `Killed`, at every later one too. Gives the calls so far."""
    made = []

    def wrapped(real):
        def attempt(*args, **options):
            made.append(real.__name__)
            if len(made) == call or (len(made) > call and error is Killed):
                raise error
            return real(*args, **options)

        return attempt

    for name in SYSTEM_CALLS:
        patch.setattr(os, name, wrapped(getattr(os, name)))
    patch.setattr("builtins.open", wrapped(open))
    return made


def generation(number):
    tables = {"runs": pa.table({"seed": [number]}), "rows": pa.table({"error": [float(number)] * (number + 1)})}
    return {**tables, "timings": pa.table({"seconds": [0.5 + number]})} if number % 2 else tables


def content(folder):
    return {name: table.to_pylist() for name, table in read_tables(folder, "runs").items()}


@pytest.mark.slow
@pytest.mark.parametrize("error", [Killed, OSError(errno.ENOSPC, "No space left on device")], ids=["kill", "full"])
@pytest.mark.parametrize("styles", [("parquet", "parquet"), ("parquet", "csv"), ("csv", "parquet")])
@pytest.mark.parametrize("numbers", [(1, 2), (2, 1)])
def test_an_interrupted_export_leaves_the_old_or_the_new_one(numbers, styles, error, tmp_path):
    """An export is the backup of a study: half of an old one and half of a new one would be none."""
    (old, new), (before, after) = numbers, styles
    for call in range(1, 200):
        folder = tmp_path / str(call)
        write_tables(folder, generation(old), before)
        expected = content(folder)
        with pytest.MonkeyPatch.context() as patch:
            made = interrupt(patch, call, error)
            try:
                write_tables(folder, generation(new), after)
            except (Killed, OSError):
                assert len(made) >= call
        newest = {name: table.to_pylist() for name, table in generation(new).items()}
        assert content(folder) in (expected, newest), made
        write_tables(folder, generation(new), after)
        assert content(folder) == newest
        names = sorted([*(f"{name}{SUFFIXES[after]}" for name in generation(new)), MANIFEST])
        assert sorted(path.name for path in folder.iterdir()) == names, made
        if len(made) < call:
            return
    raise AssertionError("it never ends")


def test_files_of_others_are_kept(tmp_path):
    """Only exact names of its own may be replaced or removed."""
    notes = ("runs.md", "rows.csv", "runs.py", "timings.xlsx", "provenance.txt", "runs.parquet.bak")
    for name in notes:
        (tmp_path / name).write_text(name)
    write_tables(tmp_path, generation(1), "parquet")
    write_tables(tmp_path, generation(2), "csv")
    assert {name: (tmp_path / name).read_text() for name in notes} == {name: name for name in notes}


@pytest.mark.parametrize(
    ("name", "text"),
    [("runs.parquet", "mine"), ("manifest.json", '{"name": "an app"}'), ("manifest.json", "mine"), ("note.md", "mine")],
)
def test_a_file_of_somebody_else_is_not_replaced(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=re.escape(name)):
        write_tables(tmp_path, generation(1), "parquet", {"note.md": b"ours"})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, text)]


def test_a_table_of_somebody_else_beside_an_export_is_not_replaced(tmp_path):
    """A copy in the other format that an export did not write would be taken for its own."""
    write_tables(tmp_path, generation(2), "parquet")
    (tmp_path / "runs.csv.gz").write_text("mine")
    for style in FORMATS:
        with pytest.raises(ValueError, match=r"runs\.csv\.gz"):
            write_tables(tmp_path, generation(2), style)
    assert (tmp_path / "runs.csv.gz").read_text() == "mine"


@pytest.mark.parametrize("name", ["../outside", "a/b", "", ".", "runs.", "a\0b", "x" * 300])
def test_names_of_tables_are_no_paths(name, tmp_path):
    write_tables(tmp_path / "outside", {"runs": pa.table({"seed": [1]})}, "parquet")
    folder = tmp_path / "export"
    write_tables(folder, {"runs": pa.table({"seed": [1]})}, "parquet")
    (folder / MANIFEST).write_text(json.dumps({"format": 2, "tables": {name: {"seed": "int64"}}}))
    for read in (lambda: read_tables(folder), lambda: write_tables(folder, generation(1), "csv")):
        with pytest.raises(ValueError, match=r"manifest\.json"):
            read()


ROWS = {
    "step": np.arange(3),
    "error": np.array([0.1, np.nan, -0.0]),
    "done": np.array([True, False, True]),
    "seconds": np.array([1.0, 2.0, 3.0]),
}


def test_rows_come_back_to_the_last_bit(tmp_path):
    checksum = write_rows(tmp_path / "rows.parquet", ROWS)
    back = read_rows(tmp_path / "rows.parquet", checksum)
    assert list(back) == list(ROWS)
    assert all(back[name].tobytes() == ROWS[name].tobytes() for name in ROWS)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


@pytest.mark.parametrize("position", [0, 100, -1])
def test_one_changed_bit_is_noticed_and_the_file_named(tmp_path, position):
    path = tmp_path / "rows.parquet"
    checksum = write_rows(path, ROWS)
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedTableError, match=r"rows\.parquet is damaged"):
        read_rows(path, checksum)
    path.unlink()
    with pytest.raises(DamagedTableError, match=r"rows\.parquet is missing"):
        read_rows(path, checksum)


def test_the_digest_is_of_everything_but_times():
    assert rows_digest(ROWS) == rows_digest({**ROWS, "seconds": np.zeros(3)})
    assert rows_digest(ROWS) != rows_digest({**ROWS, "error": np.array([0.1, np.nan, 0.0])})
    assert rows_digest(ROWS) != rows_digest({**ROWS, "step": np.arange(3).astype(float)})
    assert rows_digest(ROWS) != rows_digest(
        {"steps" if name == "step" else name: values for name, values in ROWS.items()}
    )


def test_columns_that_cannot_be_kept_exactly_are_refused():
    with pytest.raises(ValueError, match=r"column 'b': expected shape \(2,\) as the first, got \(3,\)"):
        check_rows({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="column 'a': expected int64, float64 or bool, got <U1"):
        check_rows({"a": ["x"]})
    with pytest.raises(ValueError, match="at least one column"):
        check_rows({})


@pytest.mark.parametrize("style", FORMATS)
def test_arrow_holds_no_python_object_while_its_threads_read(style, tmp_path, monkeypatch):
    """One that a thread of Arrow releases while the interpreter exits ends the process with SIGABRT."""
    made, sources = [], []

    def noting(function, objects, place):
        def note(*args, **kwargs):
            returned = function(*args, **kwargs)
            objects.append(returned if place is None else args[place])
            return returned

        return note

    monkeypatch.setattr(_tables, "arrow_reader", noting(arrow_reader, made, None))
    monkeypatch.setattr(pa.parquet, "read_table", noting(pa.parquet.read_table, sources, 0))
    monkeypatch.setattr(pa.csv, "read_csv", noting(pa.csv.read_csv, sources, 0))
    write_tables(tmp_path, {"runs": pa.table({"seed": [7]})}, style)
    assert read_tables(tmp_path, "runs")["runs"].to_pylist() == [{"seed": 7}]
    assert sources == made
    assert len(made) == 1
    content = bytes(1000)
    before = sys.getrefcount(content)
    reader = arrow_reader(content)
    assert sys.getrefcount(content) == before
    assert reader.read() == content
