"""VGG networks have the published sizes."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

import flexicase.torch as ft
from flexicase.torch.models import MaxPool


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
    with pytest.raises(ValueError, match="depth must be 11, 13, 16, 19, 'small' or 'digits', got"):
        ft.vgg(depth)


def test_images_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match="size must be at least 32 for vgg16, got 8"):
        ft.vgg(16, size=8)
