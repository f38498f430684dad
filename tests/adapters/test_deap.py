"""The DEAP adapters, against the real DEAP."""

from __future__ import annotations

import pickle
import random
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare

import flexicase as fx
from flexicase.adapters import deap as adapter

deap = pytest.importorskip("deap", reason="the adapters are tested against the real DEAP")
from deap import algorithms, base, tools  # noqa: E402

MIXED = (-1.0, 1.0, -1.0, 1.0, -1.0)
HEAVY = (-2.0, 0.5, -1.0, 3.0, -0.25)


def fitness_type(weights):
    return type("FitnessOfTest", (base.Fitness,), {"weights": tuple(weights)})


class Genome(list):
    """An individual as DEAP's creator makes it."""

    def __init__(self, items, fitness):
        super().__init__(items)
        self.fitness = fitness

    def __deepcopy__(self, memo):
        return Genome(self, type(self.fitness)(self.fitness.values if self.fitness.valid else ()))


def population_of(values, weights):
    kind = fitness_type(weights)
    return [Genome([i], kind(tuple(row))) for i, row in enumerate(values)]


def small_values(seed=3):
    return np.random.default_rng(seed).integers(0, 4, size=(7, 5)).astype(float)


def same_distribution(chosen, expected):
    counts = np.bincount([ind[0] for ind in chosen], minlength=len(expected))
    assert (counts[expected == 0] == 0).all(), "somebody was chosen who never can be"
    possible = expected > 0
    assert chisquare(counts[possible], expected[possible] * counts.sum()).pvalue > 1e-3


