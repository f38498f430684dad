"""Errors of crafted answers: penalties, rounding, and the several errors of a case."""

from __future__ import annotations

import pytest

from flexicase import problems
from flexicase.push import Program, Symbol, to_text
from flexicase.push.program import Value

#: An error that the textbook's way of counting edits gives.
EDITS = object()


def levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for x in a:
        above, row = row, [row[0] + 1]
        for j, y in enumerate(b):
            row.append(min(above[j] + (x != y), above[j + 1] + 1, row[j] + 1))
    return row[-1]


def errors_of(name: str, inputs: tuple, **left: Value) -> list[float]:
    """The errors of a program that leaves these values on the stacks; ``output`` is printed."""
    problem = problems.load(name)
    code = [left.pop("output"), Symbol("print_string")] if "output" in left else []
    program = Program(tuple(code + list(left.values())))
    return problem.evaluator(problem.cases([inputs])).errors([program], threads=1)[0].tolist()


@pytest.mark.parametrize(
    ("name", "inputs", "left", "errors"),
    [
        ("mirror-image", ([1, 2], [2, 1]), {"boolean": True}, [0]),
        ("mirror-image", ([1, 2], [2, 1]), {"boolean": False}, [1]),
        ("mirror-image", ([1, 2], [2, 1]), {"integer": 1}, [1]),
        ("last-index-of-zero", ([0, 3, 0],), {"integer": -4}, [6]),
        ("last-index-of-zero", ([0, 3, 0],), {}, [1_000_000]),
        ("simple-regression", (3,), {"integer": 6}, [0]),
        ("checksum", ("",), {"output": "Check sum is  "}, [0, 0]),
        ("checksum", ("",), {"output": "Check sum is $"}, [1, 4]),
        ("checksum", ("",), {"output": ""}, [14, 1000]),
        ("collatz-numbers", (3,), {"integer": 10}, [2]),
        ("collatz-numbers", (3,), {}, [1_000_000]),
        ("compare-string-lengths", ("", "a", "bc"), {"boolean": True}, [0]),
        ("compare-string-lengths", ("", "a", "bc"), {}, [1]),
        ("count-odds", ([1, 2, 3],), {}, [1000]),
        ("digits", (-12,), {"output": "2\n-1"}, [0]),
        ("digits", (-12,), {"output": "2-1N"}, [2]),
        ("double-letters", ("a!b c",), {"output": "aa!!!bb cc"}, [0]),
        ("even-squares", (20,), {"output": "4\n16"}, [0, 0, 0]),
        ("even-squares", (20,), {"output": "4\n16\n\n"}, [2, 0, 0]),
        ("even-squares", (20,), {"output": ""}, [4, 2, 200]),
        ("even-squares", (20,), {"output": "\n\n"}, [EDITS, 2, 200]),
        ("even-squares", (20,), {"output": "x\n\n-5\n4N"}, [EDITS, 1 + 3, 9 + 100]),
        ("even-squares", (20,), {"output": "2147483648\n2147483647\n7"}, [EDITS, 1, 100 + 2147483631]),
        ("even-squares", (3,), {"output": "5"}, [1, 1, 0]),
        ("for-loop-index", (-2, 5, 3), {"output": "-2\n1\n4"}, [0]),
        ("grade", (80, 70, 60, 50, 65), {"output": "Student has a C grade."}, [0, 0]),
        ("grade", (80, 70, 60, 50, 65), {"output": "Student has a A grade!"}, [2, 2]),
        ("grade", (80, 70, 60, 50, 65), {"output": "Student has a C grade"}, [1, 1000]),
        ("grade", (80, 70, 60, 50, 65), {"output": "Student has a \n grade."}, [1, 1000]),
        ("median", (5, -3, 7), {"output": "5"}, [0]),
        ("median", (5, -3, 7), {"output": "5 "}, [1]),
        ("median", (5, -3, 7), {"output": "5N"}, [1]),
        ("negative-to-zero", ([-1, 2],), {"vector": [0, 2]}, [0]),
        ("negative-to-zero", ([-1, 2],), {"vector": [2]}, [1]),
        ("negative-to-zero", ([-1, 2],), {"vector": []}, [2]),
        ("negative-to-zero", ([-1, 2],), {}, [5000]),
        ("number-io", (1.5, 2), {"output": "3.5"}, [0, 0]),
        ("number-io", (1.5, 2), {"output": " 3.50004 "}, [0, 6]),
        ("number-io", (1.5, 2), {"output": "3.50006"}, [0.0001, 4]),
        ("number-io", (1.5, 2), {"output": "3.53.5"}, [1000, 3]),
        ("number-io", (1.5, 2), {"output": "99999"}, [1000, 5]),
        ("number-io", (1.5, 2), {"output": ""}, [1000, 3]),
        ("pig-latin", ("hello a",), {"output": "ellohay aay"}, [0]),
        ("replace-space-with-newline", ("a b",), {"output": "a\nb", "integer": 2}, [0, 0]),
        ("replace-space-with-newline", ("a b",), {"output": "a b", "integer": 5}, [1, 3]),
        ("replace-space-with-newline", ("a b",), {"output": "a b"}, [1, 1000]),
        ("scrabble-score", ("Quiz!",), {"integer": 22}, [0]),
        ("small-or-large", (1500,), {"output": "small"}, [5]),
        ("smallest", (4, -4, 0, 9), {"output": "-4"}, [0]),
        ("string-differences", ("abc", "xbz"), {"output": "0 a x\n2 c z"}, [0, 0]),
        ("string-differences", ("abc", "xbz"), {"output": "0 a x\n2 c  \n1 b"}, [EDITS, 1]),
        ("string-differences", ("abc", "xbz"), {"output": ""}, [11, 2]),
        ("string-lengths-backwards", (["a", "", "abc"],), {"output": "3\n0\n1"}, [0]),
        ("sum-of-squares", (3,), {}, [1_000_000_000]),
        ("super-anagrams", ("ab", "ba"), {"boolean": False}, [1]),
        ("syllables", ("aey",), {"output": "The number of syllables is 3"}, [0, 0]),
        ("syllables", ("aey",), {"output": "syllables -7 \n"}, [EDITS, 10]),
        ("syllables", ("aey",), {"output": "is 3 or so"}, [EDITS, 1000]),
        ("syllables", ("aey",), {"output": "is3"}, [EDITS, 1000]),
        ("vector-average", ([1.0, 2.0],), {"float": 1.50004}, [0]),
        ("vector-average", ([1.0, 2.0],), {"float": 1.5002}, [0.0002]),
        ("vector-average", ([1.0, 2.0],), {}, [1_000_000]),
        ("vectors-summed", ([1, 2], [3, 4]), {"vector": [4, 7, 9]}, [1 + 10_000]),
        ("vectors-summed", ([1, 2], [3, 4]), {"vector": []}, [20_000]),
        ("vectors-summed", ([1, 2], [3, 4]), {}, [1_000_000_000]),
        ("wallis-pi", (1,), {"float": 0.666668}, [0, 0]),
        ("wallis-pi", (1,), {"float": 1.0}, [pytest.approx(0.33333), 6]),
        ("wallis-pi", (1,), {}, [1_000_000, 14]),
        ("word-stats", ("a bb. c!",) * 2, {"output": ""}, [EDITS, 10_000, 10_000]),
        ("x-word-lines", ("a b c d e", 2), {"output": "a b\nc d\ne"}, [0, 0, 0]),
        ("x-word-lines", ("a b c d e", 2), {"output": "a b c\n\ne d"}, [EDITS, 0, 1 + 1 + 1]),
        ("x-word-lines", ("a b c d e", 2), {"output": "a b\nc d\ne\n\n"}, [2, 2, 0]),
        ("x-word-lines", ("a b c d e", 2), {"output": ""}, [9, 2, 0]),
        ("x-word-lines", ("a b c d", 2), {"output": " a  b \n\n"}, [EDITS, 1, 0]),
        ("x-word-lines", ("", 3), {"output": ""}, [0, 0, 0]),
    ],
)
def test_errors_of_an_answer(name: str, inputs: tuple, left: dict[str, Value], errors: list) -> None:
    found = errors_of(name, inputs, **left)
    if errors[0] is EDITS:
        errors = [levenshtein(left["output"], problems.load(name).answer(*inputs)), *errors[1:]]
    assert found == errors


