"""Short trainings that several tests share, and jobs of ranks: ``torchrun … -m tests.torch._helpers FOLDER JOB …``."""

from __future__ import annotations

import functools
import hashlib
import os
import signal
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase as fx
import flexicase.torch as ft
from flexicase._checkpoint import NEWEST
from flexicase.torch.data import ImageData, Images


def fake_images(train, test):
    """Noise with a faint pattern for each of 10 classes, for tests."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 120, (10, 1, 8, 8))

    def part(n):
        labels = rng.integers(0, 10, n)
        images = patterns[labels] + rng.integers(0, 136, (n, 1, 8, 8))
        return Images(images.astype(np.uint8), labels, mean=[0.5], std=[0.25])

    return ImageData(part(train), part(test), None, channels=1, size=8, classes=10)


def network():
    return ft.vgg("digits", channels=1, size=8)


def search(train=96, network=network, **changes):
    """Gradient lexicase on made-up images, a fraction of a second per generation."""
    settings = {"seed": 5, "batch_size": 16, "method": "weighted-num-nonzeros", **changes}
    data = fake_images(train, 32)
    return ft.GradientLexicase(network, data.train, **settings)


def small(model=lambda: nn.Linear(4, 3), data=None, **changes):
    """Gradient lexicase on 20 cases of 4 numbers, milliseconds per generation."""
    settings = {"population": 4, "batch_size": 5, "seed": 1, "generations": 9, **changes}
    return ft.GradientLexicase(model, cases() if data is None else data, **settings)


def cases(n=20, targets=None, dtype=torch.float32, shift=0.0):
    inputs = (torch.linspace(-1, 1, 4 * n).reshape(n, 4) + shift).to(dtype)
    return TensorDataset(inputs, torch.arange(n) % 3 if targets is None else targets)


class Poison(torch.autograd.Function):
    """Passes outputs on unchanged, and gives NaN as their gradient."""

    @staticmethod
    def forward(ctx, outputs):
        return outputs.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * float("nan")


class Averaging(nn.Linear):
    """Subtracts a running mean, kept in a buffer that is no part of state_dict."""

    def __init__(self):
        super().__init__(4, 3)
        self.register_buffer("mean", torch.zeros(4), persistent=False)

    def forward(self, inputs):
        if self.training:
            self.mean.lerp_(inputs.mean(0), 0.3)
        return super().forward(inputs - self.mean)


def fingerprint(found: ft.GradientLexicase) -> str:
    """Everything that must not depend on interruptions: parameters, case weights, records without times."""
    state = hashlib.sha256(found.weights.tobytes())
    for name, value in found.parent.state_dict().items():
        state.update(name.encode() + value.numpy().tobytes())
    for record in found.records:
        state.update(repr(replace(record, seconds_train=0, seconds_select=0, seconds_test=0)).encode())
    return state.hexdigest()


RANK = int(os.environ.get("RANK", "0"))


RESTART = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


def in_float64(**changes):
    """One candidate per rank if there are two, everything in float64."""
    data = fake_images(96, 32)
    cases = [
        TensorDataset(part.batch(torch.arange(len(part)))[0].double(), part.labels) for part in (data.train, data.test)
    ]
    settings = {
        "population": 2,
        "method": "weighted-num-nonzeros",
        "batch_size": 16,
        "seed": 3,
        "test_set": cases[1],
        **changes,
    }
    return ft.GradientLexicase(lambda: network().double(), cases[0], **settings)


def regression(**changes):
    """Errors that are no bits, of candidates that do not divide evenly."""
    x = torch.linspace(-1, 1, 64, dtype=torch.float64)[:, None]
    return ft.GradientLexicase(
        lambda: nn.Linear(1, 1, dtype=torch.float64),
        TensorDataset(x, 3 * x + 1),
        population=5,
        error_fn=lambda output, target: (output - target).abs().squeeze(1),
        loss=nn.functional.mse_loss,
        method=fx.Lexicase(epsilon=0.05),
        batch_size=4,
        seed=1,
        **changes,
    )


def alike(**changes):
    """From the second generation on no learning rate: candidates tie on all cases, in blocks of several batches."""
    data = fake_images(1500, 8)
    return ft.GradientLexicase(
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10)),
        data.train,
        schedule=lambda generation, generations: float(generation == 0),
        seed=1,
        **changes,
    )


def poisoned(output, target):
    """Cross-entropy with a gradient of NaN for some candidates, by the seed of their training."""
    poisons = torch.initial_seed() % 3 == 0
    return nn.functional.cross_entropy(Poison.apply(output) if poisons else output, target)


def broken(**changes):
    """Some candidates have parameters that are not finite; the warning about it is not what is tested."""
    warnings.simplefilter("ignore", RuntimeWarning)
    return small(loss=poisoned, **changes)


TRAININGS = {
    "float64": in_float64,
    "four": search,
    "three, inheriting": functools.partial(
        search, population=3, method="lexicase", optimizer_state="inherit", transform=ft.PadCropFlip(1)
    ),
    "all failed": functools.partial(
        search,
        method="weighted-split",
        default_weight="min",
        stop_on_all_fail=True,
        selection_transform=ft.PadCropFlip(1),
    ),
    "regression": regression,
    "alike": alike,
    "broken": broken,
    "buffers": functools.partial(small, Averaging, population=3, test_set=cases()),
}


def equal(folder: Path) -> None:
    """Train everything, and leave fingerprints."""
    for name, training in TRAININGS.items():
        found = training(distributed=True)
        found.fit(4)
        (folder / f"{name} {RANK}").write_text(fingerprint(found))
    fresh = search(seed=None, distributed="auto")
    fresh.fit(1)
    (folder / f"fresh {RANK}").write_text(fingerprint(fresh))


class Trap:
    """Leaves images alone, but waits to be killed, on one rank in one generation of one start of the job."""

    def __init__(self, folder: Path | None, restart: int, rank: int, generation: int) -> None:
        self.file = None if folder is None else folder / f"pid {restart}"
        self.when = (restart, rank, generation)
        self.search: ft.GradientLexicase | None = None

    def __call__(self, inputs, draws):
        if self.file is not None and self.when == (RESTART, RANK, self.search.generation):
            partial = self.file.with_suffix(".partial")
            partial.write_text(str(os.getpid()))
            partial.rename(self.file)
            time.sleep(600)
        return inputs


def with_traps(folder: Path | None = None, **changes) -> ft.GradientLexicase:
    """A training in which rank 1 can be killed while training, then rank 0 while selecting."""
    traps = Trap(folder, 0, 1, 2), Trap(folder, 1, 0, 3)
    found = search(transform=traps[0], selection_transform=traps[1], **changes)
    for trap in traps:
        trap.search = found
    return found


def killed(folder: Path) -> None:
    """Train with traps, and leave a fingerprint and which start of the job did which generation."""

    def log(record: ft.TrainingRecord) -> None:
        with open(folder / "generations", "a") as file:
            file.write(f"{RESTART}:{record.generation} ")

    found = with_traps(folder, distributed=True, callbacks=[log])
    found.fit(5, save=folder / "saved", resume=True)
    (folder / f"killed {RANK}").write_text(fingerprint(found))


def meet(folder: Path) -> None:
    """Rank 1 dies in the first start, while rank 0 waits for it."""
    if RANK == 1 and not (folder / "dead").exists():
        time.sleep(2)
        (folder / "dead").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    found = small(distributed=True)
    found.fit(2)
    (folder / f"met {RANK}").write_text(f"{RESTART} {fingerprint(found)}")


def refused(folder: Path) -> None:
    """All that cannot work, one after another; the last one ends the job."""
    saved = folder / "saved"

    def attempt(name: str, work) -> None:
        try:
            work()
        except Exception as error:
            (folder / f"{name} {RANK}").write_text(f"{type(error).__name__}: {error}")
            if name == "diverged":
                raise

    def only_on_rank_1(inputs, draws):
        if RANK == 1:
            raise OSError("cannot read")
        return inputs

    def diverging(output, target):
        loss = nn.functional.cross_entropy(output, target)
        return loss * float("nan") if RANK == 1 and found.generation == 2 else loss

    attempt("ranks", lambda: search(population=1, distributed=True))
    attempt("seed", lambda: search(seed=5 + RANK, distributed=True))
    attempt("no seed", lambda: search(seed=None if RANK else 5, distributed=True))
    attempt("cases", lambda: search(train=96 + RANK, distributed=True))
    other = TensorDataset(torch.full((96, 1, 8, 8), float(RANK)), torch.zeros(96, dtype=torch.long))
    attempt("content", lambda: ft.GradientLexicase(network, other, seed=1, distributed=True))
    attempt("generations", lambda: search(distributed=True).fit(3 + RANK))
    attempt("training", lambda: search(transform=only_on_rank_1, distributed=True).fit(1))
    attempt("selection", lambda: search(selection_transform=only_on_rank_1, distributed=True).fit(1))
    (folder / "damaged").mkdir(exist_ok=True)
    (folder / "damaged" / NEWEST).write_text("no checkpoint")
    attempt("damaged", lambda: search(distributed=True).fit(1, save=folder / "damaged", resume=True))
    found = search(loss=diverging, distributed=True)
    attempt("diverged", lambda: found.fit(4, save=saved))


if __name__ == "__main__":
    torch.set_num_threads(1)
    for job in sys.argv[2:]:
        {"equal": equal, "killed": killed, "meet": meet, "refused": refused}[job](Path(sys.argv[1]))
