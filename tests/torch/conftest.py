"""One thread, and nothing at all without PyTorch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")


@pytest.fixture(autouse=True)
def _one_thread():
    """Small networks are slower on several threads, and tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
