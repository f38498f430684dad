"""The cases of a map-style data set, read in batches and checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import TensorDataset, default_collate

from flexicase.torch.fingerprint import checksum, describe_tensors

#: How much of a data set its fingerprint reads: so many bytes if it can be read in batches, otherwise so many cases.
SAMPLED_BYTES = 2**24
SAMPLED_CASES = 32


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
        if isinstance(data_set, tuple | list) and data_set and isinstance(data_set[0], Tensor | np.ndarray):
            raise TypeError(
                f"{name} must be a data set of (input, target), got a {type(data_set).__name__} of arrays; use "
                "torch.utils.data.TensorDataset(inputs, targets)"
            )
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
        inputs, targets = self._pair(which)
        if self.classes is not None:
            targets = self._labels(targets, which, checked=not self._unchecked)
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
            self._labels(known, torch.arange(len(self)))

    @cached_property
    def fingerprint(self) -> str:
        """Number, types and shapes of the cases, and a checksum of a sample of them that is spread over all.

        The checksum is left out if the same cases differ when they are read again.
        """
        sums = []
        with torch.random.fork_rng([]):
            one = self._pair(torch.zeros(1, dtype=torch.int64))
            size = sum(max(1, part.numel() * part.element_size()) for part in one)
            by_items = self._read == self._read_items
            n = min(len(self), SAMPLED_CASES if by_items else max(SAMPLED_CASES, SAMPLED_BYTES // size))
            for _ in range(2):
                torch.manual_seed(0)
                sums.append(checksum(self._pair(torch.arange(n) * len(self) // n)))
        kind = f"{len(self)} cases of {describe_tensors(part[0] for part in one)}"
        return f"{kind}, {sums[0]}" if sums[0] == sums[1] else kind

    def _all_targets(self) -> Tensor | None:
        if isinstance(self.data_set, TensorDataset):
            return self.data_set.tensors[1]
        labels = getattr(self.data_set, "labels", None) if isinstance(self.data_set, Batched) else None
        return labels if isinstance(labels, Tensor) else None

    def _reader(self) -> Callable[[Tensor], Any]:
        if isinstance(self.data_set, Batched):
            return self.data_set.batch
        if isinstance(self.data_set, TensorDataset) and len(self.data_set.tensors) == 2:
            inputs, targets = self.data_set.tensors
            return lambda which: (inputs[which], targets[which])
        return self._read_items

    def _read_items(self, which: Tensor) -> Any:
        if hasattr(self.data_set, "__getitems__"):
            items = self.data_set.__getitems__(which.tolist())
        else:
            items = [self.data_set[case] for case in which.tolist()]
        for case, item in zip(which.tolist(), items, strict=True):
            if not isinstance(item, tuple | list):
                raise TypeError(
                    f"{self.name} must give (input, target) for a case, got {type(item).__name__} for case {case}"
                )
        try:
            return default_collate(items)
        except (TypeError, RuntimeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise TypeError(
                f"{self.name} must give tensors, arrays or numbers of the same shape for each case, but cases "
                f"{' and '.join(map(str, which[:2].tolist()))} do not go together: {reason}"
            ) from error

    def _pair(self, which: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and targets of some cases, as the data set gives them."""
        read = self._read(which)
        if not isinstance(read, tuple | list) or len(read) != 2:
            found = f"{len(read)} values" if isinstance(read, tuple | list) else type(read).__name__
            raise ValueError(f"{self.name} must give (input, target) for a case, got {found}")
        for part, what in zip(read, ("input", "target"), strict=True):
            if not isinstance(part, Tensor):
                raise TypeError(
                    f"{self.name} must give tensors, arrays or numbers, got {type(part).__name__} as {what}"
                )
        return read[0], read[1]

    def _labels(self, targets: Tensor, which: Tensor, *, checked: bool = False) -> Tensor:
        """Targets as class labels, the int64 that losses take."""
        assert self.classes is not None
        if targets.is_floating_point() or targets.is_complex() or targets.ndim != 1:
            raise ValueError(
                f"targets of {self.name} must be class labels, whole numbers, one per case, got {targets.dtype} of "
                f"shape {tuple(targets.shape)} (for anything else give error_fn and loss)"
            )
        targets = targets.to(torch.int64)
        wrong = torch.tensor(False) if checked else (targets < 0) | (targets >= self.classes)
        if wrong.any():
            at = int(wrong.int().argmax())
            raise ValueError(
                f"targets of {self.name} must be class labels from 0 to {self.classes - 1}, as the network has "
                f"{self.classes} outputs, got {int(targets[at])} for case {int(which[at])}"
            )
        return targets
