"""What every adapter promises, tested against the real packages; a package that is not installed is skipped."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flexicase as fx
from tests.adapters.hosts import HOSTS

NAN, INF = np.nan, np.inf
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(params=HOSTS, ids=lambda kind: kind.package)
def host(request, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return request.param()


def errors_of(seed=3):
    return np.random.default_rng(seed).integers(0, 4, size=(7, 5)).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lexicase", "epsilon-lexicase-dynamic"])
def test_distribution_is_the_methods(host, method):
    """A wrong direction, a lost case or parents that depend on each other would show."""

    def select(errors, n, rng):
        return host.select(host.population(errors), n, int(rng.integers(2**31)), method=method)

    found = fx.verify(select, method, n_draws=400 if host.package == "gepa" else 1000)
    assert found.passed, found


def test_repeats_under_the_hosts_seed(host):
    population = host.population(errors_of())
    draws = [list(host.select(population, 40, seed)) for seed in (1, 1, 2)]
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]
    assert len(set(draws[0])) > 1, "one call gives different parents"


def test_changes_nothing_of_the_callers(host):
    population = host.population(errors_of())
    before = host.content(population)
    host.select(population, 20, 1)
    assert host.content(population) == before


def test_missing_values_are_the_worst_or_refused(host):
    errors = np.array([[0.0, NAN], [1.0, 1.0], [NAN, NAN]])
    population = host.population(errors)
    expected = fx.probabilities(np.where(np.isnan(errors), INF, errors))
    assert set(host.select(population, 60, 1)) == set(np.flatnonzero(expected)) == {0, 1}
    with pytest.raises(ValueError, match="nan"):
        host.select(population, 1, 1, nan="raise")


def test_an_infinite_error_is_accepted_and_never_best(host):
    population = host.population(np.array([[INF, INF, 0.0], [1.0, 2.0, 0.0]]))
    assert set(host.select(population, 20, 1)) == {1}


def test_solved_says_what_a_solved_case_is(host):
    """Num-Zeros and Num-Nonzeros would change places if errors were only negated scores."""
    solved = np.random.default_rng(5).random((9, 6)) < np.linspace(0.1, 0.9, 6)
    values = (~solved) + 3.0  # an error of 3 is as good as it gets
    hard_first = fx.Lexicase(order=fx.Ranked("num_nonzeros"))
    population = host.population(values)
    target = 3.0 * host.signs(values) if host.mixed else -3.0 if host.package in ("gepa", "pygad") else 3.0
    chosen = [i for seed in range(20) for i in host.select(population, 30, seed, method=hard_first, solved=target)]
    possible = fx.probabilities(~solved, hard_first) > 0
    assert set(chosen) <= set(np.flatnonzero(possible))
    assert not possible.all(), "the test can fail"


@pytest.mark.parametrize("package", ["geneticengine", "leap_ec", "pygad"])
def test_a_bias_on_maximised_cases_needs_solved(package):
    """No score solves a case by itself, so the two biases could change places unseen."""
    host = next(kind for kind in HOSTS if kind.package == package)()
    with pytest.raises(ValueError, match="solved must be the score"):
        host.select(host.population(errors_of()), 1, 1, method="weighted-num-zeros")
    host.select(host.population(errors_of()), 1, 1, method="weighted-num-zeros", solved=0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "lexicse"}, "unknown method 'lexicse'"),
        ({"solved": NAN}, "solved must be finite"),
        ({"solved": "best"}, "solved must be"),
        ({"solved": [1.0, 2.0]}, "solved must have one number per case"),
        ({"nan": "best"}, "nan must be"),
    ],
)
def test_bad_options_are_refused_with_a_reason(host, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        host.select(host.population(errors_of()), 1, 1, **options)


@pytest.mark.slow
def test_a_whole_program_runs_and_repeats(host):
    """The example script of the host, in a shorter run."""
    run, short = host.example().run, {"gepa": 600, "geneticengine": 300}.get(host.package, 4)
    result = run(True, 1, short)
    assert np.isfinite(result)
    assert run(True, 1, short) == result
    assert len({result, run(True, 2, short), run(True, 3, short)}) > 1, "the seed has an effect"


def test_importing_flexicase_and_its_adapters_imports_no_host():
    """Users of one host need not install the others."""
    names = sorted(kind.package for kind in HOSTS)
    code = (
        "import importlib, sys, flexicase\n"
        f"[importlib.import_module('flexicase.adapters.' + name) for name in {names}]\n"
        f"assert not set({names}) & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


class TestGepa:
    """What only gepa's selector promises."""

    def test_draws_depend_on_the_iteration_so_a_resumed_run_continues(self):
        from flexicase.adapters.gepa import LexicaseCandidateSelector

        state = type("State", (), {"prog_candidate_val_subscores": [dict(enumerate(row)) for row in errors_of()]})()

        def draws(selector, iterations):
            found = []
            for state.i in iterations:
                found += [selector.select_candidate_idx(state), selector.select_candidate_idx(state)]
            return found

        whole = draws(LexicaseCandidateSelector(), range(-1, 40))
        resumed = draws(LexicaseCandidateSelector(), range(20, 40))
        assert whole[-40:] == resumed
        assert len(set(whole)) > 1

    def test_iterations_continue_when_a_real_run_resumes(self, monkeypatch, tmp_path):
        """The draws of an iteration would repeat, or be left out, if gepa counted otherwise."""
        gepa = pytest.importorskip("gepa", reason="gepa is not installed; make test-adapters has it")
        from flexicase.adapters.gepa import LexicaseCandidateSelector

        monkeypatch.syspath_prepend(EXAMPLES)
        example, seen = importlib.import_module("with_gepa"), []

        class Watched(LexicaseCandidateSelector):
            def select_candidate_idx(self, state):
                seen.append(state.i)
                return super().select_candidate_idx(state)

        for budget in (200, 400):
            gepa.optimize(
                {"prompt": "0"},
                trainset=list(range(40)),
                adapter=example.Imitation(1),
                candidate_selection_strategy=Watched(),
                max_metric_calls=budget,
                run_dir=str(tmp_path),
                logger=type("Silent", (), {"log": lambda self, message: None})(),
            )
            assert seen == list(range(len(seen)))
        assert len(seen) > 10

    @pytest.mark.parametrize("state", [None, 3, type("S", (), {"prog_candidate_val_subscores": [1], "i": 0})()])
    def test_refuses_what_is_no_state(self, state):
        from flexicase.adapters.gepa import LexicaseCandidateSelector

        with pytest.raises(TypeError, match="state must be a GEPAState"):
            LexicaseCandidateSelector().select_candidate_idx(state)


