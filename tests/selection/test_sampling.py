from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import flexicase as fx
from flexicase import gp
from flexicase.rng import Stream, key_from_seed
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.sampling import farthest_first
from tests.selection._helpers import MATRICES, chi_square_p


def parts(sample, errors, seed=0, backend="native"):
    return sample.parts(ErrorMatrix.from_array(errors), key_from_seed(seed), backend)


@pytest.mark.parametrize(("size", "expected"), [(3, 3), (0.3, 3), (0.04, 1), (1.0, 10), (50, 10), (1, 1)])
def test_down_sample_has_the_size_asked_for(size, expected):
    (part,) = parts(fx.DownSample(size), np.zeros((4, 10)))
    assert part.individuals is None
    assert len(set(part.cases.tolist())) == expected


def test_down_sample_is_fair_to_every_case():
    counts = np.zeros(10)
    for seed in range(4000):
        counts[parts(fx.DownSample(3), np.zeros((2, 10)), seed)[0].cases] += 1
    assert np.abs(counts - 1200).max() < 5 * np.sqrt(4000 * 0.3 * 0.7)


def synonymous_cases(copies, n_kinds):
    """Kind k of cases is solved by individual k alone; every kind occurs ``copies`` times."""
    return np.repeat(1 - np.eye(n_kinds, dtype=np.int64), copies, axis=1)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_informed_down_sample_takes_one_case_of_every_kind(backend):
    """Synonymous cases have distance 0, so none is taken twice while another kind is left."""
    errors = synonymous_cases(copies=7, n_kinds=5)
    seen = set()
    for seed in range(30):
        (part,) = parts(fx.InformedDownSample(5, parent_rate=1.0), errors, seed, backend)
        assert sorted((part.cases // 7).tolist()) == [0, 1, 2, 3, 4]
        seen |= set(part.cases.tolist())
    assert len(seen) > 20, "ties among synonymous cases must be decided at random"


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_informed_down_sample_takes_the_case_farthest_from_the_first(backend):
    """Solved by nobody, by one, by two and by all five: every case but the last is farthest from the last."""
    solved = np.array([[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]])
    pairs = {tuple(parts(fx.InformedDownSample(2, parent_rate=5), 1 - solved, s, backend)[0].cases) for s in range(60)}
    assert pairs == {(0, 3), (1, 3), (2, 3)}


def test_informed_down_sample_is_a_farthest_first_traversal():
    """Every chosen case but the first is as far from those before it as any case could be."""
    solved = np.random.default_rng(3).random((20, 30)) < 0.3
    distance = (solved[:, :, None] != solved[:, None, :]).sum(axis=0)
    chosen = farthest_first(solved, 30, Stream(99))
    assert sorted(chosen.tolist()) == list(range(30))
    for i in range(1, 30):
        left = np.setdiff1d(np.arange(30), chosen[:i])
        assert distance[chosen[i], chosen[:i]].min() == distance[np.ix_(left, chosen[:i])].min(axis=1).max()


@pytest.mark.parametrize("parents", [1, 3, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(8))
def test_informed_down_sample_is_the_same_on_both_back_ends(parents, seed):
    errors = np.random.default_rng(seed).integers(0, 2, (150, 40))
    sample = fx.InformedDownSample(0.4, parents)
    (native,), (reference,) = (parts(sample, errors, seed, b) for b in ("native", "reference"))
    np.testing.assert_array_equal(native.cases, reference.cases)


def test_informed_down_sample_asks_only_the_parents():
    """One parent can tell two kinds of cases apart at most: solved and unsolved."""
    errors = np.random.default_rng(1).integers(0, 2, (1, 30)).repeat(9, axis=0)
    errors[:, :2] = [0, 1]
    for seed in range(20):
        (part,) = parts(fx.InformedDownSample(2, parent_rate=1), errors, seed)
        assert sorted(errors[0, part.cases].tolist()) == [0, 1]


def test_informed_down_sample_without_any_solved_case_is_random():
    errors = np.random.default_rng(1).random((6, 10)) + 1
    samples = {tuple(parts(fx.InformedDownSample(3, 1.0), errors, seed)[0].cases) for seed in range(300)}
    assert len(samples) > 90  # of 120


@pytest.mark.parametrize("n", [1, 3, 4])
def test_cohorts_partition_individuals_and_cases(n):
    cohorts = parts(fx.Cohorts(n), np.zeros((11, 7)))
    assert len(cohorts) == n
    assert sorted(np.concatenate([c.individuals for c in cohorts]).tolist()) == list(range(11))
    assert sorted(np.concatenate([c.cases for c in cohorts]).tolist()) == list(range(7))
    sizes = [len(c.individuals) for c in cohorts]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(("shape", "expected"), [((3, 20), 3), ((20, 3), 3), ((5, 0), 1), ((1, 1), 1)])
def test_there_are_never_more_cohorts_than_individuals_or_cases(shape, expected):
    assert len(parts(fx.Cohorts(10), np.zeros(shape))) == expected


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_events_take_turns_at_the_cohorts_and_see_their_cases_only(backend):
    errors = np.random.default_rng(4).integers(0, 3, (12, 9))
    cohorts = parts(fx.Cohorts(3), errors, seed=5)
    selector = fx.Selector(errors, fx.Lexicase(sampling=fx.Cohorts(3)), seed=5, backend=backend)
    first, second = selector.draw(7), selector.draw(200)
    chosen = np.concatenate([first.indices, second.indices])
    for k, cohort in enumerate(cohorts):
        assert set(chosen[k::3].tolist()) <= set(cohort.individuals.tolist())
        possible = fx.select(errors[np.ix_(cohort.individuals, cohort.cases)], 500, seed=1).indices
        assert set(chosen[k::3].tolist()) <= set(cohort.individuals[np.unique(possible)].tolist())
    assert np.concatenate([first.cases_used, second.cases_used]).max() <= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("method", ["down-sampled-lexicase", "informed-down-sampled-lexicase", "cohort-lexicase"])
def test_registered_methods_agree_on_both_back_ends(method, name):
    assert method in fx.methods()
    native, reference = (fx.select(MATRICES[name], 40, method, seed=3, backend=b) for b in ("native", "reference"))
    for field in ("indices", "evaluations", "evaluations_distinct", "cases_used", "ended"):
        np.testing.assert_array_equal(getattr(native, field), getattr(reference, field))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fx.DownSample(0), ValueError, "size must be at least 1, got 0"),
        (lambda: fx.DownSample(0.0), ValueError, "size must be above 0, got 0.0"),
        (lambda: fx.DownSample(1.5), ValueError, "size must be between 0 and 1, got 1.5"),
        (lambda: fx.InformedDownSample("all"), TypeError, "size must be an integer, got 'all'"),
        (lambda: fx.InformedDownSample(0.1, parent_rate=0.0), ValueError, "parent_rate must be above 0, got 0.0"),
        (lambda: fx.InformedDownSample(0.1, parent_rate=-3), ValueError, "parent_rate must be at least 1, got -3"),
        (lambda: fx.Cohorts(0), ValueError, "n_cohorts must be at least 1, got 0"),
        (lambda: fx.Cohorts(2.0), TypeError, "n_cohorts must be an integer, got 2.0"),
    ],
)
def test_bad_arguments_are_refused_by_name(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_sample_per_event_has_the_probabilities_of_a_fresh_sample(backend):
    """Exact: the mean over all samples. A sample per selector would give a few individuals all parents."""
    errors = np.random.default_rng(5).integers(0, 3, (9, 7))
    for options in ({}, {"epsilon": 1.0}, {"batch_size": 2}, {"max_cases": 2}):
        event = fx.Lexicase(sampling=fx.DownSample(3, per="event"), **options)
        expected = fx.probabilities(errors, fx.Lexicase(sampling=fx.DownSample(3), **options))
        np.testing.assert_allclose(fx.probabilities(errors, event), expected, atol=1e-12)
        s = fx.select(errors, 6000 if backend == "native" else 500, event, seed=1, backend=backend)
        assert s.cases_used.max() <= 3
        assert chi_square_p(Counter(s.indices.tolist()), dict(enumerate(expected.tolist()))) > 1e-4
    assert fx.trace(errors, 30, event, seed=1).indices.tolist() == fx.select(errors, 30, event, seed=1).indices.tolist()
    if backend == "native":
        assert fx.verify(lambda e, n, rng: fx.select_indices(e, n, event, seed=rng), event, n_draws=500).passed


@pytest.mark.parametrize(
    "options",
    [{"order": fx.Weighted("num_zeros")}, {"order": fx.Ranked("num_zeros")}, {"max_cases": "random"}],
    ids=str,
)
def test_a_sample_per_event_needs_a_uniform_order(options):
    with pytest.raises(ValueError, match=r'^sampling must have per="generation" unless order is Uniform'):
        fx.Lexicase(sampling=fx.DownSample(3, per="event"), **options)


def test_a_run_has_one_sample_per_generation():
    with pytest.raises(ValueError, match=r'^sampling must have per="generation" in a run'):
        gp.evolve("simple-regression", sampling=fx.DownSample(0.1, per="event"))
    with pytest.raises(ValueError, match=r"^per must be one of 'generation', 'event', got 'selector'"):
        fx.DownSample(per="selector")
