"""What cannot work is refused at once, with a message that says what to change."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase as fx
import flexicase.torch as ft
from tests.torch.training_runs import network, search


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
        ft.GradientLexicase(lambda: nn.Sequential(model), data_set([0, 1, 2, 3]))


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
