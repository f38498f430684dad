"""Studies and trainings that are killed at random moments, and end as undisturbed ones do.

python -m tests.hostile.kills --studies 100 --trainings 25 --seed 1
"""

from __future__ import annotations

import argparse
import json
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
from tests.experiments._helpers import results, study_text
from tests.gp._helpers import SAMPLERS
from tests.processes import is_alive, wait_until

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 120.0
#: Steps that save and pause, and programs that evolve with checkpoints.
STUDIES = {
    "walks": study_text(name="victim", seeds=2, length=6, pause=0.05),
    "programs": 'name = "victim"\nproblems = ["mirror-image"]\nmethods = ["lexicase", "random"]\nseeds = 2\n'
    "[settings]\npopulation = 100\ngenerations = 20\n",
    "samples": 'name = "victim"\nproblems = ["mirror-image"]\nseeds = 1\nmethods = ['
    + ", ".join(f'{{method = "lexicase", sampling = "{text}"}}' for text in SAMPLERS)
    + "]\n[settings]\npopulation = 60\ngenerations = 40\n",
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


def kill_training(n: int, seed: int) -> int:
    """Train a network, kill the process ``n`` times with SIGKILL, resume after each, and compare the end.

    Args:
        n: Kills.
        seed: Seed of the moments.

    Returns:
        How many trainings were completed.

    Raises:
        AssertionError: A training ended otherwise than an undisturbed one.
    """
    chance, kills, completed = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as name:
        started = time.monotonic()
        expected = _outcome(_train(Path(name) / "undisturbed"))
        duration = time.monotonic() - started
        while kills < n:
            folder = Path(name) / f"disturbed-{completed}"
            training = _train(folder)
            try:
                training.wait(chance.random() * duration)
            except subprocess.TimeoutExpired:
                training.kill()
                training.communicate()
                kills += 1
                continue
            assert _outcome(training) == expected, f"training {completed} ended otherwise"
            completed += 1
        assert _outcome(_train(Path(name) / f"disturbed-{completed}")) == expected
    return completed + 1


def _train(folder: Path) -> subprocess.Popen[str]:
    options = ["--generations", "6", "--cases", "300", "--threads", "1", "--seed", "3", "--eval-every", "2"]
    save = ["--save", str(folder), "--save-every", "0", *(["--resume"] if folder.exists() else [])]
    return subprocess.Popen(
        [sys.executable, "-m", "flexicase", "train", *options, *save, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _outcome(training: subprocess.Popen[str]) -> object:
    out, errors = training.communicate(timeout=DEADLINE)
    assert training.returncode == 0, errors
    return _without_times(json.loads(out))


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_times(part) for key, part in value.items() if "seconds" not in key}
    return [_without_times(part) for part in value] if isinstance(value, list) else value


def _start(folder: Path, kind: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    (folder / "victim.toml").write_text(STUDIES[kind], encoding="utf-8")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with open(folder / "log", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "flexicase", "run", "victim.toml", "--workers", "2", "--max-attempts", "1000"],
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
    parser.add_argument("--studies", type=int, default=100, help="kills of processes of studies, alike of each kind")
    parser.add_argument("--trainings", type=int, default=25, help="kills of trainings")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    completed = kill_training(arguments.trainings, arguments.seed) if arguments.trainings else 0
    sys.stdout.write(f"trainings: {arguments.trainings} × killed, {completed} × completed\n")
    for kind in STUDIES:
        done = kill_study(arguments.studies // len(STUDIES), arguments.seed, kind)
        sys.stdout.write(f"{kind}: {', '.join(f'{count} × {what}' for what, count in sorted(done.items()))}\n")


if __name__ == "__main__":
    main()
