"""A job whose runs do what a job should not: the problem says what."""

from __future__ import annotations

import sys

import numpy as np
from pydantic import BaseModel, ConfigDict

from flexicase.experiments import JobResult, Progress

ROWS = {"step": np.arange(3), "seconds": np.zeros(3)}
SURROGATE = "na\udcffme"


class OddSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SilentError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def fail(error):
    raise error


#: What a run reports before it ends.
PROGRESS = {
    "surrogate note": Progress(1, 3, SURROGATE),
    "markup note": Progress(1, 3, "[/b] [bold]"),
    "terminal note": Progress(1, 3, "\x1b[2J\r\nend" + "x" * 10_000),
    "numpy step": Progress(np.int64(1), np.int64(3)),
    "huge step": Progress(2**63, 2**63),
    "no step": Progress("1", 3),
}
#: What a run ends with.
ENDS = {
    "surrogate error": lambda: fail(ValueError(SURROGATE)),
    "surrogate file": lambda: fail(OSError(2, "No such file", SURROGATE)),
    "silent error": lambda: fail(SilentError()),
    "exit": lambda: sys.exit(7),
    "seed in summary": lambda: JobResult(ROWS, {"seed": 0}),
    "state in summary": lambda: JobResult(ROWS, {"state": "done"}),
    "id in rows": lambda: JobResult({"id": np.arange(3)}, {}),
    "no rows": lambda: JobResult({"step": np.arange(0)}, {}),
    "list in summary": lambda: JobResult(ROWS, {"last": [1]}),
    "huge summary": lambda: JobResult(ROWS, {"last": 2**63}),
    "numpy summary": lambda: JobResult(ROWS, {"last": np.float64(1.5), "success": np.bool_(True)}),
    "surrogate summary": lambda: JobResult(ROWS, {"words": SURROGATE}),
    "other type": lambda: JobResult({**ROWS, "step": np.arange(3.0)}, {}),
    "other column": lambda: JobResult({**ROWS, "more": np.arange(3)}, {}),
    "other summary": lambda: JobResult(ROWS, {"success": "yes"}),
}


class Odd:
    settings = OddSettings

    def check(self, problem, method):
        pass

    def run(self, task, save, report):
        report(PROGRESS.get(task.problem, Progress(1, 3)))
        return ENDS.get(task.problem, lambda: JobResult(ROWS, {"success": True}))()


def study_text(problems) -> str:
    """The TOML of a study."""
    return f'name = "odd"\nkind = "tests.experiments.odd:Odd"\nproblems = {list(problems)}\nmethods = ["a"]\nseeds = 1'
