"""Making the candidate networks, and checking that they fit the data."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.optim import LBFGS, SGD, Optimizer

from flexicase.rng import Key, Lane, Stream, derived_key
from flexicase.torch._evaluation import CaseLoader

if TYPE_CHECKING:
    from flexicase.torch._distributed import SingleProcess


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


def parameters_of(model: nn.Module) -> dict[str, Tensor]:
    """The tensors of a network's ``state_dict``, detached."""
    return {name: value.detach() for name, value in model.state_dict().items()}


def unsaved_buffers(model: nn.Module) -> dict[str, Tensor]:
    """The buffers that a network's ``state_dict`` leaves out, detached."""
    saved = model.state_dict().keys()
    return {name: value.detach() for name, value in model.named_buffers(remove_duplicate=False) if name not in saved}


def copied(tensors: dict[str, Tensor], device: torch.device | None = None) -> dict[str, Tensor]:
    """Copies of some tensors, on another device if one is given."""
    return {name: value.detach().to(device or value.device, copy=True) for name, value in tensors.items()}


def load_unsaved_buffers(model: nn.Module, buffers: dict[str, Tensor]) -> None:
    """Give a network the buffers that `unsaved_buffers` returned for another one; they may have other shapes."""
    for prefix, module in model.named_modules(remove_duplicate=False):
        for name in module._non_persistent_buffers_set:
            own, new = getattr(module, name), buffers.get(f"{prefix}.{name}" if prefix else name)
            if own is None or new is None or own.shape != new.shape or own.dtype != new.dtype:
                device = own.device if own is not None else next(model.parameters()).device
                setattr(module, name, None if new is None else new.to(device, copy=True))
            else:
                own.copy_(new)


def unsaved_names(model: nn.Module) -> list[str]:
    """The names that `unsaved_buffers` may have, also those that hold nothing yet."""
    return [
        f"{prefix}.{name}" if prefix else name
        for prefix, module in model.named_modules(remove_duplicate=False)
        for name in module._non_persistent_buffers_set
    ]


def copy_network(source: nn.Module, target: nn.Module) -> None:
    """Give a network the parameters and buffers of another."""
    target.load_state_dict(source.state_dict())
    load_unsaved_buffers(target, unsaved_buffers(source))


def finite_tensors(model: nn.Module) -> frozenset[str]:
    """The names of a new network's parameters and buffers that must stay finite: all but masks of infinities."""
    tensors = parameters_of(model) | unsaved_buffers(model)
    return frozenset(name for name, value in tensors.items() if bool(value.isfinite().all()))


def is_sound(model: nn.Module, finite: frozenset[str]) -> bool:
    """Whether the tensors of a network that must be finite are."""
    tensors = parameters_of(model) | unsaved_buffers(model)
    return all(bool(value.isfinite().all()) for name, value in tensors.items() if name in finite)


def check_output(model: nn.Module, cases: CaseLoader, *, classify: bool) -> int | None:
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


def check_autocast(dtype: torch.dtype | None) -> None:
    """Whether mixed precision is of a kind that needs no loss scaling."""
    if dtype is not None and dtype != torch.bfloat16:
        raise ValueError(f"autocast must be torch.bfloat16 or None (float16 would need loss scaling), got {dtype}")


Transform: TypeAlias = Callable[[Tensor, torch.Generator], Tensor]
Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
OptimizerFactory: TypeAlias = Callable[[Iterable[nn.Parameter]], Optimizer]
Schedule: TypeAlias = Callable[[int, int], float]


class TrainingError(ValueError):
    """Training has diverged; the message names the generation and the candidate.

    Example:
        >>> import flexicase.torch as ft
        >>> issubclass(ft.TrainingError, ValueError)
        True
    """


def sgd(parameters: Iterable[nn.Parameter], lr: float = 0.1) -> Optimizer:
    """Stochastic gradient descent as in the paper: learning rate 0.1, momentum 0.9, weight decay 0.0001."""
    return SGD(parameters, lr=lr, momentum=0.9, weight_decay=1e-4)


def cosine(generation: int, generations: int) -> float:
    """Half a cosine wave: the factor of the learning rate falls from 1, in the first generation, towards 0.

    Example:
        >>> from flexicase.torch import cosine
        >>> cosine(0, 1000), round(0.1 * cosine(999, 1000), 9)
        (1.0, 2.47e-07)
    """
    return 0.5 * (1.0 + math.cos(math.pi * generation / generations))