SELECTORS = {
    "exact": (adapter.selLexicase, tools.selLexicase, {}, fx.Lexicase),
    "epsilon": (adapter.selEpsilonLexicase, tools.selEpsilonLexicase, {"epsilon": 1.0}, lambda: fx.Lexicase(epsilon=1)),
    "automatic": (
        adapter.selAutomaticEpsilonLexicase,
        tools.selAutomaticEpsilonLexicase,
        {},
        lambda: fx.Lexicase(epsilon=fx.MadEpsilon("dynamic")),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("weights", [(-1.0,) * 5, (1.0,) * 5, MIXED, HEAVY], ids=["min", "max", "mixed", "heavy"])
@pytest.mark.parametrize("name", SELECTORS)
def test_same_distribution_as_deaps_own(name, weights):
    """A wrong sign, a forgotten weight or another epsilon would show in one of the two."""
    ours, theirs, options, method = SELECTORS[name]
    values = small_values()
    population = population_of(values, weights)
    expected = fx.probabilities(-values * np.sign(weights), method())
    assert (expected > 0).sum() > 1
    random.seed(8)
    same_distribution(theirs(population, 3000, **options), expected)
    same_distribution(ours(population, 30_000, **options), expected)


@pytest.mark.parametrize("order", ["ranked", "weighted", "uniform"])
@pytest.mark.parametrize("bias", ["num_zeros", "num_nonzeros"])
def test_weighted_orders_have_their_distribution(order, bias):
    values = small_values()
    kinds = {"ranked": fx.Ranked(bias), "weighted": fx.Weighted(bias), "uniform": fx.Uniform()}
    method = fx.Lexicase(order=kinds[order])
    chosen = adapter.selLexicase(population_of(values, (-1.0,) * 5), 30_000, method, seed=2)
    same_distribution(chosen, fx.probabilities(values, method))


def test_a_method_may_be_a_name():
    values = small_values()
    chosen = adapter.selLexicase(population_of(values, (-1.0,) * 5), 30_000, "ranked-variance", seed=2)
    same_distribution(chosen, fx.probabilities(values, fx.Lexicase(order=fx.Ranked("variance"))))


def test_solved_says_what_a_zero_is_when_scores_are_maximised():
    """Without it the biases change places: those who score 0 would count as having solved the case."""
    solved = np.random.default_rng(5).random((9, 6)) < np.linspace(0.1, 0.9, 6)
    population = population_of(solved * 10.0, (1.0,) * 6)
    hard_first = fx.Lexicase(order=fx.Ranked("num_nonzeros"))
    easy_first = fx.Lexicase(order=fx.Ranked("num_zeros"))
    chosen = adapter.selLexicase(population, 30_000, hard_first, solved=10.0, seed=4)
    same_distribution(chosen, fx.probabilities(~solved, hard_first))
    reversed_meaning = adapter.selLexicase(population, 30_000, hard_first, seed=4)
    same_distribution(reversed_meaning, fx.probabilities(~solved, easy_first))


def test_errors_of_weights_values_and_targets():
    population = population_of([[3.0, 1.0, 0.0, 2.0, 8.0]], HEAVY)
    errors = adapter.errors_of(population, solved=[0.0, 2.0, 0.0, 2.0, 1.0])
    np.testing.assert_array_equal(errors, [[3.0, 1.0, 0.0, 0.0, 7.0]])
    assert not np.signbit(adapter.errors_of(population_of([[0.0, -0.0]], (-1.0, -1.0)))).any()
    np.testing.assert_array_equal(
        adapter.errors_of([SimpleNamespace(fitness=SimpleNamespace(weights=(0.0, 1.0), wvalues=(0.0, 4.0)))]),
        [[0.0, -4.0]],
    )


def test_the_individuals_themselves_are_returned():
    population = population_of(small_values(), (-1.0,) * 5)
    chosen = adapter.selLexicase(population, 20)
    assert len(chosen) == 20
    assert all(any(ind is member for member in population) for ind in chosen)


def test_randomness_comes_from_the_random_module_unless_seeded():
    population = population_of(small_values(), (-1.0,) * 5)

    def draw(**options):
        return [ind[0] for ind in adapter.selLexicase(population, 40, **options)]

    random.seed(1)
    first, second = draw(), draw()
    random.seed(1)
    assert [draw(), draw()] == [first, second]
    assert first != second
    state = random.getstate()
    assert draw(seed=5) == draw(seed=5, threads=2)
    assert random.getstate() == state, "a given seed must leave the module's stream alone"


def test_unevaluated_individuals_are_named_by_their_position():
    population = population_of(small_values(), (-1.0,) * 5)
    del population[4].fitness.values
    with pytest.raises(ValueError, match="fitness of individual 4 is not valid"):
        adapter.selLexicase(population, 3)
    for ind in population:
        del ind.fitness.values
    with pytest.raises(ValueError, match="fitness of individual 0 is not valid"):
        adapter.selLexicase(population, 3)


def test_bad_arguments_are_refused_with_a_reason():
    population = population_of(small_values(), (-1.0,) * 5)
    ragged = [*population, *population_of([[1.0, 2.0]], (-1.0, -1.0))]
    with pytest.raises(ValueError, match="as the first, 5, but individual 7 has 2"):
        adapter.selLexicase(ragged, 1)
    with pytest.raises(ValueError, match="individuals must not be empty"):
        adapter.selLexicase([], 1)
    with pytest.raises(ValueError, match="k must be at least 0"):
        adapter.selLexicase(population, -1)
    with pytest.raises(ValueError, match=r"solved must have one number per case: expected shape \(5,\)"):
        adapter.selLexicase(population, 1, solved=[1.0, 2.0])
    with pytest.raises(TypeError, match="solved must be real numbers"):
        adapter.selLexicase(population, 1, solved="best")
    with pytest.raises(ValueError, match="unknown method 'ranked-num-zero'; did you mean 'ranked-num-zeros'"):
        adapter.selLexicase(population, 1, "ranked-num-zero")
    assert adapter.selLexicase([], 0) == []


def test_nan_is_refused_or_the_worst():
    population = population_of([[0.0, np.nan], [1.0, 1.0]], (-1.0, -1.0))
    with pytest.raises(ValueError, match="individual 0, case 1 has nan"):
        adapter.selLexicase(population, 1)
    assert {ind[0] for ind in adapter.selLexicase(population, 50, nan="worst", seed=1)} == {0, 1}


BITS = 16


def toolbox_for_bits(select, **options):
    """Every bit is a case: the error is 0 if it is set."""
    kind = fitness_type((-1.0,) * BITS)
    toolbox = base.Toolbox()
    toolbox.register("individual", lambda: Genome([random.randint(0, 1) for _ in range(BITS)], kind()))
    toolbox.register("population", tools.initRepeat, list, toolbox.individual)
    toolbox.register("evaluate", lambda ind: tuple(1.0 - bit for bit in ind))
    toolbox.register("mate", tools.cxUniform, indpb=0.5)
    toolbox.register("mutate", tools.mutFlipBit, indpb=1 / BITS)
    toolbox.register("select", select, **options)
    return toolbox


@pytest.mark.parametrize(
    ("select", "options"),
    [
        (adapter.selLexicase, {}),
        (adapter.selEpsilonLexicase, {"epsilon": 0.5}),
        (adapter.selAutomaticEpsilonLexicase, {}),
        (adapter.selLexicase, {"method": "weighted-num-nonzeros"}),
    ],
)
def test_ea_simple_runs_and_repeats(select, options):
    def run():
        random.seed(11)
        toolbox = toolbox_for_bits(select, **options)
        population, log = algorithms.eaSimple(toolbox.population(n=40), toolbox, 0.6, 0.3, ngen=12, verbose=False)
        return population, log

    first, log = run()
    assert len(log) == 13
    assert max(sum(ind) for ind in first) >= BITS - 2
    assert [list(ind) for ind in run()[0]] == [list(ind) for ind in first]


class Watched:
    """Errors looked up, with a note of every pair asked for."""

    def __init__(self, errors):
        self.errors = errors
        self.pairs = []

    def __call__(self, individual, cases):
        self.pairs += [(individual[0], int(case)) for case in cases]
        return self.errors[individual[0], cases]


def test_fast_lexicase_is_flexicases_own_on_the_individuals_asked_for():
    """The adapter must hand over the right individuals in the right order, and compute no pair twice."""
    errors = np.random.default_rng(4).integers(0, 3, size=(30, 200))
    population = [Genome([i], None) for i in range(30)]
    evaluate = Watched(errors)
    chosen = adapter.selFastLexicase(population, 4, evaluate, n_cases=200, seed=6)
    expected = fx.FastLexicase(200).select(lambda i, c: errors[np.ix_(i, c)], 30, 4, seed=6)
    assert [ind[0] for ind in chosen] == expected.indices.tolist()
    assert all(ind is population[ind[0]] for ind in chosen)
    assert len(evaluate.pairs) == len(set(evaluate.pairs)) == expected.pairs.sum() < errors.size / 2


def test_fast_lexicase_without_learning_has_the_distribution_of_lexicase():
    values = small_values()
    population = population_of(values, (-1.0,) * 5)
    fast = fx.FastLexicase(5, "lexicase")
    random.seed(3)
    chosen = adapter.selFastLexicase(population, 6000, lambda ind, cases: values[ind[0], cases], fast=fast)
    same_distribution(chosen, fx.probabilities(values))


def test_fast_lexicase_evaluates_every_generation_anew_and_keeps_its_weights():
    """Individuals change in place between generations; errors of the last one would be wrong."""
    fast = fx.FastLexicase(3, "lexicase")
    population = [Genome([0], None), Genome([1], None)]

    def evaluate(individual, cases):
        return np.full(len(cases), individual[0])

    assert set(map(id, adapter.selFastLexicase(population, 9, evaluate, fast=fast))) == {id(population[0])}
    assert (fast.weights == 2).any(), "one of two failed a case: 1 + 1"
    assert fast.cache_info().pairs == 0, "errors and individuals of a past generation must not be kept alive"
    population[0][0], population[1][0] = 1, 0
    assert set(map(id, adapter.selFastLexicase(population, 9, evaluate, fast=fast))) == {id(population[1])}


def test_fast_lexicase_runs_in_a_loop_of_its_own_and_repeats():
    """Selection before any fitness is known: only the pairs that selection needs are ever computed."""

    def run():
        random.seed(12)
        evaluate = Watched(None)

        def bits(individual, cases):
            evaluate.pairs += list(cases)
            return [1 - individual[case] for case in cases]

        fast = fx.FastLexicase(BITS, "ranked-num-nonzeros")
        toolbox = toolbox_for_bits(adapter.selFastLexicase, evaluate=bits, fast=fast)
        population = toolbox.population(n=40)
        for _ in range(15):
            offspring = toolbox.select(population, len(population))
            population = algorithms.varAnd(offspring, toolbox, 0.6, 0.3)
        return population, len(evaluate.pairs)

    population, computed = run()
    assert max(sum(ind) for ind in population) >= BITS - 2
    assert computed <= 15 * 40 * BITS
    assert [list(ind) for ind in run()[0]] == [list(ind) for ind in population]


def test_fast_lexicase_evaluates_through_the_given_map():
    used = []

    def mapping(function, items):
        used.append(len(items))
        return map(function, items)

    adapter.selFastLexicase([0, 1, 2], 2, lambda ind, cases: np.abs(ind - cases), n_cases=3, mapping=mapping, seed=1)
    assert used
    assert max(used) == 3


def distances(individual, cases):
    return np.abs(individual - cases)


def test_fast_lexicase_hands_a_map_what_can_be_sent_to_another_process():
    def mapping(function, items):
        return map(pickle.loads(pickle.dumps(function)), pickle.loads(pickle.dumps(items)))

    options = {"n_cases": 6, "seed": 1}
    sent = adapter.selFastLexicase(list(range(6)), 9, distances, mapping=mapping, **options)
    assert sent == adapter.selFastLexicase(list(range(6)), 9, distances, **options)


def test_fast_lexicase_needs_its_cases_said_once():
    for options in ({}, {"n_cases": 3, "fast": fx.FastLexicase(3)}):
        with pytest.raises(TypeError, match="pass either n_cases or fast"):
            adapter.selFastLexicase([0, 1], 1, lambda ind, cases: cases, **options)
    with pytest.raises(fx.EvaluationError):
        adapter.selFastLexicase([0, 1], 1, lambda ind, cases: [], n_cases=3)
