"""Scripts in processes of their own: for what may end, hang or interrupt a process."""

from __future__ import annotations

import subprocess
import sys
import textwrap

PREAMBLE = "import os, sys, threading, time\nimport numpy as np\nimport flexicase as fx\n"


def run_script(code: str, *arguments: str, seconds: float = 60.0) -> str:
    """Run a script and return what it printed; fail unless it ends well, in time."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout
