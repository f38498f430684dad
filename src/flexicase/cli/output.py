"""Printing: text, tables for people, tab-separated values and JSON for machines."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import typer

from flexicase._checks import require


def emit(text: str) -> None:
    """Write to standard output; a reader that has gone away ends the program in silence.

    Raises:
        OSError: It is closed, or on a disk that is full.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "closed", "standard output")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        abandon_output()
        raise typer.Exit(0) from None
    except OSError as error:
        abandon_output()
        raise OSError(error.errno, error.strerror, "standard output") from None


def abandon_output() -> None:
    """Drop what standard output could not take, which would fail once more at exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def standard_input() -> BinaryIO:
    """Standard input, as bytes.

    Raises:
        OSError: It is closed.
    """
    if sys.stdin is None:
        raise OSError(errno.EBADF, "closed", "standard input")
    return sys.stdin.buffer


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
    """Write one JSON value."""
    emit(json.dumps(value) + "\n")


def check_picture(path: Path, option: str = "--plot") -> None:
    """Refuse a picture that could not be written, before the work that it is to show.

    Args:
        path: Where the picture goes.
        option: The option that names it.

    Raises:
        typer.BadParameter: matplotlib is missing or does not know the suffix, or there can be no such file.
    """
    try:
        require("pictures need", "matplotlib")
        from matplotlib.backend_bases import FigureCanvasBase

        known = sorted(f".{suffix}" for suffix in FigureCanvasBase.get_supported_filetypes())
        if path.suffix.lower() not in known:
            raise ValueError(f"must end in one of {', '.join(known)}, got {str(path)!r}")
        new = not path.exists()
        with open(path, "ab"):
            pass
        if new:
            path.unlink()
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written ({error.strerror})", param_hint=option) from None
    except (ImportError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def tab_separated(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Lines of tab-separated values."""
    return "".join("\t".join(map(str, row)) + "\n" for row in (header, *rows))


def aligned(header: Sequence[str] | None, rows: Sequence[Sequence[Any]]) -> str:
    """A table with aligned columns: numbers to the right, words to the left."""
    cells = [[str(cell) for cell in row] for row in rows]
    numeric = [bool(rows) and all(map(_is_number, column)) for column in zip(*cells, strict=True)]
    if header is not None:
        cells.insert(0, list(header))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if header is not None:
        cells.insert(1, ["-" * width for width in widths])
    numeric = numeric or [False] * len(widths)
    lines = (
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        for row in cells
    )
    return "".join(line.rstrip() + "\n" for line in lines)


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "", 1).isdigit()
