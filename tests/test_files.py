"""Reading error matrices: every shape of file that people have, and a place named for every fault."""

import io
import os

import numpy as np
import pytest

from flexicase.files import read_errors


def text(content, **options):
    return read_errors(io.BytesIO(content.encode() if isinstance(content, str) else content), name="x.csv", **options)


@pytest.mark.parametrize(
    "content",
    [
        "0,3\n1,0\n",
        "0,3\n1,0",
        "0;3\n1;0\n",
        "0\t3\n1\t0\n",
        "0 3\n1  0\n",
        "a,b\n0,3\n1,0\n",
        '"error, case 1","error, case 2"\n0,3\n1,0\n',
        '"0","3"\n"1","0"\n',
        "\ufeffa,b\r\n0,3\r\n\r\n1,0\r\n",
        " 0 , 3 \n 1 , 0 \n",
        "0,3\r1,0\r",
        "\n\n0,3\n1,0\n\n",
    ],
)
def test_every_dialect_gives_the_same_matrix(content):
    values = text(content)
    assert values.tolist() == [[0, 3], [1, 0]]
    assert values.dtype == np.int64


def test_one_column_with_or_without_a_header_of_two_words():
    assert text("3\n1\n").tolist() == [[3], [1]]
    assert text("case 1\n3\n1\n").tolist() == [[3], [1]]


def test_floats_and_infinity_and_nan_are_kept():
    values = text("0.5,1e3\ninf,nan\n")
    np.testing.assert_array_equal(values, [[0.5, 1000.0], [np.inf, np.nan]])


def test_integers_beyond_53_bits_stay_different():
    values = text(f"{2**60},{2**60 + 1}\n0,0\n")
    assert values[0, 0] != values[0, 1]
    assert text(f"{2**70},1\n").dtype == np.float64


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "x.csv: the file is empty"),
        ("\n \n", "no lines but blank ones"),
        ("a,b\n", "a header but no individuals"),
        ("0,1\n1,x\n", "line 2, column 2: expected a number, got 'x'"),
        ("a,b\n0,1\n1,\n", "line 3, column 2: expected a number, the cell is empty"),
        ("0,0,2\n0,1,2\n0,1\n", "line 3, column 3: expected 3 columns as in line 1, got 2"),
        ("0,1\n1\n", "line 2, column 2: expected 2 columns as in line 1, got 1"),
        ("0,1\n\n0,1,2\n", "line 3, column 3: expected 2 columns as in line 1, got 3"),
        ("a,b,c\n0,1\n", "line 2, column 3: expected 3 columns as in line 1, got 2"),
        ("0,5;1,5\n0;1\n", "line 1, column 1: expected a number, got '0,5'"),
        ("NA,NA\n0,1\n", "line 1, column 1: expected a number, got 'NA'"),
        ("a,1\n0,1\n", "line 1, column 1: expected a number, got 'a'"),
        (",a,b\n0,5,5\n", "line 1, column 1: the header has no name here"),
        ("1_000,2\n3,4\n", "x.csv: "),
        (b"\xff\xfe0\x00", "byte 0 is not UTF-8"),
        (b"0,\x001\n", "zero byte"),
    ],
)
def test_faults_in_text_are_named_with_their_place(content, message):
    with pytest.raises(ValueError, match=r"^x\.csv: ") as caught:
        text(content)
    assert message in str(caught.value)


def test_a_first_line_of_column_numbers_is_not_guessed_at():
    """Silently taking pandas' 0,1,2 header for an individual would give wrong parents."""
    with pytest.raises(ValueError, match="header yes or no"):
        text("0,1,2\n5,5,5\n")
    assert text("0,1,2\n5,5,5\n", header="yes").tolist() == [[5, 5, 5]]
    assert text("0,1,2\n5,5,5\n", header="no").tolist() == [[0, 1, 2], [5, 5, 5]]
    with pytest.raises(ValueError, match="header must be one of"):
        text("0,1\n", header="maybe")


def test_numpy_files_are_recognised_by_content(tmp_path):
    errors = np.arange(6, dtype=np.uint8).reshape(2, 3)
    np.save(tmp_path / "a.npy", errors)
    np.savez(tmp_path / "b.npz", errors=errors, other=np.zeros(3))
    np.savez_compressed(tmp_path / "c.npz", whatever=errors)
    (tmp_path / "a.npy").rename(tmp_path / "a.csv")
    for name in ("a.csv", "b.npz", "c.npz"):
        loaded = read_errors(tmp_path / name)
        np.testing.assert_array_equal(loaded, errors)
        assert loaded.dtype == np.uint8


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_faults_in_numpy_files(tmp_path):
    np.save(tmp_path / "object.npy", np.array([[object()]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "line.npy", np.arange(4))
    np.save(tmp_path / "complex.npy", np.ones((2, 2), complex))
    np.save(tmp_path / "nobody.npy", np.ones((0, 3)))
    np.savez(tmp_path / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    np.save(tmp_path / "torn.npy", np.ones((20, 20)))
    os.truncate(tmp_path / "torn.npy", 500)
    np.savez(tmp_path / "torn.npz", a=np.ones((20, 20)))
    os.truncate(tmp_path / "torn.npz", 500)
    expected = {
        "object.npy": "not a readable NumPy file",
        "line.npy": r"expected a matrix .* got an array of shape \(4,\)",
        "complex.npy": "expected real numbers, got an array of complex128",
        "nobody.npy": "at least one individual",
        "two.npz": "found a, b",
        "torn.npy": "not a readable NumPy file",
        "torn.npz": "not a readable NumPy file",
    }
    for name, message in expected.items():
        with pytest.raises(ValueError, match=message):
            read_errors(tmp_path / name)


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"a": [0, 1], "b": [0.5, None], "__index_level_0__": [7, 8]}
    parquet.write_table(pa.table(columns), tmp_path / "e.parquet")
    np.testing.assert_array_equal(read_errors(tmp_path / "e.parquet"), [[0, 0.5], [1, np.nan]])
    parquet.write_table(pa.table({"a": [0, 1], "who": ["x", "y"]}), tmp_path / "words.parquet")
    with pytest.raises(ValueError, match="column 'who': expected numbers, got string"):
        read_errors(tmp_path / "words.parquet")
    os.truncate(tmp_path / "e.parquet", 40)
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        read_errors(tmp_path / "e.parquet")


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'flexicase\[report\]'"):
        read_errors(io.BytesIO(b"PAR1...."))


def test_missing_file_and_directory_raise_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_errors(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError):
        read_errors(tmp_path)


def test_a_table_of_usual_size_is_read_as_written():
    errors = np.random.default_rng(0).integers(0, 9, (1000, 100))
    buffer = io.StringIO()
    np.savetxt(buffer, errors, fmt="%d", delimiter=",")
    np.testing.assert_array_equal(text(buffer.getvalue()), errors)
