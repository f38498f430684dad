"""``flexicase demo``: what the library does, in a minute."""

from __future__ import annotations

import os
import sys
import time
import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from typer import Option

from flexicase.cli._output import AsJson, StatusLine, aligned, emit_json, write_stdout
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.methods import PAPER_METHODS
from flexicase.selection.select import select, select_indices

TIMING_SECONDS = 0.1
COLUMNS = ("method", "evaluations", "vs lexicase", "distinct evaluations", "cases used", "parents", "µs/selection")
PROBLEM = "mirror-image"
EXAMPLE = ([1, 2, 3], [3, 2, 1])
CONTROLLERS, STARTS, SIMULATED_STEPS, PARENTS = 100, 1000, 250, 5
STUDY = Path("results") / "gp-paper"


def demo(
    out: Annotated[Path, Option(help="Folder for the pictures and the report.")] = Path("out"),
    n: Annotated[int, Option("-n", "--number", min=1, help="Selection events per method.")] = 1000,
    seed: Annotated[int, Option(min=0, help="Seed of everything that is drawn.")] = 0,
    show: Annotated[bool, Option("--open/--no-open", help="Open the report in a browser.")] = True,
    as_json: AsJson = False,
) -> None:
    """Show what flexicase does, in a minute.

    Selects parents with the paper's five methods; evolves a program; selects while evaluating a simulation; writes the
    report of the paper's study. Pictures and the report need the 'report' extra.
    """
    from flexicase.data import example_errors

    can_draw = _can_import("matplotlib.figure")
    if can_draw:
        out.mkdir(parents=True, exist_ok=True)  # before the work: it may fail
    errors = example_errors()

    def say(text: str) -> None:
        if not as_json:
            write_stdout(text)

    say("1. Five methods select parents from one error matrix\n\n")
    results = [measure(errors, method, n, seed) for method in PAPER_METHODS]
    say(_methods_text(errors, results, n))
    with StatusLine(as_json).working("drawing"):
        pictures = draw(errors, out, n, seed) if can_draw else []
    say("".join(f"picture: {path}\n" for path in pictures))
    if not pictures:
        say("no pictures: matplotlib is not installed (pip install 'flexicase[report]')\n")

    say("\n2. A program evolves\n\n")
    say("Mirror Image: is one list of numbers the reverse of the other? 1000 random programs, lexicase selection.\n")
    run, text = evolve_program(seed, as_json)
    say(text)

    say("\n3. Only the evaluations that selection reads\n\n")
    saved, text = save_evaluations(seed, as_json)
    say(text)

    say("\n4. The paper's study, run again: two problems, five methods, 500 runs\n\n")
    page, text = report_study(out / "report", as_json)
    say(text)
    if as_json:
        emit_json(
            {
                "n": n,
                "seed": seed,
                "methods": results,
                "pictures": [str(path) for path in pictures],
                "run": run,
                "saved": saved,
                "report": None if page is None else str(page),
            }
        )
    elif page is not None and show and _has_browser():
        webbrowser.open(page.absolute().as_uri())
    say("\nnext: flexicase --help, or docs/five-minutes.md\n")


def _can_import(module: str) -> bool:
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def _has_browser() -> bool:
    """Whether a person sits in front of this machine's screen."""
    screen = sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return screen and sys.stdout.isatty()


def measure(errors: NDArray[Any], method: str, n: int, seed: int) -> dict[str, Any]:
    """Select ``n`` parents from (n_individuals, n_cases) errors and summarise the counts."""
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
    """Seconds that selecting ``n`` parents without counts takes, the best of several calls."""
    calls: list[float] = []
    while sum(calls) < TIMING_SECONDS:
        started = time.perf_counter()
        select_indices(errors, n, method, seed=len(calls))
        calls.append(time.perf_counter() - started)
    return min(calls)


def draw(errors: NDArray[Any], out: Path, n: int, seed: int) -> list[Path]:
    """Write funnel.png and weights.png, pictures of (n_individuals, n_cases) errors."""
    from matplotlib.figure import Figure

    from flexicase import plot

    pictures = {
        out / "funnel.png": partial(plot.funnel, n=n, seed=seed),
        out / "weights.png": partial(plot.case_weights, method="weighted-num-nonzeros"),
    }
    for path, picture in pictures.items():
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        picture(errors, ax=figure.subplots())
        figure.savefig(path, dpi=160)
    return list(pictures)


