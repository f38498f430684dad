"""Errors of programs on cases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conformance import genome_of, records, value_of
from flexicase.push import Evaluator, Limits, Program

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


def test_lazy_errors_are_those_of_the_whole_matrix() -> None:
    evaluator, programs, expected = recorded("mirror-image")
    rng = np.random.default_rng(1)
    rows = rng.integers(len(programs), size=200)
    columns = rng.integers(expected.shape[1], size=200)
    np.testing.assert_array_equal(evaluator.lazy(programs, 2)(rows, columns), expected[rows, columns])


def test_lazy_runs_just_what_is_asked() -> None:
    evaluator = Evaluator([[1], [2]], [1, 2], stack="integer")
    evaluator.lazy([Program("(in1)")])(0, 1)
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
        evaluator.lazy([])


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
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
        Evaluator([[1]], [1], stack="integer").lazy([Program("()")])(1, 0)


def test_a_program_that_is_stopped_still_gives_its_answer() -> None:
    evaluator = Evaluator([[]], [1], stack="integer", limits=Limits(steps=20))
    assert evaluator.errors([Program("(1 exec_y ())")]).item() == 0
    assert evaluator.steps == 20
