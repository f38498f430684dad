"""What a user sees when something goes wrong: one line on stderr and an exit code, no traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from flexicase import __main__ as command
from flexicase.cli.output import abandon_output

FAILED, MISUSED, INTERRUPTED = 1, 2, command.INTERRUPTED
TRACEBACK_VARIABLE = "FLEXICASE_TRACEBACK"


class Group(TyperGroup):
    """The root command, which turns every exception into a line and an exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run and exit: 0 fine, 1 the work failed, 2 called wrongly, 128 + signal interrupted."""
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        except Exception as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                raise
            text, code = explain(error)
            with contextlib.suppress(OSError):  # there is nowhere else to say it
                sys.stderr.write(f"{text}\n")
                sys.stderr.flush()
        if sys.stdout is not None:
            abandon_output()
        sys.exit(code if isinstance(code, int) else 0)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP.

    Args:
        number: Which of them.
    """

    def __init__(self, number: int) -> None:
        """Keep what the shell expects as the exit code."""
        super().__init__()
        self.code = 128 + number


@contextlib.contextmanager
def terminations_as_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the work as Ctrl-C does, so that it can be saved; then exit with 128 + signal.

    A signal that is ignored (nohup) stays ignored. Further signals do not disturb the saving.
    """
    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    caught = [number for number in numbers if before[number] is signal.SIG_DFL]

    def stop(number: int, frame: FrameType | None) -> None:
        for other in caught:
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(number)

    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    except Terminated as error:
        raise typer.Exit(error.code) from None
    finally:
        for number in caught:
            signal.signal(number, before[number])


def explain(error: Exception) -> tuple[str, int]:
    """What to print about an exception, one line as a rule, and the exit code that goes with it."""
    if hasattr(error, "format_message"):  # raised while reading the command line
        return _misuse(error), MISUSED
    return f"flexicase: error: {_failure(error)}", FAILED


def _misuse(error: Any) -> str:
    message: str = error.format_message()
    if message.startswith("Usage:"):  # a group called without a command: this is its help
        return message
    message = _one_line(message).rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    return f"flexicase: error: {message[:1].lower()}{message[1:]}{hint}"


def _failure(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return _one_line(str(error)) or "not enough memory"
    if isinstance(error, ValueError | TypeError | ImportError | OSError):
        return _one_line(str(error))
    return f"unexpected {type(error).__name__}: {_one_line(str(error))} ({TRACEBACK_VARIABLE}=1 shows where)"


def _one_line(message: str) -> str:
    return " ".join(message.split())
