"""What the ranks of a torchrun job do in tests: ``torchrun … -m tests.torch.rank_jobs FOLDER JOB …``."""

from __future__ import annotations

import functools
import os
import sys
import time
import warnings
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase.torch as ft
from flexicase.torch._checkpoint import NEWEST
from tests.torch.training_runs import Averaging, Poison, cases, fingerprint, network, search, small

RANK = int(os.environ.get("RANK", "0"))
RESTART = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


def in_float64(**changes):
    """One candidate per rank if there are two, everything in float64."""
    data = ft.data.load("fake", train=96, test=32)
    cases = [
        TensorDataset(part.batch(torch.arange(len(part)))[0].double(), part.labels) for part in (data.train, data.test)
    ]
    settings = {"population": 2, "selection": "fast", "batch_size": 16, "seed": 3, "test_set": cases[1], **changes}
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
        epsilon=0.05,
        batch_size=4,
        seed=1,
        **changes,
    )


def alike(**changes):
    """From the second generation on no learning rate: candidates tie on all cases, in blocks of several batches."""
    data = ft.data.load("fake", train=1500, test=8)
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
        search, population=3, selection="lexicase", optimizer_state="inherit", transform=ft.PadCropFlip(1)
    ),
    "all failed": functools.partial(
        search, bias="split", default="min", on_all_fail="stop", selection_transform=ft.PadCropFlip(1)
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
        {"equal": equal, "killed": killed, "refused": refused}[job](Path(sys.argv[1]))
