"""Studies whose processes are killed at random moments, and that export what an undisturbed one exports.

Run as a script it kills until one of the promises does not hold:

    python -m tests.hostile.kills 100 --seed 1
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from flexicase.experiments import Study
from tests.experiments.conftest import results
from tests.experiments.walk import study_text
from tests.processes import is_alive, wait_until

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 120.0
#: Steps that save and pause, and programs that evolve with checkpoints.
STUDIES = {
    "walks": study_text(name="victim", seeds=2, length=6, pause=0.05),
    "programs": 'name = "victim"\nproblems = ["mirror-image"]\nmethods = ["lexicase", "random"]\nseeds = 2\n'
    "[settings]\npopulation = 100\ngenerations = 20\n",
}
VICTIMS = ("coordinator", "worker", "everything")


def kill_study(n: int, seed: int, kind: str = "walks") -> Counter[str]:
    """Run a study, kill its processes ``n`` times with SIGKILL, go on after each, and compare the export.

    Args:
        n: Kills.
        seed: Seed of the moments and of the choice of processes.
        kind: Which of `STUDIES`.

    Returns:
        How often each kind of process was killed, and how many studies were completed.

    Raises:
        AssertionError: An export differs from an undisturbed one, or something was left behind.
    """
    chance, done = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.monotonic()
        assert _start(folder / "undisturbed", kind).wait(DEADLINE) == 0
        duration = time.monotonic() - started
        expected = _results(folder / "undisturbed")
        while sum(done[victim] for victim in VICTIMS) < n:
            place = folder / f"disturbed-{done['completed']}"
            coordinator = _start(place, kind)
            with suppress(subprocess.TimeoutExpired):
                coordinator.wait(chance.random() * duration)
            if coordinator.poll() is None and (victim := _kill(coordinator, chance)) is not None:
                done[victim] += 1
            if coordinator.wait(DEADLINE) != -signal.SIGKILL:
                _check(coordinator, place, expected)
                done["completed"] += 1
        place = folder / f"disturbed-{done['completed']}"
        last = _start(place, kind)
        last.wait(DEADLINE)
        _check(last, place, expected)
        done["completed"] += 1
    return done


def _start(folder: Path, kind: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    (folder / "victim.toml").write_text(STUDIES[kind], encoding="utf-8")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with open(folder / "log", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "flexicase", "run", "victim.toml", "--workers", "2", "--attempts", "1000"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _kill(coordinator: subprocess.Popen[bytes], chance: random.Random) -> str | None:
    """Kill one kind of process; gives which, or None if there was no such process."""
    victim = chance.choice(VICTIMS)
    workers = _children(coordinator.pid)
    if victim == "worker":
        if not workers:
            return None
        workers = [chance.choice(workers)]
    else:
        coordinator.kill()
    if victim != "coordinator":
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
    return victim


def _children(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return [int(pid) for pid, parent in map(str.split, listed.splitlines()) if int(parent) == process]


def _results(folder: Path) -> dict[str, bytes]:
    return results(Study(folder / "studies" / "victim"))


def _check(coordinator: subprocess.Popen[bytes], folder: Path, expected: dict[str, bytes]) -> None:
    log = (folder / "log").read_text(errors="replace")
    assert coordinator.returncode == 0, log
    study = folder / "studies" / "victim"
    assert _results(folder) == expected, log
    left = [path for place in ("saves", "logs") for path in (study / place).iterdir()]
    left += [path for path in (study / "rows").iterdir() if path.suffix != ".parquet"]
    assert left == [], log
    wait_until(lambda: not _workers_at(study))


def _workers_at(study: Path) -> list[int]:
    """Processes that still have a file of the study open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(os.readlink(link).startswith(f"{study}/") for link in (process / "fd").iterdir()):
                found.append(int(process.name))
    return [process for process in found if process != os.getpid() and is_alive(process)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, help="kills for each kind of study")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for kind in STUDIES:
        done = kill_study(arguments.n, arguments.seed, kind)
        sys.stdout.write(f"{kind}: {', '.join(f'{count} × {what}' for what, count in sorted(done.items()))}\n")


if __name__ == "__main__":
    main()
