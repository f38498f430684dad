"""Every example in the docstrings of the package, the benchmarks and the tools runs; every public name has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

import pytest

import flexicase
from flexicase.selection import methods as registry

MODULES = ["flexicase", *(module.name for module in pkgutil.walk_packages(flexicase.__path__, "flexicase."))]
MODULES = [name for name in MODULES if not name.endswith(("._native", ".__main__"))]
FOLDERS = [Path(__file__).resolve().parents[2] / name for name in ("benchmarks", "tools")]
SCRIPTS = [
    ".".join(path.relative_to(folder).with_suffix("").parts)
    for folder in FOLDERS
    for path in sorted(folder.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]
PUBLIC = [name for name in flexicase.__all__ if not name.startswith("_")]


def slow_if_it_needs_torch_or_ray(name: str) -> Any:
    is_slow = name.startswith("flexicase.torch") or name.endswith("._ray")
    return pytest.param(name, marks=pytest.mark.slow if is_slow else ())


# On a busy machine, processes of Ray outlive its shutdown for a moment.
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
@pytest.mark.parametrize("name", [slow_if_it_needs_torch_or_ray(name) for name in (*MODULES, *SCRIPTS)])
def test_examples_of_a_module_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))  # an example registers a method
    monkeypatch.setenv("MPLBACKEND", "agg")
    if name.startswith("flexicase.torch"):
        pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")
        pytest.importorskip("sklearn", reason="scikit-learn is not installed (the torch extra)")
    if name.endswith("._ray"):
        pytest.importorskip("ray", reason="Ray is not installed (the cluster extra)")
    outcome = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0, f"{outcome.failed} of {outcome.attempted} examples failed; see the output above"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(flexicase, name)) or ""), f"flexicase.{name} has no `>>>` example"
