"""Test every adapter against its real package: ``python tools/test_adapters.py``, from the root of the sources.

Packages that fit the environment that runs this are tested in it. A package whose pins collide with ours gets its own
environment in ``build/adapters``, which adds ``tests/adapters/requirements/NAME.txt`` to the packages here; flexicase
is the one already built. Exits with 1 if a test fails, a package cannot be installed or an adapter has no tests.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import sysconfig
import time
import xml.etree.ElementTree as ET
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

#: Adapters by environment; "" is the one that runs this.
ENVIRONMENTS = {"": ("deap", "gepa", "pymoo", "pygad"), "leap_ec": ("leap_ec",), "geneticengine": ("geneticengine",)}
FOLDER, REQUIREMENTS = Path("build/adapters"), Path("tests/adapters/requirements")
TESTS = ("tests/adapters", "tests/test_examples.py")
INSTALL_SECONDS, TEST_SECONDS = 240, 240


class FailedError(Exception):
    """A step failed; the message says which and why."""


def run(command: list[str], purpose: str, seconds: float, accepted: tuple[int, ...] = (0,)) -> str:
    """The output of a command."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"{purpose}: not finished after {seconds:.0f} s") from None
    if done.returncode not in accepted:
        raise FailedError(f"{purpose} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def environment(name: str) -> str:
    """The Python of an environment, made or brought up to date if necessary."""
    if not name:
        return sys.executable
    folder, wanted = FOLDER / name, REQUIREMENTS / f"{name}.txt"
    python, stamp = folder / "bin/python", folder / "installed"
    key = hashlib.sha256(wanted.read_bytes() + sys.version.encode() + sys.prefix.encode()).hexdigest()
    if not (stamp.exists() and stamp.read_text(encoding="utf-8") == key):
        print(f"installing {wanted} into {folder}", flush=True)
        run([sys.executable, "-m", "venv", "--clear", str(folder)], f"{name}: making {folder}", INSTALL_SECONDS)
        site = next(folder.glob("lib/python*/site-packages"))
        # A line of a .pth file that starts with "import" is run; addsitedir also follows the editable installation.
        shared = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
        (site / "shared.pth").write_text(shared, encoding="utf-8")
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]
        patience = ["--timeout", "20", "--retries", "1", "--requirement", str(wanted)]
        run([str(python), *install, *patience], f"{name}: installing {wanted}", INSTALL_SECONDS)
        stamp.write_text(key, encoding="utf-8")
    return str(python)


def test(name: str, adapters: tuple[str, ...]) -> tuple[dict[str, Counter[str]], str]:
    """Numbers of tests passed, failed and skipped by adapter, and pytest's output if a test failed."""
    python, report = environment(name), FOLDER / f"{name or 'here'}.xml"
    options = ["-q", "-rs", "-p", "no:cacheprovider", "-p", "no:randomly", f"--junitxml={report}"]
    chosen = ["-k", " or ".join(adapters), *TESTS]
    output = run([python, "-m", "pytest", *options, *chosen], f"{name or 'here'}: testing", TEST_SECONDS, (0, 1))
    counts = {adapter: Counter[str]() for adapter in adapters}
    for case in ET.parse(report).iter("testcase"):
        label = f"{case.get('classname')}.{case.get('name')}".lower()
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        counts[next((a for a in adapters if a in label), adapters[0])][outcome] += 1
    return counts, output if any(count["failed"] for count in counts.values()) else ""


def main() -> None:
    """Test all adapters, or some of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("environments", nargs="*", choices=[*ENVIRONMENTS, []], help="which; all by default")
    wanted = parser.parse_args().environments or list(ENVIRONMENTS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    started, broken = time.monotonic(), []
    with ThreadPoolExecutor(min(len(wanted), os.cpu_count() or 1)) as pool:
        for job in [pool.submit(test, name, ENVIRONMENTS[name]) for name in wanted]:
            try:
                counts, output = job.result()
            except FailedError as failure:
                broken.append(str(failure))
                continue
            if output:
                broken.append(output)
            for adapter, count in counts.items():
                numbers = (f"{count[outcome]:4} {outcome}" for outcome in ("passed", "failed", "skipped"))
                print(f"{adapter:15}{''.join(numbers)}", flush=True)
                if not count["passed"]:
                    broken.append(f"{adapter}: no test ran against the real package")
    print(f"{time.monotonic() - started:.0f} s")
    if broken:
        sys.exit("\n".join(broken))


if __name__ == "__main__":
    main()
