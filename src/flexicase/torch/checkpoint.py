"""Checkpoints of training: files that ``torch.load(..., weights_only=True)`` reads, with a checksum at the end."""

from __future__ import annotations

import hashlib
import io
import time
from pathlib import Path
from typing import Any, Protocol

import torch

from flexicase.atomic import write_atomically
from flexicase.checkpoint import CheckpointError, newest_whole

MAGIC = b"flexicase torch1"
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


class Saver:
    """Saves a training now and then, and never twice the same generation.

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

    def save_if_due(self) -> None:
        """Save if the last checkpoint is old enough."""
        if time.monotonic() - self._when >= self._seconds:
            self.save()

    def save(self) -> None:
        """Save if there is anything new."""
        if self._folder is not None and self._training.generation > self._saved:
            save(self._folder, self._training.state_dict())
            self._saved, self._when = self._training.generation, time.monotonic()


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
    return newest_whole(folder, (NEWEST, PREVIOUS), _parse)


def _parse(content: bytes) -> dict[str, Any]:
    body, mark, digest = content[: -DIGEST - len(MAGIC)], content[-DIGEST - len(MAGIC) : -DIGEST], content[-DIGEST:]
    if mark != MAGIC or hashlib.sha256(body).digest() != digest:
        raise CheckpointError("the file is damaged, cut short, or no checkpoint of this version")
    state: dict[str, Any] = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    return state
