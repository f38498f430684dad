"""Making the candidate networks, and checking that they fit the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from flexicase.torch.cases import Cases


def check_device(device: str | torch.device) -> torch.device:
    """A device that is there.

    Raises:
        ValueError: It is not.
    """
    try:
        found = torch.device(device)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"device must be one that torch can use here, got {str(device)!r}: {reason}") from error
    return found


def make_candidates(
    model_fn: Callable[[], nn.Module], seeds: Sequence[int], device: torch.device, *, channels_last: bool = False
) -> list[nn.Module]:
    """One network per seed; the global random generator is left as it was.

    Raises:
        TypeError: ``model_fn`` does not make networks.
        ValueError: They are not of the same shape.
    """
    if isinstance(model_fn, nn.Module) or not callable(model_fn):
        raise TypeError(f"model_fn must be a function that makes a network each time, got {type(model_fn).__name__}")
    models = []
    with torch.random.fork_rng([]):
        for seed in seeds:
            torch.manual_seed(seed)
            model = model_fn()
            if not isinstance(model, nn.Module):
                raise TypeError(f"model_fn must make a torch.nn.Module, got {type(model).__name__}")
            moved = model.to(device)
            models.append(moved.to(memory_format=torch.channels_last) if channels_last else moved)  # type: ignore[call-overload]
    shapes = [{name: value.shape for name, value in model.state_dict().items()} for model in models]
    if any(shape != shapes[0] for shape in shapes) or len({id(model) for model in models}) < len(models):
        raise ValueError("model_fn must make a new network each time, all of the same shape")
    return models


def check_output(model: nn.Module, cases: Cases, *, classify: bool) -> int | None:
    """Whether a network takes the cases; gives the number of classes if it is to classify them.

    Raises:
        ValueError: It fails on them, or its output has not the shape that is needed.
    """
    n = min(2, len(cases))
    inputs, _ = cases.batch(torch.arange(n))
    model.eval()
    try:
        with torch.inference_mode():
            output = model(inputs)
    except Exception as error:
        of = f"shape {tuple(inputs.shape)}" if isinstance(inputs, Tensor) else f"type {type(inputs).__name__}"
        raise ValueError(f"the network must take batches of {cases.name}, of {of}, but fails: {error}") from error
    if not classify:
        return None
    if not isinstance(output, Tensor) or output.ndim != 2 or len(output) != n:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ValueError(
            f"the network's output for {n} cases must have shape ({n}, classes), got {shape} (for anything else give "
            f"error_fn and loss)"
        )
    return int(output.shape[1])


def copied_parameters(model: nn.Module, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """A copy of a state of such networks, where the network's own is.

    Raises:
        ValueError: It has other parameters, or of other shapes.
    """
    own = model.state_dict()
    if {name: value.shape for name, value in own.items()} != {name: value.shape for name, value in state.items()}:
        raise ValueError("the state is of a network with other parameters than model_fn makes")
    return {name: value.detach().to(own[name].device, copy=True) for name, value in state.items()}


def check_autocast(dtype: torch.dtype | None) -> None:
    """Whether mixed precision is of a kind that needs no loss scaling."""
    if dtype is not None and dtype != torch.bfloat16:
        raise ValueError(f"autocast must be torch.bfloat16 or None (float16 would need loss scaling), got {dtype}")
