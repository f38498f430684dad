"""Every augmented image is a crop of its padded self, mirrored or not."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

import flexicase.torch as ft


@pytest.mark.parametrize(("padding", "flip"), [(4, 0.5), (1, 0.0), (0, 1.0), (2, 1.0)])
def test_crops_of_padded_images(padding, flip):
    images = torch.randn(40, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    fill = [-1.0, 2.0, 0.5]
    out = ft.PadCropFlip(padding, flip, fill)(images, torch.Generator().manual_seed(2))
    places, mirrored = set(), 0
    for image, found in zip(images, out, strict=True):
        padded = torch.stack([functional.pad(c, (padding,) * 4, value=v) for c, v in zip(image, fill, strict=True)])
        matches = [
            (top, left, flipped)
            for top in range(2 * padding + 1)
            for left in range(2 * padding + 1)
            for flipped in (False, True)
            if torch.equal(_crop(padded, top, left, flipped), found)
        ]
        assert matches
        places.add(matches[0][:2])
        mirrored += matches[0][2]
    assert len(places) > min(20, (2 * padding + 1) ** 2 // 2)
    assert mirrored == {0.0: 0, 1.0: 40}.get(flip, mirrored)
    assert flip in (0.0, 1.0) or 8 < mirrored < 32


def _crop(padded, top, left, flipped):
    crop = padded[:, top : top + 8, left : left + 8]
    return crop.flip(-1) if flipped else crop


def test_the_same_draws_give_the_same_images():
    images = torch.randn(5, 1, 8, 8)
    augment = ft.PadCropFlip()
    one, two = (augment(images, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one, two)
