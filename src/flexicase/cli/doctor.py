"""``flexicase doctor``: what is installed, and what it is for."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import Annotated, Any

import typer

from flexicase.cli.output import aligned, emit, emit_json

EXTRAS = {
    "matplotlib": ("report", "pictures: flexicase.plot, evolve --plot, reports"),
    "pyarrow": ("report", "Parquet files; studies: flexicase run, reproduce, report"),
    "pydantic": ("report", "studies"),
    "jinja2": ("report", "reports of studies"),
    "scipy": ("report", "reports of studies"),
    "torch": ("torch", "gradient lexicase selection on neural networks"),
    "ray": ("cluster", "work on several machines"),
}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Say what is installed, and what is missing for what."""
    facts = examine()
    if as_json:
        emit_json(facts)
        return
    extras = facts.pop("extras")
    emit(aligned(None, [(name.replace("_", " "), fact) for name, fact in facts.items()]))
    rows = [
        (package, found["version"] or f"missing: pip install 'flexicase[{found['extra']}]'", found["needed_for"])
        for package, found in extras.items()
    ]
    emit("\n" + aligned(("optional", "version", "needed for"), rows))


def examine() -> dict[str, Any]:
    """The facts, as a JSON object."""
    import numpy as np

    from flexicase import __version__, _native
    from flexicase.selection.backend import resolve_backend

    return {
        "flexicase": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "backend": resolve_backend(None),
        "instruction_set": _native.isa(),
        "cores": usable_cores(),
        "extras": {
            package: {"version": installed(package), "extra": extra, "needed_for": purpose}
            for package, (extra, purpose) in EXTRAS.items()
        },
    }


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def installed(package: str) -> str | None:
    """A package's version, or None if it is not there."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
