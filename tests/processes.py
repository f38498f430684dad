"""Waiting for what other processes do, and file systems to test with."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something comes true; fail if that takes too long."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and only waits to be noticed does not."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip()) and not found.stdout.startswith("Z")


@contextmanager
def mounted(folder: Path, *options: list[str]) -> Iterator[Path]:
    """A new folder with a file system on it, by one ``mount`` per list of options; needs root."""
    folder.mkdir()
    with ExitStack() as undo:
        for arguments in options:
            done = subprocess.run(["mount", *arguments, str(folder)], capture_output=True, text=True, check=False)
            if done.returncode and (os.geteuid() != 0 or "permission denied" in done.stderr):  # or root in a container
                pytest.skip(f"this user may not mount: {done.stderr.strip()}")
            assert done.returncode == 0, done.stderr
            if "remount" not in " ".join(arguments):
                undo.callback(subprocess.run, ["umount", "-l", str(folder)], check=True)
        yield folder


def small_file_system(folder: Path, size: str) -> Iterator[Path]:
    """A new folder that can hold ``size`` bytes, as ``mount`` writes them: ``"64k"``, ``"1m"``."""
    with mounted(folder, ["-t", "tmpfs", "-o", f"size={size}", "none"]):
        yield folder
