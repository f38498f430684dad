"""Checkpoints of training: files that ``torch.load(..., weights_only=True)`` reads, with a checksum at the end."""

from __future__ import annotations

import hashlib
import io
import time
from pathlib import Path
from typing import Any, Protocol

import torch

from flexicase._checkpoint import CheckpointError, WriteFailures, load_newest, prepare_folder, require_free
from flexicase._files import write_atomically

MAGIC = b"flexicase torch2"
NEWEST, PREVIOUS = "training.checkpoint", "training.checkpoint.previous"
DIGEST = 32


class Training(Protocol):
    """What can be saved."""

    @property
    def generation(self) -> int:
        """Generations done."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on."""
        ...


class CheckpointWriter:
    """Saves a training now and then, and never twice the same generation; failures to write cost a warning.

    Args:
        training: What to save.
        folder: Where; None: nothing is saved.
        seconds: Time between checkpoints.
    """

    def __init__(self, training: Training, folder: Path | None, seconds: float) -> None:
        """What is done already needs no saving."""
        self._training = training
        self._folder = folder
        self._seconds = seconds
        self._saved, self._when = training.generation, time.monotonic()
        self._failures = WriteFailures(folder or Path())

    def save_if_due(self) -> None:
        """Save if the last checkpoint is old enough."""
        if time.monotonic() - self._when >= self._seconds:
            self.save()

    def save(self) -> None:
        """Save if there is anything new."""
        if self._folder is not None and self._training.generation > self._saved:
            self._when = time.monotonic()
            with self._failures:
                save(self._folder, self._training.state_dict())
                self._saved = self._training.generation


def save(folder: Path, state: dict[str, Any]) -> Path:
    """Write a checkpoint; whatever happens meanwhile, one that was there before stays.

    Args:
        folder: Where; made if need be.
        state: What `GradientLexicase.state_dict` gives.
    """
    folder.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    torch.save(state, content)
    body = content.getvalue()
    write_atomically(folder / NEWEST, body + MAGIC + hashlib.sha256(body).digest(), keep=folder / PREVIOUS)
    return folder / NEWEST


def load(folder: Path) -> dict[str, Any] | None:
    """The newest whole checkpoint in a folder, on the CPU; None if there is none.

    Raises:
        CheckpointError: There are checkpoints, but none is whole.
    """
    return load_newest(folder, (NEWEST, PREVIOUS), _parse)


def open_folder(folder: Path, *, resume: bool, is_own: bool) -> dict[str, Any] | None:
    """Make a folder ready for checkpoints, and give the newest whole one if training is to go on from it.

    If the newest one is damaged, it is removed, so that the next does not push out the whole one before it.

    Args:
        folder: The folder.
        resume: Whether to go on from what is there.
        is_own: Whether what is there is of the same training anyway.

    Raises:
        CheckpointError: There are checkpoints, but none is whole.
        OSError: The folder cannot be written to.
        ValueError: There is a checkpoint of another training.
    """
    if not resume and not is_own:
        require_free(folder, describe)
    prepare_folder(folder)
    if not resume:
        return None
    found = load(folder)
    if found is not None and (folder / NEWEST).exists():
        try:
            _parse((folder / NEWEST).read_bytes())
        except CheckpointError:
            (folder / NEWEST).unlink()
    return found


def describe(folder: Path) -> str | None:
    """Say what the newest whole checkpoint in a folder is of; None if there is none.

    Raises:
        CheckpointError: There are checkpoints, but none is whole.
    """
    state = load(folder)
    return None if state is None else f"a training of {len(state['records'])} generations"


def _parse(content: bytes) -> dict[str, Any]:
    body, mark, digest = content[: -DIGEST - len(MAGIC)], content[-DIGEST - len(MAGIC) : -DIGEST], content[-DIGEST:]
    if mark != MAGIC or hashlib.sha256(body).digest() != digest:
        raise CheckpointError("the file is damaged, cut short, or no checkpoint of this version")
    try:
        state = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises almost anything, from UnpicklingError to RuntimeError
        raise CheckpointError(f"the content cannot be read ({type(error).__name__})") from error
    if not isinstance(state, dict) or not isinstance(state.get("records"), list):
        raise CheckpointError("the content cannot be read: it is not the state of a training")
    return state
