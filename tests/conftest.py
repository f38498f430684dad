"""Fixtures that several suites share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("flexicase", deadline=None, max_examples=200, derandomize=True)
settings.load_profile("flexicase")

os.environ.pop("FLEXICASE_BACKEND", None)  # tests name the back end they mean


@pytest.fixture(params=["native", "reference"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each back end in turn."""
    return request.param
