"""The native kernel behind the same seam as the reference."""

from __future__ import annotations

from flexicase import _native
from flexicase.rng import Key
from flexicase.selection.kernel import Events, KernelSpec
from flexicase.selection.matrix import ErrorMatrix


class NativeKernel:
    """Draws selection events from one error matrix."""

    __slots__ = ("_kernel",)

    def __init__(self, matrix: ErrorMatrix, spec: KernelSpec) -> None:
        """Hand the matrix and the resolved filter to the extension."""
        self._kernel = _native.Kernel(
            matrix.native,
            spec.weights,
            spec.ranked,
            spec.tolerance.value,
            spec.epsilon,
            spec.batch,
            spec.depth,
            spec.random_depth,
            spec.slippage,
        )

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Events:
        """Run these events on ``threads`` threads; the outcome does not depend on their number."""
        out = Events.empty(len(events), counts)
        self._kernel.draw(
            key.k0,
            key.k1,
            events.start,
            events.step,
            threads,
            out.block,
            out.ended,
        )
        return out
