"""Who is best and who becomes a parent: on all errors, or on those that selection asks for."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from flexicase.push.evaluator import Evaluator, LazyErrors
from flexicase.push.program import Program
from flexicase.rng import Key
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.methods import PAPER_METHODS
from flexicase.selection.protocol import Kernel, Method, Selection
from flexicase.selection.weights import DefaultWeight


class PopulationSummary(NamedTuple):
    """The best individual of a generation, and what is known of the others.

    Attributes:
        best: Its index.
        errors: (n_errors,) its errors.
        total: Their sum.
        median: Median of all total errors.
        mean: Their mean.
        distinct: Different error vectors.
        events: Selection events that finding it took.
        evaluations: What they cost, in the paper's measure.
    """

    best: int
    errors: NDArray[np.float64]
    total: float
    median: float | None = None
    mean: float | None = None
    distinct: int | None = None
    events: int = 0
    evaluations: int = 0


@dataclass(frozen=True)
class InheritedErrors:
    """Errors that plain copies have from their parents.

    Attributes:
        individuals: (k,) int64, the copies.
        errors: (k, n_errors) float64, their errors.
    """

    individuals: NDArray[np.int64]
    errors: NDArray[np.float64]

    @classmethod
    def none(cls, n_errors: int) -> InheritedErrors:
        """No copies."""
        return cls(np.empty(0, np.int64), np.empty((0, n_errors)))


class ParentSelection(Protocol):
    """Judges one generation after another."""

    @property
    def pairs(self) -> int:
        """(individual, error) pairs evaluated in this generation so far."""
        ...

    def judge(self, programs: list[Program], carried: InheritedErrors, key: Key) -> PopulationSummary:
        """Find the best of a new generation."""
        ...

    def select(self, n: int, key: Key) -> Selection:
        """Select ``n`` parents from it."""
        ...

    def carried(self, copies: NDArray[np.int64], parents: NDArray[np.int64]) -> InheritedErrors:
        """The errors that copies of ``parents`` have."""
        ...

    def state_dict(self) -> dict[str, Any] | None:
        """What the next generation depends on, beside its individuals."""
        ...

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """Go on where `state_dict` was called."""
        ...


class FullEvaluation:
    """Evaluates everybody on everything, then selects by any method.

    Args:
        evaluator: The training cases.
        method: The selection method.
        threads: Threads to use.
    """

    def __init__(self, evaluator: Evaluator, method: Method, threads: int) -> None:
        """Nothing is evaluated yet."""
        self.evaluator = evaluator
        self.method = method
        self.threads = threads
        self.pairs = 0
        self._matrix: ErrorMatrix

    def judge(self, programs: list[Program], carried: InheritedErrors, key: Key) -> PopulationSummary:
        """Evaluate all programs but those whose errors are known; the first of the best is the best."""
        errors = self._errors(programs, carried)
        self._matrix = ErrorMatrix.from_array(errors)
        totals = errors.sum(axis=1)
        best = int(np.argmin(totals))
        distinct = int(np.count_nonzero(self._matrix.first_identical_row == np.arange(len(errors))))
        return PopulationSummary(
            best, errors[best], float(totals[best]), float(np.median(totals)), float(totals.mean()), distinct
        )

    def _errors(self, programs: list[Program], carried: InheritedErrors) -> NDArray[np.float64]:
        self.pairs = (len(programs) - len(carried.individuals)) * self.evaluator.n_errors
        if not len(carried.individuals):
            return self.evaluator.errors(programs, self.threads)
        errors = np.empty((len(programs), self.evaluator.n_errors))
        errors[carried.individuals] = carried.errors
        new = np.setdiff1d(np.arange(len(programs)), carried.individuals)
        if len(new):
            errors[new] = self.evaluator.errors([programs[i] for i in new], self.threads)
        return errors

    def select(self, n: int, key: Key) -> Selection:
        """Select by the method; what it needs of the whole generation, such as weights, is computed once."""
        kernel: Kernel = self.method.prepare(self._matrix, key, "native")
        return kernel.draw(key, range(n), True, self.threads)

    def carried(self, copies: NDArray[np.int64], parents: NDArray[np.int64]) -> InheritedErrors:
        """The errors that copies of ``parents`` have."""
        return InheritedErrors(copies, self._matrix.values[parents])

    def state_dict(self) -> None:
        """Nothing is kept from generation to generation."""

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """There is nothing to load."""


class PartialEvaluation:
    """Evaluates what `FastLexicase` asks for.

    An individual without any error is never filtered out, so that whoever wins a selection event while there is one
    has no error on any case either. It is therefore enough to run the winner of one event on all cases: it has no
    error exactly if anybody has none. This winner counts as the best of the generation. (With an epsilon, or with a
    threshold above 0, the winner of the event is judged in the same way, but a better one may go unnoticed.)

    Args:
        evaluator: The training cases.
        fast: The selection method.
        threads: Threads to use.
    """

    def __init__(self, evaluator: Evaluator, fast: FastLexicase, threads: int) -> None:
        """Nothing is evaluated yet."""
        if fast.n_cases != evaluator.n_errors:
            raise ValueError(
                f"partial must be a FastLexicase with {evaluator.n_errors} cases, one per error; got {fast.n_cases}"
            )
        self.evaluator = evaluator
        self.fast = copy.copy(fast)  # what is learnt in a run stays in the run
        self.fast.clear_cache()
        self.threads = threads
        self._lazy: LazyErrors
        self._known: NDArray[np.float64]  # (individuals, n_errors); NaN where a program was not run
        self._first: Selection

    @property
    def pairs(self) -> int:
        """(individual, error) pairs evaluated in this generation so far."""
        return int(np.count_nonzero(~np.isnan(self._known)))

    def judge(self, programs: list[Program], carried: InheritedErrors, key: Key) -> PopulationSummary:
        """Select one parent and run it on all cases."""
        self._lazy = self.evaluator.lazy(programs, self.threads)
        self._known = np.full((len(programs), self.evaluator.n_errors), np.nan)
        self.fast.clear_cache()
        self._first = self._draw(1, key)
        best = int(self._first.indices[0])
        missing = np.flatnonzero(np.isnan(self._known[best]))
        self._evaluate(np.array([best]), missing)
        errors = self._known[best].copy()
        cost = int(self._first.evaluations[0])
        return PopulationSummary(best, errors, float(errors.sum()), events=1, evaluations=cost)

    def select(self, n: int, key: Key) -> Selection:
        """Select further parents; the first is the one that was judged."""
        rest = self._draw(n - 1, Key(key.k1, key.k0))
        return Selection(
            np.concatenate([self._first.indices, rest.indices]),
            np.concatenate([self._first.evaluations, rest.evaluations]),
        )

    def _evaluate(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[np.float64]:
        errors = self._lazy(individuals[:, None], cases[None, :])
        self._known[np.ix_(individuals, cases)] = errors
        return errors

    def _draw(self, n: int, key: Key) -> Selection:
        return self.fast.select(self._evaluate, len(self._known), n, seed=key.k0 << 64 | key.k1)

    def carried(self, copies: NDArray[np.int64], parents: NDArray[np.int64]) -> InheritedErrors:
        """Copies are evaluated where selection asks for them, like everybody."""
        return InheritedErrors.none(self.evaluator.n_errors)

    def state_dict(self) -> dict[str, Any]:
        """The weights."""
        state = self.fast.state_dict()
        return {**state, "weights": state["weights"].tolist(), "key": list(state["key"])}

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """Go on with the weights of `state_dict`."""
        if state is None:
            raise ValueError("the checkpoint is of a run without partial evaluation")
        self.fast.load_state_dict(state)


def fast_version(method: str | Method, n_errors: int, default: DefaultWeight = "max") -> FastLexicase:
    """Algorithm 1 with the order and bias of one of the paper's methods.

    Args:
        method: The method.
        n_errors: Errors of an individual.
        default: Weight of cases that were not looked at yet.

    Raises:
        ValueError: It is another method.
    """
    if method not in PAPER_METHODS:
        raise ValueError(
            f"partial needs one of the paper's methods ({', '.join(PAPER_METHODS)}), got {method!r:.80}; "
            "for others give a FastLexicase as partial"
        )
    return FastLexicase(n_errors, method, default_weight=default, seed=0)
