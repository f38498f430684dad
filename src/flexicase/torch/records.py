"""The record of one generation of a training."""

from __future__ import annotations

from dataclasses import dataclass, field

from flexicase.records import Record
from flexicase.selection.protocol import Ended


@dataclass(frozen=True, kw_only=True)
class TrainingRecord(Record):
    """One generation of a training.

    Attributes:
        events: Selection events: always one.
        pairs: (candidate, case) pairs that selection computed, including those it then did not need.
        parent: The candidate that became the parent.
        cases_used: Cases that selection visited.
        ended: Why selection ended.
        forward_calls: Calls of a network that computed the pairs.
        lr: Learning rate of the first parameter group.
        loss: Mean training loss of the candidates.
        accuracy: `GradientLexicase.evaluate` on the test set; None if this generation was not tested.
        seconds_train: Time of training; the other ``seconds_`` are of selection and of the evaluation on the test set.
    """

    events: int = 1
    evaluations: int = field()
    parent: int
    cases_used: int
    ended: Ended
    forward_calls: int
    lr: float
    loss: float
    accuracy: float | None = None
    seconds_train: float = field(default=0.0, compare=False)
    seconds_select: float = field(default=0.0, compare=False)
    seconds_test: float = field(default=0.0, compare=False)
