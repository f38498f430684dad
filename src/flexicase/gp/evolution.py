"""The generational loop."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase._checkpoint import CheckpointError
from flexicase.gp.judging import Carried, FullJudge, Judge, PartialJudge, Verdict, fast_version
from flexicase.gp.population import Population
from flexicase.gp.records import Generation, Run, Seconds
from flexicase.gp.setup import Setup, stable_repr
from flexicase.gp.simplify import simplify
from flexicase.gp.variation import Breeder, Plan
from flexicase.push.evaluator import Evaluator
from flexicase.push.program import Program
from flexicase.rng import Key, Lane, Stream, derived_key, key_from_seed
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.methods import resolve_method
from flexicase.selection.weights import Default


@dataclass(frozen=True)
class State:
    """A run between two generations: what the next one depends on.

    Attributes:
        generation: The generation that comes next.
        population: Its individuals.
        carried: Errors that are known already.
        judge: State of the selection method.
        records: What happened before.
    """

    generation: int
    population: Population
    carried: Carried
    judge: dict[str, Any] | None
    records: tuple[Generation, ...]


class Evolution:
    """A run that goes on generation by generation.

    Args:
        setup: What the run is.
        clock: What seconds are measured with.

    >>> from flexicase.gp.setup import Setup, stable_repr
    >>> evolution = Evolution(Setup.of("simple-regression", population=20, generations=1))
    >>> evolution.step()[1], evolution.step()[1]
    (False, True)
    """

    def __init__(self, setup: Setup, clock: Callable[[], float] = time.perf_counter) -> None:
        """Draw the cases and the first population."""
        self.setup = setup
        self._clock = clock
        self._key = key_from_seed(setup.seed)
        train, test = setup.problem.sample(derived_key(self._key, 0, Lane.CASES).k0)
        genes = setup.problem.genes(setup.profile)
        self.train = setup.problem.evaluator(train, setup.profile)
        self.test = setup.problem.evaluator(test, setup.profile) if len(test) else None
        self._digests = {
            "cases": _digest((train, test)),
            "measures": _digest((setup.problem.measures, self.train.targets)),
            "genes": _digest(genes),
        }
        self._breeder = Breeder(genes, setup.variation)
        self._judge = _judge(setup, self.train)
        genesis = derived_key(self._key, 0, Lane.GENESIS)
        first = self._breeder.random(setup.population, genesis, setup.threads)
        self._state = State(0, first, Carried.none(self.train.n_errors), self._judge.state_dict(), ())
        self._end: _End | None = None

    def identity(self) -> dict[str, Any]:
        """All that the outcome depends on, as plain values; the parts of the problem as digests."""
        return {**self.setup.as_dict(), **self._digests}

    def state(self) -> State:
        """Where the run stands; a generation that is not finished will be done again."""
        return self._state

    def load(self, state: State) -> None:
        """Go on from a state.

        Raises:
            CheckpointError: The state cannot be one of this run.
        """
        size, carried = len(state.population), state.carried
        if size != self.setup.population:
            raise CheckpointError(f"the checkpoint has a population of {size}, expected {self.setup.population}")
        bounds = np.concatenate([[-1], carried.individuals, [size]])
        fits = carried.errors.shape[1] == self.train.n_errors and bool((bounds[1:] > bounds[:-1]).all())
        if not fits or np.isnan(carried.errors).any():
            raise CheckpointError("the checkpoint has carried errors of other individuals or cases")
        try:
            self._judge.load_state_dict(state.judge)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise CheckpointError(f"the checkpoint has no state of the selection method ({error})") from error
        self._state = state

    def step(self) -> tuple[Generation, bool]:
        """Do one generation; gives its record, and whether it was the last."""
        state, phases = self._state, _Phases(self._clock)
        steps = self.train.steps
        programs, sizes = state.population.translate(self.setup.variation.max_points, self.setup.threads)
        phases.end("translate")
        selection_key = derived_key(self._key, state.generation, Lane.SELECTION)
        verdict = self._judge.judge(programs, state.carried, selection_key)
        phases.end("evaluate")
        record = Generation(
            generation=state.generation,
            best_error=verdict.total,
            solved_cases=int(np.count_nonzero(verdict.errors == 0)),
            median_error=verdict.median,
            mean_error=verdict.mean,
            distinct_errors=verdict.distinct,
            events=verdict.events,
            evaluations=verdict.evaluations,
            evaluations_distinct=None if verdict.distinct is None else 0,
            genome_size=float(state.population.sizes.mean()),
            program_size=float(sizes.mean()),
        )
        solved = verdict.total <= self.setup.problem.settings.error_threshold
        finished = solved or state.generation >= self.setup.generations
        phases.end("other")
        following = state
        if not finished:
            record, following = self._breed(record, phases)
        phases.end("other")
        record = record._replace(pairs=self._judge.pairs, steps=self.train.steps - steps, seconds=phases.seconds())
        if finished:  # the state stays as it was: this generation can be done again
            self._end = _End((*state.records, record), verdict, programs[verdict.best], state.population, solved)
        else:
            self._state = replace(following, records=(*state.records, record))
        return record, finished

    def _breed(self, record: Generation, phases: _Phases) -> tuple[Generation, State]:
        """Make the next population."""
        state, threads = self._state, self.setup.threads
        key = derived_key(self._key, state.generation, Lane.VARIATION)
        plan = self._breeder.plan(state.population, self.setup.population, key)
        phases.end("vary")
        few = self.setup.parents
        events = plan.events if few is None else few
        selection = self._judge.select(events, derived_key(self._key, state.generation, Lane.SELECTION))
        phases.end("select")
        parents = selection.indices
        if few is not None:
            parents = parents[_draws(plan.events, few, derived_key(self._key, state.generation, Lane.PARENTS))]
        children, used = self._breeder.breed(state.population, plan, parents, key, threads)
        copies = np.flatnonzero(self._breeder.copies(plan))
        carried = self._judge.carried(copies, parents[plan.first[copies]])
        phases.end("vary")
        made = np.ones(events, np.bool_) if few is not None else _needed(plan, used)
        record = record._replace(
            events=int(made.sum()),
            evaluations=_total(selection.evaluations, made),
            evaluations_distinct=_total(selection.evaluations_distinct, made),
        )
        return record, State(state.generation + 1, children, carried, self._judge.state_dict(), ())

    def outcome(self) -> Run:
        """Simplify the best program and try it on the test cases."""
        setup, end = self.setup, self._end
        if end is None:
            raise ValueError("the run has not ended")
        simplified = None
        if end.solved:
            key = derived_key(self._key, 0, Lane.SIMPLIFICATION)
            simplified = simplify(end.program, self.train, setup.simplification_steps, key)
        final = end.program if simplified is None else simplified
        test_errors = np.empty(0) if self.test is None else self.test.errors([final], setup.threads)[0]
        return Run(
            problem=setup.problem.name,
            method=setup.method_name,
            seed=setup.seed,
            settings=setup.as_dict(),
            records=end.records,
            best=end.program,
            genome=end.population[end.verdict.best],
            simplified=simplified,
            train_errors=end.verdict.errors,
            test_errors=test_errors,
            solved=end.solved,
            success=setup.problem.success(test_errors) if end.solved else False,
        )


@dataclass(frozen=True)
class _End:
    """The last generation."""

    records: tuple[Generation, ...]
    verdict: Verdict
    program: Program
    population: Population
    solved: bool


class _Phases:
    """Seconds by phase."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._spent = dict.fromkeys(Seconds._fields, 0.0)
        self._mark = clock()

    def end(self, phase: str) -> None:
        """Book the time since the last phase ended."""
        now = self._clock()
        self._spent[phase] += now - self._mark
        self._mark = now

    def seconds(self) -> Seconds:
        return Seconds(**self._spent)


