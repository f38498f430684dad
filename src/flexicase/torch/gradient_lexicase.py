"""Gradient lexicase selection: the paper's Algorithm 2, one generation of which is `GradientLexicase._next_state`."""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from flexicase._checkpoint import CheckpointWriter
from flexicase._checks import check_choice, check_count, check_number
from flexicase.rng import Key, Lane, Seed
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.protocol import Ended, Method
from flexicase.selection.weights import DefaultWeight
from flexicase.torch import _networks as networks
from flexicase.torch import _training as training
from flexicase.torch._distributed import Distributed, RankLostError, join
from flexicase.torch._evaluation import (
    CandidateErrors,
    CaseLoader,
    ErrorFunction,
    max_block_cases,
    next_lookahead,
    zero_one_error,
)
from flexicase.torch._fingerprint import checksum
from flexicase.torch._state import TrainingState, check_names, describe_training, dump, load, read_state
from flexicase.torch.records import TrainingRecord


class GradientLexicase:
    """Trains a network by gradient lexicase selection (Ding and Spector, ICLR 2022; the paper's Algorithm 2).

    In every generation, each of ``population`` candidates is trained on its own share of the training cases. Lexicase
    selection on all training cases then selects the parent, and its copies are the next candidates.

    Args:
        model_fn: Makes a new network with random parameters each time it is called.
        train_set: A map-style data set of (input, target).
        population: Number of candidates.
        method: Any method that `flexicase.FastLexicase` supports, by name or as an object: ``"lexicase"`` visits cases
            in uniformly random order, ``"weighted-num-nonzeros"`` and others by weights learnt while selecting.
        default_weight: Weight of cases not visited yet: ``"max"`` or ``"min"``.
        w_min: Smallest weight of a case.
        w_max: Largest weight of a case; by default population + 1.
        stop_on_all_fail: Whether a case that every candidate in the pool gets wrong ends the selection with a random
            parent.
        optimizer: Makes an optimiser of a network's parameters.
        schedule: Returns the factor of the learning rate, from the generation (from 0) and the number of generations.
        generations: Number of generations, for the schedule; `fit` sets it too.
        device: Device of the networks.
        batch_size: Cases per training step.
        seed: As for `flexicase.select`.
        optimizer_state: Each generation starts with new optimisers, ``"reset"``, or the parent's state, ``"inherit"``.
        transform: Augments training batches: ``transform(inputs, generator)``, such as `PadCropFlip`.
        selection_transform: Augments the cases of selection, one at a time, with draws that depend on generation and
            case alone; by default selection uses the plain cases.
        error_fn: From (b, …) outputs and (b, …) targets to (b,) errors, lower is better, 0 solved; by default 0 if the
            largest output is the target and 1 otherwise. Needs ``loss``.
        loss: Training loss; cross-entropy by default.
        test_set: Data set to evaluate the parent on.
        eval_every: Generations between evaluations on ``test_set``; the last generation is evaluated too.
        callbacks: Functions that are called with each `TrainingRecord`.
        lookahead: Cases that selection computes at a time: ``"auto"`` in blocks that grow, an int in blocks of that
            many. Does not change the result, up to rounding in networks.
        autocast: ``torch.bfloat16`` for mixed precision.
        distributed: Whether the candidates are distributed over the processes of a ``torchrun`` job, all of which make
            the same calls; ``"auto"``: if this is such a process. The result is the same as in one process. Rank 0
            alone calls the callbacks and writes files.

    Example:
        >>> import flexicase.torch as ft
        >>> digits = ft.data.load("digits", train_cases=64)
        >>> search = ft.GradientLexicase(lambda: ft.vgg("digits", channels=1, size=8), digits.train, seed=1)
        >>> [record.generation for record in search.fit(2)]
        [0, 1]
    """

    def __init__(
        self,
        model_fn: Callable[[], nn.Module],
        train_set: Any,
        population: int = 4,
        method: str | Method = "lexicase",
        *,
        default_weight: DefaultWeight = "max",
        w_min: float = 1.0,
        w_max: float | None = None,
        stop_on_all_fail: bool = False,
        optimizer: training.OptimizerFactory = training.sgd,
        schedule: training.Schedule = training.cosine,
        generations: int | None = None,
        device: str | torch.device = "cpu",
        batch_size: int = 64,
        seed: Seed = None,
        optimizer_state: Literal["reset", "inherit"] = "reset",
        transform: training.Transform | None = None,
        selection_transform: training.Transform | None = None,
        error_fn: ErrorFunction | None = None,
        loss: training.Loss | None = None,
        test_set: Any = None,
        eval_every: int = 50,
        callbacks: Sequence[Callable[[TrainingRecord], object]] = (),
        lookahead: Literal["auto"] | int = "auto",
        autocast: torch.dtype | None = None,
        distributed: Distributed = False,
    ) -> None:
        self.population = check_count(population, "population", 1)
        self._ranks = join(distributed, self.population, device)
        self.batch_size = check_count(batch_size, "batch_size", 1)
        self.eval_every = check_count(eval_every, "eval_every", 1)
        self.generations = None if generations is None else check_count(generations, "generations", 1)
        self.device = networks.check_device(self._ranks.device(device))
        if error_fn is not None and loss is None:
            raise ValueError("error_fn needs loss: what to train for when errors are not right or wrong")
        if autocast not in (None, torch.bfloat16):
            raise ValueError(
                f"autocast must be torch.bfloat16 or None (float16 would need loss scaling), got {autocast}"
            )
        self._inherits = check_choice(optimizer_state, "optimizer_state", ("reset", "inherit")) == "inherit"
        transforms = {"transform": transform, "selection_transform": selection_transform}
        training.check_functions(callbacks, optimizer, schedule=schedule, error_fn=error_fn, loss=loss, **transforms)
        self._cases = CaseLoader(train_set, self.device, name="train_set")
        if len(self._cases) < self.population:
            found = f"{len(self._cases)} cases and {self.population} candidates"
            raise ValueError(f"train_set must have at least one case per candidate, got {found}")
        self._seed = int(seed) if isinstance(seed, int | np.integer) else None
        key = self._ranks.key(seed)
        self._model_fn = model_fn
        self._candidates = self._new_candidates(key)
        first = self._candidates[0]
        classes = networks.check_output(first, self._cases, classify=error_fn is None)
        self._lookahead, self._max_pairs = lookahead, max_block_cases(first, self._cases) * self.population
        selector = FastLexicase(
            len(self._cases),
            method,
            default_weight=default_weight,
            w_min=w_min,
            w_max=self.population + 1.0 if w_max is None else w_max,
            stop_on_all_fail=stop_on_all_fail,
            lookahead=lookahead,
            seed=key,
        )
        if classes is not None:
            self._cases.check_labels(classes)
        self._test = None if test_set is None else self._test_cases(test_set)
        self._error_fn, loss = error_fn or zero_one_error, loss or functional.cross_entropy
        finite = networks.finite_tensors(first)
        self._trainer = training.Trainer(self._cases, loss, optimizer, transform, autocast, finite, self._ranks)
        self._descriptions = describe_training(first, self._trainer, self._error_fn, selection_transform)
        self._selection_transform = selection_transform
        self._schedule = schedule
        self.callbacks = list(callbacks)
        self._state = TrainingState(key, selector)
        self._folder: Path | None = None
        self._ranks.check_same_on_all_ranks(
            lambda: {
                **self._settings(),
                **selector.state_dict()["settings"],
                "lookahead": selector.lookahead,
                "key": tuple(key),
                "checksum of the first network": checksum(networks.all_tensors(first).values()),
            }
        )

    @property
    def rank(self) -> int:
        """The number of this process in a distributed job; 0 if there is only one."""
        return self._ranks.rank

    @property
    def generation(self) -> int:
        """Number of finished generations."""
        return len(self._state.records)

    @property
    def records(self) -> tuple[TrainingRecord, ...]:
        """One record per finished generation."""
        return self._state.records

    @property
    def weights(self) -> NDArray[np.float64]:
        """The current weights of the cases: (n_cases,) float64, read-only."""
        return self._state.selector.weights

    @property
    def parent(self) -> nn.Module:
        """A network with the parameters of the last parent, in evaluation mode; none before the first generation."""
        if self._state.parent is None:
            raise RuntimeError("there is no parent yet: no generation is done")
        return self._state.copy_parent_to(copy.deepcopy(self._candidates[0])).eval()

    def fit(
        self,
        generations: int,
        *,
        save: str | Path | None = None,
        save_every: float | None = None,
        resume: bool = False,
        allow_changed: Collection[str] = (),
    ) -> tuple[TrainingRecord, ...]:
        """Train until that many generations are finished in total; return one record for each.

        Args:
            generations: Number of generations; also passed to the schedule.
            save: Folder for checkpoints, of which the last two are kept. One is written at the end, and when training
                is interrupted or fails. A folder with the checkpoint of another training needs ``resume``.
            save_every: Seconds between checkpoints, 30 by default; in a distributed job, after every generation.
            resume: Continue from the checkpoint in ``save``, if there is one.
            allow_changed: Settings that may differ from the checkpoint's, as for `load_state_dict`.

        Raises:
            TrainingError: A loss is not finite, or the parameters of no candidate are. Finished generations are kept.
            RankLostError: Another rank of a distributed job is lost.
        """
        generations = check_count(generations, "generations", 1)
        folder = None if save is None else Path(save)
        if resume and folder is None:
            raise ValueError("resume needs save: the folder of the checkpoint")
        seconds = self._ranks.save_every if save_every is None else check_number(save_every, "save_every")
        self._ranks.check_same_on_all_ranks(lambda: {"generations": generations, "resume": resume})
        own = None if self.rank else folder
        writer = CheckpointWriter(own, {}, lambda: dump(self.state_dict()), load, every=seconds, done=self.generation)
        if folder is not None:
            is_own = self._folder == folder.resolve()
            found = self._ranks.on_rank_zero(lambda: writer.open(resume=resume, is_own=is_own))
            if found is not None:
                self.load_state_dict(found, allow_changed=allow_changed)
            self._folder = folder.resolve()
        self.generations = generations
        try:
            while self.generation < generations:
                record = self.step()
                writer.save_if_due(self.generation)
                for callback in () if self.rank else self.callbacks:
                    callback(record)
        finally:  # also on Ctrl-C: finished generations are complete
            writer.save(self.generation)
        return self.records

    def step(self) -> TrainingRecord:
        """Train for one generation.

        If it fails or is interrupted, `generation` tells whether it is finished. If not, nothing has changed, and
        calling this again gives the same result as without the interruption.
        """
        if self.generations is None:
            raise ValueError("generations must be known for the schedule: give it to GradientLexicase, or call fit")
        factor = training.check_factor(self._schedule(self.generation, self.generations))
        grad, draws = torch.is_grad_enabled(), torch.get_rng_state()
        try:
            self._state = self._next_state(factor)
        except BaseException as error:
            torch.set_grad_enabled(grad)  # Ctrl-C inside of PyTorch's own context managers leaves these changed
            torch.set_rng_state(draws)
            if isinstance(error.__cause__, RankLostError):
                raise error.__cause__ from None
            raise
        return self._state.records[-1]

    def _next_state(self, factor: float) -> TrainingState:
        """The state after one more generation: the body of the loop of Algorithm 2."""
        state, generation = self._state, self.generation
        started = time.perf_counter()
        self._reset_candidates()
        draws = training.derived_generator(state.key, generation, Lane.DEALING)
        batches = training.assign_batches(len(self._cases), self.batch_size, self.population, draws)
        trained = self._trainer.train_candidates(
            self._candidates, batches, key=state.key, generation=generation, factor=factor, inherited=state.optimizer
        )
        trained_at = time.perf_counter()
        evaluate = self._ranks.evaluator(self._candidate_errors())
        selector, pool = self._next_selector(), np.array(trained.finite)
        selected = selector.select(lambda which, cases: evaluate(pool[which], cases), len(pool), cache_key=generation)
        parent = int(pool[selected.indices[0]])
        selected_at = time.perf_counter()
        model = self._candidates[parent]
        optimizer = copy.deepcopy(trained.optimizers[parent].state_dict()) if self._inherits else None
        optimizer = self._ranks.broadcast_parent(parent, model, optimizer)
        accuracy = self._accuracy_if_due(model)
        record = TrainingRecord(
            generation=generation,
            parent=parent,
            evaluations=int(selected.evaluations[0]),
            cases_used=int(selected.cases_used[0]),
            ended=Ended(int(selected.ended[0])),
            pairs=int(selected.pairs[0]),
            forward_calls=evaluate.calls,
            lr=float(trained.optimizers[0].param_groups[0]["lr"]),
            loss=trained.loss,
            accuracy=accuracy,
            seconds_train=trained_at - started,
            seconds_select=selected_at - trained_at,
            seconds_test=time.perf_counter() - selected_at,
        )
        parameters = networks.copied(networks.parameters_of(model))
        buffers = networks.copied(networks.unsaved_buffers(model))
        return TrainingState(state.key, selector, (*state.records, record), parameters, buffers, optimizer)

    def _new_candidates(self, key: Key) -> list[nn.Module]:
        seeds = [training.derive_seed(key, 0, Lane.NETWORKS, which) for which in range(self.population)]
        return networks.make_candidates(self._model_fn, seeds, self.device)

    def _reset_candidates(self) -> None:
        """Make every candidate a copy of the parent; before the first generation, a new network."""
        if self._state.parent is None:
            for candidate, new in zip(self._candidates, self._new_candidates(self._state.key), strict=True):
                networks.copy_state_to(candidate, networks.parameters_of(new), networks.unsaved_buffers(new))
        else:
            for candidate in self._candidates:
                self._state.copy_parent_to(candidate)

    def _next_selector(self) -> FastLexicase:
        """A copy of the selector, so that an interrupted generation leaves the weights as they were."""
        selector = copy.copy(self._state.selector)
        if self._lookahead == "auto":
            selector.lookahead = next_lookahead([record.cases_used for record in self.records], self._max_pairs)
        return selector

    def _candidate_errors(self) -> CandidateErrors:
        for model in self._candidates:
            model.eval()
        transform, augment = self._selection_transform, None
        if transform is not None:
            augment = functools.partial(training.augment_cases, transform, self._state.key, self.generation)
        autocast = self._trainer.autocast
        return CandidateErrors(self._candidates, self._cases, self._error_fn, autocast=autocast, augment=augment)

    def _accuracy_if_due(self, model: nn.Module) -> float | None:
        done = self.generation + 1
        is_due = done == self.generations or not done % self.eval_every
        return self._mean(model, self._test) if self._test is not None and is_due else None

    def evaluate(self, test_set: Any) -> float:
        """The share of cases in a map-style data set that the parent gets right; with ``error_fn``, its mean error."""
        return self._mean(self.parent, self._test_cases(test_set))

    def _test_cases(self, test_set: Any) -> CaseLoader:
        cases = CaseLoader(test_set, self.device, name="test_set")
        if self._cases.classes is not None:
            cases.check_labels(self._cases.classes)
        return cases

    def _mean(self, model: nn.Module, cases: CaseLoader) -> float:
        evaluate = CandidateErrors([model], cases, self._error_fn, autocast=self._trainer.autocast)
        mean = float(evaluate(np.zeros(1, np.int64), np.arange(len(cases))).mean())
        return mean if self._cases.classes is None else 1.0 - mean

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to continue, bit by bit: parent, case weights, random streams, generation, records."""
        return self._state.as_dict(self._settings(), self.generations)

    def load_state_dict(self, state: dict[str, Any], *, allow_changed: Collection[str] = ()) -> None:
        """Continue from a state that `state_dict` returned. The learning rate and its schedule may differ.

        A state that is refused changes nothing. ``allow_changed`` names settings that may differ: any of
        ``"train_set"``, ``"network"``, ``"optimizer"``, ``"loss"``, ``"error_fn"``, ``"transform"``,
        ``"selection_transform"``. Shapes must match all the same.
        """
        expected = self._settings(), self._state, self._candidates[0], self._trainer
        self._state, generations = read_state(state, *expected, allow_changed=check_names(allow_changed))
        self.generations = self.generations or generations

    def _settings(self) -> dict[str, Any]:
        return {
            "population": self.population,
            "batch_size": self.batch_size,
            "n_cases": len(self._cases),
            "seed": self._seed,
            "optimizer_state": "inherit" if self._inherits else "reset",
            "train_set": self._cases.fingerprint,
            **self._descriptions,
        }
