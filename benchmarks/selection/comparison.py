"""Selections per second, flexicase beside its peers, in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flexicase.selection.methods import PAPER_METHODS
from selection.runners import Times, Timing
from selection.workloads import Workload


@dataclass(frozen=True, slots=True)
class Entry:
    """One way to select: a line of the table.

    Attributes:
        method: A method's name.
        counts: Whether evaluations are counted.
        cases_major: Whether the matrix is stored case by case.
    """

    method: str
    counts: bool = False
    cases_major: bool = False


GOALS = {
    ("a", Entry("lexicase")): 3e6,
    ("a", Entry("lexicase", counts=True)): 1e6,
    ("b", Entry("lexicase")): 20e6,
    ("c", Entry("lexicase")): 700e3,
    ("d", Entry("epsilon-lexicase")): 25e3,
    ("d", Entry("epsilon-lexicase", cases_major=True)): 60e3,
}
PORTABLE_SHARE = 0.5  # of a goal, without the widest vector instructions
ORDER_SHARE = 0.5  # of the uniform order's speed, for weighted and ranked orders


@dataclass(frozen=True, slots=True)
class Row:
    """One measured line.

    Attributes:
        workload: The workload's letter.
        runner: Who selected.
        entry: How.
        timing: The best time.
        goal: Selections per second that are aimed at; None for peers and where there is no goal.
        best_peer: The fastest peer on this workload; None for peers, and for what they were not timed on.
        ratio: How many times faster than that.
    """

    workload: str
    runner: str
    entry: Entry
    timing: Timing
    goal: float | None = None
    best_peer: str | None = None
    ratio: float | None = None

    @property
    def selections_per_second(self) -> float:
        """Selections per processor second."""
        return self.timing.n / self.timing.seconds

    @property
    def holds(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        return None if self.goal is None else self.selections_per_second >= self.goal

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-ready values."""
        return {
            "workload": self.workload,
            "runner": self.runner,
            "method": self.entry.method,
            "counts": self.entry.counts,
            "cases_major": self.entry.cases_major,
            "n": self.timing.n,
            "seconds": self.timing.seconds,
            "wall_seconds": self.timing.wall_seconds,
            "calls": self.timing.calls,
            "selections_per_second": self.selections_per_second,
            "goal": self.goal,
            "holds": self.holds,
            "best_peer": self.best_peer,
            "ratio": self.ratio,
        }


def entries(workload: Workload) -> list[Entry]:
    """What flexicase is timed on: the paper's orders on discrete errors, both layouts for epsilon."""
    if workload.epsilon:
        return [Entry("epsilon-lexicase", counts, major) for major in (False, True) for counts in (False, True)]
    methods = ("lexicase",) if workload.key == "b" else PAPER_METHODS
    return [Entry(method, counts) for method in methods for counts in (False, True)]


def compare(
    workload: Workload,
    flexicase: Mapping[str, Times],
    peers: Mapping[str, Times],
    *,
    repeat: int = 5,
    seconds: float = 0.2,
    limit: float = 4.0,
    report: Callable[[str], None] = lambda message: None,
) -> list[Row]:
    """Time flexicase and its peers on one workload, in turns.

    Args:
        workload: What to select from; every runner must have been made with its matrix.
        flexicase: Builds of flexicase by label; all but the first are held to the portable goals.
        peers: Peers by label.
        repeat: Rounds; in each one everybody has a turn, with new seeds.
        seconds: Least processor seconds of a turn.
        limit: A peer that would need longer for a call selects fewer parents.
        report: Told what is running.
    """
    ways = entries(workload)
    turns = [(label, times, entry, True) for label, times in flexicase.items() for entry in ways]
    turns += [(label, times, ways[0], False) for label, times in peers.items()]
    best: dict[tuple[str, Entry], Timing] = {}
    for round_ in range(repeat):
        for label, times, entry, ours in turns:
            report(f"{workload.key}, round {round_ + 1} of {repeat}: {label} {entry.method if ours else ''}".rstrip())
            options = _options(entry) if ours else {}
            timing = times.time(workload.n, seed=1 + 1_000_000 * round_, seconds=seconds, limit=limit, **options)
            known = best.get((label, entry))
            best[label, entry] = timing if known is None else known.best(timing)
    rows = [Row(workload.key, label, entry, best[label, entry]) for label, _, entry, _ in turns]
    return _judge(rows, next(iter(flexicase), ""), set(peers))


def _options(entry: Entry) -> dict[str, Any]:
    return {"method": entry.method, "counts": entry.counts, "cases_major": entry.cases_major}


def _judge(rows: Iterable[Row], main: str, peers: set[str]) -> list[Row]:
    """Fill in goals and ratios, which need all rows."""
    rows = list(rows)
    fastest = max((r for r in rows if r.runner in peers), key=lambda r: r.selections_per_second, default=None)
    speed = {(r.runner, r.entry): r.selections_per_second for r in rows}
    judged = []
    for row in rows:
        if row.runner in peers:
            judged.append(row)
            continue
        uniform = speed.get((row.runner, Entry("lexicase", row.entry.counts, row.entry.cases_major)))
        goal = GOALS.get((row.workload, row.entry))
        if goal is not None and row.runner != main:
            goal *= PORTABLE_SHARE
        if row.entry.method.startswith(("weighted-", "ranked-")) and uniform is not None:
            goal = ORDER_SHARE * uniform
        comparable = row.entry.method in ("lexicase", "epsilon-lexicase") and not row.entry.cases_major
        found = fastest if comparable else None
        judged.append(
            Row(
                row.workload,
                row.runner,
                row.entry,
                row.timing,
                goal,
                found.runner if found else None,
                row.selections_per_second / found.selections_per_second if found else None,
            )
        )
    return judged
