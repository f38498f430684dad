"""The candidate networks: making and checking them, and copying their parameters and buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from flexicase.torch._evaluation import CaseLoader


def check_device(device: str | torch.device) -> torch.device:
    """The device, if tensors can be created there."""
    try:
        found = torch.device(device)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"device must be one that torch can use here, got {str(device)!r}: {reason}") from error
    return found


def make_candidates(model_fn: Callable[[], nn.Module], seeds: Sequence[int], device: torch.device) -> list[nn.Module]:
    """One network per seed; the global random generator is left as it was."""
    if isinstance(model_fn, nn.Module) or not callable(model_fn):
        raise TypeError(f"model_fn must be a function that makes a network each time, got {type(model_fn).__name__}")
    models = []
    with torch.random.fork_rng([]):
        for seed in seeds:
            torch.manual_seed(seed)
            model = model_fn()
            if not isinstance(model, nn.Module):
                raise TypeError(f"model_fn must make a torch.nn.Module, got {type(model).__name__}")
            models.append(model.to(device))
    for model in models:
        _check_network(model)
    shapes = [{name: value.shape for name, value in parameters_of(model).items()} for model in models]
    if any(shape != shapes[0] for shape in shapes) or len({id(model) for model in models}) < len(models):
        raise ValueError("model_fn must make a new network each time, all of the same shape")
    _check_separate(models)
    return models


def _check_network(model: nn.Module) -> None:
    """Refuse a network that cannot be trained or saved."""
    for name, value in [*model.named_parameters(), *model.named_buffers()]:
        if is_lazy(value):
            raise ValueError(
                f"model_fn must make networks whose parameters are initialised, got {name!r} of a lazy module; run a "
                "batch through the network in model_fn"
            )
    for name, value in model.state_dict().items():
        if not isinstance(value, Tensor):
            raise ValueError(
                f"model_fn must make networks whose state holds tensors alone, got {type(value).__name__} as {name!r}"
            )
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ValueError("model_fn must make networks with a parameter to train, got none that requires a gradient")


def _check_separate(models: Sequence[nn.Module]) -> None:
    """Refuse networks that share memory: training one would change the others."""
    owners: dict[int, int] = {}
    for which, model in enumerate(models):
        for name, value in [*model.named_parameters(), *model.named_buffers()]:
            if value.numel() and owners.setdefault(value.data_ptr(), which) != which:
                raise ValueError(
                    f"model_fn must make a new network each time, but two share {name!r}; copy it in model_fn"
                )


def check_output(model: nn.Module, cases: CaseLoader, *, classify: bool) -> int | None:
    """Check that a network accepts the cases; return the number of classes if it classifies them."""
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


def parameters_of(model: nn.Module) -> dict[str, Tensor]:
    """The tensors of a network's ``state_dict``, detached."""
    return {name: value.detach() for name, value in model.state_dict().items()}


def unsaved_names(model: nn.Module) -> dict[str, tuple[nn.Module, str]]:
    """The names that `unsaved_buffers` may have, including those that hold nothing yet: module and name in it."""
    return {
        f"{prefix}.{name}" if prefix else name: (module, name)
        for prefix, module in model.named_modules(remove_duplicate=False)
        for name in module._non_persistent_buffers_set
    }


def unsaved_buffers(model: nn.Module) -> dict[str, Tensor]:
    """The buffers that a network's ``state_dict`` leaves out, detached."""
    saved = model.state_dict().keys()
    return {name: value.detach() for name, value in model.named_buffers(remove_duplicate=False) if name not in saved}


def load_unsaved_buffers(model: nn.Module, buffers: dict[str, Tensor]) -> None:
    """Copy the buffers that `unsaved_buffers` returned for another network; their shapes may differ."""
    for full_name, (module, name) in unsaved_names(model).items():
        own, new = getattr(module, name), buffers.get(full_name)
        if own is None or new is None or own.shape != new.shape or own.dtype != new.dtype:
            device = own.device if own is not None else next(model.parameters()).device
            setattr(module, name, None if new is None else new.to(device, copy=True))
        else:
            own.copy_(new)


def copy_state_to(target: nn.Module, parameters: dict[str, Tensor], buffers: dict[str, Tensor]) -> nn.Module:
    """Copy the parameters and buffers of one network to another, which is returned."""
    target.load_state_dict(parameters)
    load_unsaved_buffers(target, buffers)
    return target


def copied(tensors: dict[str, Tensor], device: torch.device | None = None) -> dict[str, Tensor]:
    """Copies of some tensors, on another device if one is given."""
    return {name: value.detach().to(device or value.device, copy=True) for name, value in tensors.items()}


def finite_tensors(model: nn.Module) -> frozenset[str]:
    """The names of a network's finite parameters and buffers; masks of infinities are not among them."""
    return frozenset(name for name, value in all_tensors(model).items() if value.isfinite().all())


def are_finite(model: nn.Module, names: frozenset[str]) -> bool:
    """Whether a network's tensors of these names are finite; a buffer that no longer exists counts as finite."""
    return all(value.isfinite().all() for name, value in all_tensors(model).items() if name in names)


def all_tensors(model: nn.Module) -> dict[str, Tensor]:
    return parameters_of(model) | unsaved_buffers(model)
