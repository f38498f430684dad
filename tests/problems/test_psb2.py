"""The problems of the second benchmark suite against what Clojush does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance import check, main
from conformance_psb2 import case_of, random_constants
from conformance_values import records, value_of
from flexicase import problems
from flexicase.gp.variation import OffspringGenerator
from flexicase.problems import Variation
from flexicase.problems.random_inputs import generator
from flexicase.push import Program
from flexicase.push.program import Value
from flexicase.rng import key_from_seed

from ._helpers import solution

RECORDS = Path(__file__).parent / "clojush"
PSB2 = problems.names("psb2")
every_problem = pytest.mark.parametrize("name", PSB2)


# Answers, errors, steps, settings and genes, as recorded.


@pytest.mark.slow
def test_everything_recorded_is_reproduced(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(path) for path in sorted(RECORDS.iterdir())]) == 0
    assert capsys.readouterr().out == "9172 passed, 0 failed\n"


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("gcd-edge.json.gz", {"output1": 7}, "answer to (1, 1): expected 7, found 1"),
        ("errors.jsonl.gz", {"edge_errors": [5] * 35}, "edge error 0: expected 5, found 1000000.0"),
        ("errors.jsonl.gz", {"edge_outputs": [{"int": 1}] * 35}, "edge output 0: expected 1, found None"),
        ("steps.jsonl.gz", {"after": {"output": [{"int": 9}]}}, "output1: expected [9], found [1]"),
        ("constants.jsonl.gz", {"entries": 7}, "entries of RandomInteger(low=-1000, high=1000): expected 7, found 2"),
        ("constants.jsonl.gz", {"samples": [{"int": 1001}]}, "cannot be 1001"),
        ("problems.json.gz", {"penalty": 5}, "penalty: expected [5], found [1000000]"),
        ("problems.json.gz", {"stacks": ["exec"]}, "stacks: expected"),
    ],
)
def test_records_that_disagree_are_reported(file: str, change: dict[str, Any], message: str) -> None:
    """A replay that cannot fail would prove nothing."""
    record = next(iter(records(RECORDS / file)))
    assert check(record, RECORDS / file) == ""
    assert message in check({**record, **change}, RECORDS / file)


@pytest.mark.parametrize("letter", ["L", "P"])
def test_a_wrong_count_of_genes_is_reported(letter: str) -> None:
    record = next(iter(records(RECORDS / "problems.json.gz")))
    genes = {**record["genes"], letter: {**record["genes"][letter], "total": 7}}
    assert f"sizes of {letter}: expected [" in check({**record, "genes": genes}, RECORDS / "problems.json.gz")


@pytest.mark.parametrize(
    ("name", "inputs", "answer"),
    [
        ("basement", ([1, 2],), None),
        ("basement", ([],), None),
        ("camel-case", ("-",), ""),
        ("camel-case", ("-a",), "a"),
        ("camel-case", ("a-",), "a"),
        ("camel-case", ("a--b",), "aB"),
        ("camel-case", ("A-B",), "aB"),
        ("camel-case", ("ab-CD ef",), "abCd ef"),
        ("camel-case", ("a -b",), "a B"),
        ("coin-sums", (0,), (0, 0, 0, 0)),
        ("cut-vector", ([2, 0, 3],), ([2, 0], [3])),
        ("cut-vector", ([1, 0, 1],), ([1], [0, 1])),
        ("gcd", (0, 5), 5),
        ("indices-of-substring", ("", "a"), []),
        ("indices-of-substring", ("abc", ""), [0, 1, 2]),
        ("luhn", ([],), 0),
        ("luhn", ([9],), 9),
        ("paired-digits", ("5",), 0),
        ("spin-words", ("abcde  fghij  ",), "edcba  jihgf"),
        ("substitution-cipher", ("abx", "yzw", "aba"), "wz"),
        ("vector-distance", ([3.0, 9.0], [0.0]), 3.0),
    ],
)
def test_answers_outside_of_the_domains(name: str, inputs: tuple[Value, ...], answer: Value) -> None:
    assert problems.load(name).answer(*inputs) == answer


# Solutions. Where the suite computes the right answer in single precision, a right program is sometimes a little off.


@pytest.mark.slow
@every_problem
def test_solution_has_no_error_on_a_thousand_fresh_cases(name: str) -> None:
    score = problems.score(problems.load(name), solution(name), n_random_cases=1000, seed=7)
    assert [(score.cases.inputs[i], score.expected(i), score.answer(i)) for i in score.failing] == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "unit", "rate"), [("bouncing-balls", 0.001, 0.0006), ("shopping-list", 0.01, 0.0001)])
def test_solution_is_seldom_off_by_one_unit(name: str, unit: float, rate: float) -> None:
    errors = problems.score(problems.load(name), solution(name), n_random_cases=20_000, seed=1).errors
    assert set(errors[errors > 0].tolist()) <= {unit}
    expected = rate * errors.size
    assert abs(np.count_nonzero(errors) - expected) < 4 * np.sqrt(expected) + 2


@every_problem
def test_solution_has_no_error_on_the_recorded_cases(name: str) -> None:
    cases = [case_of(record, name)[0] for record in records(RECORDS / f"{name}-random.json.gz")]
    problem = problems.load(name)
    errors = problem.evaluator(problem.cases(cases)).errors([solution(name)])[0]
    assert np.count_nonzero(errors) <= (name == "bouncing-balls")


# Random cases and random constants have the recorded distributions.


def kolmogorov_smirnov(first: list[float], second: list[float]) -> float:
    """The two-sample statistic, scaled: above 2.2 once in eight thousand if the distributions are the same."""
    a, b = np.sort(first), np.sort(second)
    points = np.concatenate([a, b])
    below = [np.searchsorted(values, points, side="right") / values.size for values in (a, b)]
    return float(np.abs(below[0] - below[1]).max() * np.sqrt(a.size * b.size / (a.size + b.size)))


def features(value: Value, name: str) -> Iterator[tuple[str, float]]:
    """Numbers that describe a value."""
    if isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from features(part, f"{name}{i}")
    elif isinstance(value, str):
        yield f"{name} length", len(value)
        yield f"{name} distinct", len(set(value))
        yield f"{name} symbols", sum(not c.isalnum() for c in value)
        if value:
            yield f"{name} first", ord(value[0])
            yield f"{name} last", ord(value[-1])
            yield f"{name} middle", ord(value[len(value) // 2])
    elif isinstance(value, list):
        yield f"{name} length", len(value)
        if value:
            yield f"{name} first", float(value[0])
            yield f"{name} last", float(value[-1])
            yield f"{name} middle", float(value[len(value) // 2])
            yield f"{name} sum", float(sum(value))
            yield f"{name} largest", float(max(value))
    else:
        yield name, float(value)


def gathered(values: list[Value]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for value in values:
        for key, part in (value if isinstance(value, dict) else {"": value}).items():
            for name, number in features(part, key):
                found.setdefault(name, []).append(number)
    return found


#: Features with long tails.
TAILED = ("sum", "largest", "answer", "answer length", "answer0 length", "answer1 length")


def different(drawn: list[Value], recorded: list[Value]) -> dict[str, float]:
    """Features whose distributions differ."""
    ours, theirs = gathered(drawn), gathered(recorded)
    assert ours.keys() == theirs.keys()
    statistics = {name: kolmogorov_smirnov(ours[name], theirs[name]) for name in ours}
    outside = {name for name in ours if not name.endswith(TAILED) and beyond(ours[name], theirs[name]) > 0.05}
    return {name: statistic for name, statistic in statistics.items() if statistic > 2.2 or name in outside}


def beyond(ours: list[float], theirs: list[float]) -> float:
    """How far values reach beyond the range of many draws, as a part of that range."""
    low, high = min(ours), max(ours)
    return max(low - min(theirs), max(theirs) - high, 0) / (high - low or 1)


@pytest.mark.slow
@every_problem
def test_random_cases_have_the_recorded_distribution(name: str) -> None:
    problem = problems.load(name)
    rng = generator(20_21)
    domains: dict[int, list[Value]] = {}
    for record in records(RECORDS / f"{name}-random.json.gz"):
        inputs, answer = case_of(record, name)
        domains.setdefault(record["domain"], []).append({"inputs": inputs, "answer": answer})
    sources = [source for source in problem.sources if source.can_draw]
    assert sorted(domains) == list(range(1, len(sources) + 1))
    for source, recorded in zip(sources, map(domains.get, sorted(domains)), strict=True):
        cases = problem.cases(source.draw_case(rng) for _ in range(2000))
        assert different([{"inputs": inputs, "answer": answer} for inputs, answer in cases], recorded or []) == {}


@pytest.mark.slow
@pytest.mark.parametrize("record", list(records(RECORDS / "constants.jsonl.gz")), ids=lambda record: record["problem"])
def test_random_constants_have_the_recorded_distribution(record: dict[str, Any]) -> None:
    kind = random_constants(problems.load(record["problem"]))[record["constant_generator"] - 1]
    drawn = OffspringGenerator([kind], Variation(max_initial_genome=1)).random(4000, key_from_seed(3))
    values = [genome.genes[0].item for genome in drawn]
    samples = [value_of(item) for item in record["samples"]]
    if isinstance(samples[0], str) and len(samples[0]) == 1:
        values, samples = list(map(ord, values)), list(map(ord, samples))
    assert different(values, samples) == {}


def test_a_shifted_distribution_is_seen() -> None:
    """The statistic must have the power to tell neighbours apart."""
    rng = np.random.default_rng(1)
    assert different(rng.integers(0, 20, 2000).tolist(), rng.integers(4, 24, 300).tolist())
    assert different(rng.integers(0, 20, 2000).tolist(), rng.integers(1, 21, 300).tolist())
    assert not different(rng.integers(0, 20, 2000).tolist(), rng.integers(0, 20, 300).tolist())


# Several outputs, genes and settings.


def test_errors_of_several_outputs_are_ordered_by_case_and_come_from_one_run() -> None:
    problem = problems.load("coin-sums")
    evaluator = problem.evaluator(problem.cases([(41,), (7,)]))
    assert problem.errors_per_case == evaluator.errors_per_case == 4
    program = Program("(1 output_integer1 10 output_integer3 output_integer2 output_integer2)")
    assert evaluator.errors([program]).tolist() == [[0, 9, 9, 100_000, 1, 9, 10, 100_000]]
    assert evaluator.steps == 2 * 7
    lazy = evaluator.on_demand([program])
    assert lazy([0, 0, 0], [5, 4, 7]).tolist() == [9, 1, 100_000]
    assert evaluator.steps == 3 * 7


def test_a_score_shows_all_outputs() -> None:
    score = problems.score(problems.load("find-pair"), Program("(7 output_integer2)"), n_random_cases=0)
    assert score.expected(0) == (5, 7)
    assert score.answer(0) == (None, 7)
    assert score.errors[0].tolist() == [1_000_000, 0]


@every_problem
def test_settings_are_those_of_the_suite(name: str) -> None:
    settings = problems.load(name).settings
    assert (settings.population, settings.generations, settings.steps) == (1000, 300, 2000)
    assert (settings.instruction_set, settings.error_threshold) == ("psb2", 0)
    variation = settings.variation.as_dict()
    assert variation["operators"] == {"uniform_addition_and_deletion": 1.0}
    assert (variation["addition_and_deletion_rate"], settings.variation.max_genes) == ([0.09], 500)
    sources = problems.load(name).sources  # of whose sizes every sample is
    assert (sum(source.n_train for source in sources), sum(source.n_test for source in sources)) == (200, 2000)


@every_problem
def test_the_default_list_of_genes_is_the_suites_own(name: str) -> None:
    problem = problems.load(name)
    assert problem.genes() == problem.genes("psb2") != problem.genes("2023")
    assert not problem.limits().keep_nan


def larger(**changes: object) -> problems.Problem:
    fields: dict[str, Any] = {
        "name": "larger",
        "description": "Return the larger of two integers.",
        "answer": max,
        "sources": [problems.FixedCases([(1, 2), (2, 1)])],
        "measures": [problems.ErrorMeasure("integer", "absolute", penalty=100)],
        "stacks": ["exec", "integer"],
        "generators": [1],
        **changes,
    }
    return problems.Problem(**fields)


def row(name: str) -> str:
    """What the table in the docs says of a problem."""
    problem = problems.load(name)
    measure = problem.measures[0]
    slots = f"slots 1–{len(problem.measures)}" if len(problem.measures) > 1 else measure.stack
    detail = {
        "rounded": f" to {measure.decimals} decimals",
        "vector_difference": f", {measure.per_element:,} per element",
    }
    error = f"`{measure.error}`{detail.get(str(measure.error), '')}"
    return f"| {problem.title} | {slots} | {error} | {int(measure.penalty):,} | {len(problem.fixed_cases())} |"


def test_the_docs_have_a_row_for_each_problem() -> None:
    text = (Path(__file__).parents[2] / "docs" / "problems.md").read_text(encoding="utf-8")
    rows = text.partition("<!-- psb2 -->\n")[2].partition("<!-- /psb2 -->")[0].splitlines()[2:]
    assert rows == [row(name) for name in PSB2]


@pytest.mark.parametrize(
    ("shares", "error"), [((0.5, 0.5), ValueError), ((0.1,), ValueError), ((-0.1, 0.1), ValueError), (3, TypeError)]
)
def test_wrong_shares_are_refused(shares: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="gene_shares must be"):
        larger(gene_shares=shares)


def test_shares_of_lists_that_are_empty() -> None:
    problem = larger(gene_shares=(0.5, 0.1))
    assert problem.genes().count(1) == int(0.1 * (len(problem.genes()) - problem.genes().count(1)) / 0.4)
    assert len(larger(gene_shares=(0.0, 0.0)).genes()) == len(larger(generators=[]).genes())


def test_pairs_have_a_sum_of_their_own() -> None:
    rng = generator(1)
    for source in problems.load("find-pair").sources[1:]:
        vector, target = source.draw_case(rng)
        assert len(set(vector)) == len(vector)
        assert sum(a + b == target for a in vector for b in vector) == 2
