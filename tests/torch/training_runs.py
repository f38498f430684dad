"""Short trainings that several tests share."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import torch
from torch import nn
from torch.utils.data import TensorDataset

import flexicase.torch as ft


def network():
    return ft.vgg("digits", channels=1, size=8)


def search(train=96, **changes):
    """Gradient lexicase on made-up images, a fraction of a second per generation."""
    settings = {"seed": 5, "batch_size": 16, "selection": "fast", **changes}
    data = ft.data.load("fake", train=train, test=32)
    return ft.GradientLexicase(network, data.train, **settings)


def small(model=lambda: nn.Linear(4, 3), data=None, **changes):
    """Gradient lexicase on 20 cases of 4 numbers, milliseconds per generation."""
    settings = {"population": 4, "batch_size": 5, "seed": 1, "generations": 9, **changes}
    return ft.GradientLexicase(model, cases() if data is None else data, **settings)


def cases(n=20, targets=None, dtype=torch.float32, shift=0.0):
    inputs = (torch.linspace(-1, 1, 4 * n).reshape(n, 4) + shift).to(dtype)
    return TensorDataset(inputs, torch.arange(n) % 3 if targets is None else targets)


class Poison(torch.autograd.Function):
    """Passes outputs on unchanged, and gives NaN as their gradient."""

    @staticmethod
    def forward(ctx, outputs):
        return outputs.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * float("nan")


class Averaging(nn.Linear):
    """Subtracts a running mean, kept in a buffer that is no part of state_dict."""

    def __init__(self):
        super().__init__(4, 3)
        self.register_buffer("mean", torch.zeros(4), persistent=False)

    def forward(self, inputs):
        if self.training:
            self.mean.lerp_(inputs.mean(0), 0.3)
        return super().forward(inputs - self.mean)


def fingerprint(found: ft.GradientLexicase) -> str:
    """Everything that must not depend on interruptions: parameters, case weights, records without times."""
    state = hashlib.sha256(found.weights.tobytes())
    for name, value in found.parent.state_dict().items():
        state.update(name.encode() + value.numpy().tobytes())
    for record in found.records:
        state.update(repr(replace(record, seconds_train=0, seconds_select=0, seconds_test=0)).encode())
    return state.hexdigest()
