"""The package itself: its names, and what importing it costs."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import flexicase as fx
from flexicase import adapters, data, evaluation, experiments, plot
from flexicase.adapters import deap, geneticengine, gepa, leap_ec, pygad, pymoo


@pytest.mark.parametrize("package", [fx, experiments], ids=["flexicase", "experiments"])
def test_every_public_name_is_there_also_for_type_checkers(package: ModuleType) -> None:
    """Names are listed twice: for type checkers, and for the import at first use."""
    for name in package.__all__:
        assert not isinstance(getattr(package, name), ModuleType | None)
    assert set(package.__all__) <= set(dir(package))
    imported = {name: module for module, names in package._MODULES.items() for name in names.split()}
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    listed = {name.name: node.module for node in imports for name in node.names if name.name in package.__all__}
    assert listed == {name: f"{package.__name__}.{module}" for name, module in imported.items()}
    assert sorted(listed) == sorted(package.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'flexicase' has no attribute 'selct'"):
        fx.selct  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("use", ["fx.advise(2, 2, 1)", "import flexicase.selection.advise; fx.advise(2, 2, 1)"])
def test_importing_is_light_and_names_are_no_modules(use: str) -> None:
    code = f"import sys, flexicase as fx; print('numpy' in sys.modules)\n{use}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


PARTS_OF_A_METHOD = {fx.Lexicase, fx.Weighted, fx.Ranked}
SELECTS = (
    *(fx.select, fx.select_indices, fx.Selector, fx.FastLexicase, fx.trace, fx.advise),
    *(geneticengine.LexicaseStep, gepa.LexicaseCandidateSelector, leap_ec.lexicase_selection),
    *(pygad.lexicase_parents, pymoo.LexicaseSelection),
    *(fx.probabilities, fx.estimate_probabilities, deap.selLexicase, deap.selFastLexicase, plot.case_weights),
)
README = Path(__file__).parent.parent / "README.md"


def public_callables() -> Iterator[tuple[str, Callable]]:
    """Every public function, class and method, beside the parts of a method."""
    for module in (fx, evaluation, plot, data, deap, geneticengine, gepa, leap_ec, pygad, pymoo, adapters):
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


def test_threads_backend_and_maximize_have_one_default_each() -> None:
    checked = 0
    for name, function in public_callables():
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            continue
        for argument, default in (("threads", 1), ("backend", None), ("maximize", False)):
            if argument in parameters and parameters[argument].default is not inspect.Parameter.empty:
                assert parameters[argument].default == default, f"{name}({argument}=)"
                checked += 1
    assert checked > 20


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
        "# mypy: allow-redefinition\nfrom typing import Any\nimport numpy as np\nfrom numpy.typing import NDArray\n"
        "Indices = NDArray[np.int64]\n" + code.replace(untyped, typed)
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(script)],  # shares the cache of make lint
        capture_output=True,
        text=True,
        check=False,
        cwd=README.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_snippets_run_in_one_namespace_and_print_what_they_say(capsys):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(snippets) >= 4
    namespace: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), namespace)
    assert "[1] [13] [2]\n" in capsys.readouterr().out
    ten = namespace["fx"].select(namespace["ten"], 1, namespace["in_order"])
    np.testing.assert_array_equal(ten.evaluations_distinct, [5])


def test_files_that_the_readme_links_to_exist():
    links = re.findall(r"\]\(([\w/.-]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []


def test_benchmark_markers_stand_once_and_in_order():
    text = (README.parent / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert text.count("<!-- benchmark:begin -->") == text.count("<!-- benchmark:end -->") == 1
    assert text.index("<!-- benchmark:begin -->") < text.index("<!-- benchmark:end -->")