def _digest(part: object) -> str:
    return hashlib.sha256(stable_repr(part).encode()).hexdigest()


def _needed(plan: Plan, used: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(events,) whether a child used the parent that an event selected."""
    reserved = np.diff(plan.first)
    place = np.arange(plan.events) - np.repeat(plan.first[:-1], reserved)
    return np.asarray(place < np.repeat(used, reserved), dtype=np.bool_)


def _total(counts: NDArray[np.int64] | None, made: NDArray[np.bool_]) -> int | None:
    """The sum over the events that were made."""
    return None if counts is None else int(counts[made].sum())


def _draws(n: int, winners: int, key: Key) -> NDArray[np.int64]:
    """(n,) numbers below ``winners``, each drawn at random."""
    stream = Stream.of(key, 0, Lane.PARENTS)
    return np.array([stream.bounded(winners) for _ in range(n)], np.int64)


def _judge(setup: Setup, evaluator: Evaluator) -> Judge:
    if isinstance(setup.partial, FastLexicase):
        return PartialJudge(evaluator, setup.partial, setup.threads)
    if setup.partial:
        default: Default = "min" if setup.partial == "min" else "max"
        return PartialJudge(evaluator, fast_version(setup.method, evaluator.n_errors, default), setup.threads)
    return FullJudge(evaluator, resolve_method(setup.method), setup.threads)
