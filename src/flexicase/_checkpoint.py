"""Checkpoints: a folder keeps the last two of a run, written atomically; damaged ones and other runs' are refused.

A checkpoint is the bytes of a state, a JSON header (settings, generation and other plain values), the header's length,
a SHA-256 digest of all that, and the name of the format. The bytes come first, so that other programs can read them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from flexicase._checks import shown
from flexicase._files import TEMPORARY, remove_partial_files, write_atomically

State = TypeVar("State")
#: The plain values and the bytes of a state.
Parts: TypeAlias = tuple[dict[str, Any], bytes]
SUFFIX = ".checkpoint"
NEWEST, PREVIOUS = f"run{SUFFIX}", f"run{SUFFIX}.previous"
MAGIC = b"flexicase run 2\n"
DIGEST = 32
TRAILER = 8 + DIGEST + len(MAGIC)
#: Exceptions that forged values may cause.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error)


class CheckpointError(ValueError):
    """A checkpoint is damaged."""


def as_folder(save: Any) -> Path:
    """Convert the argument ``save`` to the path of a folder, or raise TypeError or ValueError."""
    try:
        text = os.fspath(save)
    except Exception:
        raise TypeError(f"save must be the path of a folder, got {shown(save)}") from None
    if not isinstance(text, str):
        raise TypeError(f"save must be the path of a folder as text, got {shown(save)}")
    try:
        encoded = os.fsencode(text)
    except UnicodeError:
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise ValueError(f"save must be the path of a folder, got {shown(save)}")
    return Path(text)


def require_free(folder: Path, *, remedy: str = "pass resume=True to continue it") -> None:
    """Raise ValueError if a folder holds a checkpoint, which a new run would overwrite; ``remedy``: how to continue."""
    try:
        found = sorted(path.name for path in folder.glob(f"*{SUFFIX}*") if path.suffix != TEMPORARY)
    except OSError:  # `prepare_folder` says what is wrong with it
        return
    if not found:
        return
    try:
        newest = read_newest(folder, lambda header, _: header["settings"])
        holds = found[0] if newest is None else f"a checkpoint of generation {newest[0]['generation']}"
        settings = {} if newest is None else newest[1]
        if {"problem", "method", "seed"} <= settings.keys():
            holds += f" of {settings['problem']}, {settings['method']}, seed {settings['seed']}"
    except (CheckpointError, OSError):
        holds = f"a checkpoint that cannot be read ({found[0]})"
    raise ValueError(
        f"save must be a folder without a checkpoint, but {folder} holds {holds}; {remedy}, or choose another folder"
    )


def prepare_folder(folder: Path) -> None:
    """Make the folder for checkpoints, remove partly written ones, and raise OSError if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_partial_files(folder, f"*{SUFFIX}.")
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(1))
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"save must be a folder that can be written to ({reason})", str(folder)) from error


