"""The selector behind gradient lexicase: `FastLexicase`, with look-ahead that learns from the last selection."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn
from torch.nn import functional

from flexicase._checks import check_choice, check_count, check_number
from flexicase.evaluation._lookahead import BYTES_PER_PAIR, GROWTH_DELAY, Growing, LookAhead
from flexicase.rng import Key, Lane, Seed
from flexicase.selection.fast_lexicase import BLOCK_SHARE, FastLexicase
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.orders import Uniform, Weighted
from flexicase.selection.weights import Bias, DefaultWeight
from flexicase.torch import _checkpoint as checkpoint
from flexicase.torch._distributed import Distributed, RankLostError, facts, join
from flexicase.torch._evaluation import CandidateErrors, CaseLoader, ErrorFunction, max_block_cases, zero_one_error
from flexicase.torch._state import TrainingState, check_names, describe_training, read_state
from flexicase.torch._training import (
    Loss,
    OptimizerFactory,
    Schedule,
    Trainer,
    Transform,
    check_autocast,
    check_device,
    check_functions,
    check_output,
    cosine,
    finite_tensors,
    make_candidates,
    sgd,
    word,
)
from flexicase.torch.data import PerCase
from flexicase.torch.records import TrainingRecord, selection_facts

SelectionName: TypeAlias = Literal["lexicase", "fast"]
SHORT = 2 * GROWTH_DELAY
RECENT = 5
LEAST_SHARE = 4


def make_selector(
    selection: SelectionName | FastLexicase,
    n_cases: int,
    population: int,
    *,
    bias: Bias | None,
    default: DefaultWeight | None,
    epsilon: float | ArrayLike | str | None,
    on_all_fail: Literal["keep", "stop"] | None,
    lookahead: Literal["auto"] | int,
    max_block_cases: int,
    key: Key,
) -> FastLexicase:
    """The selector that the arguments of `GradientLexicase` describe; see there.

    The largest weight is that of the whole population, also if not all of it takes part in the first selection.

    Raises:
        ValueError: A given selector is for another number of cases, or is contradicted by another argument.
    """
    if isinstance(selection, FastLexicase):
        for name, value in (("bias", bias), ("default", default), ("epsilon", epsilon), ("on_all_fail", on_all_fail)):
            if value is not None:
                raise ValueError(f"{name} must be left out when selection is a FastLexicase, which has its own")
        if selection.n_cases != n_cases:
            raise ValueError(
                f"selection must be for the {n_cases} cases of train_set, got a FastLexicase for {selection.n_cases}"
            )
        return _settled(copy.deepcopy(selection), population)
    check_choice(selection, "selection", ("lexicase", "fast"))
    check_choice(on_all_fail or "keep", "on_all_fail", ("keep", "stop"))
    order = Uniform() if selection == "lexicase" else Weighted("num_nonzeros" if bias is None else bias)
    made = FastLexicase(
        n_cases,
        Lexicase(order=order, epsilon=epsilon),
        default_weight=default or "max",
        stop_on_all_fail=on_all_fail == "stop",
        lookahead=lookahead,
        cache_bytes=BLOCK_SHARE * BYTES_PER_PAIR * max_block_cases * population,
        seed=key,
    )
    return _settled(made, population)


def _settled(selector: FastLexicase, population: int) -> FastLexicase:
    state = selector.state_dict()
    if state["w_max"] is None:
        largest = population + 1.0
        selector.load_state_dict({**state, "w_max": largest, "weights": np.minimum(state["weights"], largest)})
    return selector


def next_lookahead(cases: Sequence[int]) -> LookAhead:
    """Look-ahead for a selection, from how many cases the last few looked at.

    Where a handful of cases decide, computing in advance costs more than it saves; where it takes many, a quarter of
    the usual number is almost always needed.

    Args:
        cases: CaseLoader that each selection so far looked at.

    Example:
        >>> from flexicase.torch.gradient_lexicase import next_lookahead
        >>> next_lookahead([]), next_lookahead([50, 3, 2]), next_lookahead([3, 2, 9, 60, 40, 5, 100])
        (Growing(min_cases=1, delayed=True), Growing(min_cases=1, delayed=True), Growing(min_cases=10, delayed=False))
    """
    usual = int(median(cases[-RECENT:])) if cases else 0
    return Growing(delayed=True) if usual < SHORT else Growing(usual // LEAST_SHARE)


class GradientLexicase:
    """Trains a network by gradient lexicase selection (Ding and Spector, ICLR 2022; fast: the paper's Algorithm 2).

    In every generation each of ``population`` candidates is trained on its own share of the training cases; lexicase
    selection on all training cases then chooses the parent, and its copies are the next candidates.

    Args:
        model_fn: Makes a network, each time a new one with random parameters of its own.
        train_set: A map-style data set of (input, target).
        population: Candidates.
        selection: ``"lexicase"``: cases in uniformly random order; ``"fast"``: in weighted order, weights learnt while
            selecting; or a `flexicase.FastLexicase` for as many cases.
        bias: For ``"fast"``: ``"num_nonzeros"`` (default), ``"num_zeros"``, ``"split"`` or a callable.
        default: For ``"fast"``: weight of cases not looked at yet, ``"max"`` (default) or ``"min"``.
        optimizer: Makes an optimiser of a network's parameters.
        schedule: Factor of the learning rate, from the generation (from 0) and the number of generations.
        generations: How many generations there will be, for the schedule; `fit` sets it too.
        device: Where the networks are.
        batch_size: CaseLoader per training step.
        seed: An int, a `numpy.random.Generator`, a `SeedSequence`, or None for fresh randomness.
        optimizer_state: A generation starts with new optimisers, ``"reset"``, or the parent's state, ``"inherit"``.
        on_all_fail: On a case that the whole pool gets wrong, ``"keep"`` all (default) or ``"stop"``, parent at random.
        transform: Augments training batches: ``transform(inputs, generator)``, such as `PadCropFlip`.
        selection_transform: The same for the cases of selection, one at a time, by draws that depend on generation and
            case alone. None: selection sees the plain cases.
        error_fn: From (b, …) outputs and (b, …) targets to (b,) errors, lower is better, 0 solved; by default whether
            the largest output is not the target. Needs ``loss``.
        loss: The training loss; cross-entropy by default.
        epsilon: How far from the best of the pool a survivor may be, as for `flexicase.FastLexicase`.
        test_set: A data set to evaluate the parent on every ``eval_every`` generations, and after the last one.
        eval_every: See ``test_set``.
        callbacks: Called with each `TrainingRecord`.
        lookahead: How selection asks for cases: ``"auto"`` in blocks that grow, the faster the longer the last few
            selections were; an int in blocks of that many. Never changes the outcome, up to rounding in networks.
        autocast: ``torch.bfloat16`` for mixed precision.
        compile: Whether selection runs networks through ``torch.compile``.
        channels_last: Whether images and networks are laid out with the channels last.
        distributed: Whether the candidates live on the ranks of a ``torchrun`` job, as do the same calls with the same
            arguments; ``"auto"``: if this is one. Same outcome as in one process; callbacks and files on rank 0 alone.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: An argument has a value that makes no sense, or the network and the data do not fit together.

    Example:
        >>> import flexicase.torch as ft
        >>> data = ft.data.load("fake", train=64, test=32)
        >>> search = ft.GradientLexicase(lambda: ft.vgg("digits", channels=1, size=8), data.train, seed=1)
        >>> [record.generation for record in search.fit(2)]
        [0, 1]
    """

    def __init__(
        self,
        model_fn: Callable[[], nn.Module],
        train_set: Any,
        population: int = 4,
        selection: SelectionName | FastLexicase = "lexicase",
        *,
        bias: Bias | None = None,
        default: DefaultWeight | None = None,
        optimizer: OptimizerFactory = sgd,
        schedule: Schedule = cosine,
        generations: int | None = None,
        device: str | torch.device = "cpu",
        batch_size: int = 64,
        seed: Seed = None,
        optimizer_state: Literal["reset", "inherit"] = "reset",
        on_all_fail: Literal["keep", "stop"] | None = None,
        transform: Transform | None = None,
        selection_transform: Transform | None = None,
        error_fn: ErrorFunction | None = None,
        loss: Loss | None = None,
        epsilon: float | ArrayLike | str | None = None,
        test_set: Any = None,
        eval_every: int = 50,
        callbacks: Sequence[Callable[[TrainingRecord], object]] = (),
        lookahead: Literal["auto"] | int = "auto",
        autocast: torch.dtype | None = None,
        compile: bool = False,  # noqa: A002
        channels_last: bool = False,
        distributed: Distributed = False,
    ) -> None:
        """Check everything and make the candidates."""
        self.population = check_count(population, "population", 1)
        self._ranks = join(distributed, self.population, device)
        self.batch_size = check_count(batch_size, "batch_size", 1)
        self.eval_every = check_count(eval_every, "eval_every", 1)
        self.generations = None if generations is None else check_count(generations, "generations", 1)
        self.device = check_device(self._ranks.device(device))
        if error_fn is not None and loss is None:
            raise ValueError("error_fn needs loss: what to train for when errors are not right or wrong")
        check_autocast(autocast)
        self._inherits = check_choice(optimizer_state, "optimizer_state", ("reset", "inherit")) == "inherit"
        transforms = {"transform": transform, "selection_transform": selection_transform}
        check_functions(callbacks, optimizer, schedule=schedule, error_fn=error_fn, loss=loss, **transforms)
        self._cases = CaseLoader(train_set, self.device, channels_last=channels_last, name="train_set")
        self._cases.expect_one_each(self.population)
        self._seed = int(seed) if isinstance(seed, int | np.integer) else None
        key = self._ranks.key(seed)
        self._model_fn = model_fn
        self._channels_last = channels_last
        self._candidates = self._new_candidates(key)
        classes = check_output(self._candidates[0], self._cases, classify=error_fn is None)
        selector = make_selector(
            selection,
            len(self._cases),
            self.population,
            bias=bias,
            default=default,
            epsilon=epsilon,
            on_all_fail=on_all_fail,
            lookahead=lookahead,
            max_block_cases=max_block_cases(self._candidates[0], self._cases),
            key=key,
        )
        self._learns_lookahead = selector.lookahead == "auto"
        if classes is not None:
            self._cases.expect_labels(classes)
        self._test = None if test_set is None else self._test_cases(test_set)
        self._error_fn = error_fn or zero_one_error
        loss, finite = loss or functional.cross_entropy, finite_tensors(self._candidates[0])
        self._trainer = Trainer(self._cases, self.batch_size, loss, optimizer, transform, autocast, finite, self._ranks)
        self._descriptions = describe_training(self._candidates[0], self._trainer, self._error_fn, selection_transform)
        self._autocast = autocast
        self._forward = [torch.compile(model) for model in self._candidates] if compile else self._candidates
        self._selection_transform = selection_transform
        self._schedule = schedule
        self.callbacks = list(callbacks)
        self._state = TrainingState(key, selector)
        self._folder: Path | None = None
        self._ranks.agree(lambda: self._settings() | facts(selector, key, self._candidates[0]))

    @property
    def rank(self) -> int:
        """The number of this process in a distributed job; 0 if it is alone."""
        return self._ranks.rank

    @property
    def generation(self) -> int:
        """Generations done."""
        return len(self._state.records)

    @property
    def records(self) -> tuple[TrainingRecord, ...]:
        """One record per generation done."""
        return self._state.records

    @property
    def weights(self) -> NDArray[np.float64]:
        """The current weights of the cases: (n_cases,) float64, read-only."""
        return self._state.selector.weights

    @property
    def parent(self) -> nn.Module:
        """A network with the parameters of the last parent, in evaluation mode.

        Raises:
            RuntimeError: No generation is done yet.
        """
        if self._state.parent is None:
            raise RuntimeError("there is no parent yet: no generation is done")
        return self._state.load_parent(copy.deepcopy(self._candidates[0])).eval()

    def fit(
        self,
        generations: int,
        *,
        save: str | Path | None = None,
        save_every: float | None = None,
        resume: bool = False,
        allow_changed: Collection[str] = (),
    ) -> tuple[TrainingRecord, ...]:
        """Train until that many generations are done in all.

        Args:
            generations: How many; also what the schedule is told.
            save: Folder for checkpoints: the last two are kept. One is written at the end, and when training is
                interrupted or fails. A folder with the checkpoint of another training needs ``resume``.
            save_every: Seconds between checkpoints, 30 by default; in a distributed job, after every generation.
            resume: Go on from the checkpoint in ``save``, if there is one.
            allow_changed: What may be another than in the checkpoint, as for `load_state_dict`.

        Returns:
            One record per generation.

        Raises:
            TrainingError: A loss is not finite, or the parameters of no candidate are. The last generation stays.
            ValueError: The checkpoint is of another training, or there is one without ``resume``.
            OSError: ``save`` cannot be written to. Nothing has been trained.
            RankLostError: Another rank of a distributed job is gone.
        """
        generations = check_count(generations, "generations", 1)
        folder = None if save is None else Path(save)
        if resume and folder is None:
            raise ValueError("resume needs save: the folder of the checkpoint")
        seconds = self._ranks.seconds_between_saves if save_every is None else check_number(save_every, "save_every")
        self._ranks.agree(lambda: {"generations": generations, "resume": resume})
        if folder is not None:
            is_own = self._folder == folder.resolve()
            found = self._ranks.from_first(lambda: checkpoint.open_folder(folder, resume=resume, is_own=is_own))
            if found is not None:
                self.load_state_dict(found, allow_changed=allow_changed)
            self._folder = folder.resolve()
        self.generations = generations
        saver = checkpoint.CheckpointWriter(self, None if self.rank else folder, seconds)
        try:
            while self.generation < generations:
                record = self.step()
                saver.save_if_due()
                for callback in () if self.rank else self.callbacks:
                    callback(record)
        finally:  # also on Ctrl-C: finished generations are whole
            saver.save()
        return self.records

    def step(self) -> TrainingRecord:
        """One generation: train, select, copy.

        If it fails or is interrupted, `generation` says whether it is done. If not, nothing is left of it, and calling
        this again gives the same outcome as without the interruption.

        Raises:
            TrainingError: A loss is not finite, or the parameters of no candidate are.
            ValueError: The schedule needs to know how many generations there will be.
        """
        if self.generations is None:
            raise ValueError("generations must be known for the schedule: give it to GradientLexicase, or call fit")
        factor = self._schedule(self.generation, self.generations)
        grad, draws = torch.is_grad_enabled(), torch.get_rng_state()
        try:
            self._state = self._next(factor)
        except BaseException as error:
            torch.set_grad_enabled(grad)  # Ctrl-C inside of PyTorch's own context managers leaves these changed
            torch.set_rng_state(draws)
            if isinstance(error.__cause__, RankLostError):
                raise error.__cause__ from None
            raise
        return self._state.records[-1]

    def _next(self, factor: float) -> TrainingState:
        started = time.perf_counter()
        self._state.renew(self._candidates, self._new_candidates)
        loss, optimizers, sound = self._trainer.train_all(
            self._candidates, self._state.key, self.generation, factor, self._state.optimizer
        )
        trained = time.perf_counter()
        evaluate = self._ranks.evaluator(self._evaluator(self._forward))
        selector = copy.copy(self._state.selector)
        if self._learns_lookahead:
            selector.lookahead = next_lookahead([record.cases for record in self.records])
        candidates = np.array(sound)
        selected = selector.select(
            lambda which, cases: evaluate(candidates[which], cases), len(sound), cache_key=self.generation
        )
        chosen = time.perf_counter()
        parent = sound[int(selected.indices[0])]
        model = self._candidates[parent]
        optimizer = copy.deepcopy(optimizers[parent].state_dict()) if self._inherits else None
        optimizer = self._ranks.adopt(parent, model, optimizer)
        record = TrainingRecord(
            generation=self.generation,
            parent=parent,
            **selection_facts(selected),
            forward_calls=evaluate.calls,
            lr=float(optimizers[0].param_groups[0]["lr"]),
            loss=loss,
            accuracy=self._accuracy_if_due(model),
            seconds_train=trained - started,
            seconds_select=chosen - trained,
            seconds_test=time.perf_counter() - chosen,
        )
        return self._state.after(selector, record, model, optimizer)

    def _accuracy_if_due(self, model: nn.Module) -> float | None:
        done = self.generation + 1
        if self._test is None or (done != self.generations and done % self.eval_every):
            return None
        return self._mean(model, self._test)

    def _evaluator(self, models: Sequence[Any]) -> CandidateErrors:
        for model in self._candidates:
            model.eval()
        transform = self._selection_transform
        augment = None if transform is None else PerCase(transform, self._state.key, self.generation)
        return CandidateErrors(models, self._cases, self._error_fn, autocast=self._autocast, augment=augment)

    def evaluate(self, test_set: Any) -> float:
        """How good the parent is: the share of cases that it gets right; with ``error_fn``, its mean error.

        Args:
            test_set: A map-style data set of (input, target).
        """
        return self._mean(self.parent, self._test_cases(test_set))

    def _test_cases(self, test_set: Any) -> CaseLoader:
        cases = CaseLoader(test_set, self.device, channels_last=self._channels_last, name="test_set")
        if self._cases.classes is not None:
            cases.expect_labels(self._cases.classes)
        return cases

    def _mean(self, model: nn.Module, cases: CaseLoader) -> float:
        evaluate = CandidateErrors([model], cases, self._error_fn, autocast=self._autocast)
        mean = float(evaluate(np.zeros(1, np.int64), np.arange(len(cases))).mean())
        return mean if self._cases.classes is None else 1.0 - mean

    def _new_candidates(self, key: Key) -> list[nn.Module]:
        seeds = [word(key, 0, Lane.NETWORKS, which) for which in range(self.population)]
        return make_candidates(self._model_fn, seeds, self.device, channels_last=self._channels_last)

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on, to the last bit: parent, case weights, random streams, generation, records.

        Example:
            >>> import flexicase.torch as ft
            >>> data = ft.data.load("fake", train=64, test=32)
            >>> def search():
            ...     return ft.GradientLexicase(lambda: ft.vgg("digits", channels=1, size=8), data.train, seed=1)
            >>> one, two = search(), search()
            >>> _ = one.fit(2)
            >>> two.load_state_dict(one.state_dict())
            >>> two.generation
            2
        """
        return self._state.as_dict(self._settings(), self.generations)

    def load_state_dict(self, state: dict[str, Any], *, allow_changed: Collection[str] = ()) -> None:
        """Go on where `state_dict` was taken. The learning rate and its schedule may be others from here on.

        Everything is checked first: a state that is refused changes nothing.

        Args:
            state: What `state_dict` gave.
            allow_changed: What may be another than in that training: any of ``"train_set"``, ``"network"``,
                ``"optimizer"``, ``"loss"``, ``"error_fn"``, ``"transform"``, ``"selection_transform"``. Shapes must
                fit all the same.

        Raises:
            ValueError: The state is of training with other settings, data or functions, of another network, or damaged;
                the message names the entry.
        """
        expected = self._settings(), self._state, self._candidates[0], self._trainer
        loaded, generations = read_state(state, *expected, allow_changed=check_names(allow_changed))
        self.generations = generations if self.generations is None else self.generations
        self._state = loaded

    def _settings(self) -> dict[str, Any]:
        return {
            "population": self.population,
            "batch_size": self.batch_size,
            "cases": len(self._cases),
            "seed": self._seed,
            "optimizer_state": "inherit" if self._inherits else "reset",
            "train_set": self._cases.fingerprint,
            **self._descriptions,
        }
