"""``flexicase methods``: the names that ``--method`` takes."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from flexicase.cli.output import aligned, emit, emit_json
from flexicase.selection.epsilon import Mad
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.methods import PAPER_METHODS, resolve_method
from flexicase.selection.methods import methods as method_names
from flexicase.selection.orders import Uniform

FIRST = {"num_nonzeros": ": hard cases early", "num_zeros": ": easy cases early"}


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of names and descriptions.")] = False,
) -> None:
    """List the selection methods, the paper's five first."""
    described = [(name, describe(resolve_method(name))) for name in method_names()]
    if as_json:
        emit_json([{"name": n, "description": d, "paper": n in PAPER_METHODS} for n, d in described])
    else:
        emit(aligned(("method", "what it does"), described))


def describe(method: Any) -> str:
    """One line about a method."""
    if isinstance(method, Lexicase):
        return _describe_lexicase(method)
    doc = inspect.getdoc(type(method)) or repr(method)
    return " ".join(doc.split("\n\n")[0].split())


def _describe_lexicase(method: Lexicase) -> str:
    if isinstance(method.order, Uniform):
        parts = ["cases in uniformly random order"]
    else:
        bias = getattr(method.order, "bias", None)
        weight = f"{bias}{FIRST.get(bias, '')}" if isinstance(bias, str) else "weights of its own"
        parts = [f"cases by {type(method.order).__name__.lower()} shuffle, weight {weight}"]
    if isinstance(method.epsilon, Mad):
        parts.append(f"epsilon from the median absolute deviation, {method.epsilon.mode}")
    elif method.epsilon is not None:
        parts.append("fixed epsilon")
    if method.batch > 1:
        parts.append(f"{method.batch} cases summed at a time")
    if method.depth is not None:
        parts.append("a random number of cases" if method.depth == "random" else f"at most {method.depth} cases")
    if method.sample is not None:
        parts.append(f"on {method.sample!r}")
    if method.slippage:
        parts.append(f"slippage {method.slippage}")
    if method.elitism:
        parts.append(f"the {method.elitism} best first")
    return "; ".join(parts)
