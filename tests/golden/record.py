"""Record the golden draws: ``python tests/golden/record.py`` rewrites ``draws.json`` and ``cases.json``.

The files pin the random streams and the random cases of the problems. Record them anew only when they are changed on
purpose, and say so in the changelog, since every seeded selection or run of every user then changes too.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

import flexicase as fx
from flexicase import problems

FILE = Path(__file__).with_name("draws.json")
CASES = Path(__file__).with_name("cases.json")

SEEDS = (0, 1, 20220709, 2**64 + 5)
EVENTS = 12

METHODS: dict[str, fx.Lexicase | str] = {
    **{name: name for name in fx.methods()[:5]},
    "weighted-average": "weighted-average",
    "weighted-given": fx.Lexicase(order=fx.Weighted([0, 3, 0, 1, 1, 2, 0.5, 0, 4, 1])),
    "ranked-given": fx.Lexicase(order=fx.Ranked([5, 3, 3, 1, 1, 1, 0, 0, 4, 9])),
    "epsilon-fixed": fx.Lexicase(epsilon=1.0),
    "epsilon-lexicase": "epsilon-lexicase",
    "epsilon-lexicase-static": "epsilon-lexicase-static",
    "epsilon-lexicase-dynamic": "epsilon-lexicase-dynamic",
    "batch": fx.Lexicase(batch_size=3),
    "depth": fx.Lexicase(max_cases=2),
    "randomly-truncated": fx.Lexicase(max_cases="random"),
    "slippage": fx.Lexicase(slippage=0.3),
    "down-sampled": fx.Lexicase(sampling=fx.DownSample(0.5)),
    "elitism": fx.Lexicase(elitism=2),
    "combined": fx.Lexicase(order=fx.Ranked("num_zeros"), epsilon="mad", batch_size=2, max_cases=7, slippage=0.1),
}


def matrices() -> dict[str, np.ndarray]:
    """Fixed by arithmetic, not by a generator that may change under us."""
    rows, cases = np.arange(15)[:, None], np.arange(10)[None, :]
    mixed = (rows * 7919 + cases * 104729 + rows * cases * 31) % 101
    return {
        "discrete": mixed % 4,
        "duplicates": (mixed % 3)[[0, 1, 2, 3, 4, 0, 1, 2, 0, 0, 5, 5, 6, 7, 8]],
        "sixteenths": mixed / 16.0,
    }


def draws(backend: str) -> dict[str, Any]:
    """All recorded selections, as plain lists."""
    out: dict[str, Any] = {}
    for matrix, errors in matrices().items():
        for name, method in METHODS.items():
            for seed in SEEDS:
                s = fx.select(errors, EVENTS, method, seed=seed, backend=backend)
                out[f"{matrix}/{name}/{seed}"] = {
                    "indices": s.indices.tolist(),
                    "evaluations": s.evaluations.tolist(),
                    "evaluations_distinct": s.evaluations_distinct.tolist(),
                    "cases_used": s.cases_used.tolist(),
                    "ended": s.ended.tolist(),
                }
    return out


def cases() -> dict[str, str]:
    """A digest of the cases that one seed draws for each problem."""
    drawn = {name: problems.load(name).draw_cases(100, seed=5) for name in problems.names()}
    return {name: hashlib.sha256(repr(list(found)).encode()).hexdigest()[:16] for name, found in drawn.items()}


def main() -> None:
    """Write the files."""
    CASES.write_text(json.dumps(cases(), indent=1) + "\n", encoding="utf-8")
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in draws("reference").items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
