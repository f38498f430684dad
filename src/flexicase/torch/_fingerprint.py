"""Fingerprints of data, networks and functions, so that training is not resumed with other ones by mistake."""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import types
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

DEPTH = 4
PLAIN = (type(None), bool, int, float, complex, str, bytes, enum.Enum, PurePath, torch.dtype, torch.device)


def as_bytes(tensor: Tensor) -> Tensor:
    """The content of a tensor as a flat uint8 tensor."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def checksum(tensors: Iterable[Tensor]) -> str:
    """12 hexadecimal digits that depend on every bit of some tensors."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(as_bytes(tensor.detach().cpu()).numpy().tobytes())
    return digest.hexdigest()[:12]


def describe_tensors(tensors: Iterable[Tensor]) -> str:
    """The types and shapes of some tensors: ``float32 (2, 3), int64 (2,)``."""
    return ", ".join(f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}" for tensor in tensors)


def describe_function(function: Any) -> str:
    """The qualified name of a function or callable object, with a checksum of its settings if it has any.

    Settings are the attributes of an object, the arguments of a `functools.partial`, and the code and variables of a
    function that cannot be imported by name.

    >>> import flexicase.torch as ft
    >>> describe_function(ft.cosine)
    'flexicase.torch._training.cosine'
    >>> describe_function(ft.PadCropFlip(1)) == describe_function(ft.PadCropFlip(2))
    False
    """
    name, details = _name(function), _details(function, DEPTH)
    return name if details == name else f"{name} {_digest(details)}"


def describe_network(model: nn.Module) -> str:
    """The class of a network, with a checksum of the classes of its parts."""
    parts = "".join(f"{name}: {_name(type(part))}\n" for name, part in model.named_modules())
    return f"{type(model).__qualname__} {_digest(parts)}"


def describe_optimizer(optimizer: Optimizer) -> str:
    """The class of an optimiser and its settings other than defaults and learning rate: ``SGD momentum=0.9``."""
    usual = {name: each.default for name, each in inspect.signature(type(optimizer)).parameters.items()}
    groups = [
        "".join(
            f" {name}={value}"
            for name, value in group.items()
            if name not in ("params", "lr") and not (name in usual and str(value) == str(usual[name]))
        )
        for group in optimizer.param_groups
    ]
    return type(optimizer).__name__ + ";".join(groups)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _name(value: Any) -> str:
    if isinstance(value, functools.partial):
        return _name(value.func)
    if value is None:
        return "None"
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def _details(value: Any, depth: int) -> str:
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        value = torch.from_numpy(value.copy())
    if isinstance(value, Tensor) and value.layout == torch.strided and value.device.type != "meta":
        return f"{describe_tensors([value])} {checksum([value])}"
    if depth == 0:
        return _name(value)
    if isinstance(value, list | tuple):
        return f"({', '.join(_details(inner, depth - 1) for inner in value)})"
    if isinstance(value, dict | set | frozenset):
        pairs = value.items() if isinstance(value, dict) else ((inner, None) for inner in value)
        texts = (f"{_details(name, depth - 1)}: {_details(inner, depth - 1)}" for name, inner in pairs)
        return f"{{{', '.join(sorted(texts))}}}"
    parts = _parts(value)
    return _name(value) + (f" {_details(parts, depth - 1)}" if parts else "")


def _parts(value: Any) -> Any:  # noqa: PLR0911 - one for each kind of callable
    """The parts that distinguish a callable from others of the same name; empty if the name is enough."""
    if isinstance(value, functools.partial):
        return (value.func, value.args, value.keywords)
    if isinstance(value, types.MethodType):
        return (value.__self__,)
    if isinstance(value, types.FunctionType):
        if "<" not in value.__qualname__:
            return ()
        cells = [_content(cell) for cell in value.__closure__ or ()]
        return (_code(value.__code__), cells, value.__defaults__, value.__kwdefaults__)
    if hasattr(value, "__qualname__"):
        return ()
    attributes = getattr(value, "__dict__", {})
    if isinstance(value, nn.Module):
        own = {name: inner for name, inner in attributes.items() if not name.startswith("_") and name != "training"}
        return (own, dict(value.state_dict()), dict(value.named_children()))
    return dict(attributes)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _code(code: types.CodeType) -> tuple[Any, ...]:
    constants = [_code(inner) if isinstance(inner, types.CodeType) else inner for inner in code.co_consts]
    return (code.co_code, code.co_names, repr(constants))
