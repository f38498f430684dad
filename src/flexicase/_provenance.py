"""Provenance of results: version, machine and command."""

from __future__ import annotations

import os
import platform
import shlex
import socket
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

PACKAGE = Path(__file__).parent


@dataclass(frozen=True)
class Provenance:
    """What made a result.

    Attributes:
        version: The version of flexicase, with the commit if it runs from its repository.
        machine: Host, processor, system, Python and NumPy.
        command: The command line, with only the last part of absolute paths.
    """

    version: str
    machine: str
    command: str

    @classmethod
    def here(cls) -> Provenance:
        program = Path(sys.argv[0])
        name = program.parent.name if program.name == "__main__.py" else program.name
        return cls(version(), machine(), shlex.join([name, *map(_shorten_path, sys.argv[1:])]))


def _shorten_path(argument: str) -> str:
    option, equals, value = argument.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else argument


@cache
def version() -> str:
    """The version; in a checkout also the commit, with ``.modified`` if files differ from it."""
    from flexicase import __version__

    try:
        _git("ls-files", "--error-unmatch", "__init__.py")  # the repository may be another project's
        commit = _git("rev-parse", "--short=12", "HEAD")
        modified = ".modified" if _git("status", "--porcelain", "--untracked-files=no", ".") else ""
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{__version__}+g{commit}{modified}"


def _git(*args: str) -> str:
    command = ["git", "-C", str(PACKAGE), *args]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()


@cache
def machine() -> str:
    """Host, processor, system, Python and NumPy in one line."""
    return (
        f"{socket.gethostname()}: {processor()}, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}"
    )


def usable_cores() -> int:
    """Number of cores that this process may use; in a container, fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or "unknown processor"
