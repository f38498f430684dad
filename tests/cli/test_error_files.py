"""Reading error matrices: every shape of file that people have, and a place named for every fault."""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from flexicase.cli._error_files import read_errors


def text(content, **options):
    return read_errors(io.BytesIO(content.encode() if isinstance(content, str) else content), "x.csv", **options)


def read(path):
    with path.open("rb") as file:
        return read_errors(file, str(path))


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


def test_numpy_files_are_recognised_by_content(tmp_path):
    errors = np.arange(6, dtype=np.uint8).reshape(2, 3)
    np.save(tmp_path / "a.npy", errors)
    np.savez(tmp_path / "b.npz", errors=errors, other=np.zeros(3))
    np.savez_compressed(tmp_path / "c.npz", whatever=errors)
    (tmp_path / "a.npy").rename(tmp_path / "a.csv")
    for name in ("a.csv", "b.npz", "c.npz"):
        loaded = read(tmp_path / name)
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
        "torn.npy": r"not a readable NumPy file: .* shape \(20, 20\), but the file has 500 bytes",
        "torn.npz": "not a readable NumPy file",
    }
    for name, message in expected.items():
        with pytest.raises(ValueError, match=message):
            read(tmp_path / name)


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"a": [0, 1], "b": [0.5, None], "__index_level_0__": [7, 8]}
    parquet.write_table(pa.table(columns), tmp_path / "e.parquet")
    np.testing.assert_array_equal(read(tmp_path / "e.parquet"), [[0, 0.5], [1, np.nan]])
    parquet.write_table(pa.table({"a": [0, 1], "who": ["x", "y"]}), tmp_path / "words.parquet")
    with pytest.raises(ValueError, match="column 'who': expected numbers, got string"):
        read(tmp_path / "words.parquet")
    os.truncate(tmp_path / "e.parquet", 40)
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        read(tmp_path / "e.parquet")


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'flexicase\[report\]'"):
        read_errors(io.BytesIO(b"PAR1...."), "x.parquet")


def test_a_table_of_usual_size_is_read_as_written():
    errors = np.random.default_rng(0).integers(0, 9, (1000, 100))
    buffer = io.StringIO()
    np.savetxt(buffer, errors, fmt="%d", delimiter=",")
    np.testing.assert_array_equal(text(buffer.getvalue()), errors)


@pytest.mark.parametrize("content", [f"{2**64 - 1},{2**64 - 2}\n0,1\n", f'"{2**64 - 1}";"{2**64 - 2}"\n"0";"1"\n'])
def test_text_keeps_integers_of_64_bits_apart(content):
    """Rounded to floats, 2**64 - 1 and 2**64 - 2 would tie."""
    values = text(content)
    assert values.dtype == np.uint64
    assert values.tolist() == [[2**64 - 1, 2**64 - 2], [0, 1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"0,1\n{2**64},1\n", f"line 2, column 1: the integer {2**64} does not fit 64 bits"),
        (f"a,b\n-1,1\n\n1,{2**63}\n", f"line 4, column 2: the integer {2**63} does not fit 64 bits"),
        (f"-1,{2**63 - 1}\n1,{2**63}\n", f"line 2, column 2: the integer {2**63} does not fit 64 bits"),
        (f"0.5,{2**53 + 1}\n", f"line 1, column 2: the integer {2**53 + 1} cannot be stored as a float"),
        (f"0.5,{'9' * 5000}\n", "line 1, column 2: the integer 9999"),
    ],
)
def test_text_integers_that_would_be_rounded_are_refused_with_their_place(content, message):
    with pytest.raises(ValueError, match=r"^x\.csv: ") as caught:
        text(content)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_long_decimals_are_no_integers():
    assert text("0.12345678901234567890,1e22\n100000000000000000000,5\n").tolist() == [
        [0.12345678901234567890, 1e22],
        [1e20, 5],
    ]


def parquet_file(tmp_path, **columns):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({name: pa.array(values, type=getattr(pa, kind)()) for name, (kind, values) in columns.items()})
    parquet.write_table(table, tmp_path / "e.parquet")
    return tmp_path / "e.parquet"


