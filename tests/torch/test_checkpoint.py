"""Checkpoints: nothing finished is lost, and resumed training ends as if it had never stopped."""

from __future__ import annotations

import io
import os
import pickle
import random
import signal
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase.torch as ft
from flexicase._checkpoint import MAGIC, NEWEST, PREVIOUS, CheckpointError, pack, unpack
from flexicase.torch._state import read
from flexicase.torch._training import Trainer, TrainingError, sgd
from tests.torch._helpers import Averaging, cases, fingerprint, search, small

CHANGES = [
    {},
    {"method": "lexicase", "optimizer_state": "inherit"},
    {"method": "weighted-split", "default_weight": "min", "stop_on_all_fail": True},
]


class Stopper:
    """Interrupts training after a number of generations, as Ctrl-C would."""

    def __init__(self, generations):
        self.left = generations

    def __call__(self, record):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.slow
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


@pytest.mark.slow
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
from flexicase.torch._evaluation import CandidateErrors
from flexicase.torch._training import Trainer
from tests.torch._helpers import search

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


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_training_that_was_killed_ends_bit_identical(tmp_path):
    """kill -9 while the third candidate of the second generation is trained, then in the middle of a selection."""
    for place, method, call, done in (("training", "train", 7, 1), ("selection", "__call__", 2, 1)):
        child = [sys.executable, "-c", KILLED, str(tmp_path), place, method, str(call)]
        assert subprocess.run(child, check=False).returncode == -signal.SIGKILL
        assert len(read(tmp_path)["records"]) == done
    resumed, whole = search(), search()
    resumed.fit(6, save=tmp_path, resume=True)
    whole.fit(6)
    assert fingerprint(resumed) == fingerprint(whole)


@pytest.mark.slow
def test_a_damaged_checkpoint_is_noticed_and_the_previous_one_used(tmp_path):
    whole = search()
    whole.fit(4)
    search().fit(2, save=tmp_path, save_every=0.0)
    search(generations=4).load_state_dict(read(tmp_path))
    newest = tmp_path / NEWEST
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    assert len(read(tmp_path)["records"]) == 1
    (tmp_path / PREVIOUS).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"run.checkpoint: the file is damaged"):
        read(tmp_path)


def test_a_checkpoint_needs_no_trust_to_be_read(tmp_path):
    search(optimizer_state="inherit").fit(1, save=tmp_path)
    state = torch.load(tmp_path / NEWEST, weights_only=True)
    assert len(state["records"]) == 1
    assert state["parent"]["0.weight"].shape == (8, 1, 3, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"population": 3}, "the state is of a run with population=4, this run has population=3"),
        ({"seed": 6}, "the state is of a run with seed=5, this run has seed=6"),
        ({"train": 100}, "the state is of a run with n_cases=96, this run has n_cases=100"),
        ({"method": "weighted-split"}, "settings of a selector with .*num_nonzeros.*, this one has .*split"),
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


@pytest.mark.slow
def test_divergence_names_the_candidate_and_leaves_the_checkpoint(tmp_path):
    """96 cases in batches of 16, dealt to 4: the fifth batch of a generation is the third candidate's."""
    search().fit(2, save=tmp_path)
    before = (tmp_path / NEWEST).read_bytes()
    found = search(loss=BreakingLoss(4))
    message = r"^the loss of candidate 2 in generation 2 is nan: training has diverged; a lower learning rate may help$"
    with pytest.raises(TrainingError, match=message):
        found.fit(5, save=tmp_path, save_every=0.0, resume=True, allow_changed=["loss"])
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


def test_another_run_in_the_folder_is_not_overwritten(tmp_path):
    """Forgetting resume=True cost the checkpoint of a whole run."""
    first = small()
    first.fit(2, save=tmp_path)
    before = (tmp_path / NEWEST).read_bytes()
    with pytest.raises(ValueError, match=r"resume=True"):
        small(seed=2).fit(3, save=tmp_path)
    assert (tmp_path / NEWEST).read_bytes() == before
    first.fit(3, save=tmp_path)  # its own
    assert len(read(tmp_path)["records"]) == 3
    small().fit(4, save=tmp_path, resume=True)
    assert len(read(tmp_path)["records"]) == 4


def test_a_folder_that_cannot_be_made_is_noticed_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    found = small()
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(OSError, match="file"):
            found.fit(2, save=path)
    assert found.generation == 0


