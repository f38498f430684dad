"""What all checkpoints share: the last two of a run in a folder, read only if whole and of the same run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

State = TypeVar("State")


class CheckpointError(ValueError):
    """A file that is not a whole checkpoint."""


def newest_whole(folder: Path, names: tuple[str, ...], parse: Callable[[bytes], State]) -> State | None:
    """The first of some files that is a whole checkpoint; None if there is none of them.

    Args:
        folder: Where they lie.
        names: Their names, newest first.
        parse: Reads the content of one, or raises `CheckpointError`.

    Raises:
        CheckpointError: There are checkpoints, but none is whole.
    """
    problems = []
    for name in names:
        path = folder / name
        try:
            return parse(path.read_bytes())
        except FileNotFoundError:
            continue
        except CheckpointError as error:
            problems.append(f"{path}: {error}")
    if problems:
        raise CheckpointError("; ".join(problems))
    return None


def check_settings(where: str, expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Refuse the checkpoint of another run.

    Args:
        where: What to call the checkpoint in a message.
        expected: Settings of this run.
        found: Settings in the checkpoint.

    Raises:
        ValueError: They differ; the message says in what.
    """
    for name in expected | found:
        if expected.get(name) != found.get(name):
            raise ValueError(
                f"{where} is of a run with {name}={found.get(name)!r:.80}, "
                f"this run has {name}={expected.get(name)!r:.80}"
            )
