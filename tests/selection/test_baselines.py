from __future__ import annotations

import itertools

import numpy as np
import pytest

import flexicase as fx
from flexicase.rng import key_from_seed
from flexicase.selection.baselines import tournament_probabilities
from flexicase.selection.matrix import ErrorMatrix
from tests.selection._helpers import (
    DRAWS,
    MATRICES,
    assert_backends_agree,
    assert_follows,
    assert_no_counts,
)

METHODS = {
    "tournament-1": fx.Tournament(size=1),
    "tournament-2": fx.Tournament(size=2),
    "tournament-7": fx.Tournament(),
    "batch-1": fx.BatchTournament(size=3, batch_size=1),
    "batch-2": fx.BatchTournament(size=4, batch_size=2),
    "batch-99": fx.BatchTournament(size=2, batch_size=99),
    "fitness-proportionate": fx.FitnessProportionate(),
    "random": fx.RandomSelection(),
}
WITH_TOTALS_OF_AT_LEAST_0 = [name for name in MATRICES if name != "negative"]


@pytest.mark.parametrize("name", WITH_TOTALS_OF_AT_LEAST_0)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_native_draws_equal_the_reference_for_any_matrix(method, name):
    assert_backends_agree(MATRICES[name], method)


@pytest.mark.parametrize("method", [fx.Tournament(), fx.BatchTournament(batch_size=2)])
def test_negative_errors_are_fine_in_tournaments(method):
    assert_backends_agree(MATRICES["negative"], method)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_many_threads_change_nothing(method):
    errors = np.random.default_rng(3).integers(0, 5, (50, 12))
    one = fx.select(errors, 5000, method, seed=2).indices
    np.testing.assert_array_equal(fx.select(errors, 5000, method, seed=2, threads=4).indices, one)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_TOTALS_OF_AT_LEAST_0)
@pytest.mark.parametrize(
    "method", [fx.Tournament(1), fx.Tournament(2), fx.Tournament(7), fx.FitnessProportionate(), fx.RandomSelection()]
)
def test_draws_follow_the_exact_probabilities(method, name):
    exact = method.probabilities(ErrorMatrix.from_array(MATRICES[name]))
    assert_follows(fx.select(MATRICES[name], DRAWS, method, seed=5, threads=2).indices, exact)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_tournament_probabilities_equal_those_of_all_possible_tournaments(size):
    scores = np.array([3.0, 1.0, 1.0, np.inf, 2.0])
    wins = np.zeros(5)
    for entrants in itertools.product(range(5), repeat=size):
        best = [i for i in entrants if scores[i] == min(scores[list(entrants)])]
        for winner in best:
            wins[winner] += 1 / len(best)
    np.testing.assert_allclose(tournament_probabilities(scores, size), wins / wins.sum(), rtol=1e-12)


def test_fitness_proportionate_probabilities_are_those_of_adjusted_fitness():
    exact = fx.FitnessProportionate().probabilities(ErrorMatrix.from_array([[1.0, 0.0], [1.0, 2.0], [np.inf, 0.0]]))
    np.testing.assert_allclose(exact, [2 / 3, 1 / 3, 0.0])


def test_fitness_proportionate_refuses_a_negative_total_and_names_it():
    with pytest.raises(ValueError, match=r"totals of at least 0 .* individual 1 has -1\.0"):
        fx.select([[0, 0], [1, -2]], 1, "fitness-proportionate")


def test_total_of_overflowing_negative_and_infinite_errors_is_the_worst_and_not_nan():
    errors = np.array([[-1e308, -1e308, np.inf], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    for backend in ("native", "reference"):
        chosen = fx.select(errors, 50, fx.Tournament(60), seed=1, backend=backend).indices
        assert set(chosen.tolist()) == {1}


def test_integer_errors_beyond_32_bits_are_summed_exactly():
    errors = np.array([[2**40, 2**40 + 1], [2**40, 2**40]], dtype=np.int64)
    assert set(fx.select(errors, 50, fx.Tournament(50), seed=1).indices.tolist()) == {1}


def test_batches_are_a_partition_of_the_cases():
    batches = fx.BatchTournament(batch_size=4).batches(10, key_from_seed(1))
    assert [len(b) for b in batches] == [4, 4, 2]
    assert sorted(np.concatenate(batches).tolist()) == list(range(10))
    assert not np.array_equal(batches[0], fx.BatchTournament(batch_size=4).batches(10, key_from_seed(2))[0])


def test_each_batch_tournament_is_judged_on_the_next_batch():
    errors = np.random.default_rng(8).random((6, 5))
    method = fx.BatchTournament(size=3, batch_size=2)
    drawn = fx.select(errors, DRAWS, method, seed=4).indices
    for b, cases in enumerate(method.batches(5, key_from_seed(4))):
        assert_follows(drawn[b::3], tournament_probabilities(errors[:, cases].mean(axis=1), 3))


@pytest.mark.slow
def test_batch_tournament_probabilities_hold_over_shuffles():
    errors = np.random.default_rng(9).integers(0, 3, (5, 6))
    method = fx.BatchTournament(size=3, batch_size=2)
    drawn = [fx.select(errors, 1, method, seed=seed).indices[0] for seed in range(20_000)]
    assert_follows(np.array(drawn), method.probabilities(ErrorMatrix.from_array(errors)))


def test_batch_tournament_probabilities_count_the_smaller_last_batch():
    errors = np.array([[0, 0, 9], [1, 1, 1], [9, 9, 0]])
    exact = fx.BatchTournament(size=2, batch_size=2).probabilities(ErrorMatrix.from_array(errors))
    pairs = [tournament_probabilities(errors[:, c].sum(axis=1), 2) for c in ([0, 1], [0, 2], [1, 2])]
    singles = [tournament_probabilities(errors[:, c], 2) for c in range(3)]
    np.testing.assert_allclose(exact, (np.mean(pairs, axis=0) + np.mean(singles, axis=0)) / 2)


def test_batch_tournament_says_when_exact_probabilities_are_out_of_reach():
    with pytest.raises(ValueError, match=r"10 of 100 cases make 1\.73e\+13 batches"):
        fx.BatchTournament(batch_size=10).probabilities(ErrorMatrix.from_array(np.zeros((2, 100))))


@pytest.mark.parametrize("name", ["tournament", "batch-tournament", "fitness-proportionate", "random"])
def test_registered_and_without_counts(name):
    assert name in fx.methods()
    assert_no_counts(name)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fx.Tournament(size=0), ValueError, "size must be at least 1, got 0"),
        (lambda: fx.Tournament(size=2.5), TypeError, "size must be an integer, got 2.5"),
        (lambda: fx.BatchTournament(size=-1), ValueError, "size must be at least 1, got -1"),
        (lambda: fx.BatchTournament(batch_size=0), ValueError, "batch_size must be at least 1, got 0"),
        (lambda: fx.BatchTournament(batch_size=True), TypeError, "batch_size must be an integer, got True"),
    ],
)
def test_bad_arguments_are_refused_by_name(make, error, message):
    with pytest.raises(error, match=message):
        make()
