"""Which kernel runs: the native one, or the readable reference (``FLEXICASE_BACKEND=reference``)."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias

from flexicase._checks import check_choice
from flexicase.selection.kernel import Kernel, KernelSpec
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.native import NativeKernel
from flexicase.selection.reference import ReferenceKernel

Backend: TypeAlias = Literal["native", "reference"]


def resolve_backend(backend: Backend | None) -> Backend:
    """The back end to use: the argument, else the environment variable, else native."""
    if backend is None:
        backend = os.environ.get("FLEXICASE_BACKEND", "native")  # type: ignore[assignment]
        if backend == "native":
            return "native"
    return check_choice(backend, "backend", ("native", "reference"))  # type: ignore[return-value]


def make_kernel(matrix: ErrorMatrix, spec: KernelSpec, backend: Backend) -> Kernel:
    """A kernel of the asked-for kind."""
    return NativeKernel(matrix, spec) if backend == "native" else ReferenceKernel(matrix, spec)
