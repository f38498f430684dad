"""What the orders of the paper save in processor time when the parents of real populations are selected.

    python benchmarks/gp_selection.py
    python benchmarks/gp_selection.py --problems mirror-image --generations 0 10 --seeds 2 --markdown

Runs of PushGP with lexicase selection are stopped at some generations; from the errors found there, every method
selects a generation's parents. Each figure is the geometric mean over these matrices, processor time the best of
--repeats on one thread:

    evaluations   the paper's measure per selection: pool sizes summed over the cases looked at
    case by case  a plain NumPy loop over the cases, the order drawn beforehand: microseconds per selection
    native        flexicase.select without counts, preparation included: microseconds per selection
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import flexicase as fx
from flexicase.gp.evolve import Evolution, evolve_settings
from flexicase.gp.parents import FullEvaluation
from flexicase.rng import key_from_seed
from flexicase.selection.methods import PAPER_METHODS
from flexicase.selection.orders import ranked_order, uniform_order, weighted_order
from fragments import markdown_table, replace_fragment, text_table
from selection.report import environment

Errors = NDArray[np.float64]
PROBLEMS = ("mirror-image", "last-index-of-zero")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "results.md"
LOOP_EVENTS = 200
NATIVE_CALLS = 5  # for one turn of the loop, which takes much longer
HEADERS = (
    "problem",
    "generation",
    "matrices",
    "method",
    "evaluations",
    "ratio",
    "case by case",
    "ratio",
    "native",
    "ratio",
)


class Figures(NamedTuple):
    """A method on one matrix, per selection."""

    evaluations: float
    loop: float
    native: float


def populations(problem: str, generations: Sequence[int], seed: int) -> Iterator[tuple[int, Errors]]:
    """The errors of a run's population at some of its generations, as far as it gets."""
    evolution = Evolution(evolve_settings(problem, generations=max(generations) + 1, seed=seed, threads=1))
    while True:
        record, finished = evolution.step()
        if finished:
            return
        if record.generation in generations:
            assert isinstance(evolution._parents, FullEvaluation)
            yield record.generation, evolution._parents._errors.values.astype(np.float64)


def orders(errors: Errors, method: str, n: int, seed: int) -> list[list[int]]:
    """The orders in which events look at the cases."""
    key, n_cases = key_from_seed(seed), errors.shape[1]
    if method == "lexicase":
        return [list(uniform_order(key, event, n_cases)) for event in range(n)]
    shuffle, _, bias = method.partition("-")
    weights = np.count_nonzero((errors != 0) == (bias == "num-nonzeros"), axis=0).astype(np.float64)
    draw = {"weighted": weighted_order, "ranked": ranked_order}[shuffle]
    return [list(draw(key, event, weights)) for event in range(n)]


def case_by_case(columns: Errors, order: list[int]) -> tuple[int, int]:
    """A selection event as one writes it down; gives how many are left and what it cost in the paper's measure."""
    pool = np.arange(columns.shape[1])
    evaluations = 0
    for case in order:
        if len(pool) == 1:
            break
        evaluations += len(pool)
        values = columns[case, pool]
        pool = pool[values == values.min()]
    return len(pool), evaluations


