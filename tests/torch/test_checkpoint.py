"""Nothing finished is lost, and resumed training ends as if it had never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from flexicase.checkpoint import CheckpointError
from flexicase.torch.checkpoint import NEWEST, PREVIOUS, load
from flexicase.torch.training import Trainer, TrainingError
from tests.torch.training_runs import fingerprint, search

CHANGES = [
    {},
    {"selection": "lexicase", "optimizer_state": "inherit"},
    {"bias": "split", "default": "min", "on_all_fail": "stop"},
]


class Stopper:
    """Interrupts training after a number of generations, as Ctrl-C would."""

    def __init__(self, generations):
        self.left = generations

    def __call__(self, record):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("changes", CHANGES)
def test_resumed_training_ends_as_uninterrupted(tmp_path, changes):
    whole = search(**changes)
    whole.fit(5)
    with pytest.raises(KeyboardInterrupt):
        search(callbacks=[Stopper(2)], **changes).fit(5, save=tmp_path)
    resumed = search(**changes)
    resumed.fit(5, save=tmp_path, resume=True)
    assert resumed.generation == 5
    assert fingerprint(resumed) == fingerprint(whole)


def test_an_interrupted_generation_leaves_nothing(tmp_path):
    """Ctrl-C in the middle of training or selection: the same object goes on as if it had not happened."""
    whole = search()
    whole.fit(4)
    found = search(generations=4)
    for generation in range(4):
        original, calls = found._trainer, []

        class Interrupting(Trainer):
            def train(self, *arguments, at=generation, inner=original, seen=calls):
                seen.append(1)
                if len(seen) == at + 1:
                    raise KeyboardInterrupt
                return inner.train(*arguments)

        found._trainer = Interrupting(**vars(original))
        with pytest.raises(KeyboardInterrupt):
            found.step()
        found._trainer = original
        found.step()
    assert fingerprint(found) == fingerprint(whole)


TRAIN = """
import sys
import torch
from tests.torch.training_runs import search
torch.set_num_threads(1)
search(train=256, callbacks=[lambda record: print(record.generation, flush=True)]).fit(
    12, save=sys.argv[1], save_every=0.0, resume=True
)
"""


def test_training_that_was_killed_ends_bit_identical(tmp_path):
    """kill -9 twice, at moments of its own choosing within a generation."""
    for wait in (0.01, 0.05):
        child = subprocess.Popen(
            [sys.executable, "-c", TRAIN, str(tmp_path)], stdout=subprocess.PIPE, env={**os.environ}, text=True
        )
        child.stdout.readline()  # a generation is done, the next one has begun
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        child.communicate()
    reached = len(load(tmp_path)["records"])
    assert 2 <= reached < 12
    resumed, whole = search(train=256), search(train=256)
    resumed.fit(12, save=tmp_path, resume=True)
    whole.fit(12)
    assert fingerprint(resumed) == fingerprint(whole)


def test_a_damaged_checkpoint_is_noticed_and_the_previous_one_used(tmp_path):
    whole = search()
    whole.fit(4)
    search().fit(2, save=tmp_path, save_every=0.0)
    search(generations=4).load_state_dict(load(tmp_path))
    newest = tmp_path / NEWEST
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    assert len(load(tmp_path)["records"]) == 1
    (tmp_path / PREVIOUS).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"training.checkpoint: the file is damaged"):
        load(tmp_path)


def test_a_checkpoint_needs_no_trust_to_be_read(tmp_path):
    search(optimizer_state="inherit").fit(1, save=tmp_path)
    state = torch.load(tmp_path / NEWEST, weights_only=True)
    assert len(state["records"]) == 1
    assert state["parent"]["0.weight"].shape == (8, 1, 3, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"population": 3}, "the state is of a run with population=4, this run has population=3"),
        ({"seed": 6}, "the state is of a run with seed=5, this run has seed=6"),
        ({"train": 100}, "the state is of a run with cases=96, this run has cases=100"),
        ({"bias": "split"}, "state is of a selector with bias='num_nonzeros', this one has bias='split'"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(tmp_path, changes, message):
    search().fit(1, save=tmp_path)
    with pytest.raises(ValueError, match=message):
        search(**changes).fit(2, save=tmp_path, resume=True)


def test_divergence_names_the_candidate_and_leaves_the_checkpoint(tmp_path):
    search().fit(2, save=tmp_path)
    before = (tmp_path / NEWEST).read_bytes()
    found = search(schedule=lambda generation, generations: 1.0 if generation < 2 else 1e30)
    with pytest.raises(
        TrainingError, match=r"the loss of candidate 0 in generation [2-9] is (nan|inf): training has div"
    ):
        found.fit(9, save=tmp_path, resume=True)
    assert (tmp_path / NEWEST).read_bytes() == before or len(load(tmp_path)["records"]) >= 2
    assert torch.isfinite(load(tmp_path)["parent"]["0.weight"]).all()
