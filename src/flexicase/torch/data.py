"""Image data sets, and augmentation of whole batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from flexicase._checks import check_choice, check_count, check_fraction
from flexicase.torch._cifar import Batch, read_cifar10


class PadCropFlip:
    """Pads images, crops each at a random position, and mirrors some at random.

    Args:
        padding: Pixels added on every side.
        flip: Probability of mirroring left to right.
        fill: Value of the added pixels, one per channel or one for all; for black borders of normalised images, the
            value that black is normalised to.

    Example:
        >>> import torch
        >>> import flexicase.torch as ft
        >>> images = torch.arange(2 * 3 * 4 * 4.0).reshape(2, 3, 4, 4)
        >>> ft.PadCropFlip(padding=1)(images, torch.Generator().manual_seed(1)).shape
        torch.Size([2, 3, 4, 4])
    """

    def __init__(self, padding: int = 4, flip: float = 0.5, fill: float | Sequence[float] = 0.0) -> None:
        self.padding = check_count(padding, "padding")
        self.flip = check_fraction(flip, "flip")
        self.fill = torch.as_tensor(fill, dtype=torch.float64)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Augment (b, channels, height, width) images on any device, with a generator on the CPU."""
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


NAMES = ("digits", "cifar10")
MAX_FLOAT_BYTES = 2**26
DIGITS_TEST = 500
CIFAR_MEAN, CIFAR_STD = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)


class Images:
    """A map-style data set of normalised images that can be read in batches.

    Args:
        images: (n, channels, height, width) uint8.
        labels: (n,) integers.
        mean: Mean of each channel, with pixels from 0 to 1.
        std: Standard deviation of each channel.
        white: The largest pixel value.

    Example:
        >>> import numpy as np
        >>> from flexicase.torch.data import Images
        >>> images = Images(np.full((5, 1, 8, 8), 255, np.uint8), np.arange(5), mean=[0.5], std=[0.25])
        >>> image, label = images[3]
        >>> image.shape, float(image.max()), label
        (torch.Size([1, 8, 8]), 2.0, 3)
    """

    def __init__(
        self,
        images: NDArray[np.uint8],
        labels: NDArray[np.integer],
        mean: Sequence[float],
        std: Sequence[float],
        white: float = 255.0,
    ) -> None:
        self.labels = torch.from_numpy(np.array(labels, dtype=np.int64))
        self._mean, self._std = (torch.tensor(values, dtype=torch.float32).view(-1, 1, 1) for values in (mean, std))
        self._white = white
        self._pixels = torch.from_numpy(np.array(images, dtype=np.uint8))
        self._is_normal = self._pixels.numel() * 4 <= MAX_FLOAT_BYTES
        if self._is_normal:
            self._pixels = self._normalised(self._pixels)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, case: int) -> tuple[Tensor, int]:
        inputs, labels = self.batch(torch.tensor([case]))
        return inputs[0], int(labels[0])

    def batch(self, cases: Tensor) -> tuple[Tensor, Tensor]:
        """(b, channels, height, width) float32 images and (b,) int64 labels of (b,) cases."""
        pixels = self._pixels[cases]
        return pixels if self._is_normal else self._normalised(pixels), self.labels[cases]

    def _normalised(self, pixels: Tensor) -> Tensor:
        return (pixels.to(torch.float32) / self._white - self._mean) / self._std


@dataclass(frozen=True)
class ImageData:
    """Training and test cases, with the facts that a network and its training need.

    Attributes:
        transform: The usual augmentation, or None.
        size: Height and width of the images.
    """

    train: Images
    test: Images
    transform: PadCropFlip | None
    channels: int
    size: int
    classes: int


def load(
    dataset: str,
    cifar_dir: str | Path | None = None,
    *,
    train_cases: int | None = None,
    test_cases: int | None = None,
) -> ImageData:
    """Load a data set of images.

    Args:
        dataset: ``"digits"``: 1,797 handwritten digits of 8 × 8 pixels, from scikit-learn, 500 of them for testing;
            ``"cifar10"``: 60,000 photographs of 32 × 32 pixels, 10,000 of them for testing.
        cifar_dir: For ``"cifar10"``: folder with ``cifar-10-python.tar.gz`` or ``cifar-10-binary.tar.gz``, or with the
            files in them.
        train_cases: Number of training cases, the first ones; all if None.
        test_cases: Number of test cases.

    Example:
        >>> import flexicase.torch as ft
        >>> digits = ft.data.load("digits")
        >>> len(digits.train), len(digits.test)
        (1297, 500)
    """
    check_choice(dataset, "dataset", NAMES)
    for limit, name in ((train_cases, "train_cases"), (test_cases, "test_cases")):
        if limit is not None:
            check_count(limit, name, 1)
    mean: Sequence[float]
    std: Sequence[float]
    if dataset == "digits":
        train, test = _digits()
        white, mean, std = 16.0, [float(train.images.mean() / 16)], [float(train.images.std() / 16)]
        transform = PadCropFlip(padding=1, flip=0.0, fill=-mean[0] / std[0])
    else:
        if cifar_dir is None:
            raise ValueError("cifar_dir must be the folder with CIFAR-10, got None")
        *batches, test = read_cifar10(cifar_dir)
        train = Batch(*map(np.concatenate, zip(*batches, strict=True)))
        white, mean, std = 255.0, CIFAR_MEAN, CIFAR_STD
        transform = PadCropFlip(fill=[-mean / std for mean, std in zip(CIFAR_MEAN, CIFAR_STD, strict=True)])
    sets = []
    for batch, limit, name in ((train, train_cases, "train_cases"), (test, test_cases, "test_cases")):
        if limit is not None and limit > len(batch.images):
            raise ValueError(f"{name} must be at most {len(batch.images)}, got {limit}")
        sets.append(Images(batch.images[:limit], batch.labels[:limit], mean, std, white))
    _, channels, size, _ = train.images.shape
    return ImageData(sets[0], sets[1], transform, channels, size, classes=10)


def _digits() -> tuple[Batch, Batch]:
    """The training and test cases."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError("the digits come with scikit-learn: pip install 'flexicase[torch]'") from error
    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    images, labels = found.images[order].astype(np.uint8)[:, None], found.target[order]
    train, test = slice(-DIGITS_TEST), slice(-DIGITS_TEST, None)
    return Batch(images[train], labels[train]), Batch(images[test], labels[test])
