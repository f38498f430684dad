"""Printing text, tables, JSON, errors and progress, and the options that commands share."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, BinaryIO, TextIO

from typer import Abort, BadParameter, Exit, Option
from typer.core import TyperGroup

from flexicase import __main__ as command
from flexicase._checks import did_you_mean, require_package

AsJson = Annotated[bool, Option("--json", help="Print one JSON object.")]
Save = Annotated[Path | None, Option(metavar="DIR", help="Folder for checkpoints.")]
Resume = Annotated[bool, Option("--resume", help="Continue from the checkpoint in the --save folder.")]


def write_stdout(text: str) -> None:
    """Write to standard output; a reader that has gone away ends the program in silence."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "closed", "standard output")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_unwritten(sys.stdout)
        raise Exit(0) from None
    except OSError as error:
        drop_unwritten(sys.stdout)
        raise OSError(error.errno, error.strerror, "standard output") from None


def write_stderr(line: str) -> None:
    """Write a line to standard error; a closed terminal or a full disk does not disturb the work."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def drop_unwritten(stream: TextIO) -> None:
    """Drop what a standard stream could not take, which would fail once more at exit and change the exit code."""
    try:
        stream.flush()
    except (OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def open_input(source: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open a file as bytes; - is standard input."""
    if source != "-":
        return open(source, "rb")
    if sys.stdin is None:
        raise OSError(errno.EBADF, "closed", "standard input")
    return contextlib.nullcontext(sys.stdin.buffer)


def replace_closed_streams() -> None:
    """Let nothing that is opened later take the place of a standard stream that was closed.

    Errors then go nowhere. Commands that need another closed stream say so.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def emit_json(value: Any) -> None:
    write_stdout(json.dumps(value) + "\n")


def emit(as_json: bool, value: Any, text: str) -> None:
    """Write a result: one JSON value, or text for people."""
    emit_json(value) if as_json else write_stdout(text)


@contextlib.contextmanager
def misuse_of(option: str) -> Iterator[None]:
    """Report errors as invalid values of an option or argument."""
    try:
        yield
    except (ImportError, TypeError, ValueError) as error:
        raise BadParameter(str(error), param_hint=option) from None


def check_known(value: str, known: Iterable[str], option: str, kind: str = "value") -> None:
    """Refuse a value of an option that is not known, and suggest one that is."""
    if value not in known:
        raise BadParameter(f"unknown {kind} {value!r}{did_you_mean(value, known)}", param_hint=option)


def check_picture(path: Path | None) -> None:
    """Refuse a --plot file that cannot be written, before the work starts."""
    if path is None:
        return
    with misuse_of("--plot"):
        require_package("pictures need", "matplotlib")
        from matplotlib.backend_bases import FigureCanvasBase

        known = sorted(f".{suffix}" for suffix in FigureCanvasBase.get_supported_filetypes())
        if path.suffix.lower() not in known:
            raise ValueError(f"must end in one of {', '.join(known)}, got {str(path)!r}")
        try:
            new = not path.exists()
            path.open("ab").close()
            if new:
                path.unlink()
        except OSError as error:
            raise ValueError(f"{path} cannot be written ({error.strerror})") from None


def aligned(header: Sequence[str] | None, rows: Sequence[Sequence[Any]]) -> str:
    """A table with aligned columns: numbers to the right, words to the left."""
    titles = [] if header is None else [header]
    columns = []
    for column in zip(*titles, *([str(cell) for cell in row] for row in rows), strict=True):
        title, body, width = column[: len(titles)], column[len(titles) :], max(map(len, column))
        justify = str.rjust if body and all(map(_is_number, body)) else str.ljust
        rule = ["-" * width for _ in titles]
        columns.append([justify(cell, width) for cell in (*title, *rule, *body)])
    return "".join("  ".join(row).rstrip() + "\n" for row in zip(*columns, strict=True))


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "", 1).isdigit()


FAILED, MISUSED, INTERRUPTED = 1, 2, command.INTERRUPTED
TRACEBACK_VARIABLE = "FLEXICASE_TRACEBACK"


class CliGroup(TyperGroup):
    """The root command, which turns every exception into a line and an exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except (KeyboardInterrupt, Abort):
            code = INTERRUPTED
        except Exception as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                raise
            text, code = explain(error)
            write_stderr(text)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                drop_unwritten(stream)
        sys.exit(code if isinstance(code, int) else 0)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, with the exit code that the shell expects."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextlib.contextmanager
def terminations_as_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the work as Ctrl-C does, so that it can be saved; then exit with 128 + signal.

    A signal that is ignored (nohup) stays ignored. Further signals do not disturb the saving.
    """
    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    caught = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

    def stop(number: int, frame: FrameType | None) -> None:
        for other in caught:
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(number)

    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    except Terminated as error:
        raise Exit(error.code) from None
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)


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


SECONDS_BETWEEN_LINES = 1.0
SECONDS_BETWEEN_REMINDERS = 5.0


class StatusLine:
    """A line on standard error that is kept up to date, or nothing if ``quiet``."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._shown = -SECONDS_BETWEEN_LINES
        self._status: Any = None

    def __enter__(self) -> StatusLine:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting")
            self._status.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._status is not None:
            self._status.stop()

    @contextlib.contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Show that work goes on for which nothing can be counted, and for how long it has."""
        started, done = time.monotonic(), threading.Event()

        def remind() -> None:
            while not done.wait(SECONDS_BETWEEN_REMINDERS):
                self.show(f"{text} ({time.monotonic() - started:.0f} s)", always=True)

        reminder = threading.Thread(target=remind, daemon=True)
        with self:
            self.show(text)
            reminder.start()
            try:
                yield
            finally:
                done.set()
                reminder.join()

    @contextlib.contextmanager
    def with_warnings(self) -> Iterator[None]:
        """Show the warnings of the work between the lines of its progress."""
        with self, warnings.catch_warnings():
            warnings.simplefilter("always", RuntimeWarning)
            warnings.showwarning = lambda message, *_: write_stderr(f"flexicase: warning: {message}")
            yield

    def show(self, text: str, *, always: bool = False) -> None:
        """Show how things stand; where there is no terminal, at most once a second unless ``always``."""
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(text))  # names in it may have brackets, which are no markup
        elif not self._quiet and (always or time.monotonic() - self._shown >= SECONDS_BETWEEN_LINES):
            self._shown = time.monotonic()
            write_stderr(text)
