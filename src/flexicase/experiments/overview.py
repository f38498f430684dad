"""How a study stands: counts, successes, time left."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from flexicase.experiments.ledger import STATES, Entry, State


@dataclass(frozen=True)
class Score:
    """How the finished runs of one problem, method and variant have gone.

    Attributes:
        problem: The problem.
        method: The method.
        variant: The variant.
        successes: How many runs reached their goal.
        done: How many are done.
        planned: How many there are in all.
    """

    problem: str
    method: str
    variant: str
    successes: int
    done: int
    planned: int


@dataclass(frozen=True)
class Overview:
    """How a study stands.

    Attributes:
        counts: How many runs are in each state.
        scores: Successes so far.
        seconds_left: An estimate from the runs that are done, or None before the first.
    """

    counts: dict[State, int]
    scores: list[Score]
    seconds_left: float | None

    @property
    def total(self) -> int:
        """All runs."""
        return sum(self.counts.values())


def overview(entries: Sequence[Entry], workers: int = 1) -> Overview:
    """Sum up the entries of a ledger.

    Args:
        entries: All runs.
        workers: How many are made at a time, for the estimate of the time left.

    Example:
        >>> from flexicase.experiments import overview
        >>> overview([]).total
        0
    """
    counts: dict[State, int] = dict.fromkeys(STATES, 0)
    groups: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in entries:
        counts[entry.state] += 1
        groups.setdefault((entry.task.problem, entry.task.method, entry.task.variant), []).append(entry)
    return Overview(counts, [_score(*key, group) for key, group in groups.items()], _seconds_left(entries, workers))


def _score(problem: str, method: str, variant: str, group: list[Entry]) -> Score:
    results = [entry.result for entry in group if entry.result is not None]
    successes = sum(bool(result.summary.get("success")) for result in results)
    return Score(problem, method, variant, successes, len(results), len(group))


def _seconds_left(entries: Sequence[Entry], workers: int) -> float | None:
    """Every run takes as long as the mean of its problem's finished runs."""
    done: dict[str, list[float]] = {}
    for entry in entries:
        if entry.result is not None:
            done.setdefault(entry.task.problem, []).append(entry.seconds)
    if not done:
        return None
    means = {problem: statistics.fmean(seconds) for problem, seconds in done.items()}
    overall = statistics.fmean(means.values())
    left = 0.0
    for entry in entries:
        if entry.state in ("planned", "running", "failed"):
            spent = time.time() - entry.started if entry.state == "running" and entry.started else 0.0
            left += max(0.0, means.get(entry.task.problem, overall) - spent)
    return left / workers
