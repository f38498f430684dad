"""Wrong arguments of runs, their variation and their problems: every error is one that the package means."""

from __future__ import annotations

import dataclasses
import linecache
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexicase
from flexicase import gp, problems
from flexicase.problems import Cases, ErrorMeasure, FixedCases, Problem, ProblemSettings, RandomCases, SplitCases
from flexicase.push import Gene, Genome, Program, RandomInteger, Symbol
from flexicase.rng import key_from_seed
from tests.hostile.values import EFFORT

pytestmark = pytest.mark.slow

PACKAGE = str(Path(flexicase.__file__).parent)
RAW = re.compile(r"incompatible function arguments|std::|nanobind|bad_cast")
#: Values of the pool that each argument is tried with.
TRIED = 12 * EFFORT


class Raises:
    """An object whose conversions all fail."""

    def _raise(self, *_: Any) -> Any:
        raise ZeroDivisionError("hostile")

    __len__ = __index__ = __float__ = __iter__ = __bool__ = __eq__ = __fspath__ = _raise  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def _numbers() -> Iterator[int]:
    yield from (0, 1)


POOL: list[Callable[[], Any]] = [
    *(lambda value=value: value for value in (None, True, -1, 0, 1.5, 600, 2**63, 2**64, -(10**400), 10**400, 1j)),
    *(lambda value=value: value for value in (math.nan, math.inf, -math.inf, "", "x", "a\0b", "\ud800", b"x", (), {})),
    *(lambda value=value: value for value in ({"a": 1}, {"x": math.nan}, {1, 2}, object, int, math, ...)),
    *(list, lambda: [1], lambda: [-1.0], lambda: [math.nan], lambda: [[1, 2], [3]], lambda: [None], _numbers, Raises),
    *(lambda: np.ones(3), lambda: np.array(1.0), lambda: np.full((2, 2), "x"), lambda: np.empty((0, 3))),
    *(lambda: np.bool_(True), lambda: np.float16(0.5), lambda: np.uint64(2**64 - 1)),
    *(lambda: np.broadcast_to(np.float64(1), (2**20, 2**20)), lambda: np.broadcast_to(np.uint8(1), (2**31, 1))),
]

OWN = problems.from_cases("own", [((n,), 2 * n) for n in range(8)])
TRAIN, _ = OWN.sample(1)
KEY = key_from_seed(1)
BREEDER = gp.OffspringGenerator(OWN.genes(), gp.Variation())
PARENTS = BREEDER.random(4, KEY)
PLAN = BREEDER.plan(PARENTS, 4, KEY)
PROGRAM = Program("(in1 in1 integer_add)")
SMALL = {"population": 3, "generations": 1, "threads": 1}


def _run(**changes: Any) -> gp.EvolutionResult:
    return gp.evolve(**{"problem": OWN, **SMALL, **changes})


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


#: What is called, and valid arguments.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "evolve": (
        gp.evolve,
        {
            **{"problem": OWN, "method": "lexicase", **SMALL, "seed": 1, "callback": None, "partial": False},
            **{
                "n_selections": None,
                "variation": None,
                "simplification_steps": 5,
                "instruction_set": "2019",
                "resume": False,
            },
            **{"save": None, "save_every": 30.0, "default_weight": "max", "sampling": "down:0.5", "check": "all"},
            **{"budget": None, "profile": None, "steps": 100},
        },
    ),
    "DownSample": (lambda **given: _run(sampling=flexicase.DownSample(**given)), {"size": 0.5, "kind": "rolling"}),
    "InformedDownSample": (
        lambda **given: _run(sampling=flexicase.InformedDownSample(**given)),
        {"size": 0.5, "parent_rate": 0.5, "every": 1, "solved_by": "elite", "radius": 0},
    ),
    "PhylogenyInformed": (
        lambda **given: _run(sampling=flexicase.PhylogenyInformed(**given)),
        {"sample": flexicase.Cohorts(2), "depth": 2},
    ),
    "Variation": (lambda **given: _run(variation=gp.Variation(**given)), _fields(gp.Variation())),
    "Settings": (
        lambda **given: _run(problem=dataclasses.replace(OWN, settings=ProblemSettings(**given))),
        _fields(ProblemSettings()),
    ),
    "Problem": (
        lambda **given: _run(problem=Problem(**given)),
        {
            **{"name": "double", "description": "", "answer": lambda n: 2 * n, "stacks": ["exec", "integer"]},
            **{
                "sources": [RandomCases(lambda rng: (1,), train=2, test=2)],
                "measures": [ErrorMeasure("integer", "absolute")],
            },
            **{
                "generators": [RandomInteger(-1, 1), Symbol("in1")],
                "extra_instructions": (),
                "settings": ProblemSettings(),
            },
            **{"generators_by_list": {}, "carried_cases": None, "title": ""},
        },
    ),
    "from_cases": (
        lambda **given: _run(problem=problems.from_cases(**given)),
        {
            **{"name": "n", "cases": [((n,), n) for n in range(4)], "test": 0.25, "printed": False, "description": ""},
            **{"stacks": None, "generators": None, "measures": None, "settings": None},
        },
    ),
    "load": (problems.load, {"name": "mirror-image"}),
    "score": (problems.score, {"problem": OWN, "program": PROGRAM, "n_random_cases": 3, "seed": 0}),
    "Cases": (Cases, {"inputs": [(1,)], "expected": [1]}),
    "Fixed": (FixedCases, {"inputs": [(1,)], "test": False}),
    "Split": (SplitCases, {"inputs": [(1,), (2,)], "train": 1, "test": 0}),
    "Drawn": (RandomCases, {"draw": lambda rng: (1,), "train": 1, "test": 1}),
    "Problem.draw_cases": (OWN.draw_cases, {"n": 2, "seed": 1}),
    "Problem.genes": (OWN.genes, {"instruction_set": "2019"}),
    "Problem.cases": (OWN.cases, {"inputs": [(1,)]}),
    "Problem.evaluator": (OWN.evaluator, {"cases": TRAIN, "instruction_set": "2019"}),
    "Problem.success": (OWN.success, {"errors": [0.0]}),
    "Breeder": (gp.OffspringGenerator, {"genes": OWN.genes(), "variation": gp.Variation()}),
    "Breeder.random": (BREEDER.random, {"size": 3, "key": KEY, "threads": 1}),
    "Breeder.plan": (BREEDER.plan, {"parents": PARENTS, "size": 4, "key": KEY}),
    "Breeder.breed": (
        BREEDER.breed,
        {"population": PARENTS, "plan": PLAN, "parents": np.zeros(PLAN.n_parents, np.int64), "key": KEY, "threads": 1},
    ),
    "Population.from_genomes": (gp.Population.from_genomes, {"genomes": [Genome([Gene(1)])]}),
    "Population.from_bytes": (gp.Population.from_bytes, {"data": PARENTS.to_bytes()}),
    "Population.translate": (PARENTS.translate, {"max_points": 100, "threads": 1}),
    "simplify": (gp.simplify, {"program": PROGRAM, "evaluator": OWN.evaluator(TRAIN), "steps": 5, "key": KEY}),
}


