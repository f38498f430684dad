"""The state of a training after each generation, as a dict and in a checkpoint; it is checked before it is used."""

from __future__ import annotations

import copy
import io
import sys
from collections.abc import Collection
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from flexicase._checkpoint import CheckpointError, Parts, check_settings, read_newest
from flexicase._checks import shown
from flexicase.rng import Key
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.protocol import Ended
from flexicase.torch._fingerprint import describe_function, describe_network, describe_optimizer
from flexicase.torch._networks import (
    check_output,
    copied,
    copy_state_to,
    parameters_of,
    unsaved_buffers,
    unsaved_names,
)
from flexicase.torch._training import Trainer
from flexicase.torch.records import TrainingRecord

ENTRIES = ("settings", "key", "generations", "parent", "buffers", "optimizer", "selector", "records")
SELECTOR_ENTRIES = ("settings", "weights", "w_max", "key", "next_event")
#: Settings that `allow_changed` may name.
CHANGEABLE = ("train_set", "network", "optimizer", "loss", "error_fn", "transform", "selection_transform")
COUNTS = ("evaluations", "cases_used", "pairs", "forward_calls")
SECONDS = ("seconds_train", "seconds_select", "seconds_test")
MAX_NUMBER = 2**62


@dataclass(frozen=True)
class TrainingState:
    """The result of the finished generations; replaced as a whole, so that an interrupted generation changes nothing.

    Attributes:
        parent: The ``state_dict`` of the last parent; None before the first generation.
        buffers: The parent's buffers that ``state_dict`` leaves out.
        optimizer: State of the parent's optimiser, if the next generation inherits it.
    """

    key: Key
    selector: FastLexicase
    records: tuple[TrainingRecord, ...] = ()
    parent: dict[str, Tensor] | None = None
    buffers: dict[str, Tensor] | None = None
    optimizer: dict[str, Any] | None = None

    def copy_parent_to(self, model: nn.Module) -> nn.Module:
        """Copy the parameters and buffers of the parent to a network, which is returned."""
        assert self.parent is not None
        return copy_state_to(model, self.parent, self.buffers or {})

    def as_dict(self, settings: dict[str, Any], generations: int | None) -> dict[str, Any]:
        """Plain values and tensors, which ``torch.load(weights_only=True)`` reads."""
        selector = self.selector.state_dict()
        return {
            "settings": settings,
            "key": tuple(self.key),
            "generations": generations,
            "parent": self.parent,
            "buffers": self.buffers,
            "optimizer": self.optimizer,
            "selector": {**selector, "weights": torch.from_numpy(selector["weights"])},
            "records": [record.as_dict() for record in self.records],
        }


def dump(state: dict[str, Any]) -> Parts:
    """The parts of a checkpoint with a `GradientLexicase.state_dict`."""
    content = io.BytesIO()
    torch.save(state, content)
    return {}, content.getvalue()


def load(_header: dict[str, Any], body: bytes) -> dict[str, Any]:
    """The state that `dump` was called on, on the CPU."""
    try:
        state = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises almost anything, from UnpicklingError to RuntimeError
        raise CheckpointError(f"the content cannot be read ({type(error).__name__})") from error
    if not isinstance(state, dict) or not isinstance(state.get("records"), list):
        raise CheckpointError("the content cannot be read: it is not the state of a training")
    return state


def read(folder: Path) -> dict[str, Any] | None:
    """The state in the newest whole checkpoint in a folder; None if there is none."""
    found = read_newest(folder, load)
    return None if found is None else found[1]


def describe_training(model: nn.Module, trainer: Trainer, error_fn: Any, selection_transform: Any) -> dict[str, str]:
    """Fingerprints of the parts of a training; taken before it starts, since objects may change when called."""
    return {
        "network": describe_network(model),
        "optimizer": describe_optimizer(trainer.make_optimizer(model, 1.0, None)),
        "loss": describe_function(trainer.loss),
        "error_fn": describe_function(error_fn),
        "transform": describe_function(trainer.transform),
        "selection_transform": describe_function(selection_transform),
    }


