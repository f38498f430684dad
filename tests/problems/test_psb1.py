"""The problems of the benchmark suite: figures, solutions, and a second reading of their descriptions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from flexicase import problems
from flexicase.problems import Cases, Problem
from flexicase.problems.files import read_carried
from flexicase.push import (
    InstructionSet,
    Limits,
    Program,
    RandomBoolean,
    RandomChar,
    RandomInteger,
    RandomWords,
    RunState,
    Symbol,
    run,
    to_text,
)
from flexicase.push.program import Value

from ._helpers import FOLDER, SETTINGS, atoms, pieces_left, solution
from .oracle import ANSWERS, Answer, printed_float, right
from .oracle_errors import ERRORS
from .oracle_inputs import INPUTS

# The problems that come with the package: sizes, settings and answers, against the published figures.


PSB1 = problems.names("psb1")
PUBLISHED = Path(__file__).parent / "published"


class Figures(NamedTuple):
    """What was published of a problem."""

    explicit: int
    registered: int
    train: int
    test: int
    edge: int
    errors: int
    max_points: int
    max_initial_genome: int
    steps: int


FIGURES = {
    "mirror-image": Figures(5, 105, 100, 1000, 23, 1, 1200, 150, 600),
    "last-index-of-zero": Figures(4, 105, 150, 1000, 72, 1, 1200, 150, 600),
    "checksum": Figures(8, 138, 300, 2000, 106, 2, 3200, 400, 1500),
    "collatz-numbers": Figures(6, 104, 200, 2000, 16, 1, 2400, 300, 15000),
    "compare-string-lengths": Figures(6, 100, 100, 1000, 22, 1, 1600, 200, 600),
    "count-odds": Figures(7, 105, 200, 2000, 32, 1, 2000, 250, 1500),
    "digits": Figures(5, 138, 100, 1000, 15, 1, 1200, 150, 600),
    "double-letters": Figures(4, 138, 100, 1000, 32, 1, 3200, 400, 1600),
    "even-squares": Figures(3, 75, 100, 1000, 17, 3, 1600, 200, 2000),
    "for-loop-index": Figures(5, 75, 100, 1000, 10, 1, 1200, 150, 600),
    "grade": Figures(15, 105, 200, 2000, 41, 2, 1600, 200, 800),
    "median": Figures(6, 75, 100, 1000, 0, 1, 800, 100, 200),
    "negative-to-zero": Figures(5, 105, 200, 2000, 17, 1, 2000, 250, 1500),
    "number-io": Figures(6, 48, 25, 1000, 0, 2, 800, 100, 200),
    "pig-latin": Figures(13, 138, 200, 1000, 33, 1, 4000, 500, 2000),
    "replace-space-with-newline": Figures(7, 138, 100, 1000, 30, 2, 3200, 400, 1600),
    "scrabble-score": Figures(4, 166, 200, 1000, 50, 1, 4000, 500, 2000),
    "small-or-large": Figures(6, 105, 100, 1000, 27, 1, 800, 100, 300),
    "smallest": Figures(7, 75, 100, 1000, 5, 1, 800, 100, 200),
    "string-differences": Figures(7, 138, 200, 2000, 30, 2, 4000, 500, 2000),
    "string-lengths-backwards": Figures(4, 140, 100, 1000, 10, 1, 1200, 150, 600),
    "sum-of-squares": Figures(6, 71, 50, 100, 6, 1, 1600, 200, 4000),
    "super-anagrams": Figures(7, 132, 200, 2000, 30, 1, 3200, 400, 1600),
    "syllables": Figures(13, 138, 100, 1000, 17, 2, 3200, 400, 1600),
    "vector-average": Figures(3, 93, 250, 2550, 10, 1, 1600, 200, 800),
    "vectors-summed": Figures(6, 68, 150, 1500, 15, 1, 2000, 250, 1500),
    "wallis-pi": Figures(7, 104, 150, 50, 15, 2, 2400, 300, 8000),
    "word-stats": Figures(18, 284, 100, 1000, 36, 3, 3200, 400, 6000),
    "x-word-lines": Figures(6, 138, 150, 2000, 46, 3, 3200, 400, 1600),
}


def test_the_suite_has_29_problems_and_the_quick_one() -> None:
    assert sorted(FIGURES) == sorted(PSB1)
    assert set(problems.names()) - set(problems.names("psb2")) == {*PSB1, "simple-regression"}


@pytest.mark.parametrize("name", PSB1)
def test_figures_are_those_published(name: str) -> None:
    problem, figures = problems.load(name), FIGURES[name]
    assert problem.name == name
    assert len(problem.generators) == figures.explicit
    assert len(problem.genes()) == figures.explicit + figures.registered
    assert problem.genes()[: figures.explicit] == problem.generators
    assert len(problem.measures) == figures.errors
    assert len(problem.fixed_cases()) == figures.edge
    settings = problem.settings
    assert (settings.variation.max_points, settings.variation.max_initial_genome, settings.steps) == figures[-3:]


@pytest.mark.slow
@pytest.mark.parametrize("name", problems.names())
def test_a_sample_has_its_sizes_and_repeats_with_its_seed(name: str) -> None:
    problem = problems.load(name)
    train, test = problem.sample(seed=5)
    if name in FIGURES:
        assert (len(train), len(test)) == (FIGURES[name].train, FIGURES[name].test)
    assert (len(train), len(test)) == tuple(
        sum(getattr(source, size) for source in problem.sources) for size in ("n_train", "n_test")
    )
    again = problem.sample(seed=5)
    assert [list(cases) for cases in again] == [list(train), list(test)]
    assert problem.draw_cases(20, seed=5).inputs != problem.draw_cases(20, seed=6).inputs


@pytest.mark.parametrize("name", PSB1)
def test_answers_are_those_of_the_carried_cases(name: str) -> None:
    problem = problems.load(name)
    carried = read_carried(name)
    cases = problem.fixed_cases()
    assert [case[: len(given)] for case, given in zip(cases.inputs, carried.inputs, strict=True)] == carried.inputs
    assert cases.expected == carried.expected
    computed = problem.cases(cases.inputs).expected
    assert computed == cases.expected
    assert list(map(type, computed)) == list(map(type, cases.expected))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("collatz-numbers", 9984),
        ("even-squares", 9982),
        ("small-or-large", 19994),
        ("sum-of-squares", 93),
        ("wallis-pi", 185),
    ],
)
def test_answers_are_those_of_the_published_random_cases(name: str, count: int) -> None:
    problem = problems.load(name)
    lines = gzip.decompress((PUBLISHED / f"{name}-random.json.gz").read_bytes()).splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) == count
    assert [record for record in records if problem.answer(record["input1"]) != record["output1"]] == []


@pytest.mark.parametrize("name", PSB1)
def test_fixed_cases_of_every_run_are_carried_ones(name: str) -> None:
    problem = problems.load(name)
    fixed = [case for source in problem.sources if not source.can_draw for case in source.inputs]  # type: ignore[attr-defined]
    carried = problem.fixed_cases().inputs
    assert [case for case in fixed if case not in carried] == []


@pytest.mark.parametrize("name", problems.names())
def test_fresh_cases_are_new_and_have_answers(name: str) -> None:
    problem = problems.load(name)
    cases = problem.draw_cases(50, seed=3)
    assert cases.expected == problem.cases(cases.inputs).expected
    assert list(problem.draw_cases(50, seed=3)) == list(cases)
    assert len(set(map(repr, cases.inputs))) > 20
    assert len(problem.draw_cases(0, seed=3)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", problems.names())
def test_the_empty_program_has_finite_errors_that_are_no_success(name: str) -> None:
    problem = problems.load(name)
    train, _ = problem.sample(2)
    evaluator = problem.evaluator(train)
    errors = evaluator.errors([Program("()")], threads=1)
    assert errors.shape == (1, evaluator.n_errors) == (1, len(train) * len(problem.measures))
    assert np.isfinite(errors).all()
    assert not problem.success(errors[0])
    assert problem.success(np.zeros(evaluator.n_errors))
    assert problem.success([problem.settings.error_threshold])
    assert not problem.success([problem.settings.error_threshold + 0.001])


def test_settings_that_differ_from_the_common_ones() -> None:
    common = problems.load("mirror-image").settings
    assert (common.generations, common.population) == (300, 1000)
    variation = common.variation.as_dict()
    assert (variation["alignment_deviation"], variation["constant_tweak_rate"]) == ([10], [0.5])
    assert variation["operators"] == {
        "alternation": 0.2,
        "uniform_mutation": 0.2,
        "uniform_close_mutation": 0.1,
        "alternation+uniform_mutation": 0.5,
    }
    loaded = {name: problems.load(name).settings for name in PSB1}
    variations = {name: settings.variation.as_dict() for name, settings in loaded.items()}
    assert {name for name in PSB1 if loaded[name].generations == 200} == {"median", "number-io", "smallest"}
    assert {name: s.error_threshold for name, s in loaded.items() if s.error_threshold} == {
        "number-io": 1e-4,
        "vector-average": 1e-3,
        "wallis-pi": 1e-3,
        "word-stats": 0.02,
    }
    assert {name for name in PSB1 if variations[name]["alignment_deviation"] == [5]} == {
        "median",
        "number-io",
        "small-or-large",
        "smallest",
    }
    assert [name for name in PSB1 if not variations[name]["close_marker"]] == ["number-io"]
    assert variations["number-io"]["operators"] == {
        "alternation": 0.3,
        "uniform_mutation": 0.2,
        "alternation+uniform_mutation": 0.5,
    }
    assert [name for name in PSB1 if variations[name]["constant_tweak_rate"] == [0.9]] == ["wallis-pi"]


@pytest.mark.parametrize("instruction_set", ["2019", "2021", "2023"])
def test_genes_follow_the_instruction_list(instruction_set: str) -> None:
    problem = problems.load("mirror-image")
    registered = problem.genes(instruction_set)[5:]  # type: ignore[arg-type]
    assert list(registered) == list(InstructionSet.from_stacks(*problem.stacks, instruction_set=instruction_set))  # type: ignore[arg-type]
    assert problem.limits(instruction_set).keep_nan == (instruction_set == "2019")  # type: ignore[arg-type]


def test_small_or_large_tags_strings_under_later_lists_only() -> None:
    problem = problems.load("small-or-large")
    tags = {name: problem.genes(name)[3].stacks for name in ("2019", "2021", "2023")}  # type: ignore[arg-type, union-attr]
    assert {name for name, stacks in tags.items() if "string" in stacks} == {"2021", "2023"}


def test_generators_are_inputs_known_instructions_or_constants() -> None:
    for name in problems.names():
        problem = problems.load(name)
        symbols = [str(entry) for entry in problem.generators if isinstance(entry, Symbol)]
        n_inputs = len(problem.draw_cases(1, 0).inputs[0])
        expected = [f"in{i + 1}" for i in range(n_inputs)]
        if name == "word-stats":
            expected = ["file_readchar", "file_readline", "file_EOF", "file_begin"]
        assert symbols == expected


def test_word_stats_runs_with_the_file_instructions() -> None:
    problem = problems.load("word-stats")
    cases = problem.cases([("ab c.",) * 2])
    evaluator = problem.evaluator(cases)
    program = Program("(file_readchar print_char file_begin file_readline print_string file_EOF print_boolean)")
    assert evaluator.outputs(program) == ["aab c.true"]


# Every problem can be solved: a program written by hand has no error on it, and no piece of that program is idle.


SEED = 20_15
FRESH = 300

every_problem = pytest.mark.parametrize("name", problems.names())
#: Those with a second reading of their description; the second suite has recorded cases instead.
every_read_problem = pytest.mark.parametrize("name", [*PSB1, "simple-regression"])


def trial_cases(problem: Problem) -> Cases:
    """The edge cases, fresh ones, and some that are too rare to be drawn."""
    rare = [([2, 0, 3],), ([1, 0, 1],)] if problem.name == "cut-vector" else []
    return problem.fixed_cases() + problem.draw_cases(FRESH, seed=SEED) + problem.cases(rare)


def can_make(generator: object, literal: Value) -> bool:
    """Whether a generator of random genes can give a literal."""
    match generator:
        case RandomBoolean():
            return isinstance(literal, bool)
        case RandomInteger():
            return type(literal) is int and generator.low <= literal <= generator.high
        case RandomChar():
            return literal in generator.characters
        case RandomWords():
            return literal == "" and generator.low == 0
        case _:
            return type(generator) is type(literal) and generator == literal


def test_each_problem_has_a_solution() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.push")) == sorted(problems.names())


@pytest.mark.slow
@every_read_problem
def test_solution_has_no_error(name: str) -> None:
    problem = problems.load(name)
    cases = trial_cases(problem)
    errors = problem.evaluator(cases).errors([solution(name)])[0].reshape(len(cases), -1)
    assert [(cases.inputs[i], cases.expected[i], errors[i].tolist()) for i in errors.any(axis=1).nonzero()[0]] == []


@pytest.mark.slow
@every_problem
def test_solution_ends_by_itself_within_the_step_limit(name: str) -> None:
    problem = problems.load(name)
    program = solution(name)
    states = [run(program, inputs, problem.limits()) for inputs in trial_cases(problem).inputs]
    assert {state.termination for state in states} == {"normal"}


@every_problem
def test_solution_is_made_of_what_evolution_has(name: str) -> None:
    """Instructions and inputs of the problem's set, constants that its generators can give, size within its limit."""
    problem = problems.load(name)
    program = solution(name)
    genes = problem.genes()
    assert {atom for atom in atoms(program.code) if isinstance(atom, Symbol)} <= {
        gene for gene in genes if isinstance(gene, Symbol)
    }
    literals = [atom for atom in atoms(program.code) if not isinstance(atom, Symbol)]
    assert [literal for literal in literals if not any(can_make(gene, literal) for gene in genes)] == []
    assert len(list(atoms(program.code))) <= problem.settings.variation.max_genes


