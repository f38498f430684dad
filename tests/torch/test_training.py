"""Training a generation: batches, schedules, optimisers, losses, and candidates that diverge."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import flexicase.torch as ft
from flexicase._checkpoint import NEWEST
from flexicase.torch._training import assign_batches
from tests.torch._helpers import Poison, fingerprint, network, search, small


def test_every_case_is_trained_on_once_and_shares_differ_by_a_batch_at_most():
    shares = assign_batches(50_000, 64, 4, torch.Generator().manual_seed(1))
    assert [len(share) for share in shares] == [196, 196, 195, 195]
    assert sorted(torch.cat([batch for share in shares for batch in share]).tolist()) == list(range(50_000))


@pytest.mark.parametrize(("n", "size", "population"), [(4, 64, 4), (7, 64, 4), (129, 64, 2), (10, 3, 4), (5, 1, 5)])
def test_every_candidate_gets_cases_however_few_there_are(n, size, population):
    shares = assign_batches(n, size, population, torch.Generator().manual_seed(1))
    assert all(shares)
    assert sorted(torch.cat([batch for share in shares for batch in share]).tolist()) == list(range(n))
    assert size == 1 or n < 2 * population or min(len(batch) for share in shares for batch in share) > 1


def test_the_learning_rate_follows_half_a_cosine():
    rates = [record.lr for record in search().fit(4)]
    np.testing.assert_allclose(rates, [0.1 * 0.5 * (1 + np.cos(np.pi * e / 4)) for e in range(4)], rtol=1e-12)


@pytest.mark.slow
def test_momentum_is_inherited_if_asked_for():
    def momentum(**changes):
        found = search(schedule=ft.constant, **changes)
        found.fit(2)
        return fingerprint(found), found.state_dict()["optimizer"]

    (reset, nothing), (inherited, state) = momentum(), momentum(optimizer_state="inherit")
    assert nothing is None
    assert reset != inherited
    assert all("momentum_buffer" in values for values in state["state"].values())


def test_the_global_generator_is_left_alone():
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    search(transform=ft.PadCropFlip(1)).fit(1)
    assert torch.equal(torch.rand(3), expected)


def test_mixed_precision_and_channels_last_run():
    found = search(network=lambda: network().to(memory_format=torch.channels_last), autocast=torch.bfloat16)
    assert np.isfinite(found.fit(2)[-1].loss)


def linear():
    return nn.Linear(4, 3)


def test_a_loss_per_case():
    found = search(loss=lambda output, target: nn.functional.cross_entropy(output, target, reduction="none"))
    with pytest.raises(ValueError, match=r"loss must give one number for a batch, got shape \(16,\)"):
        found.fit(1)


@pytest.mark.parametrize(
    ("optimizer", "message"),
    [
        (torch.optim.SGD(linear().parameters()), r"optimizer must be a function that makes one .*, got an SGD"),
        ("sgd", r"optimizer must be a function that makes one .*, got 'sgd'"),
        (lambda parameters: None, r"optimizer must return a torch.optim.Optimizer, got NoneType"),
        (
            lambda parameters: torch.optim.SGD(linear().parameters()),
            r"optimizer must make an optimiser of the parameters that it is given",
        ),
        (torch.optim.LBFGS, r"optimizer must make an optimiser whose step needs no closure, got LBFGS"),
    ],
    ids=["instance", "name", "nothing", "other parameters", "closure"],
)
def test_an_optimiser_that_cannot_be_used(optimizer, message):
    with pytest.raises((TypeError, ValueError), match=message):
        small(optimizer=optimizer)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda o, t: 0.5, "loss must return a tensor with one number, got float"),
        (lambda o, t: o.detach().sum(), "loss must return a tensor that depends on the outputs"),
        (lambda o, t: None, "loss must return a tensor with one number, got NoneType"),
        (lambda o, t: o, r"loss must give one number for a batch, got shape \(5, 3\)"),
    ],
    ids=["float", "detached", "nothing", "outputs"],
)
def test_a_loss_that_cannot_be_minimised(loss, message):
    with pytest.raises((TypeError, ValueError), match=message):
        small(loss=loss).fit(1)


@pytest.mark.parametrize("factor", [None, "x", float("nan"), float("inf")])
def test_a_schedule_that_gives_no_factor(factor):
    with pytest.raises((TypeError, ValueError), match=r"schedule must return a finite number, got "):
        small(schedule=lambda generation, generations: factor).fit(1)


class Fragile(nn.Linear):
    """A linear network whose gradients are NaN in some passes of every four; its losses are finite."""

    passes = 0
    broken = frozenset()

    def forward(self, inputs):
        outputs = super().forward(inputs)
        if self.training:
            Fragile.passes += 1
            if (Fragile.passes - 1) % 4 in Fragile.broken:
                return Poison.apply(outputs)
        return outputs


@pytest.fixture
def fragile():
    """Four candidates with one batch each: those in ``broken`` end each generation with NaN parameters."""

    def make(broken, **changes):
        Fragile.passes, Fragile.broken = 0, frozenset(broken)
        return small(lambda: Fragile(4, 3), **{"generations": 3, **changes})

    return make


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes", [{}, {"method": "weighted-num-nonzeros", "stop_on_all_fail": True}, {"optimizer_state": "inherit"}]
)
def test_a_candidate_with_parameters_that_are_no_numbers_is_no_parent(fragile, changes):
    """Its losses are finite, since they come before the step that breaks it; NaN outputs even looked right."""
    for seed in range(6):
        found = fragile([0, 1, 3], seed=seed, **changes)
        with pytest.warns(RuntimeWarning, match=r"candidates 0, 1, 3 of generation \d cannot become the parent"):
            records = found.fit(3)
        assert [record.parent for record in records] == [2, 2, 2]
        assert all(value.isfinite().all() for value in found.parent.state_dict().values())
        assert found.weights.max() <= 5


def test_candidates_that_are_all_broken_end_training_and_keep_the_checkpoint(fragile, tmp_path):
    found = fragile([1], generations=2)
    with pytest.warns(RuntimeWarning, match="candidate 1 of generation"):
        found.fit(2, save=tmp_path)
    before, content = found.state_dict(), (tmp_path / NEWEST).read_bytes()
    Fragile.broken = frozenset(range(4))
    message = r"the parameters of all 4 candidates in generation 2 are not finite: .*lower learning rate"
    with pytest.raises(ft.TrainingError, match=message):
        found.fit(3, save=tmp_path, save_every=0.0)
    assert (tmp_path / NEWEST).read_bytes() == content
    assert found.generation == 2
    assert all(torch.equal(value, before["parent"][name]) for name, value in found.state_dict()["parent"].items())
