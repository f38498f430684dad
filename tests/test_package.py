"""The package itself: its names, and what importing it costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import flexicase as fx


def test_every_public_name_is_there() -> None:
    for name in fx.__all__:
        assert getattr(fx, name) is not None
    assert set(fx.__all__) <= set(dir(fx))
    assert sorted(fx._MODULE_OF) == sorted(fx.__all__)


def test_type_checkers_see_the_same_names() -> None:
    """They are listed twice: for type checkers, and for the import at first use."""
    tree = ast.parse(Path(fx.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    listed = {name.name: node.module for node in imports for name in node.names if name.name in fx.__all__}
    assert listed == fx._MODULE_OF


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'flexicase' has no attribute 'selct'"):
        fx.selct  # noqa: B018


@pytest.mark.parametrize("use", ["fx.advise(2, 2, 1)", "import flexicase.selection.advise; fx.advise(2, 2, 1)"])
def test_importing_is_light_and_names_are_no_modules(use: str) -> None:
    code = f"import sys, flexicase as fx; print('numpy' in sys.modules)\n{use}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
