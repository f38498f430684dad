"""A picture of a training. Needs matplotlib (``pip install 'flexicase[report]'``), imported when it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexicase.plot import BLACK, BLUE, RED
from flexicase.torch.records import Generation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def training_picture(records: Sequence[Generation]) -> Figure:
    """Loss, accuracy, evaluations and time, generation by generation.

    Args:
        records: What `GradientLexicase.fit` gives.

    Example:
        >>> from flexicase.torch import Generation
        >>> from flexicase.torch.plot import training_picture
        >>> len(training_picture([Generation(0, 2, 9, 3, "unique", 12, 8, 0.1, 2.3)]).axes)
        4
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    (loss, accuracy), (evaluations, seconds) = figure.subplots(2, 2, sharex=True)
    x = np.array([record.generation + 1 for record in records])
    loss.plot(x, [record.loss for record in records], color=BLACK)
    loss.set_ylabel("mean training loss")
    tested = [record for record in records if record.accuracy is not None]
    accuracy.plot([r.generation + 1 for r in tested], [r.accuracy for r in tested], color=BLACK, marker="o", ms=3)
    accuracy.set_ylabel("parent on the test cases")
    evaluations.plot(x, [record.evaluations for record in records], color=RED, label="evaluations")
    evaluations.plot(x, [record.forward_passes for record in records], color=BLUE, lw=0.8, label="forward passes")
    exhausted = np.array([record.ended == "exhausted" for record in records])
    if exhausted.any():
        counts = np.array([record.evaluations for record in records])
        evaluations.plot(x[exhausted], counts[exhausted], "x", color=BLACK, ms=5, label="ran out of cases")
    evaluations.set_yscale("log")
    evaluations.set_ylabel("selection")
    evaluations.legend(frameon=False, fontsize=8)
    seconds.plot(x, [record.seconds_train for record in records], color=BLACK, label="training")
    seconds.plot(x, [record.seconds_select for record in records], color=RED, label="selection")
    seconds.set_ylabel("seconds")
    seconds.legend(frameon=False, fontsize=8)
    for axes in (evaluations, seconds):
        axes.set_xlabel("generation")
    return figure
