"""Errors of programs on cases."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance_values import genome_of, records, value_of
from flexicase.push import BigInteger, Char, ErrorMeasure, Evaluator, Float32, Limits, Program, Symbol, run
from flexicase.push.program import Value

# Errors of programs on cases.


RECORDS = Path(__file__).parent / "clojush"
PROBLEMS = {"mirror-image": ("boolean", "mismatch", 1.0), "last-index-of-zero": ("integer", "absolute", 1e6)}


def recorded(problem: str) -> tuple[Evaluator, list[Program], np.ndarray]:
    """The evaluator of a problem, programs and the errors that Clojush gave them."""
    cases = json.loads((RECORDS / "error-cases.json").read_text(encoding="utf-8"))[problem]
    stack, error, penalty = PROBLEMS[problem]
    inputs = [[value_of(item) for item in case["inputs"]] for case in cases]
    expected = [value_of(case["output"]) for case in cases]
    evaluator = Evaluator(inputs, expected, stack=stack, error=error, penalty=penalty)  # type: ignore[arg-type]
    chosen = [record for record in records(RECORDS / "errors.jsonl.gz") if record["problem"] == problem]
    programs = [genome_of(record["genome"]).translate() for record in chosen]
    return evaluator, programs, np.array([record["errors"] for record in chosen], dtype=float)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_errors_agree_with_clojush_on_any_number_of_threads(problem: str) -> None:
    evaluator, programs, expected = recorded(problem)
    assert len(programs) > 10
    for threads in (1, 2, 5):
        np.testing.assert_array_equal(evaluator.errors(programs, threads), expected)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
def test_identical_programs_count_as_if_each_were_run(threads: int) -> None:
    """Copies take over errors of the first: another program's, or steps that are left out, would spoil a record."""
    evaluator, programs, expected = recorded("last-index-of-zero")
    evaluator.errors(programs, 1)
    alone = evaluator.steps
    order = np.random.default_rng(1).integers(len(programs), size=3 * len(programs))
    copies = [Program.from_bytes(programs[i].to_bytes()) for i in order]
    np.testing.assert_array_equal(evaluator.errors(copies, threads), expected[order])
    together = evaluator.steps - alone
    evaluator.steps = 0
    for program in copies:
        evaluator.errors([program], 1)
    assert evaluator.steps == together
    evaluator.errors(programs, 1)
    assert evaluator.steps == together + alone


def test_programs_that_differ_in_a_single_bit_are_not_identical() -> None:
    codes = [(1,), (BigInteger(1),), (2,), (1.0,), (Float32(1.0),), (-0.0,), (0.0,), ("a",), ("b",), ([1],), ([1.0],)]
    codes += [((1,),), (1, 1), (Symbol("tag_exec_1"),), (Symbol("tag_code_1"),), (), ((),), (True,), (Char("a"),)]
    programs = [Program((*code, Symbol("print_exec"), code)) for code in codes]
    texts = [str(run(program).stacks["output"][0]) for program in programs]
    evaluator = Evaluator([[0]] * 4, [""] * 4, stack="output", error="levenshtein")
    found = evaluator.errors(programs * 2, 1)
    assert found.tolist() == [[len(text)] * 4 for text in texts] * 2


def test_a_program_that_reads_no_input_is_measured_on_every_case() -> None:
    evaluator = Evaluator([[1], [2], [3]], [1, 2, 3], stack="integer")
    programs = [Program("(2)"), Program("(in1)"), Program("(2)"), Program("(2 exec_y ())")]
    assert evaluator.errors(programs, 1).tolist() == [[1, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 1]]
    assert evaluator.steps == 3 * (2 + 2 + 2 + 600)


def test_lazy_errors_are_of_the_whole_matrix() -> None:
    evaluator, programs, expected = recorded("mirror-image")
    rng = np.random.default_rng(1)
    rows = rng.integers(len(programs), size=200)
    columns = rng.integers(expected.shape[1], size=200)
    np.testing.assert_array_equal(evaluator.on_demand(programs, 2)(rows, columns), expected[rows, columns])


def test_lazy_runs_just_what_is_asked() -> None:
    evaluator = Evaluator([[1], [2]], [1, 2], stack="integer")
    evaluator.on_demand([Program("(in1)")])(0, 1)
    assert evaluator.steps == 2