class CheckpointWriter(Generic[State]):
    """Saves a run to a folder from time to time, and finds its newest whole checkpoint.

    If a checkpoint cannot be written, the run continues with a warning.

    Args:
        folder: The folder; None: do not save.
        settings: The settings of the run; checkpoints with other settings are refused.
        dump: Returns the state of the run: plain values, and bytes.
        load: Makes a state from these.
        every: Seconds between checkpoints.
        done: A generation that is already saved.
    """

    def __init__(
        self,
        folder: Path | None,
        settings: dict[str, Any],
        dump: Callable[[], Parts],
        load: Callable[[dict[str, Any], bytes], State],
        *,
        every: float = 30.0,
        done: int | None = None,
    ) -> None:
        self.folder, self.every = folder, every
        self.settings = json.loads(json.dumps(settings))
        self._dump, self._load = dump, load
        self._saved = done
        self._last = time.monotonic()
        self._warned = False

    def open(self, *, resume: bool, is_own: bool = False) -> State | None:
        """Prepare the folder. Returns the newest whole state in it if there is one and ``resume`` is True.

        A damaged newest checkpoint is removed, so that the next one does not replace the whole one before it. If
        ``is_own``, the checkpoints in the folder belong to this run and may be overwritten.

        Raises:
            CheckpointError: All checkpoints are damaged.
            ValueError: The checkpoint has other settings, or there is one and ``resume`` is False.
            OSError: The folder cannot be written to.
        """
        if self.folder is None:
            return None
        if not resume and not is_own:
            require_free(self.folder)
        prepare_folder(self.folder)
        found = read_newest(self.folder, self._load, remove_damaged=True) if resume else None
        if found is None:
            return None
        header, state = found
        check_settings(f"the checkpoint in {self.folder}", self.settings, header["settings"])
        self._saved = header["generation"]
        return state

    def save_if_due(self, generation: int) -> None:
        if time.monotonic() - self._last >= self.every:
            self.save(generation)

    def save(self, generation: int) -> None:
        """Write a checkpoint unless this generation is already saved; the previous one is kept."""
        if self.folder is None or generation == self._saved:
            return
        values, body = self._dump()
        content = pack({"settings": self.settings, "generation": generation, **values}, body)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / NEWEST, content, backup=self.folder / PREVIOUS)
            self._saved = generation
        except OSError as error:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"no checkpoint was written to {self.folder} ({error.strerror or error}); the run continues, and "
                    "the next checkpoint will be tried as usual",
                    RuntimeWarning,
                    stacklevel=2,
                )
        self._last = time.monotonic()

    def finish(self, generation: int) -> None:
        """Save the end of a run, unless checkpoints are for interruptions only (``every`` is infinite)."""
        if self.every < math.inf:
            self.save(generation)


def pack(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    content = body + text + struct.pack("<Q", len(text))
    return content + hashlib.sha256(content).digest() + MAGIC


def unpack(content: bytes) -> Parts:
    if len(content) < TRAILER or not content.endswith(MAGIC):
        raise CheckpointError("the file is damaged, cut short, or not a checkpoint of this version")
    sealed, digest = content[: -DIGEST - len(MAGIC)], content[-DIGEST - len(MAGIC) : -len(MAGIC)]
    if hashlib.sha256(sealed).digest() != digest:
        raise CheckpointError("the file is damaged")
    (length,) = struct.unpack("<Q", sealed[-8:])
    start = len(sealed) - 8 - length
    header = json.loads(sealed[max(start, 0) : -8])
    if not isinstance(header["settings"], dict) or type(header["generation"]) is not int or header["generation"] < 0:
        raise ValueError("settings or generation are missing")
    return header, sealed[:start]


def read_newest(
    folder: Path, load: Callable[[dict[str, Any], bytes], State], *, remove_damaged: bool = False
) -> tuple[dict[str, Any], State] | None:
    """The header and the state of the newest whole checkpoint in a folder; None if there is none.

    ``load`` makes a state from a checkpoint's header and bytes. Raises CheckpointError if all checkpoints are damaged.
    """
    problems = []
    for name in (NEWEST, PREVIOUS):
        try:
            header, body = unpack((folder / name).read_bytes())
            state = load(header, body)
        except FileNotFoundError:
            continue
        except UNREADABLE as error:
            reason = str(error) if isinstance(error, CheckpointError) else f"not a checkpoint ({error!r:.100})"
            problems.append(f"{folder / name}: {reason}")
            continue
        if problems and remove_damaged:
            (folder / NEWEST).unlink()
        return header, state
    if problems:
        raise CheckpointError("; ".join(problems))
    return None


def check_settings(where: str, expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Raise ValueError if the settings ``found`` in ``where`` are not those of this run."""
    for name in expected | found:
        if expected.get(name) != found.get(name):
            raise ValueError(
                f"{where} is of a run with {name}={found.get(name)!r:.80}, "
                f"this run has {name}={expected.get(name)!r:.80}"
            )
