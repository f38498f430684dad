"""Parents: programs are evaluated, on all cases or on those that selection needs, and parents are selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from flexicase.push.evaluator import Evaluator, PairErrors
from flexicase.push.program import Program
from flexicase.rng import Key
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.protocol import Method, Selection


class SelectionCost(NamedTuple):
    """What selection cost, over all events; None for a count that the method does not have."""

    events: int = 0
    evaluations: int | None = 0
    evaluations_distinct: int | None = 0

    @classmethod
    def of(cls, selection: Selection, used: NDArray[np.bool_], *, distinct: bool) -> SelectionCost:
        """The cost of the events whose parent was used; ``distinct``: whether ``evaluations_distinct`` was counted."""
        events = int(used.sum())
        if not selection.counted:
            return cls(events, None, None)
        evaluations = int(selection.evaluations[used].sum())
        return cls(events, evaluations, int(selection.evaluations_distinct[used].sum()) if distinct else None)


@dataclass
class Executions:
    """How often a program was run on a case in a generation, by purpose, as in `GenerationRecord`."""

    sample: int = 0
    informed: int = 0
    check: int = 0

    @property
    def total(self) -> int:
        return self.sample + self.informed + self.check


class PopulationSummary(NamedTuple):
    """The best individual of a population, its errors (on the sample if there is one), and whether it solves all cases.

    ``statistics`` are attributes of the generation's `GenerationRecord`, ``cost`` is that of selection so far.
    """

    best: int
    errors: NDArray[np.float64]
    solved: bool
    statistics: dict[str, Any]
    cost: SelectionCost = SelectionCost()


def count_distinct(matrix: ErrorMatrix) -> int:
    """Number of distinct error vectors."""
    return int(np.count_nonzero(matrix.first_identical_row == np.arange(matrix.n_individuals)))


@dataclass(frozen=True)
class InheritedErrors:
    """Errors that are known before a generation is evaluated.

    Attributes:
        individuals: (k,) int64, plain copies of their parents, ascending; with ``ages``, all that have a parent.
        errors: (k, n_errors) float64, their errors; with ``ages``, those of their ancestors.
        ages: (k, n_cases) uint8, how many generations ago an ancestor was run on the case; 255 if none was.
    """

    individuals: NDArray[np.int64]
    errors: NDArray[np.float64]
    ages: NDArray[np.uint8] | None = None

    @classmethod
    def none(cls, n_errors: int) -> InheritedErrors:
        """Nothing is known."""
        return cls(np.empty(0, np.int64), np.empty((0, n_errors)))


class ParentSelection(Protocol):
    """Evaluates one population after another and selects parents from it.

    Attributes:
        pairs: Number of (individual, error) pairs evaluated in this generation so far.
        executions: Number of executions of programs in this generation so far.
    """

    @property
    def pairs(self) -> int: ...

    @property
    def executions(self) -> Executions: ...

    def evaluate(
        self, programs: list[Program], inherited: InheritedErrors, key: Key, generation: int
    ) -> PopulationSummary:
        """Start a generation: find the best of its programs. ``key`` has the random bits of its selection."""

    def select(self, n: int) -> Selection:
        """Select ``n`` parents from the population that was evaluated last; called only if the run continues."""

    def train_errors(self, individual: int) -> tuple[NDArray[np.float64], int]:
        """The errors of an individual on all cases, and how many executions were needed to complete them."""

    def inherited_errors(self, is_copy: NDArray[np.bool_], parents: NDArray[np.int64]) -> InheritedErrors:
        """The errors of the next generation that are known already.

        Args:
            is_copy: (children,) whether a child is a plain copy of its first parent.
            parents: (children,) int64, their first parents; -1 for a random genome.
        """

    def state_dict(self) -> dict[str, Any] | None:
        """The state that the next generation depends on."""

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """Continue from a state that `state_dict` returned."""


class FullEvaluation:
    """Evaluates every individual on every case, then selects by any method."""

    _errors: ErrorMatrix
    _key: Key

    def __init__(self, evaluator: Evaluator, method: Method, threads: int, threshold: float = 0.0) -> None:
        self.evaluator = evaluator
        self.method = method
        self.threads = threads
        self.threshold = threshold
        self.pairs = 0
        self.executions = Executions()

    def evaluate(
        self, programs: list[Program], inherited: InheritedErrors, key: Key, generation: int
    ) -> PopulationSummary:
        """Evaluate all programs whose errors are not inherited; of equally good ones, the first is the best."""
        new = np.setdiff1d(np.arange(len(programs)), inherited.individuals)
        errors = np.empty((len(programs), self.evaluator.n_errors))
        errors[inherited.individuals] = inherited.errors
        errors[new] = self.evaluator.errors([programs[i] for i in new], self.threads)
        self.pairs = len(new) * self.evaluator.n_errors
        self.executions = Executions(len(new) * self.evaluator.n_cases)
        self._errors, self._key = ErrorMatrix.from_array(errors), key
        totals = self._errors.total_errors
        best = int(np.argmin(totals))
        statistics = {
            "best_error": float(totals[best]),
            "median_error": float(np.median(totals)),
            "mean_error": float(totals.mean()),
            "n_distinct_errors": count_distinct(self._errors),
            "sample_size": self.evaluator.n_cases,
            "n_candidates": int(np.count_nonzero(totals <= self.threshold)),
            "n_checked": 0,
        }
        return PopulationSummary(best, errors[best], bool(totals[best] <= self.threshold), statistics)

    def select(self, n: int) -> Selection:
        """Select by the method, prepared once for the whole generation."""
        kernel = self.method.prepare(self._errors, self._key, "native")
        return kernel.draw(self._key, range(n), True, self.threads)

    def train_errors(self, individual: int) -> tuple[NDArray[np.float64], int]:
        return self._errors.values[individual], 0

    def inherited_errors(self, is_copy: NDArray[np.bool_], parents: NDArray[np.int64]) -> InheritedErrors:
        return InheritedErrors(np.flatnonzero(is_copy), self._errors.values[parents[is_copy]])

    def state_dict(self) -> None:
        return None

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        pass


class PartialEvaluation:
    """Evaluates only the pairs that `FastLexicase` asks for; no other object may use ``fast``.

    An individual without errors is never filtered out of a pool. If there is one, the winner of a selection event
    therefore has no error on any case. So it is enough to run the winner of one event on all cases: it solves them if
    and only if some individual does. This winner counts as the best individual. (With an epsilon, or with an error
    threshold above 0, a better individual may go unnoticed.)
    """

    _on_demand: PairErrors
    _known: NDArray[np.float64]  # (individuals, n_errors), NaN where a pair was not evaluated
    _key: Key
    _first: Selection

    def __init__(self, evaluator: Evaluator, fast: FastLexicase, threads: int, threshold: float = 0.0) -> None:
        self.evaluator = evaluator
        self.fast = fast
        self.threads = threads
        self.threshold = threshold

    @property
    def pairs(self) -> int:
        return int(np.count_nonzero(~np.isnan(self._known)))

    @property
    def executions(self) -> Executions:
        known = ~np.isnan(self._known).reshape(len(self._known), self.evaluator.n_cases, -1)
        return Executions(int(np.count_nonzero(known.any(axis=2))))

    def evaluate(
        self, programs: list[Program], inherited: InheritedErrors, key: Key, generation: int
    ) -> PopulationSummary:
        """Select one parent and run it on all cases."""
        self._on_demand = self.evaluator.on_demand(programs, self.threads)
        self._known = np.full((len(programs), self.evaluator.n_errors), np.nan)
        self._key = key
        self.fast.clear_cache()
        self._first = self._draw(1, key)
        best = int(self._first.indices[0])
        self._errors_of(np.array([best]), np.flatnonzero(np.isnan(self._known[best])))
        errors = self._known[best].copy()
        total = float(errors.sum())
        cost = SelectionCost(1, int(self._first.evaluations[0]), None)
        return PopulationSummary(best, errors, total <= self.threshold, {"best_error": total}, cost)

    def select(self, n: int) -> Selection:
        """Select ``n`` parents, of which the first is the best individual that `evaluate` found."""
        rest = self._draw(n - 1, Key(self._key.k1, self._key.k0))
        return Selection(
            np.concatenate([self._first.indices, rest.indices]),
            np.concatenate([self._first.evaluations, rest.evaluations]),
        )

    def _errors_of(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[np.float64]:
        errors = self._on_demand(individuals[:, None], cases[None, :])
        self._known[np.ix_(individuals, cases)] = errors
        return errors

    def _draw(self, n: int, key: Key) -> Selection:
        seed = key.k0 << 64 | key.k1  # hashed to another key, which recorded runs depend on
        return self.fast.select(self._errors_of, len(self._known), n, seed=seed)

    def train_errors(self, individual: int) -> tuple[NDArray[np.float64], int]:
        return self._known[individual], 0

    def inherited_errors(self, is_copy: NDArray[np.bool_], parents: NDArray[np.int64]) -> InheritedErrors:
        return InheritedErrors.none(self.evaluator.n_errors)  # copies are evaluated when selection asks for them

    def state_dict(self) -> dict[str, Any]:
        state = self.fast.state_dict()
        return {**state, "weights": state["weights"].tolist(), "key": list(state["key"])}

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        if state is None:
            raise ValueError("the checkpoint is of a run without partial evaluation")
        self.fast.load_state_dict(state)
