"""VGG networks have the published sizes, and networks that cannot be candidates are refused."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import TensorDataset

import flexicase.torch as ft
from flexicase.torch.models import MaxPool
from tests.torch._helpers import cases, network, search, small


@pytest.mark.slow
@pytest.mark.parametrize(
    ("depth", "convolutions", "parameters"),
    [(11, 8, 9.23e6), (13, 10, 9.42e6), (16, 13, 14.73e6), (19, 16, 20.04e6), ("small", 4, 71e3)],
)
def test_sizes(depth, convolutions, parameters):
    model = ft.vgg(depth)
    assert sum(isinstance(layer, torch.nn.Conv2d) for layer in model) == convolutions
    assert sum(isinstance(layer, torch.nn.BatchNorm2d) for layer in model) == convolutions
    assert sum(p.numel() for p in model.parameters()) == pytest.approx(parameters, rel=0.01)
    assert all(layer.bias is not None for layer in model if isinstance(layer, torch.nn.Conv2d))


def test_outputs_have_one_number_per_class():
    assert ft.vgg(11, classes=7).eval()(torch.zeros(2, 3, 32, 32)).shape == (2, 7)
    assert ft.vgg("digits", channels=1, size=8).eval()(torch.zeros(3, 1, 8, 8)).shape == (3, 10)


@pytest.mark.parametrize("shape", [(64, 8, 8, 8), (3, 7, 31, 33), (9, 5, 16, 17)])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_pooling_is_that_of_pytorch(shape, layout):
    """To the bit, also for odd sides and images that are not a number."""
    images = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    images[0, 0, 1, 1] = float("nan")
    images = images.to(memory_format=layout)
    for pool in (MaxPool().eval(), MaxPool()):
        assert torch.equal(pool(images).nan_to_num(7.0), functional.max_pool2d(images, 2).nan_to_num(7.0))


@pytest.mark.parametrize("depth", [12, "vgg", "VGG16"])
def test_unknown_depths_are_refused(depth):
    with pytest.raises(ValueError, match="depth must be 11, 13, 16, 19, 'vgg11-quarter', 'small' or 'digits', got"):
        ft.vgg(depth)


def test_images_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match="size must be at least 32 for vgg16, got 8"):
        ft.vgg(16, size=8)


def data_set(labels, n=None):
    labels = torch.as_tensor(labels)
    return TensorDataset(torch.zeros(n or len(labels), 1, 8, 8), labels)


def linear():
    return nn.Linear(4, 3)


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
