"""``flexicase doctor``: what is installed, and what it is for."""

from __future__ import annotations

import platform
import shutil
from importlib import metadata
from typing import Any, NamedTuple

from flexicase.cli._output import AsJson, aligned, emit_json, write_stdout

EXTRAS = {
    "matplotlib": ("report", "pictures: flexicase.plot, evolve --plot, reports"),
    "pyarrow": ("report", "Parquet files; studies: flexicase run, reproduce, report"),
    "pydantic": ("report", "studies"),
    "jinja2": ("report", "reports of studies"),
    "scipy": ("report", "reports of studies"),
    "torch": ("torch", "gradient lexicase selection on neural networks"),
    "scikit-learn": ("torch", "the digits data set"),
    "ray": ("cluster", "work on several machines"),
    "submitit": ("cluster", "studies on Slurm"),
}


class Feature(NamedTuple):
    """Something that flexicase can do, with the packages and programs that it needs besides the core."""

    name: str
    packages: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


FEATURES = (
    Feature("selection, genetic programming, Push"),
    Feature("evaluation in threads and processes"),
    Feature("pictures", ("matplotlib",)),
    Feature("studies: run, status, export, import, rerun", ("pydantic", "pyarrow")),
    Feature("reports: report, reproduce", ("pydantic", "pyarrow", "matplotlib", "jinja2", "scipy")),
    Feature("gradient lexicase: train", ("torch", "scikit-learn")),
    Feature("gradient lexicase on several processes", ("torch",)),
    Feature("evaluation on Ray: RayEvaluator", ("ray",)),
    Feature("studies on Ray: run --cluster ray", ("pydantic", "pyarrow", "ray")),
    Feature("studies on Slurm: run --cluster slurm", ("pydantic", "pyarrow", "submitit"), ("sbatch", "srun")),
)


def doctor(as_json: AsJson = False) -> None:
    """Say what is installed, and what is missing for what."""
    facts = examine()
    if as_json:
        emit_json(facts)
        return
    extras, features = facts.pop("extras"), facts.pop("features")
    write_stdout(aligned(None, [(name.replace("_", " "), fact) for name, fact in facts.items()]))
    rows = [
        (package, found["version"] or f"missing: pip install 'flexicase[{found['extra']}]'", found["needed_for"])
        for package, found in extras.items()
    ]
    write_stdout("\n" + aligned(("optional", "version", "needed for"), rows))
    abilities = [
        (name, "ready" if found["ready"] else f"no: {', '.join(found['missing'])} missing", ", ".join(found["needs"]))
        for name, found in features.items()
    ]
    write_stdout("\n" + aligned(("feature", "here", "needs besides the core"), abilities))


def examine() -> dict[str, Any]:
    """The facts, as a JSON object."""
    import numpy as np

    from flexicase import __version__, _native
    from flexicase._provenance import usable_cores
    from flexicase.selection.protocol import resolve_backend

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
        "features": {feature.name: ability(feature) for feature in FEATURES},
    }


def ability(feature: Feature) -> dict[str, Any]:
    """Whether a feature is ready to be used, and if not, for want of what."""
    found = {package: installed(package) for package in feature.packages}
    found |= {f"the command {command}": shutil.which(command) for command in feature.commands}
    missing = [name for name, where in found.items() if where is None]
    return {"ready": not missing, "needs": list(found), "missing": missing}


def installed(package: str) -> str | None:
    """A package's version, or None if it is not there."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
