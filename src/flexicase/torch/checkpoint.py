"""Checkpoints of training: files that ``torch.load(..., weights_only=True)`` reads, with a checksum at the end."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import torch

from flexicase.atomic import write_atomically
from flexicase.checkpoint import CheckpointError, newest_whole

MAGIC = b"flexicase torch1"
NEWEST, PREVIOUS = "training.checkpoint", "training.checkpoint.previous"
DIGEST = 32


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
