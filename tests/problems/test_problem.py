"""Problems that users define."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flexicase import problems
from flexicase.gp import evolve
from flexicase.problems import (
    Cases,
    ErrorMeasure,
    FixedCases,
    Problem,
    ProblemSettings,
    RandomCases,
    SplitCases,
    Variation,
    random_inputs,
    read_program,
    score,
)
from flexicase.push import Program, ProgramFunction, RandomInteger, Symbol


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


def test_settings_of_numpy_are_recorded_as_numbers() -> None:
    """A run with such a threshold failed when its settings were written."""
    settings = ProblemSettings(np.int64(5), np.int32(3), np.uint8(9), np.float16(0.5)).as_dict()
    assert json.loads(json.dumps({k: settings[k] for k in ("population", "generations", "steps", "error_threshold")}))
    shares = np.array([1, 0, 0, 0])
    variation = Variation(
        max_points=np.int64(8),
        max_initial_genome=np.int64(2),
        silent_probability=np.float16(1),
        close_probabilities=shares,
    )
    recorded = variation.as_dict()
    assert json.loads(json.dumps({k: v for k, v in recorded.items() if k != "operators"}))


def test_settings_can_be_copied_and_kept() -> None:
    settings = problems.load("number-io").settings
    assert pickle.loads(pickle.dumps(settings)) == settings == copy.deepcopy(settings)
    assert hash(settings) == hash(copy.copy(settings))
    with pytest.raises(TypeError):
        settings.variation.operators["alternation"] = 1.0  # type: ignore[index]


@pytest.mark.parametrize("name", ["mirror-image", "gcd"])
def test_problems_of_the_suites_can_be_pickled_by_name(name: str) -> None:
    problem = problems.load(name)
    assert pickle.loads(pickle.dumps(problem)) is problem
    assert copy.deepcopy(problem) is problem


def test_a_problem_of_ones_own_with_the_name_of_another_is_not_pickled_as_that() -> None:
    problem = larger(name="gcd", sources=[FixedCases([(1, 2), (2, 1)])])
    assert pickle.loads(pickle.dumps(problem)).description == problem.description
    assert copy.deepcopy(problem).description == problem.description


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


# Problems without a right answer: a score of what programs give, or a function that calls the program.


def guess(**changes: object) -> Problem:
    """Come close to the root of a number, which no case tells."""
    fields = {
        "answer": None,
        "measures": [ErrorMeasure("float", lambda found, inputs: abs(found * found - inputs[0]), penalty=1000)],
        "sources": [RandomCases(lambda rng: (random_inputs.floats(rng, 1, 1.0, 9.0)[0],), train=8, test=20)],
        "stacks": ["exec", "float"],
        "generators": [1.0, Symbol("in1")],
        **changes,
    }
    return larger(**fields)


def test_errors_can_come_from_the_answers_alone() -> None:
    problem = guess()
    train, _ = problem.sample(1)
    assert train.expected == [None] * 8
    roots = [Program("(in1 float_sqrt)"), Program("(1.0)"), Program("()")]
    errors = problem.evaluator(train).errors(roots)
    assert errors[0].max() < 1e-12
    np.testing.assert_allclose(errors[1], [given[0] - 1 for given in train.inputs])
    assert errors[2].tolist() == [1000] * 8
    outcome = problems.score(problem, roots[1], n_random_cases=5)
    assert (outcome.expected(0), outcome.answer(0)) == (None, 1.0)


def test_without_an_answer_measures_are_functions_or_have_targets() -> None:
    with pytest.raises(ValueError, match="measures must be functions if answer is None, got 'absolute'"):
        guess(measures=[ErrorMeasure("float", "absolute")])
    problem = guess(measures=[ErrorMeasure("float", "absolute", target=lambda inputs, _: 2 * inputs[0])])
    assert problems.score(problem, Program("(in1 in1 float_add)"), n_random_cases=5).passed


def walk(walker: Callable[..., object], start: int) -> float:
    """How far from 0 a walker ends that is told where it is."""
    position = start
    for _ in range(5):
        position += {True: -1, False: 1, None: 0}[walker(position)]
    return abs(position)


def walking(**changes: object) -> Problem:
    fields = {
        "answer": None,
        "measures": (),
        "evaluate": walk,
        "outputs": ["boolean"],
        "sources": [
            FixedCases([(3,), (-5,), (4,)]),
            RandomCases(lambda rng: (random_inputs.integer(rng, -5, 5),), train=2),
        ],
        "generators": [0, Symbol("in1")],
        **changes,
    }
    return larger(**fields)


def test_a_function_can_evaluate_a_program() -> None:
    problem = walking()
    assert problem.errors_per_case == 1
    cases = problem.fixed_cases()
    evaluator = problem.evaluator(cases)
    programs = [Program("(in1 0 integer_gt)"), Program("()")]
    assert evaluator.errors(programs, threads=2).tolist() == [[0, 0, 1], [3, 5, 4]]
    assert evaluator.steps == 3 * 5 * 4 + 3 * 5
    assert evaluator.on_demand(programs)([1, 0], [2, 0]).tolist() == [4, 0]
    outcome = problems.score(problem, programs[0], n_random_cases=3)
    assert (outcome.expected(0), outcome.answer(0)) == (None, None)


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("problem", [guess(), walking()], ids=["score", "function"])
def test_such_problems_evolve(problem: Problem, partial: bool, tmp_path: Path) -> None:
    run = evolve(problem, population=30, generations=4, seed=1, threads=1, partial=partial)
    again = evolve(problem, population=30, generations=4, seed=1, threads=2, partial=partial)
    assert str(run.best) == str(again.best)
    assert run.train_errors.tolist() == again.train_errors.tolist()
    errors = problem.evaluator(problem.sample(seed=0)[0]).errors([run.best])
    assert np.isfinite(errors).all()
    run.best.save(tmp_path / "best.json")
    loaded = ProgramFunction.load(tmp_path / "best.json")
    assert [loaded(given) for given in (2, 3)] == [run.best(given) for given in (2, 3)]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"evaluate": 3}, TypeError, "evaluate must be a function of a program and the inputs, got 3"),
        ({"answer": max}, ValueError, "evaluate must be given alone"),
        ({"measures": [ErrorMeasure("integer", "absolute")]}, ValueError, "evaluate must be given alone"),
        ({"outputs": ()}, ValueError, "outputs must not be empty"),
        ({"outputs": ["x"]}, ValueError, "stack must be one of"),
        ({"outputs": "integer"}, TypeError, "outputs must be a sequence"),
    ],
)
def test_wrong_evaluations_are_refused(changes: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        walking(**changes)


@pytest.mark.parametrize(
    ("found", "error"),
    [("x", TypeError), (None, TypeError), (float("nan"), ValueError), (-1, ValueError), (float("inf"), ValueError)],
)
def test_errors_that_a_function_must_not_return(found: object, error: type[Exception]) -> None:
    problem = walking(evaluate=lambda program, start: found)
    with pytest.raises(error, match="the error that evaluate returns must be"):
        problem.evaluator(problem.fixed_cases()).errors([Program("()")])


def test_exceptions_of_the_function_are_passed_on() -> None:
    problem = walking(evaluate=lambda program, start: program(start) + 1)
    with pytest.raises(TypeError, match="NoneType"):
        problem.evaluator(problem.fixed_cases()).errors([Program("()")])
    few = walking(evaluate=lambda program, start: float(program() is None))
    with pytest.raises(TypeError, match="the program reads more inputs than the 0 given"):
        few.evaluator(few.fixed_cases()).errors([Program("(in1)")])


# Programs that other people wrote, tried on a problem.


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("(in1 in2 integer_add)", "(in1 in2 integer_add)"),
        ("in1 in2 integer_add", "(in1 in2 integer_add)"),
        ("in1", "(in1)"),
        ("()", "()"),
        ("((in1))", "((in1))"),
        ("(in1) (in2)", "((in1) (in2))"),
        ("; by hand\n(tag_exec_5 (1) tagged_5 tag_vector_integer_3 untag_4)", None),
        ('(1 ; one\n \\space "a" [1 2] [])', '(1 \\space "a" [1 2] [])'),
    ],
)
def test_programs_are_read(text: str, program: str | None) -> None:
    found = read_program(text, n_inputs=2)
    assert program is None or str(found) == program


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text must hold a program"),
        ("(in3)", r"the program reads in3, but there are 2 input\(s\)"),
        ("((1 (integer_ad)))", "unknown instruction 'integer_ad'; did you mean 'integer_add'"),
        ("(integer_add", "not closed"),
        ("([1 [2]])", "must be a vector of ints, floats, bools or strs .* got list"),
        ("([1 2.0])", "must be a vector of values of one kind .* got float"),
        ("(99999999999999999999)", "64 bits"),
    ],
)
def test_what_cannot_run_is_refused_before_it_runs(text: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        read_program(text, n_inputs=2)


def test_a_score_says_what_went_wrong() -> None:
    problem = problems.load("replace-space-with-newline")
    outcome = score(problem, Program("(in1 print_string in1 string_length)"), n_random_cases=10, seed=1)
    assert (outcome.n_fixed, len(outcome.cases)) == (30, 40)
    assert not outcome.passed
    assert outcome.failing == [i for i, (text,) in enumerate(outcome.cases.inputs) if " " in text]
    first = outcome.failing[0]
    (text,) = outcome.cases.inputs[first]
    assert outcome.answer(first) == (text, len(text))
    assert outcome.expected(first) == (text.replace(" ", "\n"), len(text) - text.count(" "))
    assert outcome.total == outcome.errors.sum() > 0


def test_scores_repeat_with_their_seed() -> None:
    problem = problems.load("smallest")
    program = Program("(in1 print_integer)")
    assert score(problem, program, seed=4).errors.tolist() == score(problem, program, seed=4).errors.tolist()
    assert score(problem, program, seed=4).cases.inputs != score(problem, program, seed=5).cases.inputs


def test_a_problem_without_fixed_cases_needs_fresh_ones() -> None:
    with pytest.raises(ValueError, match="n_random_cases must be at least 1, because median has no fixed cases"):
        score(problems.load("median"), Program("()"), n_random_cases=0)
