"""What training tells: one record per generation."""

from __future__ import annotations

from typing import Any, NamedTuple

from flexicase.selection.fast_lexicase import FastSelection
from flexicase.selection.protocol import Ended

ENDINGS = {Ended.ONE_LEFT: "unique", Ended.CASES_EXHAUSTED: "exhausted", Ended.ALL_FAILED: "all failed"}


class TrainingRecord(NamedTuple):
    """What happened in a generation.

    Attributes:
        generation: Its number, from 0.
        parent: Which candidate became the parent.
        evaluations: The paper's measure: sizes of the pool summed over the cases looked at, before each.
        cases: Cases that selection looked at.
        ended: Why it ended: ``"unique"``, one candidate left; ``"exhausted"``, no case left; ``"all failed"``, under
            ``on_all_fail="stop"``, nobody in the pool solved a case.
        forward_passes: (candidate, case) pairs that selection had computed, also those it then did not need.
        forward_calls: Calls of a network in which this was done.
        lr: Learning rate of the first parameter group.
        loss: Mean training loss of the candidates.
        accuracy: What `GradientLexicase.evaluate` gives on the test set, if it was asked for in this generation.
        seconds_train: Time of training.
        seconds_select: Time of selection.
        seconds_test: Time of the evaluation on the test set.

    Example:
        >>> from flexicase.torch import TrainingRecord
        >>> TrainingRecord(0, 2, 9, 3, "unique", 12, 8, 0.1, 2.3).seconds
        0.0
    """

    generation: int
    parent: int
    evaluations: int
    cases: int
    ended: str
    forward_passes: int
    forward_calls: int
    lr: float
    loss: float
    accuracy: float | None = None
    seconds_train: float = 0.0
    seconds_select: float = 0.0
    seconds_test: float = 0.0

    @property
    def seconds(self) -> float:
        """Time of the generation."""
        return self.seconds_train + self.seconds_select + self.seconds_test

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return self._asdict()

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainingRecord:
        """The record that `as_dict` was called on."""
        return cls(**values)


def selection_facts(selected: FastSelection) -> dict[str, Any]:
    """What a record tells of a selection of one parent."""
    counts = (selected.evaluations, selected.cases_used, selected.ended, selected.pairs)
    evaluations, cases, ended, passes = (int(values[0]) for values in counts)
    return {"evaluations": evaluations, "cases": cases, "ended": ENDINGS[Ended(ended)], "forward_passes": passes}