def read_state(
    found: Any,
    settings: dict[str, Any],
    new: TrainingState,
    model: nn.Module,
    trainer: Trainer,
    *,
    allow_changed: tuple[str, ...] = (),
) -> tuple[TrainingState, int | None]:
    """The state that `TrainingState.as_dict` returned, and the number of generations in it.

    ``new`` is the state that this training starts from, ``model`` one of its networks, which is not changed. A
    ValueError names the entry that is invalid or from another training.
    """
    entries = _dict(found, "the state", ENTRIES)
    _check_settings(_dict(entries["settings"], "settings in the state"), settings, allow_changed)
    key = _key(entries["key"], "key in the state")
    if settings["seed"] is not None and key != new.key:
        raise ValueError(f"key in the state must be the one of seed {settings['seed']}, got another")
    generations = entries["generations"]
    if generations is not None:
        _whole(generations, "generations in the state", 1)
    records = _records(entries["records"], settings["population"], settings["n_cases"])
    selector = _selector(entries["selector"], new.selector)
    if not records:
        for name in ("parent", "buffers", "optimizer"):
            if entries[name] is not None:
                raise ValueError(f"{name} in the state must be None before the first generation")
        return TrainingState(key, selector), generations
    trial = copy.deepcopy(model)
    device = next(trial.parameters()).device
    parent = _tensors(entries["parent"], "parent in the state", parameters_of(trial), trainer.finite)
    buffers = _buffers(entries["buffers"], trial, trainer.finite)
    optimizer = entries["optimizer"]
    if settings["optimizer_state"] == "inherit":
        _check_optimizer(optimizer, trial, trainer)
    elif optimizer is not None:
        raise ValueError('optimizer in the state must be None with optimizer_state="reset"')
    optimizer = copy.deepcopy(optimizer)
    state = TrainingState(key, selector, records, copied(parent, device), copied(buffers, device), optimizer)
    try:
        with torch.random.fork_rng([]):
            check_output(state.copy_parent_to(trial), trainer.cases, classify=trainer.cases.classes is not None)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"parent and buffers in the state must fit the network: {_one_line(error)}") from error
    return state, generations


def check_names(allow_changed: Any) -> tuple[str, ...]:
    """The names of settings that may differ."""
    if isinstance(allow_changed, str) or not isinstance(allow_changed, Collection):
        raise TypeError(f"allow_changed must be a sequence of names, got {allow_changed!r:.80}")
    for name in allow_changed:
        if name not in CHANGEABLE:
            raise ValueError(f"allow_changed must name some of {', '.join(map(repr, CHANGEABLE))}, got {name!r:.80}")
    return tuple(allow_changed)


def _check_settings(found: dict[str, Any], settings: dict[str, Any], changed: tuple[str, ...]) -> None:
    for name, value in found.items():
        if type(value) not in (type(None), int, str):
            raise ValueError(f"settings in the state: {name} must be a plain value, got {type(value).__name__}")
    for name in settings | found:
        try:
            if name not in changed:
                check_settings("the state", {name: settings.get(name)}, {name: found.get(name)})
        except ValueError as error:
            remedy = f"; allow_changed=[{name!r}] continues anyway" if name in CHANGEABLE else ""
            raise ValueError(f"{error}{remedy}") from None


def _records(found: Any, population: int, n_cases: int) -> tuple[TrainingRecord, ...]:
    if not isinstance(found, list):
        raise ValueError(f"records in the state must be a list, got {_shown(found)}")
    for number, record in enumerate(found):
        where = f"records[{number}] in the state"
        _dict(record, where, tuple(field.name for field in fields(TrainingRecord)))
        _whole(record["generation"], f"{where}: generation", number, number)
        _whole(record["events"], f"{where}: events", 1, 1)
        _whole(record["parent"], f"{where}: parent", 0, population - 1)
        for name in COUNTS:
            _whole(record[name], f"{where}: {name}", 0, n_cases if name == "cases_used" else MAX_NUMBER)
        if type(record["ended"]) is not int or record["ended"] not in list(Ended):
            raise ValueError(f"{where}: ended must be one of {', '.join(map(str, map(int, Ended)))}")
        for name in ("lr", "loss", *SECONDS):
            _number(record[name], f"{where}: {name}")
        if record["accuracy"] is not None and not isinstance(record["accuracy"], float):
            raise ValueError(f"{where}: accuracy must be a number or None, got {_shown(record['accuracy'])}")
    return tuple(TrainingRecord.from_dict(record) for record in found)


def _selector(found: Any, selector: FastLexicase) -> FastLexicase:
    where = "selector in the state"
    entries = _dict(found, where, SELECTOR_ENTRIES)
    for name, value in _dict(entries["settings"], f"{where}: settings").items():
        values = value if isinstance(value, list) else [value]
        if not all(type(inner) in (type(None), bool, int, float, str) for inner in values):
            raise ValueError(f"{where}: {name} must be a plain value, got {type(value).__name__}")
    key = _key(entries["key"], f"{where}: key")
    _whole(entries["next_event"], f"{where}: next_event", 0)
    if entries["w_max"] is not None:
        _number(entries["w_max"], f"{where}: w_max")
    own = torch.from_numpy(selector.state_dict()["weights"])
    weights = _tensor(entries["weights"], f"{where}: weights", own)
    loaded = copy.copy(selector)
    try:
        loaded.load_state_dict({**entries, "key": tuple(key), "weights": weights.cpu().numpy()})
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return loaded


def _tensors(found: Any, where: str, own: dict[str, Tensor], finite: frozenset[str]) -> dict[str, Tensor]:
    entries = _dict(found, where, tuple(own))
    for name, value in entries.items():
        _tensor(value, f"{where}: {name}", own[name], finite=name in finite)
    return entries


