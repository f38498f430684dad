"""Problems of listed cases."""

from __future__ import annotations

import pytest

from flexicase import problems
from flexicase.problems import ErrorMeasure, from_cases
from flexicase.push import Program, RandomInteger, Symbol


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
        ([((1,), 1), ((1, 2), 1)], "case 1 must have as many inputs as the first, 1, but has 2"),
        ([((1,), 1), ((2,), (1, 2))], "case 1 must have as many outputs as the first"),
        ([((), 1)], "case 0 must have as many inputs"),
        ([((1,), 1), (("a",), 1)], "case 1 has string after integer"),
        ([((1,), 1), ((2,), 1.0)], "case 1 has float after integer"),
        ([((float("nan"),), 1)], "values must be finite, but case 0 has nan"),
        ([((1,), float("inf"))], "values must be finite"),
        ([((2**63,), 1)], "integers must fit in 64 bits"),
        ([((None,), 1)], "values must be numbers, truth values, texts or vectors, but case 0 has None"),
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
