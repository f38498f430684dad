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

#: Environment variable with the folder of CIFAR-10, which is no part of a study.
DATA_VARIABLE = "FLEXICASE_CIFAR_DIR"
DATA_SETS = ("digits", "cifar10")
SAVE_SECONDS = 5.0


class ImageSettings(BaseModel):
    """Settings of a training run.

    Attributes:
        arch: The network: ``"digits"``, ``"small"``, ``"vgg11"`` … ``"vgg19"``.
        generations: How many.
        population: Candidates.
        batch_size: Cases per training step.
        train_cases: How many training cases; all if left out.
        test_cases: How many test cases; all if left out.
        eval_every: Generations between evaluations on the test cases.
        default_weight: The weight of cases that were not visited yet, for methods that learn weights.
        stop_on_all_fail: Whether a case that no candidate passes ends selection.

    Example:
        >>> from flexicase.experiments.image_job import ImageSettings
        >>> ImageSettings(arch="vgg16", generations=1000).population
        4
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
    """Gradient lexicase on one data set with one way of ordering the cases, in one thread, on the CPU or the first GPU.

    Rows are generations.

    Example:
        >>> from flexicase.experiments.image_job import ImageJob
        >>> ImageJob().check("digits", "weighted-splt")
        Traceback (most recent call last):
        ...
        ValueError: unknown method 'weighted-splt'; did you mean 'weighted-split'?
    """

    settings: type[BaseModel] = ImageSettings

    def check(self, problem: str, method: str) -> None:
        """Raise ValueError if the data set or the method does not exist."""
        if problem not in DATA_SETS:
            raise ValueError(f"unknown data set {problem!r}{did_you_mean(problem, DATA_SETS)}")
        FastLexicase(1, method)

    def run(self, task: RunSpec, save: Path, report: Callable[[Progress], None]) -> JobResult:
        """Train, going on from what ``save`` holds; if that cannot be read, from the beginning."""
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
    """The data and the search of a run, ready to be trained.

    Args:
        problem: Name of the data set.
        method: Name of the selection method.
        settings: The settings.
        seed: The seed.
    """
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
    """Facts about a whole run: it succeeds if it comes to its end, which a diverging one does not."""
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
