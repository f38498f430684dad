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


def main() -> None:
    """Print one line per selector."""
    for package, selectors in (("deap", deap_selectors), ("lexicase", lexicase_selectors), ("tpot", tpot_selectors)):
        try:
            for name, select, method in selectors():
                found = fx.verify(select, method)
                print(
                    package, version(package), name, "passed" if found.passed else "failed", f"p = {found.p_value:.2g}"
                )
        except ImportError as error:
            print(package, "skipped:", error)


if __name__ == "__main__":
    main()
