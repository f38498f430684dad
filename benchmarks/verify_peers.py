"""Whether other packages select with the right probabilities: ``python benchmarks/verify_peers.py``."""

from __future__ import annotations

import importlib
import importlib.util
import random
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import flexicase as fx
from flexicase.adapters.geneticengine import LexicaseStep
from flexicase.selection.verify import Select


def deap_selectors() -> Iterator[tuple[str, Select, Any]]:
    from deap import tools

    def adapted(select: Any) -> Select:
        def indices(errors: Any, n: int, rng: np.random.Generator) -> list[int]:
            random.seed(int(rng.integers(2**62)))
            fitness = [SimpleNamespace(values=row, wvalues=-row, weights=[-1.0] * len(row)) for row in errors]
            return [one.i for one in select([SimpleNamespace(i=i, fitness=f) for i, f in enumerate(fitness)], n)]

        return indices

    yield "selLexicase", adapted(tools.selLexicase), "lexicase"
    yield "selEpsilonLexicase", adapted(lambda p, n: tools.selEpsilonLexicase(p, n, 0.5)), fx.Lexicase(epsilon=0.5)
    yield "selAutomaticEpsilonLexicase", adapted(tools.selAutomaticEpsilonLexicase), "epsilon-lexicase-dynamic"


def lexicase_selectors() -> Iterator[tuple[str, Select, Any]]:
    package = importlib.import_module("lexicase")
    for name, method in (("lexicase_selection", "lexicase"), ("epsilon_lexicase_selection", "epsilon-lexicase")):
        select = getattr(package, name)
        yield name, lambda e, n, rng, s=select: np.asarray(s(-e, n, seed=int(rng.integers(2**31)))), method  # type: ignore[misc]


def tpot_selectors() -> Iterator[tuple[str, Select, Any]]:
    package = importlib.util.find_spec("tpot")  # the package itself imports all of its dependencies
    if package is None or package.origin is None:
        raise ImportError("tpot is not installed")
    path = Path(package.origin).parent / "selectors/lexicase_selection.py"
    spec = importlib.util.spec_from_file_location("tpot_lexicase", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield "lexicase_selection", lambda e, n, rng: module.lexicase_selection(-e, n, rng=rng)[:, 0], "lexicase"


def geneticengine_step(step: Any, parents_per_call: int | None) -> Select:
    """A step of GeneticEngine that is asked for so many parents at once; None is as many as there are individuals."""
    from geneticengine.evaluation.sequential import SequentialEvaluator
    from geneticengine.problems import Fitness, MultiObjectiveProblem
    from geneticengine.random.sources import NativeRandomSource
    from geneticengine.solutions.individual import ConcreteIndividual

    def indices(errors: Any, n: int, rng: np.random.Generator) -> list[int]:
        problem = MultiObjectiveProblem(lambda _: [], [True] * errors.shape[1])
        individuals = [ConcreteIndividual(i) for i in range(len(errors))]
        for one, row in zip(individuals, errors.tolist(), strict=True):
            one.set_fitness(problem, Fitness(row))
        source, evaluator, found = NativeRandomSource(int(rng.integers(2**62))), SequentialEvaluator(), []
        size = min(parents_per_call or len(errors), len(errors))  # it selects without replacement
        while len(found) < n:
            found += step.apply(problem, evaluator, None, source, iter(individuals), size, 1)
        return [one.get_phenotype() for one in found[:n]]

    return indices


def geneticengine_selectors() -> Iterator[tuple[str, Select, Any]]:
    selection = importlib.import_module("geneticengine.algorithms.gp.operators.selection")
    for size in (1, 3, None):
        name = f"LexicaseSelection, {size or 'all'} parents at once"
        yield name, geneticengine_step(selection.LexicaseSelection(), size), "lexicase"
    yield "LexicaseStep of flexicase, all parents at once", geneticengine_step(LexicaseStep(), None), "lexicase"


def show_dominated_individual() -> None:
    """How often GeneticEngine selects an individual that is worse than another on every case."""
    selection = importlib.import_module("geneticengine.algorithms.gp.operators.selection")
    errors = np.array([[0, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0], [2, 2, 2]], dtype=float)
    print("exact probabilities", fx.probabilities(errors).round(3).tolist())
    for step in (selection.LexicaseSelection(), LexicaseStep()):
        for size in (1, 3, 5):
            chosen = geneticengine_step(step, size)(errors, 15_000, np.random.default_rng(0))
            print(f"{step}, {size} at once", (np.bincount(chosen, minlength=5) / 15_000).round(3).tolist())


def main() -> None:
    """Print one line per selector."""
    packages = {
        "deap": deap_selectors,
        "lexicase": lexicase_selectors,
        "tpot": tpot_selectors,
        "geneticengine": geneticengine_selectors,
    }
    for package, selectors in packages.items():
        try:
            for name, select, method in selectors():
                found = fx.verify(select, method)
                print(
                    package, version(package), name, "passed" if found.passed else "failed", f"p = {found.p_value:.2g}"
                )
        except ImportError as error:
            print(package, "skipped:", error)
            continue
        if package == "geneticengine":
            show_dominated_individual()


if __name__ == "__main__":
    main()