def test_pymoo_treats_infeasible_individuals_as_the_worst():
    core = pytest.importorskip("pymoo.core.population", reason="pymoo is not installed; make test-adapters has it")
    from flexicase.adapters.pymoo import LexicaseSelection

    pop = core.Population.new(F=np.array([[0.0, 0.0], [1.0, 2.0]]), G=np.array([[1.0], [-1.0]]))
    chosen = LexicaseSelection().do(None, pop, 5, 2, to_pop=False, random_state=np.random.default_rng(1))
    assert chosen.shape == (5, 2)
    assert (chosen == 1).all()
    with pytest.raises(TypeError, match="pop must be a population with 'cases'"):
        LexicaseSelection(key="cases").do(None, None, 1, 2)


def test_geneticengine_treats_invalid_fitness_as_the_worst_and_takes_the_target():
    """GeneticEngine gives an invalid individual the best value of all, and a flag."""
    problems = pytest.importorskip("geneticengine.problems", reason="geneticengine is not installed")
    host = next(kind for kind in HOSTS if kind.package == "geneticengine")()
    population = host.population(errors_of()[:2])
    population.individuals[0].set_fitness(population.problem, population.problem.get_invalid_fitness())
    assert isinstance(population.individuals[0].get_fitness(population.problem), problems.Fitness)
    assert set(host.select(population, 20, 1, nan="raise")) == {1}
    population.problem.target = [0.0] * 4
    with pytest.raises(ValueError, match="solved must have one number per case"):
        host.select(population, 1, 1)


def test_leap_individuals_that_failed_are_the_worst_and_unevaluated_ones_refused():
    leap = pytest.importorskip("leap_ec", reason="leap_ec is not installed; make test-adapters has it")
    host = next(kind for kind in HOSTS if kind.package == "leap_ec")()
    population = host.population(errors_of()[:3])
    population[0].fitness = population[1].fitness = NAN  # as LEAP's robust individuals after an exception
    assert set(host.select(population, 20, 1)) == {2}
    with pytest.raises(ValueError, match="individual 3 has no fitness"):
        host.select([*population, leap.Individual(np.array([3]), problem=population[0].problem)], 1, 1)
    with pytest.raises(TypeError, match="population must be a list of individuals"):
        host.adapter.lexicase_selection([])


def test_pygad_takes_scores_of_the_population():
    """The fitness stays a number; the cases come from a function."""
    host = next(kind for kind in HOSTS if kind.package == "pygad")()
    population = host.population(errors_of())
    chosen = host.adapter.lexicase_parents(lambda genomes: np.column_stack([genomes[:, 0]] * 3))
    assert set(chosen([0.0] * 7, 9, population.ga)[1]) == {6}
    with pytest.raises(TypeError, match="scores must be"):
        host.adapter.lexicase_parents(3)
