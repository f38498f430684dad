"""Recorded runs: what a seed gives must never change by accident."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import pytest

from flexicase import problems
from flexicase.gp import Variation, evolve
from tests.golden.record import CASES, cases

EVERYTHING = Variation(
    operators={
        "alternation+uniform_mutation": 0.2,
        "uniform_addition_and_deletion+uniform_close_mutation": 0.2,
        "uniform_combination": 0.1,
        "uniform_segment_duplication+uniform_segment_deletion": 0.1,
        "two_point_crossover": 0.1,
        "gene_selection": 0.1,
        "reproduction": 0.2,
    },
    segmenting_rate=0.1,
    addition_and_deletion_rate=[0.05, 0.1],
)
#: Selection events, evaluations and Push steps of the generation before the last, and a digest of the best program.
RECORDED = {
    "lexicase": (66, 21284, 74842, "41d39987b2743ebf"),
    "ranked-num-nonzeros": (66, 19602, 67866, "1a5521c72017a003"),
    "partial": (66, 30184, 65633, "43c1a0d6450bee20"),
    "everything": (72, 25648, 23718, "7b99967462c6b3de"),
}
RUNS = {
    "lexicase": {},
    "ranked-num-nonzeros": {"method": "ranked-num-nonzeros"},
    "partial": {"method": "weighted-num-nonzeros", "partial": True},
    "everything": {"variation": EVERYTHING},
}


def fixed_problem():
    """Mirror Image on its fixed cases alone, so that no other library draws anything."""
    problem = problems.load("mirror-image")
    return dataclasses.replace(problem, sources=[problems.FixedCases(problem.fixed_cases().inputs)])


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run(name):
    run = evolve(fixed_problem(), population=40, generations=3, seed=11, threads=1, **RUNS[name])
    record = run.records[-2]
    digest = hashlib.sha256(str(run.best).encode()).hexdigest()[:16]
    assert (record.events, record.evaluations, record.push_steps, digest) == RECORDED[name]
    assert len(run.test_errors) == 0


def test_recorded_cases():
    """A run is repeated from its id only if its seed draws the same cases."""
    assert cases() == json.loads(CASES.read_text(encoding="utf-8")), "python tests/golden/record.py, if that is meant"
