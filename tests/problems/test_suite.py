"""The problems that come with the package: sizes, settings and answers, against the published figures."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from flexicase import problems
from flexicase.problems.cases import read_carried
from flexicase.push import InstructionSet, Program, Symbol

PSB1 = [name for name in problems.names() if name != "simple-regression"]
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
    assert len(problems.names()) == 30


@pytest.mark.parametrize("name", PSB1)
def test_figures_are_those_published(name: str) -> None:
    problem, figures = problems.load(name), FIGURES[name]
    assert problem.name == name
    assert len(problem.generators) == figures.explicit
    assert len(problem.genes()) == figures.explicit + figures.registered
    assert problem.genes()[: figures.explicit] == problem.generators
    assert len(problem.measures) == figures.errors
    assert len(problem.edge_cases()) == figures.edge
    settings = problem.settings
    assert (settings.max_points, settings.max_initial_genome, settings.steps) == figures[-3:]


@pytest.mark.parametrize("name", problems.names())
def test_a_sample_has_its_sizes_and_repeats_with_its_seed(name: str) -> None:
    problem = problems.load(name)
    train, test = problem.sample(seed=5)
    if name in FIGURES:
        assert (len(train), len(test)) == (FIGURES[name].train, FIGURES[name].test)
    assert (len(train), len(test)) == tuple(
        sum(getattr(domain, size) for domain in problem.domains) for size in ("n_train", "n_test")
    )
    again = problem.sample(seed=5)
    assert [list(cases) for cases in again] == [list(train), list(test)]
    assert problem.fresh(20, seed=5).inputs != problem.fresh(20, seed=6).inputs


@pytest.mark.parametrize("name", PSB1)
def test_answers_are_those_of_the_carried_cases(name: str) -> None:
    problem = problems.load(name)
    carried = read_carried(name)
    cases = problem.edge_cases()
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
    fixed = [case for domain in problem.domains if not domain.is_open for case in domain.inputs]  # type: ignore[attr-defined]
    carried = problem.edge_cases().inputs
    assert [case for case in fixed if case not in carried] == []


@pytest.mark.parametrize("name", problems.names())
def test_fresh_cases_are_new_and_have_answers(name: str) -> None:
    problem = problems.load(name)
    cases = problem.fresh(50, seed=3)
    assert cases.expected == problem.cases(cases.inputs).expected
    assert list(problem.fresh(50, seed=3)) == list(cases)
    assert len(set(map(repr, cases.inputs))) > 20
    assert len(problem.fresh(0, seed=3)) == 0


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
    assert (common.generations, common.population, common.alignment_deviation, common.constant_tweak_rate) == (
        300,
        1000,
        10,
        0.5,
    )
    assert dict(common.operators) == {
        "alternation": 0.2,
        "uniform_mutation": 0.2,
        "uniform_close_mutation": 0.1,
        "alternation+uniform_mutation": 0.5,
    }
    loaded = {name: problems.load(name).settings for name in PSB1}
    assert {name for name in PSB1 if loaded[name].generations == 200} == {"median", "number-io", "smallest"}
    assert {name: s.error_threshold for name, s in loaded.items() if s.error_threshold} == {
        "number-io": 1e-4,
        "vector-average": 1e-3,
        "wallis-pi": 1e-3,
        "word-stats": 0.02,
    }
    assert {name for name in PSB1 if loaded[name].alignment_deviation == 5} == {
        "median",
        "number-io",
        "small-or-large",
        "smallest",
    }
    assert [name for name in PSB1 if not loaded[name].close_marker] == ["number-io"]
    assert dict(loaded["number-io"].operators) == {
        "alternation": 0.3,
        "uniform_mutation": 0.2,
        "alternation+uniform_mutation": 0.5,
    }
    assert [name for name in PSB1 if loaded[name].constant_tweak_rate == 0.9] == ["wallis-pi"]


@pytest.mark.parametrize("profile", ["W", "M", "L"])
def test_genes_follow_the_instruction_list(profile: str) -> None:
    problem = problems.load("mirror-image")
    registered = problem.genes(profile)[5:]  # type: ignore[arg-type]
    assert list(registered) == list(InstructionSet.of_stacks(*problem.stacks, profile=profile))  # type: ignore[arg-type]
    assert problem.limits(profile).keep_nan == (profile == "W")  # type: ignore[arg-type]


def test_small_or_large_tags_strings_under_later_lists_only() -> None:
    problem = problems.load("small-or-large")
    tags = {profile: problem.genes(profile)[3].stacks for profile in ("W", "M", "L")}  # type: ignore[arg-type, union-attr]
    assert {profile for profile, stacks in tags.items() if "string" in stacks} == {"M", "L"}


def test_generators_are_inputs_known_instructions_or_constants() -> None:
    for name in problems.names():
        problem = problems.load(name)
        symbols = [str(entry) for entry in problem.generators if isinstance(entry, Symbol)]
        n_inputs = len(problem.fresh(1, 0).inputs[0])
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
