"""Errors of candidates on cases: reading a data set in batches, and running the networks on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from statistics import median
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import TensorDataset, default_collate
from torch.utils.flop_counter import FlopCounterMode

from flexicase.evaluation._lookahead import GROWTH_DELAY, Growing
from flexicase.torch._fingerprint import checksum, describe_tensors

#: How much of a data set its fingerprint reads: bytes if it can be read in batches, cases if not.
SAMPLED_BYTES = 2**24
SAMPLED_CASES = 32


class CaseLoader:
    """A map-style data set of (input, target), read in batches on a device; messages call it ``name``.

    If the data set has a method ``batch`` from (b,) cases to their inputs and targets, it is used.
    """

    def __init__(self, data_set: Any, device: torch.device, *, name: str) -> None:
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
        self.name = name
        self.classes: int | None = None
        self._is_checked = False
        self._read = self._reader()

    def __len__(self) -> int:
        return len(self.data_set)

    def batch(self, cases: NDArray[np.int64] | Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and targets of (b,) cases, on the device."""
        which = torch.as_tensor(cases)
        inputs, targets = self._pair(which)
        if self.classes is not None:
            targets = self._labels(targets, which)
        return inputs.to(self.device), targets.to(self.device)

    def check_labels(self, classes: int) -> None:
        """Require class labels as targets from now on; those that can be read at once are checked at once."""
        self.classes, self._is_checked = classes, False
        known = self._all_targets()
        if known is not None:
            self._labels(known, torch.arange(len(self)))
            self._is_checked = True

    @cached_property
    def fingerprint(self) -> str:
        """Number, types and shapes of the cases, and a checksum of an evenly spaced sample of them.

        The checksum is left out if a case differs when it is read again.
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
        labels = getattr(self.data_set, "labels", None) if hasattr(self.data_set, "batch") else None
        return labels if isinstance(labels, Tensor) else None

    def _reader(self) -> Callable[[Tensor], Any]:
        if hasattr(self.data_set, "batch"):
            return self.data_set.batch  # type: ignore[no-any-return]
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
        """Inputs and targets of some cases, as the data set returns them."""
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

    def _labels(self, targets: Tensor, which: Tensor) -> Tensor:
        """Targets as class labels, the int64 that losses take."""
        assert self.classes is not None
        if targets.is_floating_point() or targets.is_complex() or targets.ndim != 1:
            raise ValueError(
                f"targets of {self.name} must be class labels, whole numbers, one per case, got {targets.dtype} of "
                f"shape {tuple(targets.shape)} (for anything else give error_fn and loss)"
            )
        targets = targets.to(torch.int64)
        if self._is_checked:
            return targets
        invalid = (targets < 0) | (targets >= self.classes)
        if invalid.any():
            at = int(invalid.int().argmax())
            raise ValueError(
                f"targets of {self.name} must be class labels from 0 to {self.classes - 1}, as the network has "
                f"{self.classes} outputs, got {int(targets[at])} for case {int(which[at])}"
            )
        return targets


ErrorFunction: TypeAlias = Callable[[Tensor, Tensor], Tensor]
Augmentation: TypeAlias = Callable[[Tensor, NDArray[np.int64]], Tensor]
MAX_BATCH = 256
MIN_BLOCK_CASES, MAX_BLOCK_CASES = 16, 1024
FLOPS_PER_CALL = 10**9
LAST_SELECTIONS = 5
FIRST_SHARE = 4


def zero_one_error(output: Tensor, target: Tensor) -> Tensor:
    """1 where the largest of (b, classes) outputs is not the (b,) target or one is NaN, 0 elsewhere.

    Ties go to the first output.

    >>> zero_one_error(torch.tensor([[0.1, 0.9], [0.5, 0.5]]), torch.tensor([0, 0])).tolist()
    [True, False]
    """
    return (output.argmax(1) != target) | output.isnan().any(1)


def max_block_cases(model: nn.Module, cases: CaseLoader) -> int:
    """The most cases worth computing ahead for all candidates: as many as fill a call of the network with work.

    A large network on a CPU computes 16 cases at a time as fast, per case, as hundreds; more would waste work that may
    not be needed. VGG-11 at quarter width is fastest with 50. Small networks and graphics cards take many at once.
    """
    if cases.device.type != "cpu":
        return MAX_BLOCK_CASES
    model = getattr(model, "_orig_mod", model)  # the network that torch.compile was called on
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        model(cases.batch(torch.zeros(1, dtype=torch.int64))[0])
    return min(MAX_BLOCK_CASES, max(MIN_BLOCK_CASES, FLOPS_PER_CALL // max(1, counter.get_total_flops())))


def next_lookahead(cases_used: Sequence[int], max_pairs: int) -> Growing:
    """Look-ahead for a selection, from the number of cases that each selection so far used.

    Where a handful of cases decide, computing ahead costs more than it saves; where it takes many, a quarter of the
    usual number is almost always needed.

    >>> next_lookahead([50, 3, 2], 64).delayed, next_lookahead([3, 2, 9, 60, 40, 5, 100], 64).min_cases
    (True, 10)
    """
    usual = int(median(cases_used[-LAST_SELECTIONS:])) if cases_used else 0
    is_short = usual < 2 * GROWTH_DELAY
    return Growing(1 if is_short else usual // FIRST_SHARE, delayed=is_short, max_pairs=max_pairs)


class CandidateErrors:
    """The errors of networks, computed on request: an evaluator for `flexicase.FastLexicase.select`.

    Args:
        models: The networks, in evaluation mode and all on one device; evaluated one after another.
        cases: A map-style data set of (input, target), or a `CaseLoader`.
        error_fn: From (b, …) outputs and (b, …) targets to (b,) errors, lower is better.
        batch: Cases per call of a network, at most.
        autocast: Type for mixed precision, or None.
        augment: Changes the inputs of (b,) cases, each depending on the case alone; or None.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from flexicase.torch import CandidateErrors
        >>> data = torch.utils.data.TensorDataset(torch.eye(3), torch.arange(3))
        >>> evaluate = CandidateErrors([torch.nn.Identity()], data)
        >>> evaluate(np.array([0]), np.array([2, 0])).tolist()
        [[0.0, 0.0]]
    """

    def __init__(
        self,
        models: Sequence[nn.Module],
        cases: Any,
        error_fn: ErrorFunction = zero_one_error,
        *,
        batch: int = MAX_BATCH,
        autocast: torch.dtype | None = None,
        augment: Augmentation | None = None,
    ) -> None:
        self.models = models
        devices = (parameter.device for model in models for parameter in model.parameters())
        if not isinstance(cases, CaseLoader):
            cases = CaseLoader(cases, next(devices, torch.device("cpu")), name="cases")
        self.cases: CaseLoader = cases
        self.error_fn = error_fn
        self.batch = batch
        self.autocast = autocast
        self.augment = augment
        self.calls = 0

    def __call__(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[Any]:
        models = [self.models[i] for i in individuals.tolist()]
        with (
            torch.inference_mode(),
            torch.autocast(self.cases.device.type, dtype=self.autocast, enabled=self.autocast is not None),
        ):
            parts = [self._errors(models, cases[at : at + self.batch]) for at in range(0, len(cases), self.batch)]
            found = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
            return found.to("cpu", torch.float64).numpy()

    def _errors(self, models: list[nn.Module], cases: NDArray[np.int64]) -> Tensor:
        inputs, targets = self.cases.batch(cases)
        if self.augment is not None:
            inputs = self.augment(inputs, cases)
        self.calls += len(models)
        errors = [self.error_fn(model(inputs), targets) for model in models]
        for found in errors:
            if not isinstance(found, Tensor):
                raise TypeError(f"error_fn must return a tensor, got {type(found).__name__}")
            if found.shape != (len(cases),):
                raise ValueError(
                    f"error_fn must give one error per case, shape ({len(cases)},), got {tuple(found.shape)}"
                )
        return torch.stack(errors)