def test_leftovers_of_killed_trainings_are_removed(tmp_path):
    other = tmp_path / "notes.partial"
    for path in (tmp_path / f"{NEWEST}.123.partial", other):
        path.write_bytes(b"half of")
    small().fit(1, save=tmp_path, resume=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.partial", NEWEST]


class Scaled(nn.Module):
    """A loss with a setting and a count of its calls, which must not count as a setting."""

    def __init__(self, smoothing):
        super().__init__()
        self.smoothing = smoothing
        self.calls = 0

    def forward(self, output, target):
        self.calls += 1
        return nn.functional.cross_entropy(output, target, label_smoothing=self.smoothing)


def zero_one(output, target):
    return (output.argmax(1) != target).float()


def doubled(inputs, draws):
    return 2 * inputs


def shifted(by):
    return lambda inputs, draws: inputs + by


OTHERS = {
    "other inputs": ({}, {"data": cases(shift=0.25)}, "train_set"),
    "other targets": ({}, {"data": cases(targets=torch.arange(20) % 2)}, "train_set"),
    "another type": ({}, {"data": cases(dtype=torch.float64), "model": lambda: nn.Linear(4, 3).double()}, "train_set"),
    "another loss": ({}, {"loss": nn.functional.multi_margin_loss}, "loss"),
    "a loss with other settings": ({"loss": Scaled(0.1)}, {"loss": Scaled(0.2)}, "loss"),
    "other lambdas": ({"transform": lambda x, g: x + 1}, {"transform": lambda x, g: x + 2}, "transform"),
    "other variables": ({"transform": shifted(1.0)}, {"transform": shifted(2.0)}, "transform"),
    "a transform": ({}, {"transform": doubled}, "transform"),
    "settings of a transform": ({"transform": ft.PadCropFlip(1)}, {"transform": ft.PadCropFlip(2)}, "transform"),
    "a transform of selection": ({}, {"selection_transform": doubled}, "selection_transform"),
    "an error function": (
        {"loss": nn.functional.cross_entropy},
        {"loss": nn.functional.cross_entropy, "error_fn": zero_one},
        "error_fn",
    ),
    "momentum": ({}, {"optimizer": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5, weight_decay=1e-4)}, "optimizer"),
    "layers": (
        {"model": lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU())},
        {"model": lambda: nn.Sequential(nn.Linear(4, 3), nn.Tanh())},
        "network",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", OTHERS)
def test_a_checkpoint_of_other_data_or_functions_is_refused(what):
    """It went on with another data set of the same length, or to another goal, without a word."""
    one, two, name = OTHERS[what]
    two = {**one, **two}
    if what.startswith("settings"):
        one, two = ({**part, "data": images(), "model": flat} for part in (one, two))
    state = small(**one).state_dict()
    small(**one).load_state_dict(state)
    with pytest.raises(ValueError, match=rf"of a run with {name}=.*, this run has {name}=.*allow_changed=\['{name}'\]"):
        small(**two).load_state_dict(state)
    small(**two).load_state_dict(state, allow_changed=[name])


def images():
    return TensorDataset(torch.zeros(20, 1, 2, 2), torch.zeros(20, dtype=torch.long))


def flat():
    return nn.Sequential(nn.Flatten(), nn.Linear(4, 3))


def test_what_may_change_is_checked(tmp_path):
    small().fit(1, save=tmp_path)
    with pytest.raises(ValueError, match=r"allow_changed must name .*'train_set'.*got 'population'"):
        small().fit(2, save=tmp_path, resume=True, allow_changed=["population"])
    with pytest.raises(TypeError, match=r"allow_changed must be a sequence of names, got 'loss'"):
        small().fit(2, save=tmp_path, resume=True, allow_changed="loss")
    other = small(loss=nn.functional.multi_margin_loss)
    other.fit(2, save=tmp_path, resume=True, allow_changed=["loss"])
    assert other.generation == 2
    small(loss=nn.functional.multi_margin_loss).fit(3, save=tmp_path, resume=True)  # from now on it is of this loss


def test_a_loss_that_counts_its_calls_can_be_resumed(tmp_path):
    small(loss=Scaled(0.1)).fit(2, save=tmp_path)
    assert len(small(loss=Scaled(0.1)).fit(3, save=tmp_path, resume=True)) == 3


class Noisy:
    """A data set that draws its inputs each time, by one generator or another."""

    def __init__(self, draw):
        self.draw = draw

    def __len__(self):
        return 20

    def __getitem__(self, case):
        return torch.full((4,), float(case)) + self.draw(), case % 3


@pytest.mark.parametrize("draw", [lambda: torch.rand(4), random.random], ids=["torch", "Python"])
def test_data_that_are_augmented_when_read_can_be_resumed(draw):
    found, other = (small(data=Noisy(draw)) for _ in range(2))
    found.fit(1)
    before = torch.get_rng_state()
    other.load_state_dict(found.state_dict())
    assert torch.equal(torch.get_rng_state(), before)


def test_buffers_that_are_not_persistent_are_resumed_too(tmp_path):
    """Resumed training began with new buffers, and ended with other parameters."""
    whole, first, second = (small(Averaging, optimizer_state="inherit") for _ in range(3))
    whole.fit(4)
    first.generations = 4
    first.step(), first.step()
    assert first.parent.mean.abs().max() > 0
    second.load_state_dict(first.state_dict())
    second.fit(4)
    assert torch.equal(second.parent.mean, whole.parent.mean)
    assert fingerprint(second) == fingerprint(whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Adam", "NAdam", "RMSprop", "Adafactor", "SparseAdam"])
def test_any_optimiser_can_be_inherited_and_resumed(name):
    """The checks of a state know no optimiser by name."""
    sparse = name == "SparseAdam"
    data = TensorDataset(torch.arange(20) % 5, torch.arange(20) % 3) if sparse else cases()
    model = (lambda: nn.Embedding(5, 3, sparse=True)) if sparse else (lambda: nn.Linear(4, 3))
    settings = {"optimizer": getattr(torch.optim, name), "optimizer_state": "inherit", "generations": 3}
    whole, resumed = (small(model, data, **settings) for _ in range(2))
    whole.step(), whole.step()
    resumed.load_state_dict(whole.state_dict())
    whole.step(), resumed.step()
    assert fingerprint(resumed) == fingerprint(whole)


class Caching(nn.Linear):
    """Keeps its last inputs in a buffer that holds nothing at first, and that grows."""

    def __init__(self):
        super().__init__(4, 3)
        self.register_buffer("last", None, persistent=False)

    def forward(self, inputs):
        if self.training:
            self.last = inputs.detach().clone()
        return super().forward(inputs)


def test_buffers_that_appear_in_training_can_be_resumed():
    whole, first, second = (small(Caching, generations=4) for _ in range(3))
    whole.fit(4)
    first.step()
    assert first.parent.last.shape == (5, 4)
    second.load_state_dict(first.state_dict())
    second.fit(4)
    assert fingerprint(second) == fingerprint(whole)


def test_a_refused_folder_is_refused_again(tmp_path):
    small().fit(1, save=tmp_path)
    other = small(seed=2)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"save must be a folder without a checkpoint"):
            other.fit(1, save=tmp_path)


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def sealed(body):
    return pack({"settings": {}, "generation": 2}, body)


@pytest.mark.parametrize("form", ["torch", "legacy", "pickle"])
def test_a_checkpoint_never_runs_code(tmp_path, form):
    """A file with a right checksum that says: call this function."""
    target, body = tmp_path / "made", io.BytesIO()
    payload = {"records": Payload(str(target))}
    if form == "pickle":
        pickle.dump(payload, body)
    else:
        torch.save(payload, body, _use_new_zipfile_serialization=form == "torch")
    (tmp_path / NEWEST).write_bytes(sealed(body.getvalue()))
    with pytest.raises(CheckpointError, match=r"run.checkpoint: .*cannot be read"):
        read(tmp_path)
    assert not target.exists()


@pytest.mark.slow
def test_damage_is_noticed_wherever_it_is(tmp_path):
    """Cut short, with flipped bits, of another version, or with a right checksum over nonsense: never a raw error."""
    small().fit(2, save=tmp_path, save_every=0.0)
    newest, draws = tmp_path / NEWEST, random.Random(1)
    whole, previous = newest.read_bytes(), (tmp_path / PREVIOUS).read_bytes()
    body = unpack(whole)[1]
    damaged = [whole[:n] for n in (0, 1, 47, 48, len(whole) // 2, len(whole) - 1)]
    for _ in range(10):
        content = bytearray(whole)
        content[draws.randrange(len(content))] ^= 1 << draws.randrange(8)
        damaged.append(bytes(content))
    damaged += [whole.replace(MAGIC, b"flexicase run 0\n"), sealed(b""), sealed(b"nonsense"), sealed(body[:-100])]
    for _ in range(10):
        content = bytearray(body)
        content[draws.randrange(len(content))] ^= 1 << draws.randrange(8)
        damaged.append(sealed(bytes(content)))
    for content in damaged:
        newest.write_bytes(content)
        (tmp_path / PREVIOUS).write_bytes(previous)
        try:
            found = small()
            found.fit(2, save=tmp_path, resume=True)
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017
        assert found.generation in (0, 2)


def test_the_checkpoint_that_replaced_a_damaged_one_outlives_the_next(tmp_path):
    """The damaged file became the previous one, and a kill in between left no whole checkpoint."""
    small().fit(2, save=tmp_path, save_every=0.0)
    (tmp_path / NEWEST).write_bytes(b"")
    small().fit(2, save=tmp_path, resume=True)
    (tmp_path / NEWEST).unlink()
    assert len(read(tmp_path)["records"]) == 1