@pytest.mark.parametrize(
    ("stack", "error", "program", "expected", "value"),
    [
        ("output", "levenshtein", '("kitten" print_string)', "sitting", 3),
        ("output", "levenshtein", "()", "abc", 3),
        ("string", "levenshtein", '("flaw")', "lawn", 2),
        ("vector_integer", "levenshtein", "([1 2 3])", [2, 3, 4], 2),
        ("vector_integer", "vector_difference", "([1 5])", [2, 3, 4], 1 + 2 + 10_000),
        ("float", "rounded", "(0.123449)", 0.0, 0.1234),
        ("float", "absolute", "(2.5)", 1.0, 1.5),
        ("string", "mismatch", '("a")', "a", 0),
        ("boolean", "mismatch", "(true)", False, 1),
        ("vector_float", "vector_difference", "()", [1.0], 77),
    ],
)
def test_each_error(stack: str, error: str, program: str, expected: object, value: float) -> None:
    evaluator = Evaluator([[]], [expected], stack=stack, error=error, penalty=77)  # type: ignore[arg-type]
    assert evaluator.errors([Program(program)]).item() == pytest.approx(value)


def test_a_python_error_function_gets_all_answers() -> None:
    def squared(answers: list, expected: list) -> list[float]:
        return [99.0 if a is None else (a - e) ** 2 for a, e in zip(answers, expected, strict=True)]

    evaluator = Evaluator([[1], [2]], [4, 4], stack="integer", error=squared)
    assert evaluator.errors([Program("(in1)"), Program("()")]).tolist() == [[9.0, 4.0], [99.0, 99.0]]
    with pytest.raises(ValueError, match="error must be a name"):
        evaluator.on_demand([])


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="the same length"):
        Evaluator([[1]], [], stack="integer")
    with pytest.raises(ValueError, match=r"stack must be one of .* got 'integers'; did you mean 'integer'"):
        Evaluator([[1]], [1], stack="integers")
    with pytest.raises(ValueError, match="unknown error measure 'absolut'; did you mean 'absolute'"):
        Evaluator([[1]], [1], stack="integer", error="absolut")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot be measured"):
        Evaluator([[1]], [1], stack="boolean", error="absolute").errors([Program("()")])
    with pytest.raises(ValueError, match=r"expected\[0\] must be a number"):
        Evaluator([[1]], ["a"], stack="integer", error="absolute").errors([Program("()")])
    with pytest.raises(IndexError, match="individuals"):
        Evaluator([[1]], [1], stack="integer").on_demand([Program("()")])(1, 0)


def test_a_program_that_is_stopped_still_gives_its_answer() -> None:
    evaluator = Evaluator([[]], [1], stack="integer", limits=Limits(steps=20))
    assert evaluator.errors([Program("(1 exec_y ())")]).item() == 0
    assert evaluator.steps == 20


# Measures of answers, against plain Python.


def error(measure: ErrorMeasure, target: Value, *code: Value) -> float:
    return Evaluator([[]], [target], measures=[measure]).errors([Program(code)], threads=1).item()


def printed(text: str, error_name: str, target: Value, **options: Value) -> float:
    measure = ErrorMeasure("output", error_name, **options)  # type: ignore[arg-type]
    return error(measure, target, text, Symbol("print_string"))


def edits(a: list, b: list) -> int:
    """The distance by its definition, row by row of the table."""
    kinds = {value: kind for kind, value in enumerate([*a, *b])}
    others, places = np.array([kinds[y] for y in b], np.int64), np.arange(len(b) + 1)
    row = places
    for x in a:
        from_above = np.concatenate([[row[0] + 1], np.minimum(row[:-1] + (others != kinds[x]), row[1:] + 1)])
        row = np.minimum.accumulate(from_above - places) + places  # one more for each step to the right
    return int(row[-1])


@pytest.mark.usefixtures("decimal_comma")
def test_decimals_have_a_point_in_every_locale() -> None:
    """With a decimal comma, the answer 1.5 would be read as 1.0."""
    assert printed("1.5", "number", 1.5, penalty=9) == 0
    assert printed("n: 1.5", "decimal_after", 1.5, label="n: ", penalty=9) == 0


TEXTS = st.text(alphabet="ab é\U0001f600", max_size=150)
LINES = st.text(alphabet="-0123 \na", max_size=40)


@given(TEXTS, TEXTS)
def test_levenshtein_of_texts_counts_utf16_units(a: str, b: str) -> None:
    units = [list(memoryview(text.encode("utf-16-le")).cast("H")) for text in (a, b)]
    assert error(ErrorMeasure("string", "levenshtein"), b, a) == edits(*units)


@pytest.mark.slow
@given(
    st.lists(st.integers(-2, 2), min_size=1, max_size=150), st.lists(st.integers(-2, 2), max_size=150), st.booleans()
)
def test_levenshtein_of_vectors(a: list[int], b: list[int], floats: bool) -> None:
    if floats:
        a, b = [float(x) for x in a], [float(x) for x in b]  # type: ignore[misc]
    stack = "vector_float" if floats else "vector_integer"
    assert error(ErrorMeasure(stack, "levenshtein"), b, a) == edits(a, b)


