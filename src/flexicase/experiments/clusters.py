"""Where a study's runs are made: here, on Ray or on Slurm."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flexicase._checks import require
from flexicase._ray import RaySession
from flexicase.experiments.coordinator import Options
from flexicase.experiments.executor import Executor, LocalExecutor
from flexicase.experiments.ray_executor import RayExecutor
from flexicase.experiments.slurm_executor import SlurmExecutor
from flexicase.experiments.study import Study

SLURM_WORKERS = 100


@dataclass(frozen=True)
class Place:
    """Where runs are made.

    Attributes:
        workers: How many at a time, unless somebody says otherwise.
        executor: Makes the executor of a study, as for `run_study`.

    Example:
        >>> from flexicase.experiments import place_of
        >>> with place_of() as here:
        ...     here.workers >= 1
        True
    """

    workers: int
    executor: Callable[[Study, Options], Executor]


@contextmanager
def place_of(cluster: str | None = None, options: dict[str, Any] | None = None) -> Iterator[Place]:
    """The place that a name stands for, for as long as the context lasts.

    Args:
        cluster: None: this machine. ``"ray"``: the Ray cluster that RAY_ADDRESS names or that runs on this machine, or
            else a Ray of its own; ``"ray://HOST:PORT"``: the one with that address. ``"slurm"``: array jobs.
        options: What Ray's actors or submitit's jobs are started with.

    Raises:
        ValueError: There is no such kind of cluster, or this machine got options.
        ImportError: The package that it takes is not installed.
        ConnectionError: There is no Ray at that address.

    Example:
        >>> from flexicase.experiments import place_of
        >>> with place_of("cloud") as place:
        ...     pass
        Traceback (most recent call last):
        ...
        ValueError: cluster must be ray, ray://HOST:PORT or slurm, got 'cloud'
    """
    engine, _, address = (cluster or "").partition("://")
    if engine not in ("", "ray", "slurm") or (address and engine != "ray"):
        raise ValueError(f"cluster must be ray, ray://HOST:PORT or slurm, got {cluster!r}")
    if engine == "ray":
        with RaySession("runs on Ray need", address or None) as session:
            yield Place(session.workers(), lambda study, o: RayExecutor(study, o.workers, o.nice, options))
    elif engine == "slurm":
        require("runs on Slurm need", "submitit", extra="cluster")
        yield Place(SLURM_WORKERS, lambda study, o: SlurmExecutor(study, o.workers, o.nice, options))
    elif options:
        raise ValueError(f"options are for a cluster, got {', '.join(options)} and no cluster")
    else:
        yield Place(os.cpu_count() or 1, lambda study, o: LocalExecutor(study, o.workers, o.nice))
