"""What tests of instructions written in Python share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from flexicase.push import instruction, remove_instruction
from flexicase.push.instructions import PYTHON_INSTRUCTIONS

Register = Callable[..., Callable[[Any], Any]]


@pytest.fixture
def register() -> Iterator[Register]:
    """The decorator; what it registers is forgotten after the test."""
    before = set(PYTHON_INSTRUCTIONS)
    yield instruction
    for name in set(PYTHON_INSTRUCTIONS) - before:
        remove_instruction(name)
