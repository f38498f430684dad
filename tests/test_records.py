"""Records of generations: plain values, and columns with gaps where nothing was counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flexicase.gp import GenerationRecord
from flexicase.records import Record
from flexicase.selection.protocol import Ended
from flexicase.torch.records import TrainingRecord

PROGRAMS = GenerationRecord(generation=3, best_error=7.0, solved_cases=93, evaluations=5, seconds_vary=0.5)
TRAINING = TrainingRecord(
    generation=0, parent=2, evaluations=9, pairs=12, cases_used=3, ended=Ended.CASES_EXHAUSTED, forward_calls=8, lr=0.1,
    loss=2.3, seconds_train=0.25, seconds_test=0.5,
)  # fmt: skip


@pytest.mark.parametrize("record", [PROGRAMS, TRAINING])
def test_a_record_comes_back_from_its_values(record):
    values = record.as_dict()
    assert type(record).from_dict(values) == record
    assert {type(value) for value in values.values()} <= {bool, int, float, type(None)}  # as files keep them
    assert type(record).from_dict(values).seconds == record.seconds == (0.5 if record is PROGRAMS else 0.75)


def test_times_do_not_make_records_differ():
    assert replace(PROGRAMS, seconds_vary=9.0) == PROGRAMS
    assert replace(PROGRAMS, pairs=9) != PROGRAMS


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"generation": None}, TypeError),
        ({"generation": 1.5}, TypeError),
        ({"pairs": True}, TypeError),
        ({"loss": "2"}, TypeError),
        ({"ended": 77}, ValueError),
        ({"unknown": 1}, TypeError),
    ],
)
def test_values_of_other_types_are_refused(change, error):
    with pytest.raises(error):
        TrainingRecord.from_dict({**TRAINING.as_dict(), **change})
    with pytest.raises(TypeError):
        TrainingRecord.from_dict({})


@pytest.mark.parametrize("solved", [1, 0.0, "yes", None])
def test_a_flag_is_nothing_but_true_or_false(solved):
    with pytest.raises(TypeError, match="solved must be True or False"):
        GenerationRecord.from_dict({**PROGRAMS.as_dict(), "solved": solved})
    assert GenerationRecord.to_columns([PROGRAMS])["solved"].dtype == np.bool_


def test_columns_have_the_types_of_the_fields():
    columns = TrainingRecord.to_columns([TRAINING, replace(TRAINING, generation=1, accuracy=0.5)])
    assert list(columns)[:4] == ["generation", "events", "evaluations", "pairs"]
    kinds = {name: values.dtype for name, values in columns.items()}
    assert kinds["ended"] == kinds["pairs"] == np.int64
    assert kinds["accuracy"] == kinds["seconds_test"] == np.float64
    assert columns["ended"].tolist() == [1, 1]
    assert columns["accuracy"].tolist() == [None, 0.5]
    assert not any(np.ma.isMaskedArray(values) for name, values in columns.items() if name != "accuracy")


def test_columns_of_no_record_are_empty():
    assert {len(values) for values in Record.to_columns([]).values()} == {0}
