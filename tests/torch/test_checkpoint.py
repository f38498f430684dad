"""Nothing finished is lost, and resumed training ends as if it had never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
import torch

import flexicase.torch as ft
from flexicase.checkpoint import CheckpointError
from flexicase.torch.checkpoint import NEWEST, PREVIOUS, load
from flexicase.torch.training import Trainer, TrainingError, sgd
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


KILLED = """
import os, signal, sys
import torch
from flexicase.torch.errors import CandidateErrors
from flexicase.torch.training import Trainer
from tests.torch.training_runs import search

def die_at(owner, name, call):
    inner, seen = getattr(owner, name), []
    def dying(*arguments):
        seen.append(1)
        if len(seen) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return inner(*arguments)
    setattr(owner, name, dying)

torch.set_num_threads(1)
found = search()
die_at({"training": Trainer, "selection": CandidateErrors}[sys.argv[2]], sys.argv[3], int(sys.argv[4]))
found.fit(6, save=sys.argv[1], save_every=0.0, resume=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_training_that_was_killed_ends_bit_identical(tmp_path):
    """kill -9 while the third candidate of the second generation is trained, then in the middle of a selection."""
    for place, method, call, done in (("training", "train", 7, 1), ("selection", "__call__", 2, 1)):
        child = [sys.executable, "-c", KILLED, str(tmp_path), place, method, str(call)]
        assert subprocess.run(child, check=False).returncode == -signal.SIGKILL
        assert len(load(tmp_path)["records"]) == done
    resumed, whole = search(), search()
    resumed.fit(6, save=tmp_path, resume=True)
    whole.fit(6)
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


class BreakingLoss:
    """Cross-entropy that is not a number from some call on."""

    def __init__(self, last):
        self.left = last

    def __call__(self, output, target):
        self.left -= 1
        return torch.nn.functional.cross_entropy(output, target) * (1.0 if self.left >= 0 else float("nan"))


def test_divergence_names_the_candidate_and_leaves_the_checkpoint(tmp_path):
    """96 cases in batches of 16, dealt to 4: the fifth batch of a generation is the third candidate's."""
    search().fit(2, save=tmp_path)
    before = (tmp_path / NEWEST).read_bytes()
    found = search(loss=BreakingLoss(4))
    message = r"^the loss of candidate 2 in generation 2 is nan: training has diverged; a lower learning rate may help$"
    with pytest.raises(TrainingError, match=message):
        found.fit(5, save=tmp_path, save_every=0.0, resume=True)
    assert found.generation == 2
    assert (tmp_path / NEWEST).read_bytes() == before
    lower = search(optimizer=lambda parameters: sgd(parameters, lr=0.01))
    records = lower.fit(5, save=tmp_path, resume=True)
    assert [record.lr for record in records[2:]] == pytest.approx([0.01 * ft.cosine(g, 5) for g in (2, 3, 4)])
    assert [record.lr for record in records[:2]] == pytest.approx([0.1 * ft.cosine(g, 2) for g in (0, 1)])
    assert all(torch.isfinite(value).all() for value in lower.parent.state_dict().values())


def test_a_learning_rate_that_is_far_too_high_is_noticed():
    with pytest.raises(TrainingError, match=r"the loss of candidate 0 in generation \d is (nan|inf)"):
        search(optimizer=lambda parameters: sgd(parameters, lr=1e30)).fit(4)
