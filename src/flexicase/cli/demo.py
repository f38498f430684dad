"""``flexicase demo``: the paper's five methods on the example errors."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from flexicase.cli._output import aligned, emit_json, write_stdout
from flexicase.selection.methods import PAPER_METHODS
from flexicase.selection.select import select, select_indices

TIMING_SECONDS = 0.1
COLUMNS = ("method", "evaluations", "vs lexicase", "distinct evaluations", "cases used", "parents", "µs/selection")


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("out"),
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="Selection events per method.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every method's events.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the paper's five methods on an example.

    Prints what each costs on the errors of a small genetic-programming run, and draws two pictures.
    """
    from flexicase.data import example_errors

    errors = example_errors()
    with contextlib.suppress(ImportError):
        import matplotlib.figure  # noqa: F401

        out.mkdir(parents=True, exist_ok=True)  # before the work: it may fail
    results = [measure(errors, method, n, seed) for method in PAPER_METHODS]
    if not as_json:
        write_stdout(_report(errors, results, n))
    pictures = draw(errors, out, n, seed)
    if as_json:
        emit_json({"n": n, "seed": seed, "methods": results, "pictures": [str(path) for path in pictures]})
    elif pictures:
        write_stdout("".join(f"picture: {path}\n" for path in pictures))
    else:
        write_stdout("no pictures: matplotlib is not installed (pip install 'flexicase[report]')\n")


def measure(errors: NDArray[Any], method: str, n: int, seed: int) -> dict[str, Any]:
    """Select ``n`` parents and summarise the counts.

    Args:
        errors: (n_individuals, n_cases) the example.
        method: A method's name.
        n: Selection events.
        seed: Their seed.
    """
    outcome = select(errors, n, method, seed=seed)
    return {
        "method": method,
        "evaluations": float(outcome.evaluations.mean()),
        "evaluations_distinct": float(outcome.evaluations_distinct.mean()),
        "cases_used": float(outcome.cases_used.mean()),
        "parents": len(np.unique(outcome.indices)),
        "microseconds": 1e6 * best_time(errors, method, n) / n,
    }


def best_time(errors: NDArray[Any], method: str, n: int) -> float:
    """Seconds that selecting ``n`` parents without counts takes, the best of several calls.

    Args:
        errors: (n_individuals, n_cases) the example.
        method: A method's name.
        n: Selection events per call.
    """
    calls: list[float] = []
    while sum(calls) < TIMING_SECONDS:
        started = time.perf_counter()
        select_indices(errors, n, method, seed=len(calls))
        calls.append(time.perf_counter() - started)
    return min(calls)


def draw(errors: NDArray[Any], out: Path, n: int, seed: int) -> list[Path]:
    """Write funnel.png and weights.png, if matplotlib is there.

    Args:
        errors: (n_individuals, n_cases) the example.
        out: Folder to write to.
        n: Selection events per method.
        seed: Their seed.

    Returns:
        The files written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    from flexicase import plot

    paths = [out / "funnel.png", out / "weights.png"]
    for path in paths:
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        if path.name == "funnel.png":
            plot.funnel(errors, n=n, seed=seed, ax=figure.subplots())
        else:
            plot.case_weights(errors, "weighted-num-nonzeros", ax=figure.subplots())
        figure.savefig(path, dpi=160)
    return paths


def _report(errors: NDArray[Any], results: list[dict[str, Any]], n: int) -> str:
    baseline = results[0]["evaluations"]
    rows = [
        (
            r["method"],
            f"{r['evaluations']:,.0f}",
            f"{r['evaluations'] / baseline:.2f}",
            f"{r['evaluations_distinct']:,.0f}",
            f"{r['cases_used']:.1f}",
            r["parents"],
            f"{r['microseconds']:.2f}",
        )
        for r in results
    ]
    individuals, cases = errors.shape
    return (
        f"{n:,} selections by each method from the errors of {individuals} programs on {cases} cases;\n"
        "means per selection, how many different parents were chosen, and the time per selection\n"
        "without counts, preparation included.\n\n" + aligned(COLUMNS, rows) + "\n"
    )
