"""Training the candidates of a generation, each on its own share of the cases."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from flexicase.rng import Key, Lane, Stream, derived_key
from flexicase.torch.cases import Cases

if TYPE_CHECKING:
    from flexicase.torch.distributed import OneProcess

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


def word(key: Key, generation: int, lane: Lane, which: int = 0) -> int:
    """63 random bits that belong to a purpose, a generation and a candidate or case alone."""
    return Stream.of(derived_key(key, generation, lane), which, lane).word() >> 1


def generator(key: Key, generation: int, lane: Lane, which: int = 0) -> torch.Generator:
    """A generator on the CPU that starts from `word`."""
    return torch.Generator().manual_seed(word(key, generation, lane, which))


def deal(n_cases: int, batch_size: int, population: int, draws: torch.Generator) -> list[tuple[Tensor, ...]]:
    """Shuffle the cases, cut them into batches, and deal these to the candidates in turn.

    Batches are smaller than asked for if there would be fewer than candidates. A last batch of one case, on which
    batch normalisation cannot be trained, joins the batch before.

    Returns:
        For each candidate its batches, each a (b,) tensor of indices; every case is in exactly one.

    Example:
        >>> import torch
        >>> from flexicase.torch.training import deal
        >>> shares = deal(10, 2, 4, torch.Generator().manual_seed(1))
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
        loss: From outputs and targets to a number.
        optimizer: Makes an optimiser of a network's parameters.
        transform: Augments a batch, or None.
        autocast: Type for mixed precision, or None.
        ranks: Where the candidates live.
    """

    cases: Cases
    loss: Loss
    optimizer: OptimizerFactory
    transform: Transform | None
    autocast: torch.dtype | None
    ranks: OneProcess

    def optimizer_for(self, model: nn.Module, factor: float, inherited: dict[str, Any] | None) -> Optimizer:
        """A new optimiser, its learning rates multiplied by ``factor``, with the state of an earlier one if given."""
        made = self.optimizer(model.parameters())
        rates = [group["lr"] for group in made.param_groups]
        if inherited is not None:
            made.load_state_dict(copy.deepcopy(inherited))
        for group, rate in zip(made.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        return made

    def train_all(
        self,
        models: Sequence[nn.Module],
        shares: Sequence[Sequence[Tensor]],
        seeds: Sequence[int],
        *,
        generation: int,
        factor: float,
        inherited: dict[str, Any] | None,
    ) -> tuple[float, list[Optimizer]]:
        """Train each candidate on its share, where it lives; gives the mean loss, and the optimisers as it left them.

        Args:
            models: The candidates.
            shares: The batches of each.
            seeds: Of all that is random in the training of each.
            generation: Which one it is, for messages.
            factor: Of the learning rates.
            inherited: State that the optimisers start from, or None.

        Raises:
            TrainingError: A loss is not finite.
        """
        optimizers = [self.optimizer_for(model, factor, inherited) for model in models]

        def loss_of(which: int) -> float:
            loss = self.train(models[which], optimizers[which], shares[which], seeds[which])
            if not math.isfinite(loss):
                raise TrainingError(
                    f"the loss of candidate {which} in generation {generation} is {loss}: training has diverged; "
                    "a lower learning rate may help"
                )
            return loss

        losses = self.ranks.each(len(models), loss_of)
        return sum(losses) / len(losses), optimizers

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
                if loss.ndim:
                    raise ValueError(f"loss must give one number for a batch, got shape {tuple(loss.shape)}")
                loss.backward()
                optimizer.step()
                total += loss.detach() * len(batch)
        return float(total) / sum(map(len, batches))
