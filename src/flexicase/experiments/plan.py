"""The runs of a study, in order, with ids that follow from their content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from flexicase.experiments.jobs import Task
from flexicase.experiments.spec import Spec, SpecError

ID_DIGITS = 16


def plan(spec: Spec) -> list[Task]:
    r"""All runs of a study, seed by seed, so that the first results cover every problem and method evenly.

    Example:
        >>> from flexicase.experiments import parse_spec, plan
        >>> spec = parse_spec('name = "t"\nproblems = ["mirror-image"]\nmethods = ["lexicase", "random"]\nseeds = 2')
        >>> [(task.seed, task.method) for task in plan(spec)]
        [(0, 'lexicase'), (0, 'random'), (1, 'lexicase'), (1, 'random')]
    """
    tasks = [
        Task(
            id=run_id(spec.kind, problem, method, seed, spec.settings_of(variant)),
            kind=spec.kind,
            problem=problem,
            method=method,
            variant=variant,
            seed=seed,
            settings=spec.settings_of(variant),
        )
        for seed in spec.seeds
        for problem in spec.problems
        for method in spec.methods
        for variant in spec.variant_names()
    ]
    _refuse_twins(tasks)
    return tasks


def run_id(kind: str, problem: str, method: str, seed: int, settings: dict[str, Any]) -> str:
    """The id of a run: a hash of everything that its outcome depends on, except the version of flexicase.

    Example:
        >>> from flexicase.experiments.plan import run_id
        >>> run_id("gp", "mirror-image", "lexicase", 0, {"population": 1000})
        '...'
    """
    content = {"kind": kind, "problem": problem, "method": method, "seed": seed, "settings": settings}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:ID_DIGITS]


def _refuse_twins(tasks: list[Task]) -> None:
    seen: dict[str, Task] = {}
    for task in tasks:
        twin = seen.setdefault(task.id, task)
        if twin is not task:
            raise SpecError(f"variants {twin.variant!r} and {task.variant!r} have the same settings")
