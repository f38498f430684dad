"""Runs of kind ``image``: a network trained by gradient lexicase selection on one data set of images."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from flexicase._checks import did_you_mean
from flexicase.experiments.jobs import JobResult, Progress, RunSpec, Scalar, run_with_checkpoint
from flexicase.selection.fast_lexicase import FastLexicase

if TYPE_CHECKING:
    from flexicase.torch import GradientLexicase, TrainingRecord
    from flexicase.torch.data import ImageData

#: Environment variable with the folder of CIFAR-10, which does not belong to a study.
DATA_VARIABLE = "FLEXICASE_CIFAR_DIR"
DATA_SETS = ("digits", "cifar10")
SAVE_SECONDS = 5.0


class ImageSettings(BaseModel):
    """Settings of a training run.

    Attributes:
        arch: The network: ``"digits"``, ``"small"``, ``"vgg11"`` … ``"vgg19"``.
        generations: Number of generations.
        population: Number of candidates.
        batch_size: Cases per training step.
        train_cases: Number of training cases; all by default.
        test_cases: Number of test cases; all by default.
        eval_every: Generations between evaluations on the test cases.
        default_weight: Weight of cases that were not visited yet, for methods that learn weights.
        stop_on_all_fail: Whether a case that no candidate passes ends selection.
    """

    model_config = ConfigDict(extra="forbid")

    arch: Literal["digits", "small", "vgg11", "vgg13", "vgg16", "vgg19"]
    generations: int = Field(ge=1)
    population: int = Field(default=4, ge=1)
    batch_size: int = Field(default=64, ge=1)
    train_cases: int | None = Field(default=None, ge=1)
    test_cases: int | None = Field(default=None, ge=1)
    eval_every: int = Field(default=50, ge=1)
    default_weight: Literal["max", "min"] | None = None
    stop_on_all_fail: bool | None = None


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
        data, search = prepare(task.problem, task.method, settings, task.seed)

        def tell(record: TrainingRecord) -> None:
            report(Progress(record.generation, settings.generations, f"loss {record.loss:.3g}"))

        search.callbacks.append(tell)
        records = search.fit(settings.generations, save=folder, save_every=SAVE_SECONDS, resume=True)
        return JobResult(TrainingRecord.to_columns(records), summary_of(records, len(data.test)))


def prepare(problem: str, method: str, settings: ImageSettings, seed: int) -> tuple[ImageData, GradientLexicase]:
    """Load the data of a run and make its search."""
    import torch

    from flexicase.torch import GradientLexicase, data, vgg

    folder = os.environ.get(DATA_VARIABLE)
    found = data.load(problem, folder, train_cases=settings.train_cases, test_cases=settings.test_cases)
    search = GradientLexicase(
        lambda: vgg(settings.arch, channels=found.channels, size=found.size, classes=found.classes),
        found.train,
        settings.population,
        method,
        default_weight=settings.default_weight or "max",
        stop_on_all_fail=bool(settings.stop_on_all_fail),
        device="cuda" if torch.cuda.is_available() else "cpu",
        batch_size=settings.batch_size,
        seed=seed,
        transform=found.transform,
        test_set=found.test,
        eval_every=settings.eval_every,
    )
    return found, search


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
