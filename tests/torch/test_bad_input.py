"""What cannot work is refused at once, with a message that says what to change."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase as fx
import flexicase.torch as ft
from tests.torch.training_runs import cases, network, search, small


def data_set(labels, n=None):
    labels = torch.as_tensor(labels)
    return TensorDataset(torch.zeros(n or len(labels), 1, 8, 8), labels)


class Lazy:
    """A data set whose labels are seen only case by case."""

    def __len__(self):
        return 8

    def __getitem__(self, case):
        return torch.zeros(1, 8, 8), 10 if case == 7 else 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2, 10], "labels from 0 to 9, as the network has 10 outputs, got 10 for case 3"),
        ([0, -1, 2, 3], "got -1 for case 1"),
        (
            [0.0, 1.0, 2.0, 3.0],
            "targets of train_set must be class labels, whole numbers, one per case, got torch.float32",
        ),
    ],
)
def test_labels_that_are_no_classes(labels, message):
    with pytest.raises(ValueError, match=message):
        ft.GradientLexicase(network, data_set(labels))


def test_labels_that_are_no_classes_are_found_late_if_need_be():
    found = ft.GradientLexicase(network, Lazy(), seed=1)
    with pytest.raises(ValueError, match=r"labels from 0 to 9, as the network has 10 outputs, got 10 for case 7"):
        found.fit(1)


def test_labels_of_the_test_set_are_checked():
    with pytest.raises(ValueError, match=r"targets of test_set must be class labels from 0 to 9"):
        search(test_set=data_set([3, 12]))


def test_an_empty_data_set():
    with pytest.raises(ValueError, match=r"train_set must have at least one case, got an empty data set"):
        ft.GradientLexicase(network, data_set(torch.zeros(0, dtype=torch.long)))


def test_no_data_set():
    with pytest.raises(TypeError, match=r"train_set must be a map-style data set, with len"):
        ft.GradientLexicase(network, iter([]))


def test_fewer_cases_than_candidates():
    with pytest.raises(ValueError, match=r"at least one case per candidate, got 3 cases and 4 candidates"):
        ft.GradientLexicase(network, data_set([0, 1, 2]))


@pytest.mark.parametrize(
    ("model", "shape"), [(nn.Flatten(0, -1), r"\(128,\)"), (nn.Identity(), r"\(2, 1, 8, 8\)")], ids=["flat", "image"]
)
def test_a_network_whose_output_has_the_wrong_shape(model, shape):
    with pytest.raises(ValueError, match=rf"output for 2 cases must have shape \(2, classes\), got {shape}"):
        ft.GradientLexicase(lambda: nn.Sequential(nn.Linear(8, 8), model), data_set([0, 1, 2, 3]))


def test_a_network_that_does_not_take_the_inputs():
    with pytest.raises(
        ValueError, match=r"must take batches of train_set, of shape \(2, 1, 8, 8\), but fails: mat1 and mat2"
    ):
        ft.GradientLexicase(lambda: nn.Linear(3, 10), data_set([0, 1, 2, 3]))


def test_a_loss_per_case():
    found = search(loss=lambda output, target: nn.functional.cross_entropy(output, target, reduction="none"))
    with pytest.raises(ValueError, match=r"loss must give one number for a batch, got shape \(16,\)"):
        found.fit(1)


@pytest.mark.parametrize("device", ["cuda:7", "nonsense"])
def test_a_device_that_does_not_exist(device):
    with pytest.raises(ValueError, match=f"device must be one that torch can use here, got '{device}'"):
        search(device=device)


def test_a_network_instead_of_a_function():
    with pytest.raises(TypeError, match=r"model_fn must be a function that makes a network each time, got Sequential"):
        ft.GradientLexicase(network(), data_set([0, 1, 2, 3]))


def test_the_same_network_again_and_again():
    one = network()
    with pytest.raises(ValueError, match=r"model_fn must make a new network each time"):
        ft.GradientLexicase(lambda: one, data_set([0, 1, 2, 3]))


def test_an_error_function_that_gives_no_error_per_case():
    found = ft.GradientLexicase(
        network, data_set([0, 1, 2, 3]), error_fn=lambda o, t: o, loss=nn.functional.cross_entropy, seed=1
    )
    with pytest.raises(fx.EvaluationError, match=r"error_fn must give one error per case, shape \(1,\), got \(1, 10\)"):
        found.fit(1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"selection": "tournament"}, "selection must be one of 'lexicase', 'fast', got 'tournament'"),
        (
            {"selection": fx.FastLexicase(7)},
            "selection must be for the 96 cases of train_set, got a FastLexicase for 7",
        ),
        ({"selection": fx.FastLexicase(96), "bias": "split"}, "bias must be left out when selection is a FastLexicase"),
        ({"bias": "hardness"}, "bias must be one of 'num_nonzeros', 'num_zeros', 'split', got 'hardness'"),
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


def linear():
    return nn.Linear(4, 3)


def test_a_function_instead_of_a_list_of_callbacks():
    with pytest.raises(
        TypeError, match=r"callbacks must be a sequence of functions, got a function; .* callbacks=\[f\]"
    ):
        small(callbacks=print)
    with pytest.raises(TypeError, match=r"callbacks must be a sequence of functions, got 3 in it"):
        small(callbacks=[print, 3])


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.int16, torch.int64])
def test_labels_may_be_of_any_whole_type(dtype):
    """Cross-entropy takes int64 alone; the same labels in another type train the same network."""
    found, expected = small(data=cases(targets=(torch.arange(20) % 3).to(dtype))), small()
    found.fit(2), expected.fit(2)
    assert all(map(torch.equal, found.parent.parameters(), expected.parent.parameters()))


def test_labels_may_be_yes_and_no():
    found = small(lambda: nn.Linear(4, 2), cases(targets=torch.arange(20) % 2 == 0))
    assert found.fit(1)[0].loss > 0
    assert 0 <= found.evaluate(cases(targets=torch.arange(20) % 2 == 0)) <= 1


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


@pytest.mark.parametrize("name", ["loss", "transform", "selection_transform", "schedule", "error_fn"])
def test_something_else_instead_of_a_function(name):
    changes = {"loss": nn.functional.cross_entropy, name: 3}
    with pytest.raises(TypeError, match=f"{name} must be a function, got 3"):
        small(**changes)


@pytest.mark.parametrize("factor", [None, "x", float("nan"), float("inf")])
def test_a_schedule_that_gives_no_factor(factor):
    with pytest.raises((TypeError, ValueError), match=r"schedule must return a finite number, got "):
        small(schedule=lambda generation, generations: factor).fit(1)


class Frozen(nn.Linear):
    def __init__(self):
        super().__init__(4, 3)
        self.requires_grad_(False)


@pytest.mark.parametrize("model", [Frozen, nn.Flatten], ids=["frozen", "no parameters"])
def test_nothing_to_train(model):
    with pytest.raises(ValueError, match=r"model_fn must make networks with a parameter to train, got none"):
        small(model)


def test_networks_that_wait_for_their_first_batch():
    with pytest.raises(ValueError, match=r"model_fn must make networks whose parameters are initialised, got 'weight'"):
        small(lambda: nn.LazyLinear(3))


def test_everything_in_bfloat16():
    model, data = (lambda: linear().bfloat16()), cases(dtype=torch.bfloat16)
    found = small(model, data)
    found.fit(2)
    again = small(model, data)
    again.load_state_dict(found.state_dict())
    assert torch.equal(again.parent.weight, found.parent.weight)


def test_a_network_of_another_type_than_the_data():
    with pytest.raises(ValueError, match=r"the network must take batches of train_set.* but fails: .*dtype"):
        small(lambda: linear().bfloat16())


def test_a_single_case():
    assert small(data=cases(1), population=1).fit(2)[-1].cases_used <= 1
    with pytest.raises(ValueError, match="at least one case per candidate, got 1 cases and 4 candidates"):
        small(data=cases(1))


class Items(list):
    """A data set of whatever is in a list."""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((torch.zeros(20, 4), torch.zeros(20).long()), r"train_set must be a data set .*TensorDataset"),
        (torch.zeros(20, 4), r"train_set must give \(input, target\) for a case, got Tensor for case 0"),
        (TensorDataset(torch.zeros(20, 4)), r"train_set must give \(input, target\) for a case, got 1 values"),
        (TensorDataset(*[torch.zeros(20, 4)] * 3), r"train_set must give \(input, target\) for a case, got 3 values"),
        (Items([None] * 20), r"train_set must give \(input, target\) for a case, got NoneType for case 0"),
        (Items([(None, 1)] * 20), r"train_set must give .*tensors, arrays or numbers.*cases 0 and 1.*NoneType"),
        (Items([(torch.zeros(4), "cat")] * 20), r"train_set must give tensors, arrays or numbers, got tuple as target"),
        (
            Items([({"x": torch.zeros(4)}, 1)] * 20),
            r"train_set must give tensors, arrays or numbers, got dict as input",
        ),
        (Items([(torch.zeros(4 + i), 1) for i in range(20)]), r"train_set must give .*cases 0 and 1.*equal size"),
        (dict.fromkeys(range(20), 3), r"train_set must give \(input, target\) for a case, got int for case 0"),
        ("twenty letters, or so", r"train_set must give \(input, target\) for a case, got str for case 0"),
    ],
)
def test_data_that_are_no_cases(data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        small(data=data)


def test_networks_that_share_a_part():
    """Training one candidate would train the others."""
    shared = nn.Linear(4, 4)
    with pytest.raises(ValueError, match=r"model_fn must make a new network each time, but two share '0.weight'"):
        small(lambda: nn.Sequential(shared, nn.Linear(4, 3)))
    mask = torch.ones(4)

    def masked():
        model = linear()
        model.register_buffer("mask", mask)
        return model

    with pytest.raises(ValueError, match=r"two share 'mask'"):
        small(masked)


def test_a_network_may_share_within_itself():
    def tied():
        one = nn.Linear(4, 4)
        return nn.Sequential(one, nn.ReLU(), one, nn.Linear(4, 3))

    assert small(tied).fit(1)[0].loss > 0


def test_a_function_that_makes_no_networks():
    with pytest.raises(TypeError, match=r"model_fn must make a torch.nn.Module, got Tensor"):
        small(lambda: torch.zeros(3))


class Extra(nn.Linear):
    def __init__(self):
        super().__init__(4, 3)

    def get_extra_state(self):
        return {"version": 1}

    def set_extra_state(self, state):
        pass


def test_networks_with_state_that_is_no_tensor():
    with pytest.raises(
        ValueError, match=r"model_fn must make networks whose state holds tensors alone, got dict as '_extra_state'"
    ):
        small(Extra)


def test_an_error_function_that_gives_no_tensor():
    found = small(error_fn=lambda o, t: [0.0] * len(o), loss=nn.functional.cross_entropy)
    with pytest.raises(fx.EvaluationError, match=r"error_fn must return a tensor, got list"):
        found.fit(1)


@pytest.mark.parametrize("seconds", ["often", float("nan"), True])
def test_a_time_between_checkpoints_that_is_no_number(tmp_path, seconds):
    found = small()
    with pytest.raises((TypeError, ValueError), match="save_every must be a number, got"):
        found.fit(2, save=tmp_path, save_every=seconds)
    assert found.generation == 0