def test_parquet_keeps_integers_of_64_bits_apart(tmp_path):
    """Columns of int64 and uint64 side by side would become floats."""
    path = parquet_file(tmp_path, a=("int64", [0, 5]), b=("uint64", [2**64 - 1, 2**64 - 2]))
    assert read(path).tolist() == [[0, 2**64 - 1], [5, 2**64 - 2]]
    path = parquet_file(tmp_path, a=("int64", [-1, 2**63 - 1]), b=("uint64", [2**63 - 1, 2**63 - 2]))
    assert read(path).tolist() == [[-1, 2**63 - 1], [2**63 - 1, 2**63 - 2]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ("int64", [-1, 0]), "b": ("uint64", [2**63, 1])}, "columns 'a' and 'b' do not fit one type of integers"),
        ({"a": ("float64", [0.5, 1]), "b": ("int64", [2**53 + 1, 1])}, "column 'b': the integer 9007199254740993 "),
        ({"a": ("int64", [None, 2**53 + 1])}, "column 'a': the integer 9007199254740993 "),
    ],
)
def test_parquet_integers_that_would_be_rounded_are_refused(tmp_path, columns, message):
    with pytest.raises(ValueError, match=r"e\.parquet: ") as caught:
        read(parquet_file(tmp_path, **columns))
    assert message in str(caught.value)


def npy(shape, data=b"", *, dtype="<f8", version=(1, 0)):
    """The bytes of an npy file with any header."""
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}}}\n".encode()
    return b"\x93NUMPY" + bytes(version) + len(header).to_bytes(2, "little") + header + data


def zipped(data, name="errors.npy", compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def encrypted(data):
    """Set the flag of an encrypted member in both of its headers."""
    archive = bytearray(zipped(data))
    archive[6] |= 1
    archive[archive.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(archive)


def other_compression(data):
    archive = bytearray(zipped(data))
    archive[8] = archive[archive.rindex(b"PK\x01\x02") + 10] = 97
    return bytes(archive)


def damaged(data):
    archive = bytearray(zipped(data, compression=zipfile.ZIP_DEFLATED))
    archive[45:60] = b"\xff" * 15
    return bytes(archive)


GOOD = npy((2, 2), np.arange(4.0).tobytes())
BROKEN = {
    "encrypted": encrypted(GOOD),
    "unknown compression": other_compression(GOOD),
    "damaged": damaged(GOOD * 9),
    "no archive": b"PK\x03\x04",
    "archive without npy": zipped(b"1,2\n"),
    "no header": b"\x93NUMPY",
    "header that is no dictionary": GOOD[:10] + b"[" * 40 + b"\n" + GOOD[51:],
    "unknown version": npy((2, 2), version=(9, 9)),
    "negative shape": npy((-2, 2)),
    "no shape": npy("x"),
    "too many entries": npy((10**6, 10**6)),
    "too many entries, zipped": zipped(npy((10**6, 10**6))),
    "beyond 64 bits": npy((2**62, 2**62)),
    "objects": npy((2, 2), b"cos\nsystem\n(S'exit 9'\ntR.", dtype="|O"),
    "objects, zipped": zipped(npy((2, 2), b"cos\nsystem\n(S'exit 9'\ntR.", dtype="|O")),
    "torn parquet": b"PAR1" + b"\0" * 30,
    "wrong parquet": b"PAR1" + b"\xff" * 30 + (10**6).to_bytes(4, "little") + b"PAR1",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_refused_at_once(kind):
    """Nothing is unpickled, and nothing is allocated on the word of a header."""
    with pytest.raises(ValueError, match=r"^x: not a readable (NumPy|Parquet) file: ."):
        read_errors(io.BytesIO(BROKEN[kind]), "x")


def test_a_cell_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match=r"x\.csv: line 2, column 2: the cell has 200000 characters"):
        text("0,1\n0," + "1" * 200_000 + "\n")
    with pytest.raises(ValueError, match=r"x\.csv: line 1, column 1: the cell has 200000 characters"):
        text("a" * 200_000 + ",b\n0,1\n")


class Endless(io.RawIOBase):
    """A stream that never ends, and says how much was read of it."""

    def __init__(self, piece):
        self.piece, self.n_bytes = piece, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = (self.piece * (len(buffer) // len(self.piece) + 1))[: len(buffer)]
        buffer[:] = piece
        self.n_bytes += len(piece)
        return len(piece)


@pytest.mark.parametrize("piece", [b"\0", b"\xff", b"1\n"])
def test_an_endless_stream_is_refused(piece, monkeypatch):
    monkeypatch.setattr("flexicase.cli._error_files.MAX_STREAM_BYTES", 2**20, raising=False)
    source = Endless(piece)
    with pytest.raises(ValueError, match=r"^x: (not a text|must have at most 1,048,576 bytes)"):
        read_errors(source, "x")
    assert source.n_bytes < 2**22


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_is_not_read_without_end():
    with pytest.raises(ValueError, match="/dev/zero: not a text, NumPy or Parquet file"):
        read(Path("/dev/zero"))