def _buffers(found: Any, model: nn.Module, finite: frozenset[str]) -> dict[str, Tensor]:
    """Buffers that ``state_dict`` leaves out: training may create, remove and resize them."""
    where, own, names = "buffers in the state", unsaved_buffers(model), unsaved_names(model)
    for name, value in _dict(found, where).items():
        if name not in names:
            raise ValueError(f"{where} must be those of the network, got {name!r:.80}")
        _tensor(value, f"{where}: {name}", own.get(name), resized=True, finite=name in finite)
    return found  # type: ignore[no-any-return]


def _check_optimizer(found: Any, model: nn.Module, trainer: Trainer) -> None:
    """Refuse a state that the optimiser of a network cannot have, or fails with; changes the network."""
    where = "optimizer in the state"
    entries = _dict(found, where, ("state", "param_groups"))
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter) if parameter.requires_grad else None
    new = trainer.make_optimizer(model, 1.0, None)
    try:
        new.step()
        can_step = True
    except RuntimeError:  # it needs sparse gradients
        can_step = False
    usual, kind = new.state_dict(), type(new).__name__
    if not _is_like(entries["param_groups"], usual["param_groups"]) or any(
        group["params"] != own["params"]
        for group, own in zip(entries["param_groups"], usual["param_groups"], strict=True)
    ):
        raise ValueError(f"{where}: param_groups must be those of {kind} for this network")
    if not isinstance(entries["state"], dict):
        raise ValueError(f"{where}: state must be a dict, got {_shown(entries['state'])}")
    for which, values in entries["state"].items() if can_step else ():
        expected = usual["state"].get(which) if type(which) is int else None
        if (
            expected is None
            or not isinstance(values, dict)
            or not all(name in values and _is_like(values[name], value) for name, value in expected.items())
        ):
            raise ValueError(f"{where}: state {_shown(which)} must be that of {kind} for this network")
    try:
        loaded = trainer.make_optimizer(model, 1.0, entries)
        if can_step:
            loaded.step()
    except Exception as error:  # an optimiser may raise anything
        raise ValueError(f"{where} must fit {kind}: {_one_line(error)}") from error


def _is_like(found: Any, usual: Any) -> bool:
    """Whether a part of an optimiser's state has the types and shapes of a new optimiser's, and no NaN."""
    if isinstance(usual, Tensor):
        same = isinstance(found, Tensor) and _is_plain(found)
        return same and (found.shape, found.dtype) == (usual.shape, usual.dtype) and not bool(found.isnan().any())
    if type(usual) in (int, float):
        return type(found) in (int, float) and abs(found) <= MAX_NUMBER  # false for NaN
    if type(found) is not type(usual):
        return False
    if isinstance(usual, dict):
        return found.keys() == usual.keys() and all(_is_like(found[name], value) for name, value in usual.items())
    if isinstance(usual, list | tuple):
        return len(found) == len(usual) and all(map(_is_like, found, usual))
    return True


def _dict(value: Any, where: str, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """A dict with exactly these names; with any names if None."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a dict, got {_shown(value)}")
    for name in value:
        if not isinstance(name, str) or (names is not None and name not in names):
            raise ValueError(f"{where} has an unknown entry {_shown(name)}")
    for name in names or ():
        if name not in value:
            raise ValueError(f"{where} must have an entry {name!r}, got none")
    return value


def _key(value: Any, where: str) -> Key:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ValueError(f"{where} must be a pair of whole numbers, got {_shown(value)}")
    return Key(*(_whole(part, where, 0, 2**64 - 1) for part in value))


def _whole(value: Any, where: str, least: int, most: int = MAX_NUMBER) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{where} must be a whole number from {least} to {most}, got {_shown(value)}")
    return value


def _number(value: Any, where: str) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:  # NaN is not
        raise ValueError(f"{where} must be a finite number, got {_shown(value)}")


def _tensor(value: Any, where: str, own: Tensor | None, *, resized: bool = False, finite: bool = False) -> Tensor:
    if not isinstance(value, Tensor) or not _is_plain(value):
        raise ValueError(f"{where} must be a dense tensor, got {_shown(value)}")
    if own is not None and (value.dtype != own.dtype or (value.shape != own.shape and not resized)):
        raise ValueError(
            f"{where} must be {own.dtype} of shape {tuple(own.shape)}, got {value.dtype} of shape {tuple(value.shape)}"
        )
    if finite and not bool(value.isfinite().all()):
        raise ValueError(f"{where} must be finite, got NaN or infinity in it")
    return value


def _is_plain(tensor: Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.device.type != "meta" and not tensor.is_nested


def _shown(value: Any) -> str:
    """A value for a message; of a type that a file should not hold the name alone, so that none of its methods runs."""
    plain = type(value) in (type(None), bool, int, float, str, bytes)
    return shown(value) if plain else type(value).__name__


def _one_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
