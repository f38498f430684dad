import numpy as np
import pytest

from flexicase.experiments._tables import DamagedTableError, check_rows, read_rows, rows_digest, write_rows

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