@pytest.mark.slow
@every_problem
def test_a_solution_without_any_one_piece_has_errors(name: str) -> None:
    """Cases or errors that let a broken program pass would make the other tests worthless."""
    problem = problems.load(name)
    broken = [Program(code) for code in pieces_left(solution(name).code)]
    errors = problem.evaluator(trial_cases(problem)).errors(broken, threads=1)
    assert [str(program) for program, total in zip(broken, errors.sum(axis=1), strict=True) if total == 0] == []


# The package and a second reading of the problems' descriptions say the same.


ORACLE_SEED = 20_15


def as_printed(value: Value) -> str:
    return value if isinstance(value, str) else printed_float(value) if isinstance(value, float) else str(value)


def by_stack(answer: Answer, expected: Value) -> Answer:
    """The package's answer by stack, like the oracle's."""
    parts = expected if isinstance(expected, tuple) else (expected,)
    pairs = zip(answer, parts, strict=True)
    return {stack: as_printed(part) if stack == "output" else part for stack, part in pairs}


def found_by(answer: Answer, state: RunState) -> Answer:
    """What a run left on the stacks of an answer."""
    return {stack: state.output if stack == "output" else state.top(stack) for stack in answer}


def disagreements(name: str, cases: Cases) -> list[tuple[object, ...]]:
    """Cases to which the oracle has another answer."""
    asked = ((inputs, expected, ANSWERS[name](*inputs)) for inputs, expected in cases)
    return [case for case in asked if not right(name, case[2], by_stack(case[2], case[1]))]


