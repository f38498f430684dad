"""Training the candidates for one generation: schedules, batches, optimisers, and the steps themselves."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import LBFGS, SGD, Optimizer

from flexicase.rng import Key, Lane, Stream, derived_key
from flexicase.torch._evaluation import CaseLoader
from flexicase.torch._networks import are_finite

if TYPE_CHECKING:
    from flexicase.torch._distributed import SingleProcess

Transform: TypeAlias = Callable[[Tensor, torch.Generator], Tensor]
Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
OptimizerFactory: TypeAlias = Callable[[Iterable[nn.Parameter]], Optimizer]
Schedule: TypeAlias = Callable[[int, int], float]


class TrainingError(ValueError):
    """Training has diverged; the message names the generation and the candidate."""


def sgd(parameters: Iterable[nn.Parameter], lr: float = 0.1) -> Optimizer:
    """Stochastic gradient descent as in the paper: learning rate 0.1, momentum 0.9, weight decay 0.0001."""
    return SGD(parameters, lr=lr, momentum=0.9, weight_decay=1e-4)


def cosine(generation: int, generations: int) -> float:
    """Cosine schedule: the factor of the learning rate falls from 1, in the first generation, towards 0.

    Example:
        >>> from flexicase.torch import cosine
        >>> cosine(0, 1000), round(0.1 * cosine(999, 1000), 9)
        (1.0, 2.47e-07)
    """
    return 0.5 * (1.0 + math.cos(math.pi * generation / generations))


def constant(generation: int, generations: int) -> float:
    """Constant schedule: the same learning rate in all generations."""
    return 1.0


def check_functions(callbacks: Any, optimizer: Any, **functions: Any) -> None:
    """Refuse arguments that are not callable; ``functions`` may be None."""
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
    """The value that a schedule returned, if it is a finite number."""
    if isinstance(factor, bool) or not isinstance(factor, int | float | np.number) or not math.isfinite(factor):
        raise ValueError(f"schedule must return a finite number, got {factor!r:.80}")
    return float(factor)


def derive_seed(key: Key, generation: int, lane: Lane, which: int = 0) -> int:
    """63 random bits for one purpose, generation and candidate or case."""
    return Stream.of(derived_key(key, generation, lane), which, lane).word() >> 1


def derived_generator(key: Key, generation: int, lane: Lane, which: int = 0) -> torch.Generator:
    """A generator on the CPU, seeded by `derive_seed`."""
    return torch.Generator().manual_seed(derive_seed(key, generation, lane, which))


def augment_cases(transform: Transform, key: Key, generation: int, inputs: Tensor, cases: NDArray[np.int64]) -> Tensor:
    """Apply a transform case by case, with draws that depend on generation and case alone."""
    draws = [derived_generator(key, generation, Lane.AUGMENTATION, case) for case in cases.tolist()]
    return torch.cat([transform(inputs[j : j + 1], draw) for j, draw in enumerate(draws)])


def assign_batches(n_cases: int, batch_size: int, population: int, draws: torch.Generator) -> list[tuple[Tensor, ...]]:
    """Shuffle the cases, split them into batches, and assign the batches, (b,) indices each, to the candidates in turn.

    Batches are smaller if there would be fewer batches than candidates. A last batch of one case, on which batch
    normalisation cannot be trained, is merged with the batch before it.

    >>> [len(share) for share in assign_batches(10, 2, 4, torch.Generator().manual_seed(1))]
    [2, 1, 1, 1]
    """
    size = min(batch_size, n_cases // population)
    batches = list(torch.randperm(n_cases, generator=draws).split(size))
    if len(batches[-1]) == 1 < size and len(batches) > population:
        batches[-2:] = [torch.cat(batches[-2:])]
    return [tuple(batches[candidate::population]) for candidate in range(population)]


class Trained(NamedTuple):
    """Mean loss and optimisers after training, and the candidates with finite parameters: possible parents."""

    loss: float
    optimizers: list[Optimizer]
    finite: list[int]


@dataclass(frozen=True)
class Trainer:
    """Settings of training; ``finite`` names the tensors that must be finite in a candidate that becomes the parent."""

    cases: CaseLoader
    loss: Loss
    optimizer: OptimizerFactory
    transform: Transform | None
    autocast: torch.dtype | None
    finite: frozenset[str]
    ranks: SingleProcess

    def make_optimizer(self, model: nn.Module, factor: float, inherited: dict[str, Any] | None) -> Optimizer:
        """A new optimiser, its learning rates multiplied by ``factor``, with the state of an earlier one if given."""
        made: Any = self.optimizer(model.parameters())
        if not isinstance(made, Optimizer):
            raise TypeError(f"optimizer must return a torch.optim.Optimizer, got {type(made).__name__}")
        if isinstance(made, LBFGS):
            raise ValueError("optimizer must make an optimiser whose step needs no closure, got LBFGS")
        own = {id(parameter) for parameter in model.parameters()}
        if not {id(parameter) for group in made.param_groups for parameter in group["params"]} <= own:
            raise ValueError("optimizer must make an optimiser of the parameters that it is given, got one of others")
        rates = [group["lr"] for group in made.param_groups]
        if inherited is not None:
            made.load_state_dict(copy.deepcopy(inherited))
        for group, rate in zip(made.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        return made

    def train_candidates(
        self,
        models: Sequence[nn.Module],
        batches: Sequence[Sequence[Tensor]],
        *,
        key: Key,
        generation: int,
        factor: float,
        inherited: dict[str, Any] | None,
    ) -> Trained:
        """Train each candidate on its batches, on the rank that it is assigned to."""
        optimizers = [self.make_optimizer(model, factor, inherited) for model in models]
        diverged = "training has diverged; a lower learning rate may help"

        def train_one(which: int) -> tuple[float, bool]:
            seed = derive_seed(key, generation, Lane.TRAINING, which)
            loss = self.train(models[which], optimizers[which], batches[which], seed)
            if not math.isfinite(loss):
                raise TrainingError(f"the loss of candidate {which} in generation {generation} is {loss}: {diverged}")
            return loss, are_finite(models[which], self.finite)

        results = self.ranks.map_candidates(len(models), train_one)
        finite = [which for which, (_, is_finite) in enumerate(results) if is_finite]
        if not finite:
            raise TrainingError(
                f"the parameters of all {len(models)} candidates in generation {generation} are not finite: {diverged}"
            )
        if len(finite) < len(models) and self.ranks.rank == 0:
            broken = [str(which) for which in range(len(models)) if which not in finite]
            names = f"{'candidates' if len(broken) > 1 else 'candidate'} {', '.join(broken)}"
            warnings.warn(
                f"{names} of generation {generation} cannot become the parent: parameters are not finite; a lower "
                "learning rate may help",
                RuntimeWarning,
                stacklevel=4,
            )
        return Trained(sum(loss for loss, _ in results) / len(results), optimizers, finite)

    def train(self, model: nn.Module, optimizer: Optimizer, batches: Sequence[Tensor], seed: int) -> float:
        """Train a network for one pass over batches of (b,) cases; return the mean loss.

        The global random generators are left as they were.
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
