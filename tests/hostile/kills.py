"""Studies, trainings and runs that are killed at random moments, and end as undisturbed ones do.

python -m tests.hostile.kills --studies 100 --trainings 25 --runs 25 --seed 1
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
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from flexicase.experiments import Study
from tests.experiments._helpers import results, study_text
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
#: Evolves under every sampler, with a checkpoint after each generation.
RUNS = """
import json, sys
from dataclasses import asdict
from flexicase.gp import evolve
from tests.gp._helpers import SAMPLERS
settings = dict(population=60, generations=20, seed=3, threads=1, simplification_steps=50, save_every=0, resume=True)
runs = [evolve("mirror-image", sampling=text, save=f"{sys.argv[1]}/{i}", **settings) for i, text in enumerate(SAMPLERS)]
print(json.dumps([[run.as_dict(), [asdict(record) for record in run.records]] for run in runs]))
"""


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


def start_training(folder: Path) -> subprocess.Popen[str]:
    """Train a network, from its checkpoint in the folder if there is one."""
    options = ["--generations", "6", "--train-cases", "300", "--threads", "1", "--seed", "3", "--eval-every", "2"]
    save = ["--save", str(folder), "--save-every", "0", *(["--resume"] if folder.exists() else [])]
    return _start_python("-m", "flexicase", "train", *options, *save, "--json")


def start_runs(folder: Path) -> subprocess.Popen[str]:
    """Evolve programs under every sampler, from the checkpoints in the folder if there are some."""
    return _start_python("-c", RUNS, str(folder))


def kill_process(n: int, seed: int, start: Callable[[Path], subprocess.Popen[str]]) -> int:
    """Start a process that saves, kill it ``n`` times with SIGKILL, resume after each, and compare the end.

    Args:
        n: Kills.
        seed: Seed of the moments.
        start: `start_training` or `start_runs`.

    Returns:
        How often it was completed.

    Raises:
        AssertionError: It ended otherwise than an undisturbed one.
    """
    chance, kills, completed = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as name:
        started = time.monotonic()
        expected = _outcome(start(Path(name) / "undisturbed"))
        duration = time.monotonic() - started
        while kills < n:
            folder = Path(name) / f"disturbed-{completed}"
            process = start(folder)
            try:
                process.wait(chance.random() * duration)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
                continue
            assert _outcome(process) == expected, f"number {completed} ended otherwise"
            completed += 1
        assert _outcome(start(Path(name) / f"disturbed-{completed}")) == expected
    return completed + 1


def _start_python(*arguments: str) -> subprocess.Popen[str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], cwd=ROOT, **pipes)


def _outcome(process: subprocess.Popen[str]) -> object:
    out, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, errors
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
    parser.add_argument("--runs", type=int, default=25, help="kills of runs under every sampler")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for what, n, start in (
        ("trainings", arguments.trainings, start_training),
        ("runs under every sampler", arguments.runs, start_runs),
    ):
        completed = kill_process(n, arguments.seed, start) if n else 0
        sys.stdout.write(f"{what}: {n} × killed, {completed} × completed\n")
    for kind in STUDIES:
        done = kill_study(arguments.studies // len(STUDIES), arguments.seed, kind)
        sys.stdout.write(f"{kind}: {', '.join(f'{count} × {what}' for what, count in sorted(done.items()))}\n")


if __name__ == "__main__":
    main()