def constant(generation: int, generations: int) -> float:
    """The same learning rate in all generations.

    Example:
        >>> from flexicase.torch import constant
        >>> constant(7, 10)
        1.0
    """
    return 1.0


def check_functions(callbacks: Any, optimizer: Any, **functions: Any) -> None:
    """Refuse arguments that cannot be called.

    Args:
        callbacks: Functions.
        optimizer: Makes optimisers.
        **functions: By the name of the argument; None where there is none.

    Raises:
        TypeError: One of them is something else.
    """
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be a function, got {function!r:.80}")
    if callable(callbacks):
        raise TypeError("callbacks must be a sequence of functions, got a function; use callbacks=[f]")
    if not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks must be a sequence of functions, got {callbacks!r:.80}")
    for callback in callbacks:
        if not callable(callback):
            raise TypeError(f"callbacks must be a sequence of functions, got {callback!r:.80} in it")
    if not callable(optimizer):
        found = f"an {type(optimizer).__name__}" if isinstance(optimizer, Optimizer) else f"{optimizer!r:.80}"
        raise TypeError(
            f"optimizer must be a function that makes one of a network's parameters, got {found}; use "
            "optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1)"
        )


def check_factor(factor: Any) -> float:
    """What a schedule returned, if it is a finite number."""
    if isinstance(factor, bool) or not isinstance(factor, int | float | np.number) or not math.isfinite(factor):
        raise ValueError(f"schedule must return a finite number, got {factor!r:.80}")
    return float(factor)


def word(key: Key, generation: int, lane: Lane, which: int = 0) -> int:
    """63 random bits that belong to a purpose, a generation and a candidate or case alone."""
    return Stream.of(derived_key(key, generation, lane), which, lane).word() >> 1


def generator(key: Key, generation: int, lane: Lane, which: int = 0) -> torch.Generator:
    """A generator on the CPU that starts from `word`."""
    return torch.Generator().manual_seed(word(key, generation, lane, which))


