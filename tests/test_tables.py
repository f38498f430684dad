"""What is read from a folder of tables must be what was written, or a message that says which file is wrong."""

import json

import numpy as np
import pytest

from flexicase.tables import FORMATS, MANIFEST, read_table, read_tables, types_of, write_table, write_tables

pa = pytest.importorskip("pyarrow")


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
    write_table(tmp_path, "t", table, style)
    back = read_table(tmp_path, "t", types_of(table))
    assert back["words"].to_pylist() == table["words"].to_pylist()
    assert back["yes"].to_pylist() == table["yes"].to_pylist()
    assert back["whole"].to_pylist() == table["whole"].to_pylist()
    assert back["real"].to_numpy().tobytes() == real.tobytes()
    with pytest.raises(ValueError, match=r"expected columns words, real, whole, got|cannot be read"):
        read_table(tmp_path, "t", {"words": "string", "real": "float64", "whole": "int64"})
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path, "u", {})


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
        ("[]", "expected format 1, got None"),
        ("{}", "expected format 1, got None"),
        ('{"format": 7, "tables": {}}', "expected format 1, got 7"),
        ('{"format": 1}', "expected for each table its columns"),
        ('{"format": 1, "tables": {"runs": 3}}', "expected for each table its columns"),
        ('{"format": 1, "tables": {"runs": {"seed": "read_csv"}}}', "string, int64, float64, bool_"),
        ('{"format": 1, "tables": {"runs": {"seed": []}}}', "expected for each table its columns"),
        ('{"format": 1, "tables": {}}', "expected a table 'runs', got none"),
        ('{"format": 1, "tables": {"runs": {"id": "string"}}}', "expected columns id, got seed|cannot be read"),
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