def seconds(call: Callable[[], Any]) -> float:
    """Processor seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(errors: Errors, events: int, repeats: int, seed: int) -> dict[str, Figures]:
    """All methods on one matrix, in turns, so that all see the same machine; the best turn counts."""
    columns = np.ascontiguousarray(errors.T)
    drawn = {method: orders(errors, method, LOOP_EVENTS, seed) for method in PAPER_METHODS}
    loop, native = ({method: float("inf") for method in PAPER_METHODS} for _ in range(2))
    for _ in range(repeats):
        for method in PAPER_METHODS:
            spent = seconds(lambda: [case_by_case(columns, order) for order in drawn[method]])  # noqa: B023
            loop[method] = min(loop[method], spent / LOOP_EVENTS)
            for _ in range(NATIVE_CALLS):
                spent = seconds(lambda: fx.select_indices(errors, events, method, seed=seed))  # noqa: B023
                native[method] = min(native[method], spent / events)
    figures = {}
    for method in PAPER_METHODS:
        counted = fx.select(errors, events, method, seed=seed).evaluations
        check(columns, drawn[method], counted)
        figures[method] = Figures(float(counted.mean()), loop[method], native[method])
    return figures


def check(columns: Errors, drawn: list[list[int]], counted: NDArray[np.int64]) -> None:
    """The loop and the native events look at the same cases in the same order, so their costs must be equal."""
    for order, expected in zip(drawn, counted.tolist(), strict=False):
        found = case_by_case(columns, order)[1]
        if found != expected:
            raise SystemExit(f"the loop made {found} evaluations where {expected} were counted")


def mean_of(figures: list[Figures]) -> Figures:
    """Geometric means over the matrices."""
    return Figures(*np.exp(np.log(np.array(figures)).mean(axis=0)).tolist())


def compared(rows: list[dict[str, Any]]) -> Iterator[tuple[str, int, int, dict[str, Figures]]]:
    """Problem, generation, number of matrices, and the means of each method on them."""
    for (problem, generation), group in groupby(rows, key=lambda row: (row["problem"], row["generation"])):
        found = list(group)
        by_method = {m: [row["figures"] for row in found if row["method"] == m] for m in PAPER_METHODS}
        means = {method: mean_of(figures) for method, figures in by_method.items()}
        yield problem, generation, len(by_method["lexicase"]), means


def ratios(mine: Figures, theirs: Figures) -> list[float]:
    return [one / other for one, other in zip(mine, theirs, strict=True)]


def shown(figures: Figures) -> list[str]:
    return [f"{figures.evaluations:,.0f}", f"{1e6 * figures.loop:,.0f}", f"{1e6 * figures.native:.2f}"]


def summary(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Lines of the table: figures and their ratios to lexicase on the same matrices."""
    lines = []
    for problem, generation, matrices, means in compared(rows):
        for method, mean in means.items():
            pairs = zip(shown(mean), ratios(mean, means["lexicase"]), strict=True)
            cells = [text for value, ratio in pairs for text in (value, f"{ratio:.2f}")]
            lines.append((problem, str(generation), str(matrices), method, *cells))
    return lines


def ratio_table(rows: list[dict[str, Any]]) -> str:
    """Markdown: what lexicase needs, and the three ratios of the other methods."""
    others = [method for method in PAPER_METHODS if method != "lexicase"]
    lines = []
    for problem, generation, matrices, means in compared(rows):
        cells = [" · ".join(f"{ratio:.2f}" for ratio in ratios(means[m], means["lexicase"])) for m in others]
        lines.append((problem, str(generation), str(matrices), " · ".join(shown(means["lexicase"])), *cells))
    return markdown_table(("problem", "generation", "matrices", "lexicase", *others), lines)


def update(page: Path, rows: list[dict[str, Any]], where: dict[str, Any]) -> None:
    """Put the table between its marks."""
    text = f"{ratio_table(rows)}\n\nflexicase {where['flexicase']}, {where['cpu']}, {where['isa']}."
    page.write_text(replace_fragment(page.read_text(encoding="utf-8"), text, "gp-selection"), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--generations", type=int, nargs="*", default=[0, 5, 20, 50, 100])
    parser.add_argument("--seeds", type=int, default=3, help="runs per problem")
    parser.add_argument("--events", type=int, default=1900, help="selections per call, about what a generation needs")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--update-docs", action="store_true", help=f"put the table into {PAGE.name}")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", type=Path, metavar="FILE", help="the figures of an earlier --json, not new ones")
    arguments = parser.parse_args()
    if arguments.read:
        before = json.loads(arguments.read.read_text(encoding="utf-8"))
        where, rows = before["environment"], [{**row, "figures": Figures(**row["figures"])} for row in before["rows"]]
    else:
        where, rows = environment(), measured(arguments)
    if arguments.update_docs:
        update(PAGE, rows, where)
    if arguments.json:
        plain = [{**row, "figures": row["figures"]._asdict()} for row in rows]
        print(json.dumps({"environment": where, "rows": plain}))
    else:
        print(ratio_table(rows) if arguments.markdown else text_table(HEADERS, summary(rows)))


def measured(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The figures of all methods on all matrices, by problem and generation."""
    rows = []
    for problem in arguments.problems:
        for seed in range(arguments.seeds):
            for generation, errors in populations(problem, arguments.generations, seed):
                print(f"{problem}, seed {seed}, generation {generation}", file=sys.stderr, flush=True)
                for method, figures in measure(errors, arguments.events, arguments.repeats, seed).items():
                    rows.append({"problem": problem, "generation": generation, "method": method, "figures": figures})
    return sorted(rows, key=lambda row: (arguments.problems.index(row["problem"]), row["generation"]))


if __name__ == "__main__":
    main()
