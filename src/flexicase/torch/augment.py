"""Augmentation of whole batches, on tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from flexicase._checks import check_count, check_fraction
from flexicase.rng import Key, Lane
from flexicase.torch.training import Transform, generator


class PadCropFlip:
    """Pads images, crops them to their size at a random place, and mirrors some: each image by draws of its own.

    Args:
        padding: Pixels added on every side.
        flip: Probability of mirroring left to right.
        fill: Value of the added pixels, one per channel or one for all; for black borders of normalised images, what
            black was normalised to.

    Example:
        >>> import torch
        >>> import flexicase.torch as ft
        >>> images = torch.arange(2 * 3 * 4 * 4.0).reshape(2, 3, 4, 4)
        >>> ft.PadCropFlip(padding=1)(images, torch.Generator().manual_seed(1)).shape
        torch.Size([2, 3, 4, 4])
    """

    def __init__(self, padding: int = 4, flip: float = 0.5, fill: float | Sequence[float] = 0.0) -> None:
        """Check the amounts."""
        self.padding = check_count(padding, "padding")
        self.flip = check_fraction(flip, "flip")
        self.fill = torch.as_tensor(fill, dtype=torch.float64)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Augment a batch.

        Args:
            images: (b, channels, height, width), on any device.
            generator: A generator on the CPU.

        Returns:
            (b, channels, height, width).
        """
        b, channels, height, width = images.shape
        corners = torch.randint(0, 2 * self.padding + 1, (2, b, 1), generator=generator)
        mirrored = torch.rand(b, 1, generator=generator) < self.flip
        rows = corners[0] + torch.arange(height)
        columns = corners[1] + torch.where(mirrored, torch.arange(width - 1, -1, -1), torch.arange(width))
        fill = self.fill.to(images).expand(channels).view(1, channels, 1, 1)
        pad = self.padding
        padded = fill.expand(b, channels, height + 2 * pad, width + 2 * pad).clone()
        padded[:, :, pad : pad + height, pad : pad + width] = images
        rows, columns = rows.to(images.device), columns.to(images.device)
        which = torch.arange(b, device=images.device).view(b, 1, 1)
        return padded.permute(0, 2, 3, 1)[which, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


@dataclass(frozen=True)
class PerCase:
    """Applies a transform case by case, with draws that depend on generation and case alone.

    Attributes:
        transform: The transform.
        key: Key of the random streams.
        generation: The generation.
    """

    transform: Transform
    key: Key
    generation: int

    def __call__(self, inputs: Tensor, cases: NDArray[np.int64]) -> Tensor:
        """Augment the (b, …) inputs of (b,) cases."""
        draws = [generator(self.key, self.generation, Lane.AUGMENTATION, case) for case in cases.tolist()]
        return torch.cat([self.transform(inputs[j : j + 1], draw) for j, draw in enumerate(draws)])