def short_cases(name: str, problem: Problem) -> Cases:
    """A few cases whose printed answer is short, for errors are slow in Python."""
    rng = Random(ORACLE_SEED)
    edge = list(problem.fixed_cases())
    cases = rng.sample(edge, min(6, len(edge))) + list(problem.draw_cases(30, seed=ORACLE_SEED))
    short = [(inputs, expected) for inputs, expected in cases if len(str(expected)) <= 200][:10]
    return Cases([inputs for inputs, _ in short], [expected for _, expected in short])


@every_read_problem
def test_oracle_agrees_on_the_edge_cases(name: str) -> None:
    assert disagreements(name, problems.load(name).fixed_cases()) == []


@pytest.mark.slow
@every_read_problem
def test_oracle_agrees_on_a_sample(name: str) -> None:
    for cases in problems.load(name).sample(seed=ORACLE_SEED):
        assert disagreements(name, Cases(cases.inputs[::3], cases.expected[::3])) == []


@pytest.mark.slow
@every_read_problem
def test_package_answers_the_oracles_own_inputs(name: str) -> None:
    rng = Random(ORACLE_SEED)
    cases = problems.load(name).cases([INPUTS[name](rng) for _ in range(300)])
    assert disagreements(name, cases) == []


@pytest.mark.slow
@every_read_problem
def test_solution_is_right_in_the_oracles_own_reading(name: str) -> None:
    """No part of the package but the engine has a say here."""
    rng = Random(ORACLE_SEED)
    settings = SETTINGS.get(name)
    limits = Limits(steps=settings.steps, points=settings.points) if settings else Limits()
    program = solution(name)
    wrong = []
    for inputs in (INPUTS[name](rng) for _ in range(300)):
        answer = ANSWERS[name](*inputs)
        found = found_by(answer, run(program, inputs, limits))
        if not right(name, answer, found):
            wrong.append((inputs, answer, found))
    assert wrong == []


