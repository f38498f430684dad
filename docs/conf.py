"""Sphinx configuration: Markdown pages, furo, the API from the docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from pathlib import Path

import flexicase
from flexicase.cli import EXAMPLES
from flexicase.cli.problems import listing
from flexicase.selection.methods import resolve_method

project = "flexicase"
author = "The flexicase developers"
project_copyright = author
release = version = flexicase.__version__

sys.path.insert(0, str(Path(__file__).parent))
extensions = [
    "instruction_reference",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
default_role = "py:obj"
suppress_warnings = ["ref.python"]  # gp and torch each have a Generation; either page links its own

myst_enable_extensions = ["substitution"]
myst_heading_anchors = 3

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# Types by the names that the sources use, not by what they expand to.
_ALIASES = ("ArrayLike", "Bias", "Epsilon", "MadMode", "NDArray", "NanPolicy", "Seed", "Weights")
autodoc_type_aliases = {name: name for name in _ALIASES}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False

html_theme = "furo"
html_title = f"flexicase {release}"
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e4f", "color-brand-content": "#0b6e4f"},
    "dark_css_variables": {"color-brand-primary": "#5fd3a8", "color-brand-content": "#5fd3a8"},
}


def _made_by(method: object) -> str:
    """The call that makes a method, without the arguments that have their default value."""
    if not dataclasses.is_dataclass(method):
        return repr(method)
    changed = []
    for field in dataclasses.fields(method):
        made = field.default_factory is not dataclasses.MISSING
        default = field.default_factory() if made else field.default
        value = repr(getattr(method, field.name))
        if value != repr(default):
            changed.append(f"{field.name}={value}")
    return f"{type(method).__name__}({', '.join(changed)})"


def _methods_table() -> str:
    """Every registered method and the object it stands for, so that the page cannot go stale."""
    rows = [f"| `{name}` | `{_made_by(resolve_method(name))}` |" for name in flexicase.methods()]
    return "\n".join(["| name | object |", "|---|---|", *rows])


def _commands_table() -> str:
    """Every command, what it does and its example."""
    examples = {**EXAMPLES, listing: "flexicase problems show mirror-image"}
    rows = [
        f"| `{example.split()[1]}` | {inspect.getdoc(function).splitlines()[0]} | `{example}` |"
        for function, example in examples.items()
    ]
    return "\n".join(["| command | does | example |", "|---|---|---|", *rows])


myst_substitutions = {
    "methods_table": _methods_table(),
    "biases_list": ", ".join(f"`{name}`" for name in flexicase.biases()),
    "commands_table": _commands_table(),
}
