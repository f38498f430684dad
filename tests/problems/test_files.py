"""Problems made from a list or a file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from flexicase import problems
from flexicase.problems import ErrorMeasure, from_cases, from_file
from flexicase.problems.files import read_carried
from flexicase.push import Program, RandomInteger, Symbol

# Problems of the cases in a file.


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_csv_columns_hold_values_or_texts(tmp_path: Path) -> None:
    text = 'input1,input2,input3,output1\r\n1,[1 ,x,true\r\n-2,"a ""b"",c",y,false\r\n'
    problem = from_file(written(tmp_path, "my.cases.csv", text), test=0)
    assert problem.name == "my"
    assert list(problem.fixed_cases()) == [((1, "[1 ", "x"), True), ((-2, 'a "b",c', "y"), False)]


def test_csv_vectors_and_floats(tmp_path: Path) -> None:
    text = 'input1,output1\n"[1, 2]",1\n[],2.5\n'
    problem = from_file(written(tmp_path, "v.csv", text), test=0, name="other")
    assert problem.name == "other"
    assert list(problem.fixed_cases()) == [(([1, 2],), 1.0), (([],), 2.5)]
    assert type(problem.fixed_cases().expected[0]) is float


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
        assert list(problem.fixed_cases()) == expected
        assert len(problem.measures) == 2


def test_carried_files_are_read(tmp_path: Path) -> None:
    source = Path(problems.__file__).parent / "data" / "mirror-image-edge.json.gz"
    problem = from_file(source, test=0)
    assert problem.name == "mirror-image-edge"
    assert list(problem.fixed_cases()) == list(read_carried("mirror-image"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "the file must hold at least one case"),
        ("a.csv", "input1,output1\n", "cases must not be empty"),
        ("a.csv", "input1,output1\n1\n", "row 2 must have 2 cells as the header has, got 1"),
        ("a.csv", "x,y\n1,2\n", r"must have input1, … and output1, … and nothing else, found \['x', 'y'\]"),
        ("a.csv", "input1,input3,output1\n1,2,3\n", "inputs must be numbered from 1 without gaps"),
        ("a.csv", "input1,input1,output1\n1,2,3\n", "columns must have different names"),
        ("a.csv", 'input1,output1\n"1,2\n', "unexpected end of data"),
        ("a.csv", "input1,output1\nNaN,2\n", "values must be finite"),
        ("a.csv", "input1,output1,note\n1,2,x\n", "nothing else"),
        ("a.csv", b"input1,output1\n\xff,2\n", "must be text in UTF-8"),
        ("a.json", "", "the file must hold at least one case"),
        ("a.json", "[]", "the file must hold at least one case"),
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


# Problems of listed cases.


def test_a_list_is_split_anew_for_each_run() -> None:
    problem = from_cases("square", [((n,), n * n) for n in range(20)])
    train, test = problem.sample(1)
    assert (len(train), len(test)) == (15, 5)
    assert sorted(n for (n,) in train.inputs + test.inputs) == list(range(20))
    assert problem.sample(2)[0].inputs != train.inputs
    assert problem.evaluator(train).errors([Program("(in1 in1 integer_mult)")]).sum() == 0
    assert problem.stacks == ("exec", "integer", "boolean")


@pytest.mark.parametrize(
    ("inputs", "answer", "printed", "stack", "error"),
    [
        ((1,), 2.0, False, "float", "absolute"),
        ((1,), True, False, "boolean", "mismatch"),
        ((1,), "a", False, "string", "levenshtein"),
        ((1,), "a", True, "output", "levenshtein"),
        (([1],), [1, 2], False, "vector_integer", "levenshtein"),
        ((["a"],), ["a"], False, "vector_string", "levenshtein"),
    ],
)
def test_the_error_follows_the_kind_of_answer(inputs, answer, printed, stack, error) -> None:
    problem = from_cases("x", [(inputs, answer)], test=0, printed=printed)
    assert [(m.stack, m.error) for m in problem.measures] == [(stack, error)]
    assert ("print" in problem.stacks) == printed
    assert problem.evaluator(problem.sample(1)[0]).errors([Program("()")]).shape == (1, 1)


def test_several_answers_have_an_error_each() -> None:
    problem = from_cases("divide", [((n, 3), (n // 3, n % 3 == 0)) for n in range(9)], test=0)
    train, _ = problem.sample(1)
    errors = problem.evaluator(train).errors([Program("(in1 in2 integer_div true)")])
    assert errors.reshape(9, 2).sum(axis=0).tolist() == [0, 6]


def test_parts_can_be_given() -> None:
    problem = from_cases(
        "x",
        [((1,), 1)],
        test=0,
        stacks=["integer"],
        generators=[RandomInteger(0, 1), Symbol("in1")],
        measures=[ErrorMeasure("integer", "mismatch")],
        description="Nothing.",
    )
    assert (problem.stacks, len(problem.generators), problem.measures[0].error) == (("integer",), 2, "mismatch")
    assert problem.description == "Nothing."


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([], "cases must not be empty"),
        ([((1,), 1), ((1, 2), 1)], "case 1 must have as many inputs as the first, 1, got 2"),
        ([((1,), 1), ((2,), (1, 2))], "case 1 must have as many outputs as the first"),
        ([((), 1)], "case 0 must have as many inputs"),
        ([((1,), 1), (("a",), 1)], "case 1 has string after integer"),
        ([((1,), 1), ((2,), 1.0)], "case 1 has float after integer"),
        ([((float("nan"),), 1)], "values must be finite, but case 0 has nan"),
        ([((1,), float("inf"))], "values must be finite"),
        ([((2**63,), 1)], "integers must fit in 64 bits"),
        ([((None,), 1)], "values must be numbers, booleans, strings or vectors, but case 0 has None"),
        ([(([1, "a"],), 1)], "elements of a vector must be of one kind"),
        ([(([[1]],), 1)], "elements of a vector must be of one kind and no vectors"),
        ([((1,), 1), ((1,), 2)], "case 1 has the inputs of an earlier one but another answer"),
    ],
)
def test_wrong_lists_are_refused(cases: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_cases("x", cases)


def test_the_share_for_testing_is_checked() -> None:
    with pytest.raises(ValueError, match="test must be between 0 and 1"):
        from_cases("x", [((1,), 1)], test=2.0)


@pytest.mark.parametrize(
    ("n", "share", "n_test"), [(2, 0.25, 1), (2, 0.0, 0), (3, 1e-9, 1), (2, 0.99, 1), (3, 0.9, 2), (1, 0.0, 0)]
)
def test_a_share_for_testing_keeps_at_least_one_case_for_each_purpose(n: int, share: float, n_test: int) -> None:
    """Rounded down to no test case, every solution would count as a success."""
    train, test = from_cases("x", [((k,), k) for k in range(n)], test=share).sample(1)
    assert (len(train), len(test)) == (n - n_test, n_test)


def test_a_share_for_testing_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cases must be at least 2 .* got 1; pass test=0"):
        from_cases("x", [((1,), 1)])
    with pytest.raises(ValueError, match="test must be below 1"):
        from_cases("x", [((1,), 1), ((2,), 2)], test=1.0)


def test_empty_vectors_take_the_kind_of_the_others() -> None:
    problem = problems.from_cases("x", [(([],), 0), (([1.5],), 1)], test=0)
    assert "vector_float" in problem.stacks
    assert "float" in problem.stacks
