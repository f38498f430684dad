"""A small real job: a random walk in steps, which saves after each and goes on from there.

Its misfortunes happen inside the worker's process: the settings say which, and marks beside the saves see to it that
they happen as often as they should.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from flexicase.experiments import Outcome, Progress
from flexicase.atomic import write_atomically

KIND = "tests.experiments.walk:Walk"


class WalkSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    length: int = 5
    pause: float = 0.0
    padding: int = 0


class Walk:
    """Sums of random steps; the problem names the trouble, the method the step size."""

    settings = WalkSettings

    def check(self, problem, method):
        if problem not in TROUBLE:
            raise ValueError(f"problem must be one of {', '.join(TROUBLE)}, got {problem!r}")

    def run(self, task, save, report):
        settings = WalkSettings(**task.settings)
        position = self._load(save)
        while len(position) < settings.length:
            step = np.random.default_rng([task.seed, len(position)]).normal()
            position.append((position[-1] if position else 0.0) + step)
            write_atomically(save / "walk.npy", np.array(position).tobytes() + bytes(settings.padding))
            with open(save / "visits", "a", encoding="utf-8") as visits:
                visits.write(f"{len(position)}\n")
            report(Progress(len(position), settings.length, f"at {position[-1]:.2f}"))
            TROUBLE[task.problem](task, save, len(position))
            time.sleep(settings.pause)
        columns = {
            "step": np.arange(settings.length),
            "position": np.array(position),
            "positive": np.array(position) > 0,
            "seconds": np.random.default_rng().random(settings.length),
        }
        return Outcome(columns, {"success": position[-1] > 0, "last": position[-1], "word": f'{task.method}, "so"'})

    @staticmethod
    def _load(save):
        path = save / "walk.npy"
        if not path.exists():
            return []
        values = np.frombuffer(path.read_bytes()[: 8 * len((save / "visits").read_text().splitlines())])
        return values.tolist()


def none(task, save, step):
    """No trouble."""


def die_once(task, save, step):
    """The worker is killed in its third step, the first time."""
    if step == 3 and first_time(save, "died"):
        os.kill(os.getpid(), signal.SIGKILL)


def die_always(task, save, step):
    """Seed 1 dies at every attempt."""
    if task.seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def raise_once(task, save, step):
    if step == 2 and first_time(save, "raised"):
        raise RuntimeError("a passing weakness")


def die_writing(task, save, step):
    """The worker is killed when half of the Parquet file is on the disk, the first time."""
    if step == 1 and first_time(save, "half-written"):
        real = os.fsync

        def fsync(handle):
            if os.readlink(f"/proc/self/fd/{handle}").endswith(".partial") and "rows" in os.readlink(
                f"/proc/self/fd/{handle}"
            ):
                os.ftruncate(handle, os.fstat(handle).st_size // 2)
                os.kill(os.getpid(), signal.SIGKILL)
            real(handle)

        os.fsync = fsync


def die_after_renaming(task, save, step):
    """The worker is killed when the Parquet file is complete, before it can tell, the first time."""
    if step == 1 and first_time(save, "renamed"):
        real = os.replace

        def replace(source, target):
            real(source, target)
            if str(target).endswith(".parquet"):
                os.kill(os.getpid(), signal.SIGKILL)

        os.replace = replace


def hang_once(task, save, step):
    if step == 2 and first_time(save, "hung"):
        time.sleep(600)


def full_once(task, save, step):
    if step == 2 and first_time(save, "full"):
        raise OSError(errno.ENOSPC, "No space left on device")


def first_time(save: Path, mark: str) -> bool:
    try:
        os.mkdir(save / mark)
    except FileExistsError:
        return False
    return True


TROUBLE = {
    function.__name__.replace("_", "-"): function
    for function in (none, die_once, die_always, raise_once, die_writing, die_after_renaming, hang_once, full_once)
}


def study_text(name="walks", problem="none", seeds=3, **settings) -> str:
    """The TOML of a study of walks."""
    lines = [f"{key} = {value}" for key, value in settings.items()]
    return "\n".join(
        [
            f'name = "{name}"',
            f'kind = "{KIND}"',
            f'problems = ["{problem}"]',
            'methods = ["short", "long"]',
            f"seeds = {seeds}",
            "[settings]",
            *lines,
        ]
    )