def is_meant(error: Exception, argument: str) -> bool:
    """Whether a ``raise`` statement of the package refuses an argument by its name."""
    if isinstance(error, OSError):
        return argument in ("save", "path")
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    path = trace.tb_frame.f_code.co_filename
    raised = path.startswith(PACKAGE) and linecache.getline(path, trace.tb_lineno).strip().startswith("raise")
    return (
        isinstance(error, TypeError | ValueError) and raised and argument in str(error) and not RAW.search(str(error))
    )


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_refused_by_name(name, tmp_path, monkeypatch):
    """Neither an error of the native layer, nor one from inside of another package, nor a hang or a crash."""
    monkeypatch.chdir(tmp_path)
    function, valid = CALLS[name]
    function(**valid)
    draws, found = random.Random(name), []
    for argument in valid:
        for make in draws.sample(POOL, min(TRIED, len(POOL))):
            value = make()
            if argument in ("steps", "generations", "budget", "simplification_steps") and type(value) is int:
                continue  # a large one is right, and takes its time
            if argument == "callback" and callable(value):
                continue  # what it raises itself is not ours
            try:
                function(**{**valid, argument: value})
            except Exception as error:
                if not is_meant(error, argument):
                    found.append(f"{argument}={value!r:.60}: {type(error).__name__}: {error}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("population", 2**31),
        ("population", 10**12),
        ("n_selections", 2**62),
        ("threads", 2**64),
        ("generations", 2**64),
        ("callback", 600),
        ("callback", lambda: None),
        ("instruction_set", "Z"),
        ("instruction_set", 1),
        ("partial", np.ones(3)),
        ("resume", "no"),
        ("save", b"bytes"),
        ("save", ""),
        ("save_every", math.nan),
        ("variation", 5),
        ("seed", "7"),
    ],
)
def test_wrong_arguments_of_evolve(argument, value):
    with pytest.raises((TypeError, ValueError)) as caught:
        _run(**{argument: value})
    assert is_meant(caught.value, argument)


def test_more_threads_than_there_can_be_are_fewer():
    """The number of threads changes nothing, so that a huge one is no error either."""
    found, expected = (_run(seed=1, threads=threads) for threads in (2**31, 1))
    assert found.genome.genes == expected.genome.genes
    assert [record.best_error for record in found.records] == [record.best_error for record in expected.records]


@pytest.mark.parametrize(
    "operators",
    [
        {"alternation": math.nan, "uniform_mutation": 1.0},
        {"alternation": -1.0, "uniform_mutation": 2.0},
        {"alternation": "1"},
        {1: 1.0},
        {("alternation", 3): 1.0},
        {},
        [("alternation", 1.0)],
    ],
)
@pytest.mark.parametrize("make", [gp.Variation, lambda operators: gp.evolve(OWN, variation=gp.Variation(operators))])
def test_operators_that_make_no_sense_are_refused(make, operators):
    with pytest.raises((TypeError, ValueError)) as caught:
        make(operators)
    assert is_meant(caught.value, "operators")