def _methods_text(errors: NDArray[Any], results: list[dict[str, Any]], n: int) -> str:
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


def evolve_program(seed: int, quiet: bool) -> tuple[dict[str, Any], str]:
    """Evolve a program for Mirror Image with the paper's settings: the run as plain values, and a text about it."""
    from flexicase import gp, push
    from flexicase.cli.evolve import report

    with StatusLine(quiet) as progress:

        def show(record: gp.GenerationRecord) -> None:
            progress.show(f"generation {record.generation}: the best program solves {record.solved_cases} cases")

        run = gp.evolve(PROBLEM, "lexicase", seed=seed, callback=show)
    text = report(run)
    program = run.simplified or run.best
    if run.simplified is not None:
        table = push.instruction_table()
        words = dict.fromkeys(str(program).replace("(", " ").replace(")", " ").split())
        rows = [(f"  {word}", table[word].description) for word in words if word in table]
        text += aligned(None, [("  in1, in2", "Push the first and the second list."), *rows])
    first, second = EXAMPLE
    answer = push.run(program, [first, second]).top("boolean")
    return run.as_dict(), text + f"run on {first} and {second}, it answers: {str(answer).lower()}\n"


def simulate(gains: NDArray[np.float64], starts: NDArray[np.float64]) -> NDArray[np.int64]:
    """How long controllers of (m, 2) gains take to bring a pendulum up from (b, 2) starts, both on angle and speed.

    The (m, b) errors are the steps of 0.02 seconds in which the pendulum is more than 0.05 radians off.
    """
    angle, speed = (np.repeat(column[None, :], len(gains), axis=0) for column in starts.T)
    off = np.zeros(angle.shape, dtype=np.int64)
    for _ in range(SIMULATED_STEPS):
        force = np.clip(gains[:, :1] * angle + gains[:, 1:] * speed, -10.0, 10.0)
        speed = np.clip(speed + 0.02 * (9.8 * np.sin(angle) - force), -10.0, 10.0)
        angle = np.clip(angle + 0.02 * speed, -1.5, 1.5)  # it lies on the ground
        off += np.abs(angle) > 0.05
    return off


def save_evaluations(seed: int, quiet: bool) -> tuple[dict[str, Any], str]:
    """Select controllers while simulating, then simulate everything: counts and times, and a text about them."""
    rng = np.random.default_rng(seed)
    gains = rng.uniform((0.0, 0.0), (40.0, 10.0), size=(CONTROLLERS, 2))
    starts = rng.uniform((-0.45, -1.5), (0.45, 1.5), size=(STARTS, 2))

    def evaluate(controllers: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[np.int64]:
        return simulate(gains[controllers], starts[cases])

    with StatusLine(quiet).working("simulating"):
        started = time.perf_counter()
        fast = FastLexicase(STARTS, "weighted-num-nonzeros", default_weight="max", seed=seed)
        chosen = fast.select(evaluate, CONTROLLERS, PARENTS)
        lazy = time.perf_counter() - started
        started = time.perf_counter()
        simulate(gains, starts)
        full = time.perf_counter() - started
    pairs, total = int(chosen.pairs.sum()), CONTROLLERS * STARTS
    saved = {"pairs": pairs, "all_pairs": total, "seconds": lazy, "all_seconds": full}
    return saved, (
        f"{CONTROLLERS} controllers of an inverted pendulum are tested from {STARTS:,} starting positions.\n"
        f"Fast Lexicase chose {PARENTS} parents with {pairs:,} of {total:,} simulations ({pairs / total:.1%}), in "
        f"{lazy:.2f} s.\nSimulating every controller from every position takes {full:.2f} s.\n"
    )


def find_study() -> Path | None:
    """The exported study, in this folder or in the copy of the sources that the package is imported from."""
    places = (Path(), Path(__file__).resolve().parents[3])
    return next((place / STUDY for place in places if (place / STUDY / "manifest.json").is_file()), None)


def report_study(out: Path, quiet: bool) -> tuple[Path | None, str]:
    """Write the report of the paper's study: its page, if there is one, and a text about it."""
    study = find_study()
    if study is None:
        return None, f"the runs are not part of an installed package; they are in {STUDY} of a copy of the sources\n"
    try:
        from flexicase.report.write import write_report

        with StatusLine(quiet).working("writing the report"):
            page = write_report(study, out).page
    except ImportError as error:
        return None, f"no report: {error}\n"
    return page, f"report: {page}\n"
