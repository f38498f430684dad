"""Gradient lexicase: one generation follows Algorithm 2; options, arguments and interruptions."""

from __future__ import annotations

import dataclasses
import random
import shutil
import signal
import sys
import time

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase as fx
import flexicase.torch as ft
from flexicase.selection.protocol import Ended
from flexicase.torch.gradient_lexicase import GradientLexicase
from tests.torch._helpers import fake_images, fingerprint, network, search, small


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
    data = fake_images(64, 8)
    found = ft.GradientLexicase(
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), data.train, schedule=lambda g, n: 0.0 * g, seed=1
    )
    found.fit(2)
    last = found.records[-1]
    assert (last.evaluations, last.cases_used, last.ended) == (4 * 64, 64, Ended.CASES_EXHAUSTED)
    assert last.forward_calls < 4 * 64 // 4


@pytest.mark.slow
def test_the_same_seed_gives_the_same_training_and_another_another():
    torch.manual_seed(0)
    one = search()
    one.fit(3)
    torch.manual_seed(99)
    torch.rand(7)
    two, three = search(), search(seed=6)
    two.fit(3), three.fit(3)
    assert fingerprint(one) == fingerprint(two) != fingerprint(three)


@pytest.mark.slow
def test_regression_with_epsilon():
    """A line is learnt with the absolute error and a tolerance."""
    x = torch.linspace(-1, 1, 64)[:, None]
    found = ft.GradientLexicase(
        lambda: nn.Linear(1, 1),
        TensorDataset(x, 3 * x + 1),
        error_fn=lambda output, target: (output - target).abs().squeeze(1),
        loss=nn.functional.mse_loss,
        method=fx.Lexicase(epsilon=0.01),
        batch_size=4,
        seed=1,
    )
    found.fit(60)
    assert found.evaluate(TensorDataset(x, 3 * x + 1)) < 0.02
    assert Ended.CASES_EXHAUSTED in {record.ended for record in found.records}  # all within the tolerance at the end


@pytest.mark.slow
def test_all_wrong_cases_stop_a_selection_if_asked_to():
    keep, stop = search(method="lexicase"), search(method="lexicase", stop_on_all_fail=True)
    keep.fit(4), stop.fit(4)
    assert fx.Ended.ALL_FAILED in {record.ended for record in stop.records}
    assert fx.Ended.ALL_FAILED not in {record.ended for record in keep.records}


def test_callbacks_see_every_generation():
    seen = []
    search(callbacks=[seen.append]).fit(3)
    assert [record.generation for record in seen] == [0, 1, 2]
    assert seen[-1].seconds > 0


@pytest.mark.slow
def test_it_learns():
    data = fake_images(256, 128)
    found = ft.GradientLexicase(network, data.train, method="weighted-num-nonzeros", batch_size=16, seed=1)
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
    data = fake_images(64, 8)

    def outcome(model_fn):
        made = ft.GradientLexicase(model_fn, data.train, 2, "weighted-num-nonzeros", batch_size=16, seed=1)
        return [(record.parent, record.evaluations, record.ended) for record in made.fit(2)]

    def plain():
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

    assert outcome(lambda: torch.compile(plain())) == outcome(plain)


@pytest.mark.slow
def test_ctrl_c_before_any_line_of_a_step():
    """Between the end of selection and the end of the step, the weights were new and the generation was not."""
    whole = small(method="weighted-num-nonzeros")
    whole.step()
    first = whole.state_dict()
    whole.step()
    found = small(method="weighted-num-nonzeros")
    methods = [GradientLexicase.step, GradientLexicase._next_state, GradientLexicase._next_selector]
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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers of this kind")
def test_ctrl_c_at_any_moment_leaves_the_generation_as_if_it_had_not_begun():
    """Also between the end of selection and the end of the step; and it is heeded at once."""

    def interrupt(*_):
        raise KeyboardInterrupt

    settings = {"method": "weighted-num-nonzeros", "optimizer_state": "inherit", "generations": 15}
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


@pytest.mark.slow
@pytest.mark.parametrize("method", [fx.Lexicase(order=fx.Ranked("split")), "ranked-split"])
def test_a_method_object_or_a_name(method):
    found, expected = search(method=method), search(method="ranked-split")
    assert len(found.fit(2)) == 2
    expected.fit(2)
    assert fingerprint(found) == fingerprint(expected)


@pytest.mark.slow
def test_a_bias_that_is_a_function():
    """Called with the statistics of the pool; here it is num_nonzeros, whose weight is the count plus 1."""
    found = search(method=fx.Lexicase(order=fx.Weighted(lambda statistics: statistics.nonzeros + 1)))
    expected = search()
    found.fit(3), expected.fit(3)
    assert fingerprint(found) == fingerprint(expected)


def test_the_bounds_of_the_weights_are_those_of_the_paper_or_given():
    assert search().weights.tolist() == [5.0] * 96
    assert search(default_weight="min").weights.tolist() == [1.0] * 96
    assert search(w_max=3.0).weights.tolist() == [3.0] * 96
    assert search(w_min=2.0, default_weight="min").weights.tolist() == [2.0] * 96


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "tournament"}, "method must be"),
        ({"method": "weighted-hardness"}, "unknown method 'weighted-hardness'"),
        ({"method": fx.Lexicase(slippage=0.1)}, "method must be"),
        ({"default_weight": "mean"}, "default_weight must be one of 'max', 'min', got 'mean'"),
        ({"w_min": 0.0}, "w_min must be"),
        ({"w_max": 0.5}, "w_max must be"),
        ({"lookahead": 0}, "lookahead must be at least 1, got 0"),
        ({"optimizer_state": "forget"}, "optimizer_state must be one of 'reset', 'inherit'"),
        ({"population": 0}, "population must be at least 1, got 0"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"error_fn": lambda o, t: o}, "error_fn needs loss"),
        ({"autocast": torch.float16}, "autocast must be torch.bfloat16 or None"),
    ],
)
def test_arguments_that_make_no_sense(changes, message):
    with pytest.raises(ValueError, match=message):
        search(**changes)


def test_there_is_no_parent_before_the_first_generation():
    with pytest.raises(RuntimeError, match=r"there is no parent yet: no generation is done"):
        _ = search().parent


def test_a_function_instead_of_a_list_of_callbacks():
    with pytest.raises(
        TypeError, match=r"callbacks must be a sequence of functions, got a function; .* callbacks=\[f\]"
    ):
        small(callbacks=print)
    with pytest.raises(TypeError, match=r"callbacks must be a sequence of functions, got 3 in it"):
        small(callbacks=[print, 3])


@pytest.mark.parametrize("name", ["loss", "transform", "selection_transform", "schedule", "error_fn"])
def test_something_else_instead_of_a_function(name):
    changes = {"loss": nn.functional.cross_entropy, name: 3}
    with pytest.raises(TypeError, match=f"{name} must be a function, got 3"):
        small(**changes)


@pytest.mark.parametrize("seconds", ["often", float("nan"), True])
def test_a_time_between_checkpoints_that_is_no_number(tmp_path, seconds):
    found = small()
    with pytest.raises((TypeError, ValueError), match="save_every must be a number, got"):
        found.fit(2, save=tmp_path, save_every=seconds)
    assert found.generation == 0
