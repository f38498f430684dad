"""The cases of a map-style data set, read in batches and checked."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import TensorDataset, default_collate
from torch.utils.flop_counter import FlopCounterMode

from flexicase.torch._fingerprint import checksum, describe_tensors

if TYPE_CHECKING:
    from flexicase.torch._distributed import RankGroup


#: How much of a data set its fingerprint reads: so many bytes if it can be read in batches, otherwise so many cases.
SAMPLED_BYTES = 2**24
SAMPLED_CASES = 32


@runtime_checkable
class BatchDataset(Protocol):
    """A data set that can be read many cases at a time.

    Example:
        >>> import flexicase.torch as ft
        >>> from flexicase.torch._evaluation import BatchDataset
        >>> isinstance(ft.data.load("fake", train=8, test=8).train, BatchDataset)
        True
    """

    def batch(self, cases: Tensor) -> tuple[Tensor, Tensor]:
        """The inputs and targets of (b,) cases."""
        ...


class CaseLoader:
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
        labels = getattr(self.data_set, "labels", None) if isinstance(self.data_set, BatchDataset) else None
        return labels if isinstance(labels, Tensor) else None

    def _reader(self) -> Callable[[Tensor], Any]:
        if isinstance(self.data_set, BatchDataset):
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
        zero_one_error = torch.tensor(False) if checked else (targets < 0) | (targets >= self.classes)
        if zero_one_error.any():
            at = int(zero_one_error.int().argmax())
            raise ValueError(
                f"targets of {self.name} must be class labels from 0 to {self.classes - 1}, as the network has "
                f"{self.classes} outputs, got {int(targets[at])} for case {int(which[at])}"
            )
        return targets


ErrorFunction: TypeAlias = Callable[[Tensor, Tensor], Tensor]
Augmentation: TypeAlias = Callable[[Tensor, NDArray[np.int64]], Tensor]
LARGEST_BATCH = 256
BLOCKS = (16, 1024)
WORK_PER_CALL = 10**8


def zero_one_error(output: Tensor, target: Tensor) -> Tensor:
    """1 where the largest output is not the target or an output is NaN, 0 elsewhere; of equal outputs the first counts.

    Args:
        output: (b, classes) one number per class.
        target: (b,) class labels.

    Returns:
        (b,) errors.

    Example:
        >>> import torch
        >>> from flexicase.torch._evaluation import zero_one_error
        >>> zero_one_error(torch.tensor([[0.1, 0.9], [0.5, 0.5]]), torch.tensor([0, 0])).tolist()
        [True, False]
    """
    return (output.argmax(1) != target) | output.isnan().any(1)


def max_block_cases(model: nn.Module, cases: CaseLoader) -> int:
    """How many cases it makes sense to look ahead: no more than fill a call of the network with work.

    A large network on a CPU does 16 cases at a time as fast, per case, as hundreds; more would only be more that may
    not be needed. Small networks and graphics cards take many at once.

    Args:
        model: A network in evaluation mode.
        cases: What it is for.
    """
    fewest, most = BLOCKS
    if cases.device.type != "cpu":
        return most
    model = getattr(model, "_orig_mod", model)  # what torch.compile was given
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        model(cases.batch(torch.zeros(1, dtype=torch.int64))[0])
    return min(most, max(fewest, WORK_PER_CALL // max(1, counter.get_total_flops())))


class CandidateErrors:
    """Evaluates candidates on cases, as `flexicase.FastLexicase.select` asks: a `CaseEvaluator`.

    Candidates are evaluated one after another, each on all the cases asked for.

    Args:
        models: The networks; in evaluation mode while this is in use.
        cases: The cases.
        error_fn: From (b, …) outputs and (b, …) targets to (b,) errors, lower is better.
        batch: CaseLoader per call of a network, at most.
        autocast: Type for mixed precision, or None.
        augment: Changes the inputs of (b,) cases, each depending on the case alone; or None.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from flexicase.torch._evaluation import CaseLoader
        >>> from flexicase.torch._evaluation import CandidateErrors
        >>> data = torch.utils.data.TensorDataset(torch.eye(3), torch.arange(3))
        >>> models = [torch.nn.Identity(), torch.nn.Flatten(0, -1)]
        >>> evaluate = CandidateErrors(models[:1], CaseLoader(data, torch.device("cpu"), name="data"))
        >>> evaluate(np.array([0]), np.array([2, 0])).tolist()
        [[0.0, 0.0]]
    """

    def __init__(
        self,
        models: Sequence[nn.Module],
        cases: CaseLoader,
        error_fn: ErrorFunction = zero_one_error,
        *,
        batch: int = LARGEST_BATCH,
        autocast: torch.dtype | None = None,
        augment: Augmentation | None = None,
    ) -> None:
        """Nothing is evaluated yet."""
        self.models = models
        self.cases = cases
        self.error_fn = error_fn
        self.batch = batch
        self.autocast = autocast
        self.augment = augment
        self.calls = 0

    def __call__(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[Any]:
        """The (m, b) errors of (m,) candidates on (b,) cases."""
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


class RankErrors:
    """Evaluates candidates that live on several ranks: a `CaseEvaluator`, called with the same blocks on all of them.

    Errors that are right or wrong travel as bits, others as float64.

    Args:
        evaluate: Gives the errors of this rank's candidates.
        ranks: The job.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> import torch.distributed as dist
        >>> from flexicase.torch._evaluation import CaseLoader
        >>> from flexicase.torch._distributed import RankGroup
        >>> from flexicase.torch._evaluation import CandidateErrors
        >>> from flexicase.torch._evaluation import RankErrors
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> data = torch.utils.data.TensorDataset(torch.eye(3), torch.tensor([0, 1, 0]))
        >>> local = CandidateErrors([torch.nn.Identity()], CaseLoader(data, torch.device("cpu"), name="data"))
        >>> RankErrors(local, RankGroup())(np.array([0]), np.array([2, 0])).tolist()
        [[1.0, 0.0]]
        >>> dist.destroy_process_group()
    """

    def __init__(self, evaluate: CandidateErrors, ranks: RankGroup) -> None:
        """Nothing is evaluated yet."""
        self.calls = 0
        self._evaluate = evaluate
        self._ranks = ranks
        self._as_bits = evaluate.error_fn is zero_one_error

    def __call__(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[Any]:
        """The (m, b) errors of (m,) candidates on (b,) cases."""
        owners = individuals % self._ranks.world_size
        shape = (int(np.bincount(owners).max()), len(cases))
        errors, failure = np.zeros(shape), None
        mine, before = individuals[owners == self._ranks.rank], self._evaluate.calls
        try:
            if len(mine):
                errors[: len(mine)] = self._evaluate(mine, cases)
        except Exception as error:
            failure = error
        asked = zlib.crc32(cases.tobytes(), zlib.crc32(individuals.tobytes()))
        header = np.array([failure is not None, asked, self._evaluate.calls - before], np.int64)
        told = self._ranks.gather_bytes(np.concatenate([header.view(np.uint8), self._packed(errors)]))
        headers = np.array([part[: header.nbytes].view(np.int64) for part in told])
        if headers[:, 0].any():
            raise self._ranks.failures(failure)
        if (headers[:, 1] != asked).any():
            raise RuntimeError("the ranks have come apart: selection asks for other cases on one than on another")
        self.calls += int(headers[:, 2].sum())
        found = np.empty((len(individuals), len(cases)))
        for rank, part in enumerate(told):
            here = owners == rank
            found[here] = self._unpacked(part[header.nbytes :], shape)[: here.sum()]
        return found

    def _packed(self, errors: NDArray[np.float64]) -> NDArray[np.uint8]:
        return np.packbits(errors != 0) if self._as_bits else errors.reshape(-1).view(np.uint8)

    def _unpacked(self, content: NDArray[np.uint8], shape: tuple[int, int]) -> NDArray[Any]:
        if self._as_bits:
            return np.unpackbits(content, count=shape[0] * shape[1]).reshape(shape)
        return content.view(np.float64).reshape(shape)
