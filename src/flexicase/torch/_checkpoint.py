"""The state of a training in a checkpoint: bytes that ``torch.load(..., weights_only=True)`` reads."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from flexicase._checkpoint import CheckpointError, Parts, read_newest


def dump(state: dict[str, Any]) -> Parts:
    """The parts of a checkpoint with a `GradientLexicase.state_dict`."""
    content = io.BytesIO()
    torch.save(state, content)
    return {}, content.getvalue()


def load(_header: dict[str, Any], body: bytes) -> dict[str, Any]:
    """The state that `dump` was called on, on the CPU."""
    try:
        state = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises almost anything, from UnpicklingError to RuntimeError
        raise CheckpointError(f"the content cannot be read ({type(error).__name__})") from error
    if not isinstance(state, dict) or not isinstance(state.get("records"), list):
        raise CheckpointError("the content cannot be read: it is not the state of a training")
    return state


def read(folder: Path) -> dict[str, Any] | None:
    """The state in the newest whole checkpoint in a folder; None if there is none."""
    found = read_newest(folder, load)
    return None if found is None else found[1]
