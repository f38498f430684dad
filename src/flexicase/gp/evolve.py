"""The generational loop."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase._checkpoint import CheckpointError, WriteFailures, as_folder, prepare_folder, require_free
from flexicase._checks import check_flag, check_function, check_number, shown
from flexicase.gp._settings import SIMPLIFICATION_STEPS, EvolveSettings, stable_repr
from flexicase.gp._state import CheckpointWriter, EvolutionState, describe
from flexicase.gp.parents import (
    FullEvaluation,
    InheritedErrors,
    ParentSelection,
    PartialEvaluation,
    PopulationSummary,
    fast_version,
)
from flexicase.gp.population import Population
from flexicase.gp.records import EvolutionResult, GenerationRecord, PhaseSeconds
from flexicase.gp.simplify import simplify
from flexicase.gp.variation import OffspringGenerator, OffspringPlan, Variation
from flexicase.problems import Problem
from flexicase.push.evaluator import Evaluator
from flexicase.push.instructions import Profile
from flexicase.push.program import Program
from flexicase.rng import Key, Lane, Seed, Stream, derived_key, key_from_seed
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method
from flexicase.selection.weights import DefaultWeight


class Evolution:
    """A run that goes on generation by generation.

    Args:
        setup: What the run is.
        clock: What seconds are measured with.

    >>> from flexicase.gp._settings import EvolveSettings
    >>> from flexicase.gp.evolve import Evolution
    >>> evolution = Evolution(EvolveSettings.of("simple-regression", population=20, generations=1))
    >>> evolution.step()[1], evolution.step()[1]
    (False, True)
    """

    def __init__(self, setup: EvolveSettings, clock: Callable[[], float] = time.perf_counter) -> None:
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
        self._breeder = OffspringGenerator(genes, setup.variation)
        self._judge = _judge(setup, self.train)
        genesis = derived_key(self._key, 0, Lane.GENESIS)
        first = self._breeder.random(setup.population, genesis, setup.threads)
        self._state = EvolutionState(0, first, InheritedErrors.none(self.train.n_errors), self._judge.state_dict(), ())
        self._end: _LastGeneration | None = None

    def identity(self) -> dict[str, Any]:
        """All that the outcome depends on, as plain values; the parts of the problem as digests."""
        return {**self.setup.as_dict(), **self._digests}

    def state(self) -> EvolutionState:
        """Where the run stands; a generation that is not finished will be done again."""
        return self._state

    def load(self, state: EvolutionState) -> None:
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

    def step(self) -> tuple[GenerationRecord, bool]:
        """Do one generation; gives its record, and whether it was the last."""
        state, phases = self._state, PhaseTimer(self._clock)
        steps = self.train.steps
        programs, sizes = state.population.translate(self.setup.variation.max_points, self.setup.threads)
        phases.end("translate")
        selection_key = derived_key(self._key, state.generation, Lane.SELECTION)
        verdict = self._judge.judge(programs, state.carried, selection_key)
        phases.end("evaluate")
        record = GenerationRecord(
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
            self._end = _LastGeneration(
                (*state.records, record), verdict, programs[verdict.best], state.population, solved
            )
        else:
            self._state = replace(following, records=(*state.records, record))
        return record, finished

    def _breed(self, record: GenerationRecord, phases: PhaseTimer) -> tuple[GenerationRecord, EvolutionState]:
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
        whole = selection.counted and not self.setup.partial  # partial evaluation knows no whole error vectors
        made = np.ones(events, np.bool_) if few is not None else _needed(plan, used)
        record = record._replace(
            events=int(made.sum()),
            evaluations=int(selection.evaluations[made].sum()) if selection.counted else None,
            evaluations_distinct=int(selection.evaluations_distinct[made].sum()) if whole else None,
        )
        return record, EvolutionState(state.generation + 1, children, carried, self._judge.state_dict(), ())

    def outcome(self) -> EvolutionResult:
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
        return EvolutionResult(
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
class _LastGeneration:
    """The last generation."""

    records: tuple[GenerationRecord, ...]
    verdict: PopulationSummary
    program: Program
    population: Population
    solved: bool


class PhaseTimer:
    """Measures the seconds of each phase."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._spent = dict.fromkeys(PhaseSeconds._fields, 0.0)
        self._mark = clock()

    def end(self, phase: str) -> None:
        """Book the time since the last phase ended."""
        now = self._clock()
        self._spent[phase] += now - self._mark
        self._mark = now

    def seconds(self) -> PhaseSeconds:
        return PhaseSeconds(**self._spent)


def _digest(part: object) -> str:
    return hashlib.sha256(stable_repr(part).encode()).hexdigest()


