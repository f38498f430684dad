"""What a user sees when something goes wrong: one line on stderr and an exit code, no traceback."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
TRACEBACK_VARIABLE = "FLEXICASE_TRACEBACK"


class Group(TyperGroup):
    """The root command, which turns every exception into a line and an exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run and exit: 0 fine, 1 the work failed, 2 called wrongly, 130 interrupted."""
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        except Exception as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                raise
            text, code = explain(error)
            sys.stderr.write(f"{text}\n")
        sys.exit(code if isinstance(code, int) else 0)


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
        return "not enough memory"
    if isinstance(error, ValueError | TypeError | ImportError | OSError):
        return _one_line(str(error))
    return f"unexpected {type(error).__name__}: {_one_line(str(error))} ({TRACEBACK_VARIABLE}=1 shows where)"


def _one_line(message: str) -> str:
    return " ".join(message.split())
