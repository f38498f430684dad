"""When selection with partial evaluation pays, what look-ahead gains, and what the selector itself costs.

Example: python benchmarks/fast_lexicase.py --plot docs/images/when-it-pays.png
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import flexicase as fx
from flexicase.adapters import deap as adapter
from flexicase.data import SyntheticPopulation
from flexicase.plot._style import BLACK, BLUE, DOTTED, RED
from fragments import text_table
from own_cost import overhead, overhead_table, timed
from selection.report import environment

Evaluate = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[Any]]

METHODS = [
    ("uniform", "num_nonzeros"),
    ("weighted", "num_nonzeros"),
    ("ranked", "num_nonzeros"),
    ("weighted", "num_zeros"),
    ("ranked", "num_zeros"),
]
WARM_UP = 100  # selections before any are counted, so that weights have been learnt
FIXED = 16  # cases at a time, where their number is fixed
SHORT_RUNS, SHORT = 20, 20  # generations of a few selections, averaged: a single event varies a lot


def note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def label(order: str, bias: str) -> str:
    return "uniform" if order == "uniform" else f"{order}, {bias}"


def method_of(order: str, bias: str) -> str:
    return "lexicase" if order == "uniform" else f"{order}-{bias.replace('_', '-')}"


# (a) share of the pairs ------------------------------------------------------------------------


def share_curve(
    n_individuals: int, n_cases: int, most: int, *, order: str, bias: str, copies: float
) -> dict[int, float]:
    """Share of all pairs computed after 1, 2, 5, 10, … selections of one generation."""
    population = SyntheticPopulation(n_individuals, n_cases, copies=copies, seed=1)
    fast = fx.FastLexicase(n_cases, method_of(order, bias), cache_bytes=3 * 2**30, seed=2)
    fast.select(population, n_individuals, WARM_UP)
    whole = n_individuals * n_cases
    shorts = []
    for _ in range(SHORT_RUNS):
        fast.clear_cache()
        shorts.append(np.cumsum(fast.select(population, n_individuals, SHORT).pairs) / whole)
    curve = dict(enumerate(np.mean(shorts, axis=0), start=1))
    fast.clear_cache()
    long = np.cumsum(fast.select(population, n_individuals, most).pairs) / whole
    curve.update({n: long[n - 1] for n in range(SHORT + 1, most + 1)})
    marks = [m * 10**e for e in range(6) for m in (1, 2, 5)]
    return {n: float(curve[n]) for n in marks if n <= most}


def shares(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    n_individuals = options.individuals
    settings = [(c, "weighted", "num_nonzeros", copies) for c in options.cases for copies in (0.5, 0.0)]
    settings += [(c, order, bias, 0.5) for c in options.cases if c <= options.compare_at for order, bias in METHODS]
    for n_cases, order, bias, copies in dict.fromkeys(settings):
        most = max(SHORT, n_individuals // 5 if options.quick else 2 * n_individuals)
        start = time.perf_counter()
        curve = share_curve(n_individuals, n_cases, most, order=order, bias=bias, copies=copies)
        seconds = time.perf_counter() - start
        rows.append(
            {"cases": n_cases, "order": order, "bias": bias, "copies": copies, "share": curve, "seconds": seconds}
        )
        note(f"  {n_cases:,} cases, {label(order, bias)}, {copies:.0%} copies: {seconds:.1f} s")
    return rows


def share_table(rows: Sequence[dict[str, Any]], n_individuals: int) -> str:
    columns = sorted({n for row in rows for n in row["share"] if n in (1, 10, 100, 1000) or n == 2 * n_individuals})
    headers = ["cases", "order, bias", "copies", *(f"n = {n}" for n in columns)]
    cells = [
        [f"{r['cases']:,}", label(r["order"], r["bias"]), f"{r['copies']:.0%}"]
        + [f"{100 * r['share'][n]:.3g} %" if n in r["share"] else "–" for n in columns]
        for r in rows
    ]
    title = f"share of the pairs computed, {n_individuals:,} individuals, n selections per generation"
    return f"{title}:\n{text_table(headers, cells)}"


# (b) wall clock --------------------------------------------------------------------------------


def costly(evaluate: Evaluate, per_call: float, per_pair: float, calls: list[int]) -> Evaluate:
    """The evaluator, taking so many seconds more per call and per pair, and noting its calls."""

    def waiting(individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[Any]:
        until = time.perf_counter() + per_call + per_pair * len(individuals) * len(cases)
        errors = evaluate(individuals, cases)
        calls.append(errors.size)
        while time.perf_counter() < until:
            time.sleep(max(0.0, until - time.perf_counter() - 1e-4))
        return errors

    return waiting


def look_ahead(n_individuals: int, n_cases: int, copies: float, n: int) -> dict[str, Any]:
    """Seconds for n selections when every call costs 1 ms: one case at a time, look-ahead, and 16 cases at a time."""
    population = SyntheticPopulation(n_individuals, n_cases, copies=copies, seed=1)
    row: dict[str, Any] = {"individuals": n_individuals, "cases": n_cases, "copies": copies, "n": n}
    for name, ahead in (("one", 1), ("auto", "auto"), ("fixed", FIXED)):
        calls: list[int] = []
        fast = fx.FastLexicase(n_cases, lookahead=ahead, seed=5)  # type: ignore[arg-type]
        evaluate = costly(population, 1e-3, 0.0, calls)
        start = time.perf_counter()
        s = fast.select(evaluate, n_individuals, n)
        row[name] = {"seconds": time.perf_counter() - start, "calls": len(calls), "pairs": sum(calls)}
    assert s.cases_used is not None
    row["cases_used"] = float(s.cases_used.mean())
    return row


def against_full(n_individuals: int, n_cases: int, n: int, per_pair: float) -> dict[str, Any]:
    """Seconds for n selections, evaluating on demand and evaluating everything first."""
    population = SyntheticPopulation(n_individuals, n_cases, seed=1)
    everybody, all_cases = np.arange(n_individuals), np.arange(n_cases)
    start = time.perf_counter()
    errors = costly(population, 0.0, per_pair, [])(everybody, all_cases)
    fx.select(errors, n, "weighted-num-nonzeros", seed=5)
    full = time.perf_counter() - start
    start = time.perf_counter()
    s = fx.FastLexicase(n_cases, seed=5).select(costly(population, 0.0, per_pair, []), n_individuals, n)
    partial = time.perf_counter() - start
    share = float(s.pairs.sum()) / errors.size
    return {"individuals": n_individuals, "cases": n_cases, "n": n, "share": share, "full": full, "partial": partial}


def wall(options: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    scale = options.individuals
    ahead = [look_ahead(scale, c, copies, 10) for c in options.ahead_cases for copies in (0.5, 0.0)]
    pairs = [against_full(scale, 100, n, 1e-5) for n in (1, 10, 100, scale)]
    return {"look_ahead": ahead, "against_full": pairs}


def wall_tables(found: dict[str, list[dict[str, Any]]]) -> str:
    ahead = text_table(
        [
            "cases",
            "copies",
            "visited per event",
            "calls, one at a time",
            "calls, look-ahead",
            "fewer",
            "faster",
            "pairs",
            f"calls, {FIXED} at a time",
            "fewer",
            "faster",
            "pairs",
        ],
        [
            [
                f"{r['cases']:,}",
                f"{r['copies']:.0%}",
                f"{r['cases_used']:.0f}",
                f"{r['one']['calls']:,}",
                *(
                    cell
                    for name in ("auto", "fixed")
                    for cell in (
                        f"{r[name]['calls']:,}",
                        *(f"{r['one'][k] / r[name][k]:.1f} ×" for k in ("calls", "seconds")),
                        f"{r[name]['pairs'] / r['one']['pairs']:.2f} ×",
                    )
                ),
            ]
            for r in found["look_ahead"]
        ],
    )
    pairs = text_table(
        ["selections", "share", "s everything first", "s on demand", "gain"],
        [
            [
                str(r["n"]),
                f"{r['share']:.1%}",
                f"{r['full']:.2f}",
                f"{r['partial']:.2f}",
                f"{r['full'] / r['partial']:.1f} ×",
            ]
            for r in found["against_full"]
        ],
    )
    title = "1 ms per call, 10 selections; calls, seconds and pairs computed beside one case at a time"
    return f"{title}:\n{ahead}\n\n10 µs per pair, 100 cases:\n{pairs}"


# (c) DEAP --------------------------------------------------------------------------------------


def beside_deap(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Seconds of DEAP's own selectors and of the adapters, for the same call."""
    from deap import base, tools

    kind = type("FitnessOfBenchmark", (base.Fitness,), {"weights": (-1.0,) * 100})
    errors = SyntheticPopulation(options.individuals, 100, seed=1)(np.arange(options.individuals), np.arange(100))
    population = []
    for row in errors:
        population.append(type("Individual", (), {})())
        population[-1].fitness = kind(tuple(map(float, row)))
    pairs: list[tuple[Callable[..., Any], Callable[..., Any], dict[str, float]]] = [
        (tools.selLexicase, adapter.selLexicase, {}),
        (tools.selEpsilonLexicase, adapter.selEpsilonLexicase, {"epsilon": 0.5}),
        (tools.selAutomaticEpsilonLexicase, adapter.selAutomaticEpsilonLexicase, {}),
    ]
    rows = []
    random.seed(1)
    k, part = len(population), max(1, len(population) // 20)
    for theirs, ours, extra in pairs:
        deap = timed(theirs, 1, population, part, **extra) * k / part
        rows.append(
            {
                "selector": ours.__name__,
                "k": k,
                "deap": deap,
                "flexicase": timed(ours, options.repeat, population, k, **extra),
            }
        )
    return rows


def deap_table(rows: Iterable[dict[str, Any]]) -> str:
    cells = [
        [r["selector"], str(r["k"]), f"{r['deap']:.2f}", f"{r['flexicase']:.4f}", f"{r['deap'] / r['flexicase']:.0f} ×"]
        for r in rows
    ]
    return "beside DEAP, 100 cases:\n" + text_table(["selector", "k", "s DEAP", "s flexicase", "ratio"], cells)


# the figure ------------------------------------------------------------------------------------


def draw(rows: Sequence[dict[str, Any]], options: argparse.Namespace) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    shades = plt.colormaps["viridis"](np.linspace(0.0, 0.85, len(options.cases)))
    for shade, n_cases in zip(shades, options.cases, strict=True):
        for copies, style in ((0.5, "-"), (0.0, DOTTED)):
            for r in rows:
                if (r["cases"], r["order"], r["bias"], r["copies"]) == (n_cases, "weighted", "num_nonzeros", copies):
                    name = f"{n_cases:,} cases" if copies else None
                    left.plot(list(r["share"]), list(r["share"].values()), color=shade, ls=style, lw=1.8, label=name)
    left.plot([], [], color="0.4", ls=DOTTED, lw=1.8, label="the same, nobody copied")
    left.set_title("Few selections and many cases gain a lot", fontsize=11)
    colours = {"uniform": BLACK, "num_nonzeros": RED, "num_zeros": BLUE}
    for order, bias in METHODS:
        for r in rows:
            if (r["cases"], r["order"], r["bias"], r["copies"]) == (options.cases[0], order, bias, 0.5):
                colour = colours["uniform" if order == "uniform" else bias]
                style = DOTTED if order == "weighted" else "-"
                name = label(order, bias)
                right.plot(list(r["share"]), list(r["share"].values()), color=colour, ls=style, lw=1.8, label=name)
    right.set_title(f"Order and bias, {options.cases[0]:,} cases", fontsize=11)
    for ax in (left, right):
        marks = [n for n in (1, 10, 100, 1000) if n <= 2 * options.individuals]
        ax.set(xscale="log", xlabel="selections per generation")
        ax.set_xticks(marks, [f"{n:,}" for n in marks])
        ax.axvline(options.individuals, color="0.75", lw=1, zorder=0)
        ax.grid(alpha=0.25, lw=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    left.set(yscale="log", ylabel=f"pairs computed, share of {options.individuals:,} × cases")
    ticks = [10.0**e for e in range(-6, 1) if 10.0**e >= left.get_ylim()[0]]
    left.set_yticks(ticks, [f"{100 * t:g} %" for t in ticks])
    left.set_ylim(top=1.15)
    right.set_ylim(0, 1.03)
    right.set_yticks(np.linspace(0, 1, 6), [f"{p} %" for p in range(0, 101, 20)])
    left.legend(fontsize=9, loc="lower right", framealpha=1, edgecolor="none")
    right.legend(fontsize=9, loc="upper left", frameon=False)
    at_line = {"xy": (options.individuals, 0.02), "xycoords": ("data", "axes fraction"), "fontsize": 8, "color": "0.45"}
    right.annotate("as many as\nindividuals", **at_line, xytext=(-4, 0), textcoords="offset points", ha="right")
    options.plot.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.plot, dpi=130)
    plt.close(figure)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="share,wall,overhead,deap", help="comma-separated; default: %(default)s")
    parser.add_argument("--individuals", type=int, default=1000, help="population size; default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="at most 1000 cases, a fifth of the selections")
    parser.add_argument("--repeat", type=int, default=20, help="rounds of short timings, the best counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the shares (needs matplotlib)")
    options = parser.parse_args()
    options.parts = [part.strip() for part in options.parts.split(",")]
    for part in options.parts:
        if part not in ("share", "wall", "overhead", "deap"):
            parser.error(f"--parts must name share, wall, overhead or deap, got {part!r}")
    if options.plot and "share" not in options.parts:
        parser.error("--plot draws the shares: name share in --parts")
    options.cases = [100, 1000] if options.quick else [100, 1000, 10_000, 100_000]
    options.compare_at = 100 if options.quick else 1000
    options.ahead_cases = [100] if options.quick else [100, 1000, 10_000]
    return options


def main() -> None:
    options = arguments()
    found: dict[str, Any] = {"environment": environment(), "individuals": options.individuals}
    tables = []
    if "share" in options.parts:
        found["share"] = shares(options)
        tables.append(share_table(found["share"], options.individuals))
        if options.plot:
            draw(found["share"], options)
    if "wall" in options.parts:
        found["wall"] = wall(options)
        tables.append(wall_tables(found["wall"]))
    if "overhead" in options.parts:
        found["overhead"] = overhead(options.repeat)
        tables.append(overhead_table(found["overhead"]))
    if "deap" in options.parts:
        if importlib.util.find_spec("deap") is None:
            note("DEAP is not installed: pip install deap==1.4.4 for the comparison")
        else:
            found["deap"] = beside_deap(options)
            tables.append(deap_table(found["deap"]))
    print(json.dumps(found, indent=2) if options.json else "\n\n".join(tables))


if __name__ == "__main__":
    main()
