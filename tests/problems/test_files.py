"""Problems of the cases in a file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from flexicase import problems
from flexicase.problems import from_file
from flexicase.problems.cases import read_carried


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_csv_columns_hold_values_or_texts(tmp_path: Path) -> None:
    text = 'input1,input2,input3,output1\r\n1,[1 ,x,true\r\n-2,"a ""b"",c",y,false\r\n'
    problem = from_file(written(tmp_path, "my.cases.csv", text), test=0)
    assert problem.name == "my"
    assert list(problem.edge_cases()) == [((1, "[1 ", "x"), True), ((-2, 'a "b",c', "y"), False)]


def test_csv_vectors_and_floats(tmp_path: Path) -> None:
    text = 'input1,output1\n"[1, 2]",1\n[],2.5\n'
    problem = from_file(written(tmp_path, "v.csv", text), test=0, name="other")
    assert problem.name == "other"
    assert list(problem.edge_cases()) == [(([1, 2],), 1.0), (([],), 2.5)]
    assert type(problem.edge_cases().expected[0]) is float


def test_json_array_and_lines_and_gzip(tmp_path: Path) -> None:
    records = [{"input1": [1.5, 2], "output1": "a\u2028b", "output2": 1}, {"input1": [], "output1": "", "output2": 2}]
    expected = [(([1.5, 2.0],), ("a\u2028b", 1)), (([],), ("", 2))]
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    for name, content in (
        ("a.json", json.dumps(records).encode()),
        ("a.jsonl", lines.encode()),
        ("a.json.gz", gzip.compress(lines.encode(), mtime=0)),
    ):
        problem = from_file(written(tmp_path, name, content), test=0)
        assert list(problem.edge_cases()) == expected
        assert len(problem.measures) == 2


def test_carried_files_are_read(tmp_path: Path) -> None:
    source = Path(problems.__file__).parent / "data" / "mirror-image-edge.json.gz"
    problem = from_file(source, test=0)
    assert problem.name == "mirror-image-edge"
    assert list(problem.edge_cases()) == list(read_carried("mirror-image"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "there is no case"),
        ("a.csv", "input1,output1\n", "cases must not be empty"),
        ("a.csv", "input1,output1\n1\n", "row 2 must have 2 cells as the header has, but has 1"),
        ("a.csv", "x,y\n1,2\n", r"must have input1, … and output1, … and nothing else, found \['x', 'y'\]"),
        ("a.csv", "input1,input3,output1\n1,2,3\n", "inputs must be numbered from 1 without gaps"),
        ("a.csv", "input1,input1,output1\n1,2,3\n", "columns must have different names"),
        ("a.csv", 'input1,output1\n"1,2\n', "unexpected end of data"),
        ("a.csv", "input1,output1\nNaN,2\n", "values must be finite"),
        ("a.csv", "input1,output1,note\n1,2,x\n", "nothing else"),
        ("a.csv", b"input1,output1\n\xff,2\n", "must be text in UTF-8"),
        ("a.json", "", "there is no case"),
        ("a.json", "[]", "there is no case"),
        ("a.json", "{", "must be a JSON array or JSON Lines"),
        ("a.json", "[1, 2]", "each case must be an object"),
        ("a.json", '{"input1": 1}', "each case must have input1"),
        ("a.json", '{"input1": null, "output1": 1}', "values must be numbers"),
        ("a.json", '{"input1": {"a": 1}, "output1": 1}', "values must be numbers"),
        ("a.json", '{"input1": 1, "output1": 2}\n{"input1": 1, "input2": 1, "output1": 2}', "as many inputs"),
        ("a.json", "[" * 100_000, "a.json: "),
        ("a.json", '{"input1": 1.5, "output1": 1}\n{"input1": 1' + "0" * 400 + ', "output1": 1}', "too large"),
        ("a.json.gz", "plain", "compressed only if named .gz"),
        ("a.json.gz", gzip.compress(b"x" * 100, mtime=0)[:-9], "compressed only if named .gz"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        from_file(written(tmp_path, name, content))
    assert str(raised.value).startswith(str(tmp_path / name))


def test_a_missing_file_says_which(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        from_file(tmp_path / "nowhere.csv")