@pytest.mark.parametrize("length", [1, 63, 64, 65, 129, 1023, 1024, 1025])
def test_levenshtein_of_vectors_of_many_numbers(length: int) -> None:
    """Numbers with the same hash, the least and the greatest number, and more of them than are looked up by hash."""
    rng = np.random.default_rng(length)
    pool = [*rng.integers(-(2**63), 2**63 - 1, 20).tolist(), 0, 2**32, 2**40, -(2**63), 2**63 - 1]
    pattern = [pool[i] for i in rng.integers(len(pool), size=length)]
    for vector in (pattern[1:] or [5], [7, *pattern], [*pattern[:-1], 8], pattern[::-1], [pool[0]] * 40, pattern):
        found = error(ErrorMeasure("vector_integer", "levenshtein"), pattern, vector)
        assert found == edits(vector, pattern)


@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 129, 300])
def test_levenshtein_at_the_edges_of_blocks(length: int) -> None:
    pattern = "".join(chr(97 + i % 7) for i in range(length))
    for text in (pattern[1:], "x" + pattern, pattern[:-1] + "x", pattern[::-1], "x" * 500, ""):
        assert error(ErrorMeasure("string", "levenshtein"), pattern, text) == edits(list(text), list(pattern))


def lines_of(text: str) -> list[str]:
    stripped = text.rstrip("\n")
    return stripped.split("\n") if stripped else []


@given(LINES, st.integers(0, 5))
def test_integer_lines(text: str, target: int) -> None:
    lines = lines_of(text)
    integers = sum(bool(re.fullmatch("-?[0-9]+", line)) for line in lines)
    assert printed(text, "integer_lines", target) == abs(target - integers) + len(lines) - integers


@given(LINES, st.lists(st.integers(-50, 50), max_size=4))
def test_integer_line_values(text: str, targets: list[int]) -> None:
    values = [int(line) for line in lines_of(text) if re.fullmatch("-?[0-9]+", line)]
    paired = [abs(x - y) if -(2**31) <= y < 2**31 else 100 for x, y in zip(targets, values, strict=False)]
    missing = 100 * max(0, len(targets) - len(values))
    assert printed(text, "integer_line_values", targets, penalty=100) == sum(paired) + missing


@pytest.mark.slow
@given(st.text(alphabet="ab \n\t", max_size=40), st.integers(1, 4), st.integers(1, 4))
def test_words_per_line(text: str, full: int, last: int) -> None:
    words = [max(len(line.split()), 1) for line in lines_of(text)] or [1]
    expected = sum(abs(full - n) for n in words[:-1]) + abs(last - words[-1])
    assert printed(text, "words_per_line", [full, last]) == expected


@given(st.text(alphabet="01 a\n", max_size=40), st.integers(0, 3))
def test_difference_lines(text: str, target: int) -> None:
    found = sum(bool(re.fullmatch(r"[0-9]+ \S \S", line)) for line in lines_of(text))
    assert printed(text, "difference_lines", target) == abs(target - found)


@given(st.text(alphabet="12 -\n", max_size=20), st.integers(0, 30))
def test_last_integer(text: str, target: int) -> None:
    last = text.rsplit(maxsplit=1)[-1] if text.split() else ""
    expected = abs(int(last) - target) if re.fullmatch("-?[0-9]+", last) else 77
    assert printed(text, "last_integer", target, penalty=77) == expected


@given(st.text(alphabet="n: 12.-", max_size=20))
def test_numbers_after_a_label(text: str) -> None:
    after = text.partition("n: ")[2] if "n: " in text else ""
    whole, point = re.match("-?[0-9]+", after), re.match(r"-?[0-9]+\.[0-9]+", after)
    assert printed(text, "integer_after", 3, label="n: ", penalty=9) == (abs(int(whole[0]) - 3) if whole else 9)
    decimal = printed(text, "decimal_after", 3.0, label="n: ", penalty=9, decimals=2)
    assert decimal == (np.float32(math.floor(abs(float(point[0]) - 3) * 100 + 0.5) / 100) if point else 9)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 0), (" 1.5\n", 0), ("1.5f", 0), ("15e-1", 0), ("2", 0.5), ("", 9), ("1.5.", 9), ("NaN", 9), ("1e400", 9)],
)
def test_a_text_as_a_number(text: str, value: float) -> None:
    assert printed(text, "number", 1.5, penalty=9) == value


