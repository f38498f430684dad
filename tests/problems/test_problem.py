"""Problems that users define."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from flexicase import problems
from flexicase.problems import (
    Cases,
    ErrorMeasure,
    FixedCases,
    Problem,
    ProblemSettings,
    RandomCases,
    SplitCases,
    random_inputs,
)
from flexicase.push import Program, RandomInteger, Symbol


def larger(**changes: object) -> Problem:
    """The larger of two integers."""
    fields = {
        "name": "larger",
        "description": "Return the larger of two integers.",
        "answer": max,
        "sources": [
            FixedCases([(1, 2), (2, 1)]),
            RandomCases(lambda rng: tuple(random_inputs.integers(rng, 2, -9, 9)), train=8, test=20),
        ],
        "measures": [ErrorMeasure("integer", "absolute", penalty=100)],
        "stacks": ["exec", "integer", "boolean"],
        "generators": [RandomInteger(-9, 9), Symbol("in1"), Symbol("in2")],
        **changes,
    }
    return Problem(**fields)  # type: ignore[arg-type]


def test_a_problem_of_ones_own_works_like_the_others() -> None:
    problem = larger()
    train, test = problem.sample(seed=1)
    assert (len(train), len(test)) == (10, 20)
    assert problem.title == "Larger"
    assert len(problem.genes()) == 3 + 71
    programs = [Program("(in1 in2 integer_max)"), Program("(in1)"), Program("()")]
    errors = problem.evaluator(train).errors(programs)
    assert errors.shape == (3, 10)
    assert errors.sum(axis=1)[0] == 0
    assert errors[2].tolist() == [100.0] * 10
    assert list(problem.fixed_cases()) == [((1, 2), 2), ((2, 1), 2)]
    assert problems.score(problem, programs[0], n_random_cases=20).passed


def test_seeds_are_those_of_the_package() -> None:
    problem = larger()
    for seed in (3, np.random.SeedSequence(3)):
        assert list(problem.sample(seed)[1]) == list(problem.sample(seed)[1])
    rng = np.random.default_rng(3)
    assert list(problem.sample(rng)[1]) != list(problem.sample(rng)[1])
    with pytest.raises(ValueError, match="seed must not be negative"):
        problem.sample(-1)


def test_the_same_cases_on_every_platform() -> None:
    """Recorded once; a change would silently change every seeded run."""
    train, test = problems.load("mirror-image").sample(seed=7)
    assert train.inputs[23][0][:5] == [-813, -132, 952, 209, 595]
    assert test.inputs[-1][1][:5] == [-465, -63, -754, 299, 976]
    assert problems.load("pig-latin").draw_cases(1, seed=7).inputs == [("mfczgrzjqng riljiio iz",)]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"name": ""}, ValueError, "name must not be empty"),
        ({"answer": 3}, TypeError, "answer must be a function"),
        ({"sources": []}, ValueError, "sources must not be empty"),
        ({"measures": []}, ValueError, "measures must not be empty"),
        (
            {"extra_instructions": ["integer_nope"]},
            ValueError,
            "extra_instructions: unknown instruction 'integer_nope'; did you mean 'integer_",
        ),
        (
            {"stacks": ["exec", "integers"]},
            ValueError,
            "stacks must be one of .* got 'integers'; did you mean 'integer'",
        ),
        ({"stacks": "exec"}, TypeError, "stacks must be a sequence, got 'exec'"),
        ({"settings": "fast"}, TypeError, "settings must be ProblemSettings"),
        ({"sources": [(1, 2)]}, TypeError, "sources must be case sources such as RandomCases"),
        ({"measures": ["absolute"]}, TypeError, "measures must be ErrorMeasure"),
    ],
)
def test_wrong_definitions_are_refused(changes: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        larger(**changes)


def test_wrong_cases_are_refused() -> None:
    def of(draw: object) -> Problem:
        return larger(sources=[RandomCases(draw, train=3)])  # type: ignore[arg-type]

    with pytest.raises(TypeError, match=r"the inputs of a case of larger must be a tuple, got 5"):
        of(lambda rng: 5).sample(1)
    with pytest.raises(ValueError, match=r"answer of larger failed on the inputs \(1, 'a'\): TypeError"):
        of(lambda rng: (1, "a")).sample(1)
    sizes = iter([2, 3, 2])
    with pytest.raises(ValueError, match="the same number of inputs, got 2 and 3"):
        of(lambda rng: (1,) * next(sizes)).sample(1)
    with pytest.raises(ValueError, match="NaN, but case 0"):
        larger().evaluator(Cases([(1.0, 2.0)], [float("nan")]))
    with pytest.raises(ValueError, match="cases must not be empty"):
        larger().evaluator(Cases())
    with pytest.raises(ValueError, match="the same length"):
        Cases([(1,)], [])
    with pytest.raises(TypeError, match=r"inputs\[0\]\[0\] must be an int, float"):
        larger().evaluator(Cases([(object(), 1)], [1]))
    with pytest.raises(ValueError, match=r"expected\[0\] must be a number for the error"):
        larger().evaluator(Cases([(1, 1)], ["x"])).errors([Program("()")])
    with pytest.raises(ValueError, match="which has only fixed cases"):
        larger(sources=[FixedCases([(1, 2)])]).draw_cases(1)
    with pytest.raises(TypeError, match="draw must be a function"):
        RandomCases((1, 2), train=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"train \+ test must not exceed the 1 inputs"):
        SplitCases([(1,)], train=1, test=1)
    with pytest.raises(ValueError, match="train must be at least 0"):
        RandomCases(lambda rng: (1,), train=-1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"variation": {}}, "variation must be a Variation"),
        ({"error_threshold": float("nan")}, "error_threshold must be a number, got NaN"),
        ({"population": 0}, "population must be at least 1"),
    ],
)
def test_wrong_settings_are_refused(changes: dict, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        ProblemSettings(**changes)


def test_settings_can_be_copied_and_kept() -> None:
    settings = problems.load("number-io").settings
    assert pickle.loads(pickle.dumps(settings)) == settings == copy.deepcopy(settings)
    assert hash(settings) == hash(copy.copy(settings))
    with pytest.raises(TypeError):
        settings.variation.operators["alternation"] = 1.0  # type: ignore[index]


def test_unknown_problems_suggest_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'mirror-image'"):
        problems.load("mirror_imag")
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        problems.load(3)  # type: ignore[arg-type]


def test_cases_that_belong_together_stay_together() -> None:
    source = RandomCases(lambda rng: [(n,) for n in range(3)], train=5, test=2)
    train, test = source.sample(random_inputs.generator(0))
    assert train == [(0,), (1,), (2,), (0,), (1,)]
    assert test == [(0,), (1,)]


def test_without_test_cases_there_is_neither_success_nor_failure() -> None:
    assert larger().success([]) is None
    assert larger().success([0.0]) is True
    assert larger().success([float("nan")]) is False
