"""Counts the modules of flexicase that run in five common calls: ``python tools/count_walks.py``.

A module runs if one of its functions is called. Each call is made twice and counted the second time, so that imports
and caches are left out. The runs of a study are other processes, whose modules are those of a GP run.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import flexicase as fx

PACKAGE = Path(fx.__file__).resolve().parent
STUDY = """
name = "walk"
problems = ["simple-regression"]
methods = ["lexicase", "ranked-num-nonzeros"]
seeds = 1
[settings]
population = 10
generations = 1
"""


def modules_run(call: Callable[[], object]) -> list[str]:
    """The modules whose functions a call runs, in all threads.

    >>> modules_run(lambda: fx.Ended(0).label)
    ['selection.protocol']
    """
    found: set[str] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            found.add(frame.f_code.co_filename)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    inside = (path for path in map(Path, found) if path.is_relative_to(PACKAGE) and path.suffix == ".py")
    return sorted(".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in inside)


def walk_select() -> object:
    """Select parents from an error matrix."""
    return fx.select(np.eye(50, dtype=np.int64), 10, "lexicase", seed=1)


def walk_fast_lexicase() -> object:
    """Select with partial evaluation, cache and look-ahead."""
    errors = np.random.default_rng(1).integers(0, 3, (50, 200))
    return fx.FastLexicase(200, seed=1).select(lambda i, c: errors[np.ix_(i, c)], 50, 10, cache_key=1)


def walk_generation() -> Callable[[], object]:
    """One generation of genetic programming."""
    from flexicase.gp.evolve import Evolution, evolve_settings

    evolution = Evolution(evolve_settings("mirror-image", population=50, generations=9, seed=1, threads=1))
    return evolution.step


def walk_study() -> None:
    """A study, from its TOML file to the report."""
    from flexicase.experiments import Study, export_study, load_spec, run_study
    from flexicase.report import write_report

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "walk.toml").write_text(STUDY, encoding="utf-8")
        run_study(folder, load_spec(folder / "walk.toml"))
        export_study(Study(folder / "walk"), folder / "export")
        write_report(folder / "export", folder / "report")


def walk_gradient_lexicase() -> Callable[[], object]:
    """One generation of gradient lexicase."""
    import torch

    from flexicase.torch import GradientLexicase

    inputs = torch.linspace(-1, 1, 80).reshape(20, 4)
    data = torch.utils.data.TensorDataset(inputs, torch.arange(20) % 3)
    search = GradientLexicase(lambda: torch.nn.Linear(4, 3), data, batch_size=5, seed=1, generations=9)
    return search.step


def main() -> None:
    """Print one line for each walk."""
    walks: dict[str, Callable[[], object]] = {
        "select": walk_select,
        "FastLexicase.select": walk_fast_lexicase,
        "one GP generation": walk_generation(),
        "study to report": walk_study,
        "one gradient-lexicase generation": walk_gradient_lexicase(),
    }
    for name, walk in walks.items():
        walk()
        modules = modules_run(walk)
        print(f"{name}: {len(modules)} modules ({', '.join(modules)})")


if __name__ == "__main__":
    main()
