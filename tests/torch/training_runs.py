"""Short trainings that several tests share."""

from __future__ import annotations

import hashlib

import flexicase.torch as ft


def network():
    return ft.vgg("digits", channels=1, size=8)


def search(train=96, **changes):
    """Gradient lexicase on made-up images, a fraction of a second per generation."""
    settings = {"seed": 5, "batch_size": 16, "selection": "fast", **changes}
    data = ft.data.load("fake", train=train, test=32)
    return ft.GradientLexicase(network, data.train, **settings)


def fingerprint(found: ft.GradientLexicase) -> str:
    """Everything that must not depend on interruptions: parameters, case weights, records without times."""
    state = hashlib.sha256(found.weights.tobytes())
    for name, value in found.parent.state_dict().items():
        state.update(name.encode() + value.numpy().tobytes())
    for record in found.records:
        state.update(repr(record._replace(seconds_train=0, seconds_select=0, seconds_test=0)).encode())
    return state.hexdigest()