@pytest.mark.parametrize(
    ("answer", "decimals", "value"),
    [(0.123449, 4, 0.1234), (0.12345, 4, 0.1235), (1e12, 4, 1e12), (2.5, 0, 3.0), (0.49999999999999994, 0, 0.0)],
)
def test_rounding_is_to_the_nearest_ties_upward(answer: float, decimals: int, value: float) -> None:
    assert error(ErrorMeasure("float", "rounded", decimals=decimals), 0.0, answer) == value


def test_numbers_that_no_float_holds_say_nothing() -> None:
    endless = "9" * 400
    assert printed(endless, "last_integer", 1, penalty=9) == 9
    assert printed("n: " + endless, "integer_after", 1, label="n: ", penalty=9) == 9
    assert math.isfinite(printed(f"n: {endless}.5", "decimal_after", 1, label="n: ", penalty=9))
    assert printed(endless, "integer_line_values", [1], penalty=9) == 9


def test_newlines_and_characters() -> None:
    assert printed("a\n\nb\n", "newlines", 1) == 2
    assert printed("ab", "last_character", "xc", penalty=9) == 1
    assert printed("", "last_character", "xc", penalty=9) == 9
    assert printed("<b>", "letter", "a", label="<*>", penalty=9) == 1
    assert printed("<b>>", "letter", "a", label="<*>", penalty=9) == 9
    assert printed("<bZ", "letter", "b", label="<*?", penalty=9) == 0


def test_a_function_is_asked_once_for_each_answer() -> None:
    calls: list[tuple[Value, Value]] = []

    def squared(answer: Value, target: Value) -> float:
        calls.append((answer, target))
        return float((answer - target) ** 2)

    measures = [
        ErrorMeasure("integer", squared, penalty=50),
        ErrorMeasure("output", "levenshtein", target=lambda *_: "x"),
    ]
    evaluator = Evaluator([[1], [2]], [4, 4], measures=measures)
    programs = [Program("(in1)"), Program("(in1 integer_inc integer_dec)"), Program("()")]
    expected = [[9.0, 1.0, 4.0, 1.0], [9.0, 1.0, 4.0, 1.0], [50.0, 1.0, 50.0, 1.0]]
    assert evaluator.errors(programs).tolist() == expected
    assert calls == [(1, 4), (2, 4)]
    assert evaluator.on_demand(programs)([0, 2], [2, 0]).tolist() == [4.0, 50.0]


@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_a_function_must_give_an_error(value: float) -> None:
    evaluator = Evaluator([[1]], [1], measures=[ErrorMeasure("integer", lambda *_: value)])
    with pytest.raises(ValueError, match=r"the error of measures\[0\] must"):
        evaluator.errors([Program("(in1)")])


def test_wrong_measures_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'absolute'"):
        ErrorMeasure("integer", "absolut")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="error must be a function"):
        ErrorMeasure("integer", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="penalty must be finite"):
        ErrorMeasure("integer", penalty=float("inf"))
    with pytest.raises(ValueError, match="decimals must be at most 15, got 99"):
        ErrorMeasure("float", "rounded", decimals=99)
    with pytest.raises(ValueError, match="label must be ASCII"):
        ErrorMeasure("output", "letter", label="é*")
    with pytest.raises(ValueError, match="either stack or measures"):
        Evaluator([[1]], [1])
    with pytest.raises(ValueError, match="measures must not be empty"):
        Evaluator([[1]], [1], measures=[])
    with pytest.raises(ValueError, match="NaN, but case 1"):
        Evaluator([[1], [2]], [1.0, float("nan")], stack="float")


@pytest.mark.parametrize(
    ("name", "stack", "target"),
    [
        ("number", "integer", 1.0),
        ("last_character", "output", ""),
        ("letter", "output", 1),
        ("integer_line_values", "output", ["a"]),
        ("words_per_line", "output", [1]),
        ("rounded_text", "float", 1.0),
        ("rounded_answer", "output", 1.0),
        ("newlines", "string", "a"),
    ],
)
def test_measures_refuse_stacks_and_targets_of_another_kind(name: str, stack: str, target: Value) -> None:
    with pytest.raises(ValueError, match=r"cannot be measured on the stack|must be .* for the error"):
        error(ErrorMeasure(stack, name), target, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("name", "stack", "target", "whole"),
    [("absolute", "float", 1.0, False), ("vector_difference", "vector_float", [1.0, 2.0], True)],
)
def test_answers_without_a_finite_error_get_the_penalty(
    name: str, stack: str, target: Value, whole: bool, value: float
) -> None:
    """An error that is NaN or infinite would stop the selection of a whole generation, or spoil its means."""
    answer = [2.0, value] if whole else value
    assert error(ErrorMeasure(stack, name, penalty=77.0), target, answer) == 77.0  # type: ignore[arg-type]
