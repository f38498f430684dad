"""Fixtures that several suites share."""

from __future__ import annotations

import logging
import os
import signal
import warnings

import pytest
from hypothesis import settings

settings.register_profile("flexicase", deadline=None, max_examples=200, derandomize=True)
settings.load_profile("flexicase")

# Some virtual machines announce AMX and kill the process that uses it, as PyTorch does for bfloat16.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # more threads would spin, since tests run beside each other
os.environ.pop("FLEXICASE_BACKEND", None)  # tests name the back end they mean
os.environ.pop("PYTHONUNBUFFERED", None)  # what a stream cannot take fails at exit, too, where users have not set this
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs inherit a Ctrl-C that does nothing
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)  # nohup: go on, but start processes that a hang-up ends


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors, since tests wait for other processes a quarter of their time; at most 8."""
    return min(8, (os.cpu_count() or 1) + 1)


@pytest.fixture(params=["native", "reference"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each back end in turn."""
    return request.param


@pytest.fixture(scope="session")
def local_ray():
    """A small Ray of its own for this process's tests, on two processors."""
    ray = pytest.importorskip("ray", reason="Ray is not installed (the cluster extra)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            "local",
            num_cpus=2,
            object_store_memory=80 * 2**20,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _system_config={"worker_niceness": 0},
        )
    yield ray
    ray.shutdown()
