"""Set up .venv in stages, with a line of progress at least every few seconds.

Usage: ``python tools/set_up.py STAGE``, from the root of a copy of the sources. Stages build on each other:

- ``tools``: the virtual environment and what builds the native kernels.
- ``package``: flexicase and its ``report`` extra; dependencies are installed while the kernels are compiled.
- ``complete``: what lint, tests and benchmarks need, and the native tests. Compiles no kernel again.
- ``docs``: what builds the documentation.

The CUDA build of PyTorch is never installed unless the variable TORCH is ``cuda``; with ``none`` PyTorch is left out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

PYTHON = Path(".venv/bin/python")
BUILD = Path("build/venv")
BUILD_TOOLS = ("scikit-build-core", "nanobind", "cmake", "ninja")
#: Extras of pyproject.toml that a stage installs, in the words of its message.
EXTRAS = {"package": ("report",), "complete": ("torch", "cluster", "dev"), "docs": ("docs",)}
SECONDS_OF_SILENCE = 5.0
BUILDING = re.compile(r"\[(\d+/\d+)\] (?:Building CXX object \S*?\.dir/(\S+)\.o|(Linking \S+ \S+ .*))$")
CUDA_PACKAGES = ("nvidia-", "cuda-", "triton")


class CommandError(Exception):
    """A command failed; the message is its output."""


def pip(*arguments: str) -> list[str]:
    """A call of the environment's pip, with every version pinned."""
    options = ("--disable-pip-version-check", "--no-input", "--constraint", "constraints.txt")
    return [str(PYTHON), "-m", "pip", "install", *options, *arguments]


def run(command: list[str], label: str, shown: Callable[[str], str | None] = lambda line: None) -> str:
    """Run a command and return its output; print the lines that ``shown`` makes of it, and that it still runs.

    Args:
        command: The command.
        label: What it does, for the lines printed while it is silent.
        shown: Gives the line to print for a line of output, or None.

    Raises:
        CommandError: It exits with another code than 0.
    """
    environment = {**os.environ, "PATH": f"{PYTHON.parent.absolute()}{os.pathsep}{os.environ['PATH']}"}
    started = spoke = time.monotonic()
    lines: list[str] = []
    done = threading.Event()

    def remind() -> None:
        nonlocal spoke
        while not done.wait(0.2):
            if time.monotonic() - spoke >= SECONDS_OF_SILENCE:
                spoke = time.monotonic()
                print(f"  {label} ({spoke - started:.0f} s)", flush=True)

    reminder = threading.Thread(target=remind, daemon=True)
    reminder.start()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            text = shown(line.strip())
            if text is not None:
                spoke = time.monotonic()
                print(f"  {text}", flush=True)
    done.set()
    reminder.join()
    if process.returncode:
        raise CommandError(f"{label} failed:\n{''.join(lines[-40:])}")
    return "".join(lines)


def built_file(line: str) -> str | None:
    """What a line of ninja says: ``Building 12/61 native/push/float.cpp``."""
    found = BUILDING.search(line)
    if found is None:
        return None
    count, source, link = found.groups()
    return f"{link.split(' ')[0]} {count} {link.split(' ')[-1]}" if link else f"Building {count} {source}"


def collected_package(line: str) -> str | None:
    """What pip says about a package that it downloads or installs."""
    return line if line.startswith(("Downloading ", "Installing collected packages")) else None