def assign_batches(n_cases: int, batch_size: int, population: int, draws: torch.Generator) -> list[tuple[Tensor, ...]]:
    """Shuffle the cases, cut them into batches, and deal these to the candidates in turn.

    Batches are smaller than asked for if there would be fewer than candidates. A last batch of one case, on which
    batch normalisation cannot be trained, joins the batch before.

    Returns:
        For each candidate its batches, each a (b,) tensor of indices; every case is in exactly one.

    Example:
        >>> import torch
        >>> from flexicase.torch._training import assign_batches
        >>> shares = assign_batches(10, 2, 4, torch.Generator().manual_seed(1))
        >>> [len(share) for share in shares]
        [2, 1, 1, 1]
    """
    size = min(batch_size, n_cases // population)
    batches = list(torch.randperm(n_cases, generator=draws).split(size))
    if len(batches[-1]) == 1 < size and len(batches) > population:
        batches[-2:] = [torch.cat(batches[-2:])]
    return [tuple(batches[candidate::population]) for candidate in range(population)]


@dataclass(frozen=True)
class Trainer:
    """How a candidate is trained.

    Attributes:
        cases: The training cases.
        batch_size: CaseLoader per training step.
        loss: From outputs and targets to a number.
        optimizer: Makes an optimiser of a network's parameters.
        transform: Augments a batch, or None.
        autocast: Type for mixed precision, or None.
        finite: Names of the tensors that must be finite in a candidate that becomes the parent.
        ranks: Where the candidates live.
    """

    cases: CaseLoader
    batch_size: int
    loss: Loss
    optimizer: OptimizerFactory
    transform: Transform | None
    autocast: torch.dtype | None
    finite: frozenset[str]
    ranks: SingleProcess

    def optimizer_for(self, model: nn.Module, factor: float, inherited: dict[str, Any] | None) -> Optimizer:
        """A new optimiser, its learning rates multiplied by ``factor``, with the state of an earlier one if given.

        Raises:
            TypeError: ``optimizer`` does not make optimisers.
            ValueError: It makes one of other parameters, or one that cannot be used.
        """
        made = self._checked(self.optimizer(model.parameters()), model)
        rates = [group["lr"] for group in made.param_groups]
        if inherited is not None:
            made.load_state_dict(copy.deepcopy(inherited))
        for group, rate in zip(made.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        return made

    def _checked(self, made: Any, model: nn.Module) -> Optimizer:
        if not isinstance(made, Optimizer):
            raise TypeError(f"optimizer must return a torch.optim.Optimizer, got {type(made).__name__}")
        if isinstance(made, LBFGS):
            raise ValueError("optimizer must make an optimiser whose step needs no closure, got LBFGS")
        own = {id(parameter) for parameter in model.parameters()}
        if not {id(parameter) for group in made.param_groups for parameter in group["params"]} <= own:
            raise ValueError("optimizer must make an optimiser of the parameters that it is given, got one of others")
        return made

    def train_all(
        self,
        models: Sequence[nn.Module],
        key: Key,
        generation: int,
        factor: float,
        inherited: dict[str, Any] | None,
    ) -> tuple[float, list[Optimizer], list[int]]:
        """Train each candidate on its share of the cases, where it lives.

        Args:
            models: The candidates.
            key: Key of the random streams.
            generation: Which one it is.
            factor: Of the learning rates.
            inherited: State that the optimisers start from, or None.

        Returns:
            The mean loss, the optimisers as they were left, and which candidates are sound: all of their parameters
            are finite.

        Raises:
            TrainingError: A loss is not finite, or no candidate is sound.
        """
        factor = check_factor(factor)
        shares = assign_batches(len(self.cases), self.batch_size, len(models), generator(key, generation, Lane.DEALING))
        optimizers = [self.optimizer_for(model, factor, inherited) for model in models]
        diverged = "training has diverged; a lower learning rate may help"

        def work(which: int) -> tuple[float, bool]:
            seed = word(key, generation, Lane.TRAINING, which)
            loss = self.train(models[which], optimizers[which], shares[which], seed)
            if not math.isfinite(loss):
                raise TrainingError(f"the loss of candidate {which} in generation {generation} is {loss}: {diverged}")
            return loss, is_sound(models[which], self.finite)

        done = self.ranks.each(len(models), work)
        sound = [which for which, (_, is_finite) in enumerate(done) if is_finite]
        if not sound:
            raise TrainingError(
                f"the parameters of all {len(models)} candidates in generation {generation} are not finite: {diverged}"
            )
        if len(sound) < len(models) and self.ranks.rank == 0:
            broken = [str(which) for which in range(len(models)) if which not in sound]
            names = f"{'candidates' if len(broken) > 1 else 'candidate'} {', '.join(broken)}"
            warnings.warn(
                f"{names} of generation {generation} cannot become the parent: parameters are not finite; a lower "
                "learning rate may help",
                RuntimeWarning,
                stacklevel=4,
            )
        return sum(loss for loss, _ in done) / len(done), optimizers, sound

    def train(self, model: nn.Module, optimizer: Optimizer, batches: Sequence[Tensor], seed: int) -> float:
        """One pass over some batches; gives the mean loss.

        Args:
            model: The network.
            optimizer: Its optimiser.
            batches: Each (b,) indices of cases.
            seed: Of all that is random in it; the global generators are left as they were.
        """
        device = self.cases.device
        model.train()
        total = torch.zeros((), device=device)
        forked = [] if device.type == "cpu" else [device.index or 0]
        with torch.random.fork_rng(forked, device_type="cuda" if device.type == "cpu" else device.type):
            torch.manual_seed(seed)
            draws = torch.Generator().manual_seed(seed)
            for batch in batches:
                inputs, targets = self.cases.batch(batch)
                if self.transform is not None:
                    inputs = self.transform(inputs, draws)
                optimizer.zero_grad(set_to_none=True)
                with torch.autocast(device.type, dtype=self.autocast, enabled=self.autocast is not None):
                    loss = self.loss(model(inputs), targets)
                if not isinstance(loss, Tensor):
                    raise TypeError(f"loss must return a tensor with one number, got {type(loss).__name__}")
                if loss.ndim:
                    raise ValueError(f"loss must give one number for a batch, got shape {tuple(loss.shape)}")
                if not loss.requires_grad:
                    raise ValueError("loss must return a tensor that depends on the outputs, got one without gradient")
                loss.backward()
                optimizer.step()
                total += loss.detach() * len(batch)
        return float(total) / sum(map(len, batches))
