"""Selection in gradient lexicase: looking ahead in blocks against batch size 1, on the same candidates.

    python benchmarks/gradient.py                                digits: all of a training
    python benchmarks/gradient.py --network small --cifar-dir DIR    a small network on CIFAR-10
    python benchmarks/gradient.py --network vgg16 --cifar-dir DIR    VGG16, candidates as late in training

Every selection of a training is made again both ways, from the same weights and the same draws; parent, weights and
counts must be equal. Times are CPU seconds of one thread, best of --repeats, the two ways in turn.
"""

from __future__ import annotations

import argparse
import copy
import time

import numpy as np
import torch

import flexicase.torch as ft

LENGTHS = ((0, 20), (20, 100), (100, 1000), (1000, 10**6))


def compare(search: ft.GradientLexicase, before: dict, generation: int, repeats: int) -> tuple[float, float]:
    """CPU seconds of the last selection, case by case and as it was made; fails if the outcomes differ."""
    selector = copy.copy(search._state.selector)
    used = selector.lookahead
    outcomes, seconds = [], {0: [], 1: []}
    for turn in range(2 * repeats):
        selector.load_state_dict(before)
        selector.lookahead = (1, used)[turn % 2]
        evaluate = search._candidate_errors()
        start = time.process_time()
        s = selector.select(evaluate, search.population, cache_key=generation)
        seconds[turn % 2].append(time.process_time() - start)
        outcomes.append((s.indices.tolist(), s.evaluations.tolist(), s.ended.tolist(), selector.weights.tolist()))
    assert all(outcome == outcomes[0] for outcome in outcomes), "the outcomes differ"
    return min(seconds[0]), min(seconds[1])


def make_search(arguments: argparse.Namespace) -> ft.GradientLexicase:
    if arguments.network == "digits":
        data, model = ft.data.load("digits"), lambda: ft.vgg("digits", channels=1, size=8)
        settings: dict = {"batch_size": 32, "transform": data.transform}
    else:
        data = ft.data.load("cifar10", arguments.cifar_dir, train_cases=arguments.cases, test_cases=1)
        model = lambda: ft.vgg(arguments.network)  # noqa: E731
        settings = {"transform": data.transform}
    if arguments.late:  # learning rates as at the end of a long training make candidates alike
        settings["schedule"] = lambda generation, generations: 1.0 if generation < generations // 2 else 1e-4
    return ft.GradientLexicase(model, data.train, method=arguments.method, seed=arguments.seed, **settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default="digits", choices=["digits", "small", "vgg11", "vgg16"])
    parser.add_argument("--cifar-dir", help="folder with CIFAR-10")
    parser.add_argument("--cases", type=int, default=2000, help="training cases of CIFAR-10")
    parser.add_argument("--method", default="weighted-num-nonzeros")
    parser.add_argument("--generations", type=int, default=80)
    parser.add_argument("--late", action="store_true", help="tiny learning rates from half of the generations on")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    search = make_search(arguments)
    search.generations = arguments.generations
    rows = []
    for generation in range(arguments.generations):
        before = search._state.selector.state_dict()
        record = search.step()
        one, blocks = compare(search, before, generation, arguments.repeats)
        times = record.seconds_train, record.seconds_select
        looks = not search._state.selector.lookahead.delayed
        rows.append((record.evaluations, one, blocks, *times, record.pairs, looks))
    table = np.array(rows)
    print(f"{arguments.network}, {arguments.method}: {len(rows)} selections, all outcomes equal")
    print("evaluations      selections   batch 1, s   blocks, s   ratio   median ratio   pairs / evaluations")
    parts = {f"{a}–{b - 1}": (table[:, 0] >= a) & (table[:, 0] < b) for a, b in LENGTHS}
    parts |= {"while short": table[:, 6] == 0, "with blocks": table[:, 6] == 1, "all": table[:, 0] > 0}
    for name, chosen in parts.items():
        part = table[chosen]
        if len(part):
            one, blocks = part[:, 1].sum(), part[:, 2].sum()
            median = np.median(part[:, 1] / part[:, 2])
            print(
                f"{name:16} {len(part):10} {one:12.3f} {blocks:11.3f} {one / blocks:7.2f} {median:14.2f} "
                f"{part[:, 5].sum() / part[:, 0].sum():19.2f}"
            )
    share = table[:, 4].sum() / (table[:, 3] + table[:, 4]).sum()
    late = table[len(table) // 2 :]
    print(f"selection's share of a generation: {100 * share:.0f} %, ", end="")
    print(f"in the second half {100 * late[:, 4].sum() / (late[:, 3] + late[:, 4]).sum():.0f} %")


if __name__ == "__main__":
    main()
