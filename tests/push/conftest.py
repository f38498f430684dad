"""Fixtures of the Push tests."""

from __future__ import annotations

import locale
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


@pytest.fixture
def decimal_comma() -> Iterator[None]:
    """A program that uses a locale in which numbers are written with a comma."""
    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        locale.setlocale(locale.LC_NUMERIC, "de_DE.UTF-8")
    except locale.Error:
        pytest.skip("the locale de_DE.UTF-8 is not on this machine")
    yield
    locale.setlocale(locale.LC_NUMERIC, before)
