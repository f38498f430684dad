"""The shape of the public API: one `method` everywhere, and examples that a strict type checker accepts."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import flexicase as fx
from flexicase import adapters, data, evaluation, plot
from flexicase.adapters import deap

PARTS_OF_A_METHOD = {fx.Lexicase, fx.Weighted, fx.Ranked}
SELECTS = (
    *(fx.select, fx.select_indices, fx.Selector, fx.FastLexicase, fx.trace, fx.advise),
    *(fx.probabilities, fx.estimate_probabilities, deap.selLexicase, deap.selFastLexicase, plot.case_weights),
)
README = Path(__file__).parent.parent / "README.md"


def public_callables() -> Iterator[tuple[str, Callable]]:
    """Every public function, class and method, beside the parts of a method."""
    for module in (fx, evaluation, plot, data, deap, adapters):
        for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
            found = getattr(module, name)
            if not getattr(found, "__module__", "").startswith("flexicase"):
                continue
            if not callable(found) or found in PARTS_OF_A_METHOD:
                continue
            yield f"{module.__name__}.{name}", found
            if inspect.isclass(found):
                for member, function in inspect.getmembers(found, inspect.isfunction):
                    if not member.startswith("_"):
                        yield f"{module.__name__}.{name}.{member}", function


def test_orders_and_biases_are_given_inside_a_method_only() -> None:
    checked = 0
    for name, function in public_callables():
        try:
            parameters = set(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            continue
        assert not parameters & {"order", "bias"}, name
        checked += 1
    assert checked > 60


@pytest.mark.parametrize("function", SELECTS, ids=lambda function: function.__name__)
def test_whatever_selects_takes_a_method(function: Callable) -> None:
    assert "method" in inspect.signature(function).parameters


@pytest.mark.slow
def test_the_examples_of_the_readme_pass_strict_type_checking(tmp_path: Path) -> None:
    """A user with a strict checker must not need a cast: `s.evaluations.mean()` is a number."""
    pytest.importorskip("mypy")
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    blocks = [block for block in blocks if "torch" not in block and ">>>" not in block]
    code = "\n".join(blocks)
    assert "s.evaluations.mean()" in code
    untyped, typed = "def evaluate(individuals, cases):", "def evaluate(individuals: Indices, cases: Indices) -> Any:"
    assert untyped in code
    script = tmp_path / "user.py"
    script.write_text(
        "from typing import Any\nimport numpy as np\nfrom numpy.typing import NDArray\nIndices = NDArray[np.int64]\n"
        + code.replace(untyped, typed)
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--allow-redefinition", "--cache-dir", str(tmp_path), str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=README.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr
