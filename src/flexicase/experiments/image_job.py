"""Runs of kind ``image``: a network trained by gradient lexicase selection on one data set of images."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from flexicase._checks import did_you_mean
from flexicase._files import FileLock, LockedError
from flexicase.experiments.jobs import JobResult, Progress, RunSpec, Scalar, run_with_checkpoint
from flexicase.selection.fast_lexicase import FastLexicase

if TYPE_CHECKING:
    from torch import nn

    from flexicase.torch import GradientLexicase, TrainingRecord
    from flexicase.torch.data import ImageData

#: Environment variable with the folder of CIFAR-10, which does not belong to a study.
DATA_VARIABLE = "FLEXICASE_CIFAR_DIR"
#: Environment variable with the folder of pre-trained networks; by default ``flexicase`` in the user's cache.
CACHE_VARIABLE = "FLEXICASE_CACHE_DIR"
DATA_SETS = ("digits", "cifar10")
SAVE_SECONDS = 5.0
LOCK_SECONDS = 5.0


class ImageSettings(BaseModel):
    """Settings of a training run.

    Attributes:
        arch: The network: ``"digits"``, ``"small"``, ``"vgg11-quarter"``, ``"vgg11"`` … ``"vgg19"``.
        generations: Number of generations.
        population: Number of candidates.
        batch_size: Cases per training step.
        train_cases: Number of training cases; all by default.
        test_cases: Number of test cases; all by default.
        augment: ``"flip"`` mirrors training images at random but does not shift them, ``"none"`` changes none;
            by default both are done, as far as the data set allows.
        eval_every: Generations between evaluations on the test cases.
        default_weight: Weight of cases that were not visited yet, for methods that learn weights.
        stop_on_all_fail: Whether a case that no candidate passes ends selection.
        pretrain_epochs: Epochs of ordinary training, by the same optimiser, before the first generation. All methods
            start from the same network.
        schedule_start: Position of the first generation in the schedule of learning rates; 0 by default.
        schedule_generations: Length of that schedule; by default it ends with the last generation.
    """

    model_config = ConfigDict(extra="forbid")

    arch: Literal["digits", "small", "vgg11-quarter", "vgg11", "vgg13", "vgg16", "vgg19"]
    generations: int = Field(ge=1)
    population: int = Field(default=4, ge=1)
    batch_size: int = Field(default=64, ge=1)
    train_cases: int | None = Field(default=None, ge=1)
    test_cases: int | None = Field(default=None, ge=1)
    augment: Literal["flip", "none"] | None = None
    eval_every: int = Field(default=50, ge=1)
    default_weight: Literal["max", "min"] | None = None
    stop_on_all_fail: bool | None = None
    pretrain_epochs: int | None = Field(default=None, ge=1)
    schedule_start: int | None = Field(default=None, ge=0)
    schedule_generations: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _within_schedule(self) -> ImageSettings:
        if (self.schedule_start or 0) + self.generations > (self.schedule_generations or self.generations):
            raise ValueError("schedule_start + generations must be at most schedule_generations")
        return self


class ImageJob:
    """Gradient lexicase on one data set with one method, in one thread, on the CPU or the first GPU.

    Each row is a generation.
    """

    settings: type[BaseModel] = ImageSettings

    def check(self, problem: str, method: str) -> None:
        if problem not in DATA_SETS:
            raise ValueError(f"unknown data set {problem!r}{did_you_mean(problem, DATA_SETS)}")
        FastLexicase(1, method)

    def run(self, task: RunSpec, save: Path, report: Callable[[Progress], None]) -> JobResult:
        import torch

        torch.set_num_threads(1)
        return run_with_checkpoint(lambda folder: self._train(task, folder, report), save / "training")

    def _train(self, task: RunSpec, folder: Path, report: Callable[[Progress], None]) -> JobResult:
        from flexicase.torch import TrainingRecord

        settings = ImageSettings.model_validate(task.settings)
        epochs = settings.pretrain_epochs or 0

        def tell(step: int, note: str) -> None:
            report(Progress(step, epochs + settings.generations, note))

        data = load_data(task.problem, settings)
        network, facts = pretrain(task.problem, settings, task.seed, data, tell) if epochs else (None, {})
        search = make_search(task.method, settings, task.seed, data, network)
        search.callbacks.append(lambda record: tell(epochs + record.generation, f"loss {record.loss:.3g}"))
        records = search.fit(settings.generations, save=folder, save_every=SAVE_SECONDS, resume=True)
        return JobResult(TrainingRecord.to_columns(records), summary_of(records, len(data.test)) | facts)


def load_data(problem: str, settings: ImageSettings) -> ImageData:
    """Load the data set of a run."""
    from flexicase.torch import data

    folder = os.environ.get(DATA_VARIABLE)
    loaded = data.load(problem, folder, train_cases=settings.train_cases, test_cases=settings.test_cases)
    if settings.augment is None:
        return loaded
    return replace(loaded, transform=data.PadCropFlip(padding=0) if settings.augment == "flip" else None)


def make_search(
    method: str,
    settings: ImageSettings,
    seed: int,
    data: ImageData,
    network: nn.Module | None = None,
    *,
    optimizer_state: Literal["reset", "inherit"] = "reset",
) -> GradientLexicase:
    """Make the search of a run, from ``network`` or a new one."""
    import torch

    from flexicase.torch import GradientLexicase, cosine, vgg

    start, length = settings.schedule_start or 0, settings.schedule_generations

    def make_network() -> nn.Module:
        made = vgg(settings.arch, channels=data.channels, size=data.size, classes=data.classes)
        if network is not None:
            made.load_state_dict(network.state_dict())
        return made

    return GradientLexicase(
        make_network,
        data.train,
        settings.population,
        method,
        default_weight=settings.default_weight or "max",
        stop_on_all_fail=bool(settings.stop_on_all_fail),
        schedule=lambda generation, generations: cosine(start + generation, length or generations),
        device="cuda" if torch.cuda.is_available() else "cpu",
        batch_size=settings.batch_size,
        seed=seed,
        optimizer_state=optimizer_state,
        transform=data.transform,
        test_set=data.test,
        eval_every=settings.eval_every,
    )


def pretrain(
    problem: str, settings: ImageSettings, seed: int, data: ImageData, tell: Callable[[int, str], None]
) -> tuple[nn.Module, dict[str, Scalar]]:
    """A network after ordinary training, and its accuracies.

    Ordinary training is gradient lexicase with one candidate that keeps its momentum. Its checkpoint stays in the
    cache, so that the runs of other methods with the same seed start from the same network. ``tell`` is called with the
    number of finished epochs and a note.
    """
    epochs = settings.pretrain_epochs
    assert epochs is not None
    kept = settings.model_dump(include={"arch", "batch_size", "train_cases", "test_cases", "augment"})
    identity = json.dumps(kept | {"problem": problem, "seed": seed, "epochs": epochs}, sort_keys=True)
    folder = cache_folder() / "pretrained" / hashlib.sha256(identity.encode()).hexdigest()[:32]
    folder.mkdir(parents=True, exist_ok=True)
    ordinary = ImageSettings(
        arch=settings.arch, generations=epochs, population=1, batch_size=settings.batch_size, eval_every=epochs
    )

    def train(folder: Path) -> GradientLexicase:
        search = make_search("lexicase", ordinary, seed, data, optimizer_state="inherit")
        search.callbacks.append(lambda record: tell(record.generation, f"pre-training, loss {record.loss:.3g}"))
        search.fit(epochs, save=folder, save_every=SAVE_SECONDS, resume=True)
        return search

    while True:
        try:
            with FileLock(folder / "lock", "the pre-trained network", timeout=LOCK_SECONDS):
                search = run_with_checkpoint(train, folder / "training")
            break
        except LockedError:
            tell(0, "waiting for the pre-trained network")
    test = search.records[-1].accuracy
    assert test is not None
    return search.parent, {"pretrain_accuracy": search.evaluate(data.train), "pretrain_test_accuracy": test}


def cache_folder() -> Path:
    """Folder of files that can be made again."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flexicase"
    return Path(os.environ.get(CACHE_VARIABLE) or default)


def summary_of(records: Sequence[TrainingRecord], test_cases: int) -> dict[str, Scalar]:
    """Values for the whole run. It succeeds if it reaches its last generation; one that diverges does not."""
    accuracy = records[-1].accuracy
    assert accuracy is not None
    return {
        "success": True,
        "accuracy": accuracy,
        "correct": round(accuracy * test_cases),
        "test_cases": test_cases,
        "evaluations": sum(record.evaluations for record in records),
        "pairs": sum(record.pairs for record in records),
    }