def project() -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    toml: Any
    try:
        toml = import_module("tomllib")
    except ModuleNotFoundError:  # Python 3.10, whose pip carries it
        toml = import_module("pip._vendor.tomli")
    return dict(toml.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"])


def requirements(extras: tuple[str, ...]) -> list[str]:
    """What the package and some of its extras require, without references to other extras."""
    table = project()
    wanted = [*table["dependencies"], *(r for extra in extras for r in table["optional-dependencies"][extra])]
    return [requirement for requirement in wanted if not requirement.startswith(f"{table['name']}[")]


def names(wanted: list[str]) -> str:
    """The names of some requirements."""
    return ", ".join(re.split(r"[<>=!~;\[ ]", requirement)[0] for requirement in wanted)


def set_up_tools() -> None:
    """Create .venv and install what builds the kernels."""
    print("setting up .venv: a virtual environment", flush=True)
    run([sys.executable, "-m", "venv", "--clear", str(PYTHON.parent.parent)], "creating .venv")
    print(f"installing the build tools: {', '.join(BUILD_TOOLS)}", flush=True)
    run(pip(*BUILD_TOOLS), "installing the build tools", collected_package)


def set_up_package() -> None:
    """Compile the kernels and, meanwhile, install what the package needs to run and to draw."""
    wanted = requirements(EXTRAS["package"])
    print(f"compiling the native kernels; meanwhile installing {names(wanted)}", flush=True)
    failures: list[CommandError] = []

    def install() -> None:
        try:
            run(pip(*wanted), "installing dependencies", collected_package)
        except CommandError as failure:
            failures.append(failure)

    other = threading.Thread(target=install)
    other.start()
    try:
        run(
            pip("--verbose", "--no-deps", "--no-build-isolation", "--editable", ".", f"-Cbuild-dir={BUILD}"),
            "compiling",
            built_file,
        )
    finally:
        other.join()
    if failures:
        raise failures[0]


def set_up_rest() -> None:
    """Install what lint, tests and benchmarks need and build the native tests."""
    wanted = requirements(EXTRAS["complete"])
    left_out = without_torch()
    if left_out is not None:
        print(left_out, flush=True)
        wanted = [requirement for requirement in wanted if not requirement.startswith(("torch", "scikit-learn"))]
    print(f"installing what the tests need: {names(wanted)}", flush=True)
    run(pip(*wanted), "installing", collected_package)
    print("building the native tests", flush=True)
    run(["cmake", "-S", ".", "-B", str(BUILD), "-DFLEXICASE_NATIVE_TESTS=ON"], "configuring")
    run(["cmake", "--build", str(BUILD)], "compiling", built_file)


def without_torch() -> str | None:
    """Why PyTorch is left out, if it is: TORCH=none, or the index would send the CUDA build."""
    choice = os.environ.get("TORCH", "")
    if choice not in ("", "none", "cuda"):
        raise CommandError(f"TORCH must be none or cuda, got {choice!r}")
    if choice == "none":
        return "leaving out PyTorch (TORCH=none): the tests that need it are skipped"
    if choice == "cuda" or not (cuda := list(cuda_packages())):
        return None
    return (
        f"leaving out PyTorch: the package index serves its CUDA build, several gigabytes ({len(cuda)} more packages, "
        f"such as {cuda[0]}).\n"
        "  The tests that need PyTorch are skipped. To run them, remove .venv/.built and then either\n"
        f"    .venv/bin/pip install {torch_pin()} --index-url …  the CPU build; PyTorch's site names its index\n"
        "    make test TORCH=cuda                             download the CUDA build"
    )


def torch_pin() -> str:
    """The pinned version of PyTorch, as a requirement."""
    return str(re.findall(r"^torch==\S+", Path("constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)[0])


def cuda_packages() -> Iterator[str]:
    """Names of the CUDA packages that installing PyTorch would download. Downloads metadata only."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        run(pip("--dry-run", "--quiet", "--report", str(report), "torch"), "asking which build of PyTorch is served")
        for entry in json.loads(report.read_text(encoding="utf-8"))["install"]:
            name = str(entry["metadata"]["name"])
            if name.lower().startswith(CUDA_PACKAGES):
                yield name


def set_up_docs() -> None:
    """Install what builds the documentation."""
    wanted = requirements(EXTRAS["docs"])
    print(f"installing what builds the documentation: {names(wanted)}", flush=True)
    run(pip(*wanted), "installing", collected_package)


STAGES = {"tools": set_up_tools, "package": set_up_package, "complete": set_up_rest, "docs": set_up_docs}


def main() -> None:
    """Set up the stage named on the command line."""
    try:
        STAGES[sys.argv[1]]()
    except CommandError as failure:
        sys.exit(f"flexicase: {failure}")


if __name__ == "__main__":
    main()