@pytest.mark.slow
@every_read_problem
def test_errors_of_broken_programs_agree(name: str) -> None:
    """Not only nought must be right: selection lives on how wrong a program is."""
    problem = problems.load(name)
    cases = short_cases(name, problem)
    broken = [Program("()"), *(Program(code) for code in pieces_left(solution(name).code))]
    measured = problem.evaluator(cases).errors(broken)
    for program, errors in zip(broken, measured, strict=True):
        expected: list[float] = []
        for inputs in cases.inputs:
            answer = ANSWERS[name](*inputs)
            expected += ERRORS[name](answer, found_by(answer, run(program, inputs, problem.limits())), *inputs)
        np.testing.assert_allclose(errors, expected, rtol=1e-6, atol=1e-9, err_msg=str(program))


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_agree(name: str) -> None:
    problem = problems.load(name)
    settings = SETTINGS[name]
    assert set(problem.stacks) == set(settings.stacks.split())
    assert (problem.settings.variation.max_points, problem.settings.steps) == (settings.points, settings.steps)
    assert len(problem.genes()) == settings.genes


def test_settings_are_those_of_the_whole_suite() -> None:
    assert set(SETTINGS) == set(PSB1)


# Errors of crafted answers: penalties, rounding, and the several errors of a case.


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
    lazy = evaluator.on_demand(programs, threads=1)
    rows, columns = [0, 0, 0, 2, 2], [0, 1, 2, 8, 8]
    assert lazy(rows, columns).tolist() == errors[rows, columns].tolist()
    assert evaluator.steps == 2 * 3
    assert lazy([[0], [1]], [1, 2]).tolist() == errors[:2, 1:3].tolist()
    assert evaluator.steps == 3 * 3
    with pytest.raises(IndexError, match="columns must be between 0 and 8"):
        lazy(0, 9)
