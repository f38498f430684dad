"""What all checkpoints share: the last two of a run in a folder, read only if whole and of the same run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from flexicase._checks import shown
from flexicase._files import TEMPORARY, remove_partial_files

State = TypeVar("State")
SUFFIX = ".checkpoint"


class CheckpointError(ValueError):
    """A file that is not a whole checkpoint."""


def as_folder(value: Any, name: str = "save") -> Path:
    """The path of a folder, given as an argument.

    Raises:
        TypeError: It is not a path.
        ValueError: It cannot be the name of a folder.
    """
    try:
        text = os.fspath(value)
    except Exception:
        raise TypeError(f"{name} must be the path of a folder, got {shown(value)}") from None
    if not isinstance(text, str):
        raise TypeError(f"{name} must be the path of a folder as text, got {shown(value)}")
    try:
        encoded = os.fsencode(text)
    except UnicodeError:
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise ValueError(f"{name} must be the path of a folder, got {shown(value)}")
    return Path(text)


def require_free(
    folder: Path,
    describe: Callable[[Path], str | None] | None = None,
    *,
    remedy: str = "pass resume=True to continue it",
) -> None:
    """Refuse a folder that holds a checkpoint, which a new run would overwrite.

    Args:
        folder: Where the new run is to be saved.
        describe: Reads the checkpoint in the folder and says what it is of, such as ``"generation 7 of mirror-image"``;
            None if it is of another kind.
        remedy: How to continue the run that is there.

    Raises:
        ValueError: There is a checkpoint, whole or damaged.
    """
    try:
        found = sorted(path.name for path in folder.glob(f"*{SUFFIX}*") if path.suffix != TEMPORARY)
    except OSError:  # `prepare_folder` says what is wrong with it
        return
    if not found:
        return
    try:
        what = describe(folder) if describe is not None else None
        holds = found[0] if what is None else f"a checkpoint of {what}"
    except (CheckpointError, OSError):
        holds = f"a checkpoint that cannot be read ({found[0]})"
    raise ValueError(
        f"save must be a folder without a checkpoint, but {folder} holds {holds}; {remedy}, or choose another folder"
    )


def prepare_folder(folder: Path) -> None:
    """Make the folder for checkpoints and check that files can be written there.

    Partly written checkpoints of processes that were killed are removed.

    Raises:
        OSError: It is not a folder, cannot be made, or cannot be written to.
    """
    probe = folder / f"probe.{os.getpid()}{TEMPORARY}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_partial_files(folder, f"*{SUFFIX}.")
        try:
            probe.write_bytes(bytes(1))
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"save must be a folder that can be written to ({reason})", str(folder)) from error


class WriteFailures:
    """Turns failures to write a checkpoint into one warning, so that a full disk does not end a run.

    Args:
        folder: Where the checkpoints go.

    >>> failures = WriteFailures(Path("checkpoints"))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     with failures:
    ...         raise OSError(28, "No space left on device")
    """

    def __init__(self, folder: Path) -> None:
        """Warn about the first failure only."""
        self._folder = folder
        self._warned = False

    def __enter__(self) -> None:
        """Write inside of the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Swallow an OSError, with a warning if it is the first."""
        if not isinstance(error, OSError):
            return False
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"no checkpoint was written to {self._folder} ({error.strerror or error}); the run is not affected, "
                "and the next checkpoint will be tried as usual",
                RuntimeWarning,
                stacklevel=2,
            )
        return True


def load_newest(folder: Path, names: tuple[str, ...], parse: Callable[[bytes], State]) -> State | None:
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
