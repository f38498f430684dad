"""Gradient lexicase: one generation as Algorithm 2 says, and the options."""

from __future__ import annotations

import dataclasses
import random
import shutil
import signal
import sys
import time

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase.torch as ft
from flexicase.torch._checkpoint import NEWEST
from flexicase.torch._evaluation import CaseLoader, zero_one_error
from flexicase.torch._state import TrainingState
from flexicase.torch._training import assign_batches
from flexicase.torch.gradient_lexicase import GradientLexicase
from tests.torch.training_runs import Poison, cases, fingerprint, network, search, small


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize("changes", [{}, {"selection": "fast", "on_all_fail": "stop"}, {"optimizer_state": "inherit"}])
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


class Masked(nn.Linear):
    """A linear network with a mask of infinities, as attention has."""

    def __init__(self):
        super().__init__(4, 3)
        self.register_buffer("mask", torch.tensor([0.0, 0.0, float("-inf")]))

    def forward(self, inputs):
        return super().forward(inputs) + self.mask


def test_infinities_that_a_network_is_made_with_do_no_harm():
    data = cases(targets=torch.arange(20) % 2)
    assert len(small(Masked, data).fit(2)) == 2


@pytest.mark.parametrize("target", [0, 1, 2])
def test_an_output_that_is_no_number_is_wrong(target):
    """argmax takes NaN for the largest, so that a broken network was right on one class."""
    nan = float("nan")
    outputs = torch.tensor([[nan, nan, nan], [0.0, nan, 1.0], [nan, 2.0, 1.0], [1.0, 0.0, nan]])
    assert zero_one_error(outputs, torch.full((4,), target)).tolist() == [True] * 4
    broken = nn.Linear(4, 3)
    nn.init.constant_(broken.weight, nan)
    evaluate = ft.CandidateErrors([broken], CaseLoader(cases(), torch.device("cpu"), name="data"))
    assert evaluate(np.array([0]), np.arange(20)).tolist() == [[1.0] * 20]


@pytest.mark.slow
def test_ctrl_c_before_any_line_of_a_step():
    """Between the end of selection and the end of the step, the weights were new and the generation was not."""
    whole = small(selection="fast")
    whole.step()
    first = whole.state_dict()
    whole.step()
    found = small(selection="fast")
    methods = [GradientLexicase.step, GradientLexicase._next, TrainingState.after]
    codes, lines, done = {method.__code__ for method in methods}, 0, False
    while not done:
        found.load_state_dict(first)
        left = lines

        def interrupt(frame, event, _):
            nonlocal left
            if frame.f_code not in codes:
                return None
            if event == "line":
                left -= 1
                if left < 0:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return interrupt

        before = sys.gettrace()
        sys.settrace(interrupt)
        try:
            found.step()
            done = True
        except KeyboardInterrupt:
            if found.generation == 1:
                found.step()
        finally:
            sys.settrace(before)
        assert fingerprint(found) == fingerprint(whole), f"after line {lines}"
        lines += 1
    assert lines > 20


def test_ctrl_c_inside_of_a_context_manager_of_pytorch():
    """Gradients stayed switched off for the whole process, and the next step failed."""
    whole = small()
    whole.step()

    def interrupted(output, target):
        torch.set_grad_enabled(False)
        torch.manual_seed(99)
        raise KeyboardInterrupt

    found, draws = small(), torch.get_rng_state()
    usual, found._trainer = found._trainer, dataclasses.replace(found._trainer, loss=interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            found.step()
        assert torch.is_grad_enabled()
        assert torch.equal(torch.get_rng_state(), draws)
    finally:
        torch.set_grad_enabled(True)
    found._trainer = usual
    found.step()
    assert fingerprint(found) == fingerprint(whole)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers of this kind")
def test_ctrl_c_at_any_moment_leaves_the_generation_as_if_it_had_not_begun():
    """Also between the end of selection and the end of the step; and it is heeded at once."""

    def interrupt(*_):
        raise KeyboardInterrupt

    settings = {"selection": "fast", "optimizer_state": "inherit", "generations": 15}
    whole, found = small(**settings), small(**settings)
    whole.step()
    started = time.perf_counter()
    whole.step()
    usual, draws, interrupted, late = time.perf_counter() - started, random.Random(1), 0, []
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while found.generation < 15:
            at = time.perf_counter() + (wait := draws.uniform(1e-5, 1.2 * usual))
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, wait)
                    found.step()
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
                late.append(time.perf_counter() - at)
                if found.generation < 15:
                    found.step()  # so that it comes to an end however busy the machine is
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    whole.fit(15)
    assert interrupted > 2
    assert sorted(late)[len(late) // 2] < 0.5
    assert fingerprint(found) == fingerprint(whole)
