"""A roulette wheel: individuals drawn with fixed probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase.rng import Key, Lane, Stream
from flexicase.selection.backend import Backend
from flexicase.selection.kernel import Events


class WheelKernel:
    """A kernel whose events are independent spins of one wheel."""

    def __init__(self, probabilities: NDArray[np.float64], backend: Backend) -> None:
        """Lay out the wheel.

        Args:
            probabilities: (n_individuals,) not negative, at least one of them positive.
            backend: Who spins it.
        """
        self.wheel = np.cumsum(probabilities)
        self.backend = backend

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Events:
        """Run the events with these numbers; there is nothing to count."""
        out = Events.empty(len(events), counts=False)
        if self.backend == "native":
            _native.draw_wheel(self.wheel, key.k0, key.k1, events.start, events.step, threads, out.indices)
            return out
        for i, event in enumerate(events):
            spin = Stream.of(key, event, Lane.BASELINE).unit() * self.wheel[-1]
            out.indices[i] = np.searchsorted(self.wheel, spin, side="right")
        return out
