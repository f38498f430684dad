"""The real hosts of the adapters, behind one interface for the tests.

A host makes its own objects from an error matrix, selects from them as it would in a run, and tells what is in them.
NaN in the matrix is a missing value. ``mixed`` hosts may maximise some cases and minimise others.
"""

from __future__ import annotations

import copy
import importlib
import random
from types import SimpleNamespace

import numpy as np
import pytest


class Host:
    """One host; subclasses import its package where they use it."""

    package: str
    mixed = False

    def __init__(self) -> None:
        pytest.importorskip(self.package, reason=f"{self.package} is not installed; make test-adapters has it")
        self.adapter = importlib.import_module(f"flexicase.adapters.{self.package}")

    def signs(self, errors):
        """1 for a case that is minimised and -1 for one that is maximised."""
        return np.where(np.arange(errors.shape[1]) % 2, -1.0, 1.0)

    def example(self):
        return importlib.import_module(f"with_{self.package}")


class Deap(Host):
    package = "deap"
    mixed = True

    def population(self, errors):
        from deap import base

        signs = self.signs(errors)
        kind = type("FitnessOfTest", (base.Fitness,), {"weights": tuple(-signs)})
        return [SimpleNamespace(i=i, fitness=kind(tuple(row))) for i, row in enumerate(errors * signs)]

    def select(self, population, n, seed, **options):
        random.seed(seed)
        return [one.i for one in self.adapter.selLexicase(population, n, **{"nan": "worst"} | options)]

    def content(self, population):
        return [(one.i, one.fitness.values) for one in population]


class Gepa(Host):
    package = "gepa"

    def population(self, errors):
        from gepa.core.state import GEPAState, ValsetEvaluation

        rows = [{f"v{i}": float(-e) for i, e in enumerate(row) if not np.isnan(e)} for row in errors]
        scores = [ValsetEvaluation(outputs_by_val_id={}, scores_by_val_id=row) for row in rows]
        state = GEPAState({"prompt": "0"}, scores[0])
        for i, row in enumerate(scores[1:]):
            state.update_state_with_new_program([0], {"prompt": str(i)}, row, None, 0)
        return state

    def select(self, state, n, seed, **options):
        selector = self.adapter.LexicaseCandidateSelector(seed=seed, **{"solved": 0.0} | options)
        return [selector.select_candidate_idx(state) for _ in range(n)]

    def content(self, state):
        return copy.deepcopy(vars(state))


class Pymoo(Host):
    package = "pymoo"

    def population(self, errors):
        from pymoo.core.population import Population

        return Population.new(X=np.arange(len(errors))[:, None], F=errors.copy())

    def select(self, population, n, seed, **options):
        selection = self.adapter.LexicaseSelection(**options)
        chosen = selection(None, population, n, n_parents=1, random_state=np.random.default_rng(seed))
        return [one.X[0] for one in chosen[:, 0]]

    def content(self, population):
        return [(one.X.tolist(), one.F.tolist()) for one in population]


class GeneticEngine(Host):
    package = "geneticengine"
    mixed = True

    def population(self, errors):
        from geneticengine.problems import Fitness, MultiObjectiveProblem
        from geneticengine.solutions.individual import ConcreteIndividual

        signs = self.signs(errors)
        problem = MultiObjectiveProblem(lambda _: pytest.fail("evaluated twice"), (signs > 0).tolist())
        individuals = [ConcreteIndividual(i) for i in range(len(errors))]
        for one, row in zip(individuals, errors * signs, strict=True):
            one.set_fitness(problem, Fitness(row.tolist()))
        return SimpleNamespace(problem=problem, individuals=individuals)

    def select(self, population, n, seed, **options):
        from geneticengine.evaluation.sequential import SequentialEvaluator
        from geneticengine.random.sources import NativeRandomSource

        step, source = self.adapter.LexicaseStep(**options), NativeRandomSource(seed)
        evaluator, individuals = SequentialEvaluator(), iter(population.individuals)
        chosen = step.apply(population.problem, evaluator, None, source, individuals, n, 1)
        return [one.get_phenotype() for one in chosen]

    def content(self, population):
        return [list(one.get_fitness(population.problem).fitness_components) for one in population.individuals]


class LeapEc(Host):
    package = "leap_ec"
    mixed = True

    def population(self, errors):
        from leap_ec import Individual
        from leap_ec.multiobjective.problems import MultiObjectiveProblem

        signs = self.signs(errors)
        problem = type("Problem", (MultiObjectiveProblem,), {"evaluate": None})((signs < 0).tolist())
        individuals = [Individual(np.array([i]), problem=problem) for i in range(len(errors))]
        for one, row in zip(individuals, errors * signs, strict=True):
            one.fitness = row.copy()
        return individuals

    def select(self, population, n, seed, **options):
        random.seed(seed)
        selected = self.adapter.lexicase_selection(**options)(population)
        return [next(selected).genome[0] for _ in range(n)]

    def content(self, population):
        return [(one.genome.tolist(), one.fitness.tolist()) for one in population]


class Pygad(Host):
    package = "pygad"

    def population(self, errors):
        import pygad

        genomes = np.column_stack([np.arange(len(errors)), np.zeros(len(errors))])
        options = {"num_generations": 1, "num_parents_mating": 1, "initial_population": genomes, "random_seed": 1}
        ga = pygad.GA(fitness_func=lambda ga, one, i: 0.0, suppress_warnings=True, **options)
        return SimpleNamespace(ga=ga, fitness=-errors)

    def select(self, population, n, seed, **options):
        population.ga.numpy_random_generator = np.random.RandomState(seed)
        parents, indices = self.adapter.lexicase_parents(**options)(population.fitness, n, population.ga)
        assert (parents[:, 0] == indices).all()
        return indices

    def content(self, population):
        return [population.fitness.tolist(), population.ga.population.tolist()]


HOSTS = (Deap, Gepa, Pymoo, GeneticEngine, LeapEc, Pygad)
