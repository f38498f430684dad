"""Evaluating candidate networks one after another, or at once with stacked parameters (torch.func).

    python benchmarks/stacked.py

What selection in gradient lexicase could do for each block of cases; it does what is faster, one after another. CPU
microseconds of one thread, best of several, for 4 candidates.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

import flexicase.torch as ft

CANDIDATES = 4
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], tuple[int, ...]]] = {
    "digits": (lambda: ft.vgg("digits", channels=1, size=8), (1, 8, 8), (1, 4, 16, 64, 256)),
    "two layers": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)),
        (1, 8, 8),
        (1, 4, 16, 64, 256),
    ),
    "small": (lambda: ft.vgg("small"), (3, 32, 32), (1, 4, 16, 64)),
    "vgg11": (lambda: ft.vgg(11), (3, 32, 32), (1, 4, 16)),
}


def microseconds(work: Callable[[], object], repeats: int = 15) -> float:
    work()
    start = time.process_time()
    work()
    loops = max(1, int(0.002 / max(1e-6, time.process_time() - start)))
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(loops):
            work()
        best = min(best, (time.process_time() - start) / loops)
    return 1e6 * best


def at_once(models: list[nn.Module]) -> Callable[[Tensor], Tensor]:
    """The outputs of all networks, from their stacked parameters."""
    parameters, buffers = stack_module_state(models)
    shape = copy.deepcopy(models[0]).to("meta")
    call = vmap(lambda p, b, inputs: functional_call(shape, (p, b), (inputs,)), in_dims=(0, 0, None))
    return lambda inputs: call(parameters, buffers, inputs)


def compare(models: list[nn.Module], inputs: Tensor) -> str:
    """A line: both ways, their ratio, and how far the outputs are apart."""
    stacked = at_once(models)
    loop, once = microseconds(lambda: [model(inputs) for model in models]), microseconds(lambda: stacked(inputs))
    apart = float((torch.stack([model(inputs) for model in models]) - stacked(inputs)).abs().max())
    return f"{len(inputs):5} {loop:23.0f} {once:13.0f} {loop / once:7.2f} {apart:31.1e}"


def main() -> None:
    torch.set_num_threads(1)
    print("network      cases   one after another, µs   at once, µs   ratio   largest difference of outputs")
    with torch.inference_mode():
        for name, (make, shape, sizes) in NETWORKS.items():
            models = [make().eval() for _ in range(CANDIDATES)]
            for size in sizes:
                print(f"{name:12} {compare(models, torch.randn(size, *shape))}")


if __name__ == "__main__":
    main()
