"""Plain SGD beside gradient lexicase on the digits: test accuracy after the same number of passes over the data.

    python benchmarks/plain_sgd.py                  # some minutes
    python benchmarks/plain_sgd.py --update-docs    # and put the table into docs/torch.md

Plain SGD is gradient lexicase with one candidate that keeps its momentum. A pass over the data is an epoch of SGD and a
generation of gradient lexicase, whose four candidates share it. Network, augmentation, schedule and seeds are the same.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch

import flexicase.torch as ft
from flexicase.report.statistics import mean_interval
from fragments import markdown_table, replace_fragment

PAGE = Path(__file__).resolve().parent.parent / "docs" / "torch.md"
#: Title, candidates and batch size.
TRAININGS = (
    ("plain SGD, batches of 64", 1, 64),
    ("plain SGD, batches of 16", 1, 16),
    ("gradient lexicase, batches of 64", 4, 64),
    ("gradient lexicase, batches of 16", 4, 16),
)


def train(population: int, batch_size: int, passes: int, seed: int) -> tuple[float, float]:
    """The test accuracy after training, and processor seconds."""
    digits = ft.data.load("digits")
    search = ft.GradientLexicase(
        lambda: ft.vgg("digits", channels=1, size=8),
        digits.train,
        population,
        batch_size=batch_size,
        transform=digits.transform,
        optimizer_state="inherit" if population == 1 else "reset",
        seed=seed,
    )
    started = time.process_time()
    search.fit(passes)
    return search.evaluate(digits.test), time.process_time() - started


def compare(passes: list[int], seeds: int) -> str:
    """The table: mean accuracies, differences to plain SGD with the same seed, and processor seconds."""
    rows = []
    for n in passes:
        first: np.ndarray | None = None
        for title, population, batch_size in TRAININGS:
            found = np.array([train(population, batch_size, n, seed) for seed in range(seeds)])
            accuracy, seconds = 100 * found[:, 0], found[:, 1]
            difference = ""
            if first is None:
                first = accuracy
            else:
                low, high = mean_interval(accuracy - first)
                difference = f"{(accuracy - first).mean():+.1f} ({low:+.1f} to {high:+.1f})"
            updates = n * -(-1297 // batch_size) // population
            cells = [str(updates), f"{accuracy.mean():.1f}", difference, f"{seconds.mean():.1f}"]
            rows.append([str(n), title, *cells])
            print(*rows[-1], sep=" | ", flush=True)
    header = ("passes over the data", "training", "updates of a network", "test accuracy, %")
    return markdown_table((*header, "difference, points (95 %)", "processor seconds"), rows, names=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, nargs="+", default=[8, 32])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--update-docs", action="store_true", help="put the table into docs/torch.md")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    table = compare(arguments.passes, arguments.seeds)
    print(f"\n{table}")
    if arguments.update_docs:
        PAGE.write_text(replace_fragment(PAGE.read_text(encoding="utf-8"), table, "plain-sgd"), encoding="utf-8")


if __name__ == "__main__":
    main()
