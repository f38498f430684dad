"""The cases of a map-style data set, read in batches and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import TensorDataset, default_collate


@runtime_checkable
class Batched(Protocol):
    """A data set that can be read many cases at a time.

    Example:
        >>> import flexicase.torch as ft
        >>> from flexicase.torch.cases import Batched
        >>> isinstance(ft.data.load("fake", train=8, test=8).train, Batched)
        True
    """

    def batch(self, cases: Tensor) -> tuple[Tensor, Tensor]:
        """The inputs and targets of (b,) cases."""
        ...


class Cases:
    """A data set of (input, target), read in batches on a device.

    Args:
        data_set: Anything with ``len`` and ``[index]`` that gives (input, target).
        device: Where batches go.
        channels_last: Whether images are laid out with the channels last.
        name: What to call the data set in messages.

    Raises:
        TypeError: It is no map-style data set.
        ValueError: It is empty.
    """

    def __init__(self, data_set: Any, device: torch.device, *, channels_last: bool = False, name: str) -> None:
        """Check that there is something to read."""
        if not hasattr(data_set, "__len__") or not hasattr(data_set, "__getitem__"):
            raise TypeError(f"{name} must be a map-style data set, with len() and [index], got {data_set!r:.80}")
        if not len(data_set):
            raise ValueError(f"{name} must have at least one case, got an empty data set")
        self.data_set = data_set
        self.device = device
        self.channels_last = channels_last
        self.name = name
        self.classes: int | None = None
        self._unchecked = False
        self._read = self._reader()

    def __len__(self) -> int:
        """How many cases."""
        return len(self.data_set)

    def batch(self, cases: NDArray[np.int64] | Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and targets of some cases, on the device.

        Args:
            cases: (b,) indices.

        Raises:
            ValueError: A target is not a class that the network has.
        """
        which = torch.as_tensor(cases)
        inputs, targets = self._read(which)
        if self._unchecked:
            self._check_labels(targets, which)
        if self.channels_last and inputs.ndim == 4:
            return inputs.to(self.device, memory_format=torch.channels_last), targets.to(self.device)
        return inputs.to(self.device), targets.to(self.device)

    def expect_one_each(self, candidates: int) -> None:
        """Refuse fewer cases than candidates.

        Raises:
            ValueError: There are fewer.
        """
        if len(self) < candidates:
            raise ValueError(
                f"{self.name} must have at least one case per candidate, got {len(self)} cases and {candidates} "
                "candidates"
            )

    def expect_labels(self, classes: int) -> None:
        """From now on, targets must be class labels; those that can be read at once are checked at once.

        Raises:
            ValueError: A target is not a class that the network has.
        """
        self.classes = classes
        known = self._all_targets()
        self._unchecked = known is None
        if known is not None:
            self._check_labels(known, torch.arange(len(self)))

    def _all_targets(self) -> Tensor | None:
        if isinstance(self.data_set, TensorDataset):
            return self.data_set.tensors[1]
        labels = getattr(self.data_set, "labels", None) if isinstance(self.data_set, Batched) else None
        return labels if isinstance(labels, Tensor) else None

    def _reader(self) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
        if isinstance(self.data_set, Batched):
            return self.data_set.batch
        if isinstance(self.data_set, TensorDataset) and len(self.data_set.tensors) == 2:
            inputs, targets = self.data_set.tensors
            return lambda which: (inputs[which], targets[which])
        return self._read_items

    def _read_items(self, which: Tensor) -> tuple[Tensor, Tensor]:
        if hasattr(self.data_set, "__getitems__"):
            items = self.data_set.__getitems__(which.tolist())
        else:
            items = [self.data_set[case] for case in which.tolist()]
        read: tuple[Tensor, Tensor] = tuple(default_collate(items))  # type: ignore[assignment]
        if len(read) != 2:
            raise ValueError(f"{self.name} must give (input, target) for a case, got {len(read)} values")
        return read

    def _check_labels(self, targets: Tensor, which: Tensor) -> None:
        assert self.classes is not None
        if targets.is_floating_point() or targets.ndim != 1:
            raise ValueError(
                f"targets of {self.name} must be class labels, whole numbers, one per case, got {targets.dtype} of "
                f"shape {tuple(targets.shape)} (for anything else give error_fn and loss)"
            )
        wrong = (targets < 0) | (targets >= self.classes)
        if wrong.any():
            at = int(wrong.int().argmax())
            raise ValueError(
                f"targets of {self.name} must be class labels from 0 to {self.classes - 1}, as the network has "
                f"{self.classes} outputs, got {int(targets[at])} for case {int(which[at])}"
            )
