"""``python -m flexicase``, and the command ``flexicase``."""

from __future__ import annotations

import sys

if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    sys.path.append(sys.path.pop(0))  # the current folder, put first by -m: its files shall replace no library

import os
import signal
from types import FrameType

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit; Ctrl-C is quiet from the start, while modules are still being imported."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in a shell's background job
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    from flexicase import cli

    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        cli.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _leave(number: int, frame: FrameType | None) -> None:
    """Exit at once: nothing has been done that would have to be undone."""
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
