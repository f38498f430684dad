"""Runs of kind ``image``: a network trained by gradient lexicase selection on one data set of images."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from flexicase._checks import did_you_mean
from flexicase.experiments.jobs import JobResult, Progress, RunSpec, Scalar, column, run_with_checkpoint

if TYPE_CHECKING:
    from flexicase.torch import GradientLexicase, TrainingRecord
    from flexicase.torch.data import ImageData

#: Environment variable that names the folder with CIFAR-10: where it lies is no part of a study.
DATA_VARIABLE = "FLEXICASE_CIFAR10"
DATA_SETS = ("digits", "cifar10", "fake")
#: Bias and default weight of each method; plain gradient lexicase has none.
METHODS: dict[str, tuple[str, str] | None] = {
    "gradient-lexicase": None,
    **{
        f"fast-{bias.replace('_', '-')}-{default}": (bias, default)
        for bias in ("num_nonzeros", "num_zeros", "split")
        for default in ("max", "min")
    },
}
ENDINGS = ("unique", "exhausted", "all failed")
WHOLE = ("generation", "parent", "evaluations", "cases", "forward_passes", "forward_calls")
REAL = ("lr", "loss", "accuracy")
SECONDS = ("seconds_train", "seconds_select", "seconds_test")
SAVE_SECONDS = 5.0


class ImageSettings(BaseModel):
    """Settings of a training run.

    Attributes:
        arch: The network: ``"digits"``, ``"small"``, ``"vgg11"`` … ``"vgg19"``.
        generations: How many.
        population: Candidates.
        batch_size: Cases per training step.
        train: How many training cases; all if None.
        test: How many test cases.
        eval_every: Generations between evaluations on the test cases.
        on_all_fail: What an all-wrong case does, as for `flexicase.torch.GradientLexicase`.

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
    train: int | None = Field(default=None, ge=1)
    test: int | None = Field(default=None, ge=1)
    eval_every: int = Field(default=50, ge=1)
    on_all_fail: Literal["keep", "stop"] | None = None


class ImageJob:
    """Gradient lexicase on one data set with one way of ordering the cases, in one thread, on the CPU or the first GPU.

    Rows are generations. ``accuracy`` is NaN where the test cases were not looked at, ``ended`` a place in `ENDINGS`.

    Example:
        >>> from flexicase.experiments.image_job import ImageJob
        >>> ImageJob().check("digits", "fast-split-mx")
        Traceback (most recent call last):
        ...
        ValueError: unknown method 'fast-split-mx'; did you mean 'fast-split-max'?
    """

    settings: type[BaseModel] = ImageSettings

    def check(self, problem: str, method: str) -> None:
        """Raise ValueError if the data set or the method does not exist."""
        if problem not in DATA_SETS:
            raise ValueError(f"unknown data set {problem!r}{did_you_mean(problem, DATA_SETS)}")
        if method not in METHODS:
            raise ValueError(f"unknown method {method!r}{did_you_mean(method, METHODS)}")

    def run(self, task: RunSpec, save: Path, report: Callable[[Progress], None]) -> JobResult:
        """Train, going on from what ``save`` holds; if that cannot be read, from the beginning."""
        import torch

        torch.set_num_threads(1)
        return run_with_checkpoint(lambda folder: self._train(task, folder, report), save / "training")

    def _train(self, task: RunSpec, folder: Path, report: Callable[[Progress], None]) -> JobResult:
        settings = ImageSettings.model_validate(task.settings)
        data, search = prepare(task.problem, task.method, settings, task.seed)

        def tell(record: TrainingRecord) -> None:
            report(Progress(record.generation, settings.generations, f"loss {record.loss:.3g}"))

        search.callbacks.append(tell)
        records = search.fit(settings.generations, save=folder, save_every=SAVE_SECONDS, resume=True)
        return JobResult(rows_of(records), summary_of(records, len(data.test)))


def prepare(problem: str, method: str, settings: ImageSettings, seed: int) -> tuple[ImageData, GradientLexicase]:
    """The data and the search of a run, ready to be trained.

    Args:
        problem: Name of the data set.
        method: One of `METHODS`.
        settings: The settings.
        seed: The seed.
    """
    import torch

    from flexicase.torch import GradientLexicase, data, vgg

    found = data.load(problem, os.environ.get(DATA_VARIABLE), train=settings.train, test=settings.test)
    learnt = METHODS[method]
    arch = int(settings.arch[3:]) if settings.arch.startswith("vgg") else settings.arch
    search = GradientLexicase(
        lambda: vgg(arch, channels=found.channels, size=found.size, classes=found.classes),
        found.train,
        settings.population,
        "lexicase" if learnt is None else "fast",
        bias=None if learnt is None else learnt[0],  # type: ignore[arg-type]
        default=None if learnt is None else learnt[1],  # type: ignore[arg-type]
        device="cuda" if torch.cuda.is_available() else "cpu",
        batch_size=settings.batch_size,
        seed=seed,
        on_all_fail=settings.on_all_fail,
        transform=found.transform,
        test_set=found.test,
        eval_every=settings.eval_every,
    )
    return found, search


def rows_of(records: Sequence[TrainingRecord]) -> dict[str, NDArray[Any]]:
    """The columns of a run.

    Args:
        records: One per generation.

    Returns:
        Arrays of shape (n_generations,); times have names that start with ``seconds_``.
    """
    return {
        **{name: column(records, name, np.int64) for name in WHOLE},
        "events": np.ones(len(records), dtype=np.int64),
        "ended": np.array([ENDINGS.index(record.ended) for record in records], dtype=np.int64),
        **{name: column(records, name, np.float64, np.nan) for name in (*REAL, *SECONDS)},
    }


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
        "forward_passes": sum(record.forward_passes for record in records),
    }
