"""The errors of candidate networks on cases: what selection asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from flexicase.torch.cases import Cases

ErrorFunction: TypeAlias = Callable[[Tensor, Tensor], Tensor]
Augmentation: TypeAlias = Callable[[Tensor, NDArray[np.int64]], Tensor]
LARGEST_BATCH = 256
BLOCKS = (16, 1024)
WORK_PER_CALL = 10**8


def wrong(output: Tensor, target: Tensor) -> Tensor:
    """1 where the largest output is not the target or an output is NaN, 0 elsewhere; of equal outputs the first counts.

    Args:
        output: (b, classes) one number per class.
        target: (b,) class labels.

    Returns:
        (b,) errors.

    Example:
        >>> import torch
        >>> from flexicase.torch.errors import wrong
        >>> wrong(torch.tensor([[0.1, 0.9], [0.5, 0.5]]), torch.tensor([0, 0])).tolist()
        [True, False]
    """
    return (output.argmax(1) != target) | output.isnan().any(1)


def largest_block(model: nn.Module, cases: Cases) -> int:
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
        batch: Cases per call of a network, at most.
        autocast: Type for mixed precision, or None.
        augment: Changes the inputs of (b,) cases, each depending on the case alone; or None.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from flexicase.torch.cases import Cases
        >>> from flexicase.torch.errors import CandidateErrors
        >>> data = torch.utils.data.TensorDataset(torch.eye(3), torch.arange(3))
        >>> models = [torch.nn.Identity(), torch.nn.Flatten(0, -1)]
        >>> evaluate = CandidateErrors(models[:1], Cases(data, torch.device("cpu"), name="data"))
        >>> evaluate(np.array([0]), np.array([2, 0])).tolist()
        [[0.0, 0.0]]
    """

    def __init__(
        self,
        models: Sequence[nn.Module],
        cases: Cases,
        error_fn: ErrorFunction = wrong,
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