def _needed(plan: OffspringPlan, used: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(events,) whether a child used the parent that an event selected."""
    reserved = np.diff(plan.first)
    place = np.arange(plan.events) - np.repeat(plan.first[:-1], reserved)
    return np.asarray(place < np.repeat(used, reserved), dtype=np.bool_)


def _draws(n: int, winners: int, key: Key) -> NDArray[np.int64]:
    """(n,) numbers below ``winners``, each drawn at random."""
    stream = Stream.of(key, 0, Lane.PARENTS)
    return np.array([stream.bounded(winners) for _ in range(n)], np.int64)


def _judge(setup: EvolveSettings, evaluator: Evaluator) -> ParentSelection:
    if isinstance(setup.partial, FastLexicase):
        return PartialEvaluation(evaluator, setup.partial, setup.threads)
    if setup.partial:
        default: DefaultWeight = "min" if setup.partial == "min" else "max"
        return PartialEvaluation(evaluator, fast_version(setup.method, evaluator.n_errors, default), setup.threads)
    return FullEvaluation(evaluator, resolve_method(setup.method), setup.threads)


#: Called with the record of each generation as it ends.
Callback = Callable[[GenerationRecord], object]


def evolve(  # noqa: PLR0917 - the first ones are the call that everybody makes
    problem: str | Problem,
    method: str | Method = "lexicase",
    population: int | None = None,
    generations: int | None = None,
    seed: Seed = 0,
    threads: int | None = None,
    callback: Callback | None = None,
    *,
    partial: bool | DefaultWeight | FastLexicase = False,
    parents: int | None = None,
    variation: Variation | None = None,
    simplification_steps: int = SIMPLIFICATION_STEPS,
    profile: Profile = "W",
    save: str | Path | None = None,
    save_every: float = 30.0,
    resume: bool = False,
) -> EvolutionResult:
    """Evolve programs that solve a problem.

    A run goes on until an individual has no error on the training cases, or until ``generations`` is reached; then
    the best program is made smaller and tried on the test cases. Seed and settings decide everything but the times.

    Args:
        problem: A problem or its name.
        method: How parents are selected: a name (`flexicase.methods` lists them) or an object.
        population: Individuals; what the problem says if None.
        generations: The last generation, the random one being number 0; what the problem says if None.
        seed: An int, a `numpy.random.Generator`, a `SeedSequence`, or None for fresh randomness.
        threads: Threads to use; all processors if None.
        callback: Called with the record of each generation.
        partial: True runs programs only on the cases that selection looks at (Algorithm 1, with the order and bias of
            ``method``, one of the paper's five); ``"min"`` does so with Default-Min in place of Default-Max, a
            `flexicase.FastLexicase` in its own way.
        parents: Selection events per generation; every parent that a child needs is then one of their winners, drawn
            at random. None: one event for each.
        variation: How children are made; what the problem says if None.
        simplification_steps: Attempts to make the program of a solution smaller.
        profile: The list of instructions that genes are drawn from.
        save: Folder for checkpoints, written from time to time, on Ctrl-C or another exception, and at the end. A
            folder with a checkpoint needs ``resume``. A disk that fills up later costs a warning, not the run.
        save_every: Least seconds between checkpoints; ``math.inf`` writes one only if the run is interrupted.
        resume: Go on from the checkpoint in ``save``; the outcome is that of an uninterrupted run. Without a
            checkpoint the run starts at generation 0.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: An argument makes no sense, the checkpoint is of other settings, or there is one without
            ``resume``; nothing has happened.
        CheckpointError: The checkpoint to go on from is damaged.
        OSError: ``save`` cannot be written to; nothing has happened.
        KeyboardInterrupt: Ctrl-C; a checkpoint was written if ``save`` was given.

    >>> run = evolve("simple-regression", population=50, generations=2, seed=1, threads=1)
    >>> len(run.records), run.records[0].events > 50
    (3, True)
    """
    setup = EvolveSettings.of(
        problem,
        method=method,
        population=population,
        generations=generations,
        seed=seed,
        partial=partial,
        parents=parents,
        variation=variation,
        simplification_steps=simplification_steps,
        profile=profile,
        threads=threads,
    )
    if callback is not None:
        check_function(callback, "callback", 1)
    if not check_number(save_every, "save_every") >= 0:
        raise ValueError(f"save_every must not be negative, got {shown(save_every)}")
    folder = None if save is None else as_folder(save)
    if check_flag(resume, "resume") and folder is None:
        raise ValueError("resume=True needs the folder of the checkpoint as save")
    if folder is not None and not resume:
        require_free(folder, describe)
    evolution = Evolution(setup)
    if folder is None:
        return run_to_end(evolution, None, math.inf, callback)
    keeper = CheckpointWriter(folder, evolution.identity())
    prepare_folder(keeper.folder)
    state = keeper.load() if resume else None
    if state is not None:
        evolution.load(state)
    return run_to_end(evolution, keeper, save_every, callback)


def run_to_end(
    evolution: Evolution, keeper: CheckpointWriter | None, save_every: float, callback: Callback | None
) -> EvolutionResult:
    """Run to the end, with checkpoints; one that cannot be written costs a warning and not the run."""
    failures = WriteFailures(Path() if keeper is None else keeper.folder)
    saved = time.monotonic()

    def save() -> None:
        if keeper is not None:
            with failures:
                keeper.save(evolution.state())

    try:
        while True:
            record, finished = evolution.step()
            if callback is not None:
                callback(record)
            if finished:
                break
            if time.monotonic() - saved >= save_every:
                save()
                saved = time.monotonic()
        run = evolution.outcome()
    except BaseException:  # Ctrl-C, or a callback or signal handler that raises
        save()
        raise
    if save_every < math.inf:
        save()
    return run
