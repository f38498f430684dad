"""Gradient lexicase: one generation as Algorithm 2 says, and the options."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase.torch as ft
from flexicase.torch.training import deal
from tests.torch.training_runs import fingerprint, network, search


def test_every_case_is_trained_on_once_and_shares_differ_by_a_batch_at_most():
    shares = deal(50_000, 64, 4, torch.Generator().manual_seed(1))
    assert [len(share) for share in shares] == [196, 196, 195, 195]
    assert sorted(torch.cat([batch for share in shares for batch in share]).tolist()) == list(range(50_000))


@pytest.mark.parametrize(("n", "size", "population"), [(4, 64, 4), (7, 64, 4), (129, 64, 2), (10, 3, 4), (5, 1, 5)])
def test_every_candidate_gets_cases_however_few_there_are(n, size, population):
    shares = deal(n, size, population, torch.Generator().manual_seed(1))
    assert all(shares)
    assert sorted(torch.cat([batch for share in shares for batch in share]).tolist()) == list(range(n))
    assert size == 1 or n < 2 * population or min(len(batch) for share in shares for batch in share) > 1


def test_candidates_start_different_and_the_parent_is_one_of_the_trained_ones():
    found = search()
    first = [model.state_dict()["0.weight"].clone() for model in found._candidates]
    assert not any(torch.equal(first[0], other) for other in first[1:])
    record = found.fit(1)[0]
    trained = found._candidates[record.parent].state_dict()
    for name, value in found.parent.state_dict().items():
        assert torch.equal(value, trained[name])  # buffers of batch normalisation too
    batches = (2, 2, 1, 1)[record.parent]  # 96 cases in batches of 16, dealt to 4
    assert int(found.parent.state_dict()["1.num_batches_tracked"]) == batches


def test_the_next_candidates_are_copies_of_the_parent():
    found = search(schedule=lambda generation, generations: float(generation == 0), batch_size=96)
    found.fit(1)
    parent = {name: value.clone() for name, value in found.parent.named_parameters()}
    found.generations = 2
    record = found.step()  # the learning rate is 0: all candidates stay the parent, but for batch statistics
    assert record.lr == 0.0
    for model in found._candidates:
        for name, value in model.named_parameters():
            assert torch.equal(value, parent[name])


def test_identical_candidates_cost_all_evaluations():
    data = ft.data.load("fake", train=64, test=8)
    found = ft.GradientLexicase(
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), data.train, schedule=lambda g, n: 0.0 * g, seed=1
    )
    found.fit(2)
    last = found.records[-1]
    assert (last.evaluations, last.cases, last.ended) == (4 * 64, 64, "exhausted")
    assert last.forward_calls < 4 * 64 // 4


def test_the_same_seed_gives_the_same_training_and_another_another():
    torch.manual_seed(0)
    one = search()
    one.fit(3)
    torch.manual_seed(99)
    torch.rand(7)
    two, three = search(), search(seed=6)
    two.fit(3), three.fit(3)
    assert fingerprint(one) == fingerprint(two) != fingerprint(three)


def test_the_global_generator_is_left_alone():
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    search(transform=ft.PadCropFlip(1)).fit(1)
    assert torch.equal(torch.rand(3), expected)


def test_the_learning_rate_follows_half_a_cosine():
    rates = [record.lr for record in search().fit(4)]
    np.testing.assert_allclose(rates, [0.1 * 0.5 * (1 + np.cos(np.pi * e / 4)) for e in range(4)], rtol=1e-12)


def test_momentum_is_inherited_if_asked_for():
    def momentum(**changes):
        found = search(schedule=ft.constant, **changes)
        found.fit(2)
        return fingerprint(found), found.state_dict()["optimizer"]

    (reset, nothing), (inherited, state) = momentum(), momentum(optimizer_state="inherit")
    assert nothing is None
    assert reset != inherited
    assert all("momentum_buffer" in values for values in state["state"].values())


def test_dropout_and_augmentation_are_off_in_selection():
    """A selection on the very same candidates gives the same errors however often it is asked."""
    data = ft.data.load("fake", train=64, test=8)
    found = ft.GradientLexicase(
        lambda: nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 10)),
        data.train,
        transform=ft.PadCropFlip(2),
        seed=2,
    )
    found.fit(1)
    evaluate = found._evaluator(found._candidates)
    cases = np.arange(64)
    np.testing.assert_array_equal(evaluate(np.arange(4), cases), evaluate(np.arange(4), cases))


def test_augmented_selection_depends_on_the_case_not_on_its_place():
    found = search(selection_transform=ft.PadCropFlip(2))
    found.fit(1)
    evaluate, order = found._evaluator(found._candidates), np.random.default_rng(1).permutation(96)
    np.testing.assert_array_equal(evaluate(np.arange(4), np.arange(96))[:, order], evaluate(np.arange(4), order))
    inputs, _ = found._cases.batch(np.arange(96))
    assert not torch.equal(evaluate.augment(inputs, np.arange(96)), inputs)


def test_regression_with_epsilon():
    """A line is learnt with the absolute error and a tolerance."""
    x = torch.linspace(-1, 1, 64)[:, None]
    found = ft.GradientLexicase(
        lambda: nn.Linear(1, 1),
        TensorDataset(x, 3 * x + 1),
        error_fn=lambda output, target: (output - target).abs().squeeze(1),
        loss=nn.functional.mse_loss,
        epsilon=0.01,
        batch_size=4,
        seed=1,
    )
    found.fit(60)
    assert found.evaluate(TensorDataset(x, 3 * x + 1)) < 0.02
    assert "exhausted" in {record.ended for record in found.records}  # all within the tolerance at the end


def test_all_wrong_cases_stop_a_selection_if_asked_to():
    keep, stop = search(selection="lexicase"), search(selection="lexicase", on_all_fail="stop")
    keep.fit(4), stop.fit(4)
    assert "all failed" in {record.ended for record in stop.records}
    assert "all failed" not in {record.ended for record in keep.records}


class Squares:
    """A map-style data set that only knows single cases."""

    def __len__(self):
        return 40

    def __getitem__(self, case):
        return torch.full((4,), float(case % 3)), case % 3


def test_any_map_style_data_set_will_do():
    found = ft.GradientLexicase(lambda: nn.Linear(4, 3), Squares(), seed=1, batch_size=5, test_set=Squares())
    records = found.fit(3)
    assert [record.accuracy is None for record in records] == [True, True, False]
    assert records[-1].accuracy == found.evaluate(torch.utils.data.Subset(Squares(), range(40)))


def test_callbacks_see_every_generation():
    seen = []
    search(callbacks=[seen.append]).fit(3)
    assert [record.generation for record in seen] == [0, 1, 2]
    assert seen[-1].seconds > 0


def test_mixed_precision_and_channels_last_run():
    found = search(autocast=torch.bfloat16, channels_last=True)
    assert np.isfinite(found.fit(2)[-1].loss)


def test_it_learns():
    data = ft.data.load("fake", train=256, test=128)
    found = ft.GradientLexicase(network, data.train, selection="fast", batch_size=16, seed=1)
    found.fit(8)
    assert found.evaluate(data.test) > 0.5  # 0.1 by chance


def test_step_needs_to_know_how_long_training_takes():
    with pytest.raises(ValueError, match="generations must be known for the schedule"):
        search().step()
    assert search(generations=5).step().generation == 0


@pytest.mark.skipif(not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="torch.compile needs a C++ compiler")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch, about itself
def test_compiled_networks_select_the_same_parents():
    data = ft.data.load("fake", train=64, test=8)

    def outcome(**changes):
        made = ft.GradientLexicase(
            lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10)),
            data.train,
            2,
            "fast",
            batch_size=16,
            seed=1,
            **changes,
        )
        return [(record.parent, record.evaluations, record.ended) for record in made.fit(2)]

    assert outcome(compile=True) == outcome()
