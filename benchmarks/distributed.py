"""Gradient lexicase on several ranks against one process: time of a generation, one thread each.

    torchrun --standalone --nproc-per-node 2 benchmarks/distributed.py

Generations of both take turns in one job, so that both see the same machine: while rank 0 trains alone the others
wait. Parents, counts and weights must be equal. Seconds are medians over --generations; those of the processor are of
the busiest rank, and leave out waiting for others and for a core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import TensorDataset

import flexicase.torch as ft


class Workload(NamedTuple):
    """A training, by how it is told to be distributed."""

    name: str
    start: Callable[[bool], ft.GradientLexicase]


def digits(seed: int, generations: int) -> Workload:
    data = ft.data.load("digits")
    return Workload(
        "digits, 1,297 cases of 8 × 8 pixels, 2 thousand parameters",
        lambda distributed: ft.GradientLexicase(
            lambda: ft.vgg("digits", channels=1, size=8),
            data.train,
            method="weighted-num-nonzeros",
            transform=data.transform,
            seed=seed,
            generations=generations,
            distributed=distributed,
        ),
    )


def images(seed: int, generations: int, cases: int = 1024) -> Workload:
    draws = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (cases,), generator=draws)
    patterns = torch.randn((10, 3, 32, 32), generator=draws)
    noisy = TensorDataset(patterns[labels] + 2 * torch.randn((cases, 3, 32, 32), generator=draws), labels)
    return Workload(
        f"{cases:,} made-up cases of 32 × 32 pixels, 71 thousand parameters",
        lambda distributed: ft.GradientLexicase(
            lambda: ft.vgg("small"),
            noisy,
            method="weighted-num-nonzeros",
            seed=seed,
            generations=generations,
            distributed=distributed,
        ),
    )


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock and processor seconds of the slowest rank; work begins on all at once."""
    dist.barrier()
    wall, processor = time.perf_counter(), time.process_time()
    work()
    spent = torch.tensor([time.perf_counter() - wall, time.process_time() - processor])
    dist.all_reduce(spent, dist.ReduceOp.MAX)
    return float(spent[0]), float(spent[1])


def measure(workload: Workload, generations: int) -> None:
    together, alone = workload.start(True), workload.start(False)
    times = np.array(
        [
            (*timed(lambda: alone.step() if dist.get_rank() == 0 else None), *timed(together.step))
            for _ in range(generations)
        ]
    )
    if dist.get_rank():
        return
    for one, several in zip(alone.records, together.records, strict=True):
        assert one == several, "the outcomes differ"
    assert (alone.weights == together.weights).all(), "the weights differ"
    evaluations = sum(record.evaluations for record in alone.records) / generations
    select = [np.median([record.seconds_select for record in run.records]) for run in (alone, together)]
    wall, processor, wall_together, processor_together = np.median(times, axis=0)
    print(f"{workload.name}: {generations} generations, {evaluations:.0f} evaluations each, all outcomes equal")
    print(f"{'':22} one process   {dist.get_world_size()} ranks   ratio")
    for name, one, several in (
        ("wall-clock seconds", wall, wall_together),
        ("processor seconds", processor, processor_together),
        ("seconds of selection", *select),
    ):
        print(f"{name:22} {one:11.4f} {several:9.4f} {one / several:7.2f}")
    ratios = np.percentile(times[:, 0] / times[:, 2], [25, 50, 75])
    print(
        "ratio of the wall-clock seconds of neighbours, quartiles:", *(f"{ratio:.2f}" for ratio in ratios), flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    for workload in (digits, images):
        measure(workload(arguments.seed, arguments.generations), arguments.generations)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
