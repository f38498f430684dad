"""What Fast Lexicase itself costs per case looked at, the evaluator's time taken off."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import flexicase as fx
from fragments import text_table

Indices = NDArray[np.int64]

SEEDS = 5


def timed(call: Callable[..., Any], repeat: int, *args: Any, **extra: Any) -> float:
    """Processor seconds of a call, best of ``repeat``."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        call(*args, **extra)
        best = min(best, time.process_time() - start)
    return best


class Regime(NamedTuple):
    """Events of one kind."""

    events: str  # "long": nobody is ever filtered; "short": every case filters half of the pool
    pool: int
    n: int
    lookahead: int | str
    cases: int


REGIMES = [
    Regime(events, pool, n, ahead, cases)
    for events, n, cases in (
        ("long", 1, 2000),
        ("short", 1, 2000),
        ("short", 1, 20_000),
        ("short", 100, 2000),
        ("short", 100, 20_000),
    )
    for ahead in ("auto", 1)
    for pool in (8, 64)
]


def own_cost(regime: Regime, seed: int, repeat: int) -> dict[str, float]:
    """Microseconds of processor time per case looked at, the evaluator's own calls, replayed alone, taken off."""
    shape = regime.pool, regime.cases
    errors = np.ones(shape) if regime.events == "long" else np.random.default_rng(seed).integers(0, 2, shape) * 1.0
    rounds = max(1, 300 // (regime.n * (regime.cases if regime.events == "long" else 1)))

    def lookup(individuals: Indices, cases: Indices) -> NDArray[Any]:
        return errors[individuals[:, None], cases]

    asked: list[tuple[Indices, Indices]] = []

    def recording(individuals: Indices, cases: Indices) -> NDArray[Any]:
        asked.append((individuals.copy(), cases.copy()))
        return lookup(individuals, cases)

    def generations() -> Iterator[fx.FastLexicase]:
        fast = fx.FastLexicase(regime.cases, lookahead=regime.lookahead, seed=seed)  # type: ignore[arg-type]
        for _ in range(rounds):
            yield fast
            fast.clear_cache()

    def select() -> None:
        for fast in generations():
            fast.select(lookup, regime.pool, regime.n)

    def replay() -> None:
        for individuals, cases in asked:
            lookup(individuals, cases)

    outcomes = [fast.select(recording, regime.pool, regime.n) for fast in generations()]
    visited = sum(int(s.cases_used.sum()) for s in outcomes)  # type: ignore[union-attr]
    own = timed(select, repeat) - timed(replay, repeat)
    events = rounds * regime.n
    return {"us": 1e6 * own / visited, "visited": visited / events, "calls": len(asked) / events}


def overhead(repeat: int) -> list[dict[str, Any]]:
    rows = []
    for regime in REGIMES:
        found = [own_cost(regime, seed, repeat) for seed in range(SEEDS)]
        medians = {key: float(np.median([f[key] for f in found])) for key in found[0]}
        most = max(f["us"] for f in found)
        rows.append(
            regime._asdict()
            | {"us_per_case": medians["us"], "most": most, "visited": medians["visited"], "calls": medians["calls"]}
        )
    return rows


def overhead_table(rows: Sequence[dict[str, Any]]) -> str:
    cells = [
        [
            r["events"],
            f"{r['cases']:,}",
            str(r["n"]),
            str(r["lookahead"]),
            str(r["pool"]),
            f"{r['visited']:.1f}",
            f"{r['calls']:.1f}",
            f"{r['us_per_case']:.2f}",
            f"{r['most']:.2f}",
        ]
        for r in rows
    ]
    headers = [
        "events",
        "cases",
        "n",
        "lookahead",
        "pool",
        "visited per event",
        "calls per event",
        "µs per visited case",
    ]
    title = f"the selector itself, a new generation at every call, median and most of {SEEDS} seeds"
    return f"{title}:\n{text_table([*headers, 'most'], cells)}"