def test_word_stats_reads_the_two_numbers() -> None:
    text = "a bb. c!"
    problem = problems.load("word-stats")
    expected = problem.answer(text, text)
    assert expected.endswith("number of sentences: 2\naverage sentence length: 1.5")
    assert errors_of("word-stats", (text, text), output=expected) == [0, 0, 0]
    wrong = expected.replace("sentences: 2", "sentences: 5").replace("1.5", "1.25004")
    assert errors_of("word-stats", (text, text), output=wrong)[1:] == [3, 0.25]
    assert errors_of("word-stats", (text, text), output="average sentence length: 1")[1:] == [10_000, 10_000]
    assert errors_of("word-stats", (text, text), output="number of sentences: x")[1:] == [10_000, 10_000]
    close = errors_of("word-stats", (text, text), output="average sentence length: 1.6999")[2]
    assert close != 0.1999
    assert close == pytest.approx(0.1999, rel=1e-7)


def test_a_wallis_answer_is_measured_in_single_precision() -> None:
    (error, edits) = errors_of("wallis-pi", (1,), float=0.7)
    assert error != 0.7 - 0.66667
    assert error == pytest.approx(0.03333, rel=1e-6)
    assert edits == levenshtein("0.7", "0.66667")


def test_all_errors_of_a_case_come_from_one_run() -> None:
    problem = problems.load("even-squares")
    cases = problem.cases([(20,), (50,), (100,)])
    evaluator = problem.evaluator(cases)
    programs = [Program(f"({to_text(text)} print_string)") for text in ("4\n16", "4", "x")]
    errors = evaluator.errors(programs, threads=2)
    assert errors.shape == (3, 9)
    assert evaluator.steps == 3 * 3 * 3
    evaluator.steps = 0
    lazy = evaluator.lazy(programs, threads=1)
    rows, columns = [0, 0, 0, 2, 2], [0, 1, 2, 8, 8]
    assert lazy(rows, columns).tolist() == errors[rows, columns].tolist()
    assert evaluator.steps == 2 * 3
    assert lazy([[0], [1]], [1, 2]).tolist() == errors[:2, 1:3].tolist()
    assert evaluator.steps == 3 * 3
    with pytest.raises(IndexError, match="columns must be between 0 and 8"):
        lazy(0, 9)
