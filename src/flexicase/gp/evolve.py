"""`evolve`: the generational loop, and `simplify`, which makes the program that it finds smaller."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checkpoint import CheckpointError, CheckpointWriter, as_folder
from flexicase._checks import check_count, check_flag, check_function, check_number, shown
from flexicase.gp._settings import EvolveSettings, Profile, stable_repr
from flexicase.gp._state import EvolutionState, dump, load, recorded_initial
from flexicase.gp.parents import (
    FullEvaluation,
    InheritedErrors,
    ParentSelection,
    PartialEvaluation,
    PopulationSummary,
    SelectionCost,
)
from flexicase.gp.records import EvolutionResult, GenerationRecord
from flexicase.gp.sampling import CaseSampling, Check, SampledEvaluation
from flexicase.gp.variation import OffspringGenerator, OffspringPlan, Population
from flexicase.problems import Problem
from flexicase.problems.settings import Variation
from flexicase.push.evaluator import Evaluator
from flexicase.push.genome import Genome
from flexicase.push.instructions import InstructionSetName
from flexicase.push.program import Program, check_type
from flexicase.rng import Key, Lane, Seed, Stream, derived_key, key_from_seed
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method
from flexicase.selection.weights import DefaultWeight

#: Called with the record of each generation.
Callback = Callable[[GenerationRecord], object]


def evolve(
    problem: str | Problem,
    method: str | Method = "lexicase",
    *,
    population: int | None = None,
    generations: int | None = None,
    seed: Seed = None,
    partial: bool = False,
    default_weight: DefaultWeight = "max",
    sampling: CaseSampling | str | None = None,
    check: Check | None = None,
    budget: int | None = None,
    profile: Profile | None = None,
    record_samples: bool = False,
    n_selections: int | None = None,
    variation: Variation | None = None,
    steps: int | None = None,
    simplification_steps: int = 5000,
    instruction_set: InstructionSetName | None = None,
    initial: Iterable[Genome | Program | str] | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    callback: Callback | None = None,
    save: str | Path | None = None,
    save_every: float = 30.0,
    resume: bool = False,
) -> EvolutionResult:
    """Evolve programs that solve a problem.

    A run ends when an individual has no error on the training cases, after ``generations``, or when ``budget`` or
    ``time_limit`` is spent. The best program is then simplified and run on the test cases. The result depends on the
    seed and the settings only, and where it ends also on ``time_limit``.

    Args:
        problem: A problem or its name.
        method: The selection method: a name (`flexicase.methods` lists them) or an object.
        population: Number of individuals; the problem's setting if None.
        generations: The last generation; the random population is generation 0. If None, the problem's setting, or no
            limit with ``sampling`` or ``budget``.
        seed: As for `flexicase.select`; None draws a random one.
        partial: Whether to run programs only on the cases that selection needs (Algorithm 1); needs a method that
            `flexicase.FastLexicase` accepts.
        default_weight: With ``partial``, the weight of cases not visited yet: ``"max"`` or ``"min"``.
        sampling: The cases that each generation is run on: `flexicase.DownSample`, `flexicase.InformedDownSample`,
            `flexicase.Cohorts`, `flexicase.PhylogenyInformed`, or its text form such as ``"down:0.1"``. None or
            ``"none"`` runs every program on every case.
        check: With ``sampling``, which individuals that solve the sample are run on the remaining cases: ``"all"``
            (the default) or ``"first"``, the first of those with the smallest error.
        budget: Number of executions of a program on a case, of any purpose, after which no further generation is bred.
            With ``sampling``, by default what the problem's number of generations would cost without it.
        profile: Defaults of a whole run, each of which another argument overrides: ``"psb1"``, ``"psb2"`` or
            ``"propeller"``.
        record_samples: Whether records hold the cases of each sample.
        n_selections: Number of selection events per generation, whose winners are the parents of all children, drawn
            at random. None selects each parent by an event of its own.
        variation: How children are made; the problem's setting if None.
        steps: Largest number of steps of one execution; the problem's setting if None.
        simplification_steps: Number of attempts to make the program of a solution smaller.
        instruction_set: The instruction list that genes are drawn from; the problem's setting if None.
        initial: Genomes, programs or their text for generation 0, filled up at random; ``resume`` does not need them.
        time_limit: Seconds of this call after which no further generation is bred. With ``save``, a call with
            ``resume`` continues the run.
        threads: Threads to use; all processors if None.
        callback: Called with the record of each generation.
        save: Folder for checkpoints. They are written every ``save_every`` seconds, on Ctrl-C or another exception, and
            at the end. If a later one cannot be written, the run continues with a warning. A folder that holds a
            checkpoint needs ``resume``.
        save_every: Smallest number of seconds between checkpoints; ``math.inf`` writes one only on an interruption.
        resume: Whether to continue from the checkpoint in ``save``; the result is that of an uninterrupted run.
            Without a checkpoint the run starts at generation 0.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: An argument has an invalid value, the checkpoint has other settings, or there is a checkpoint and
            ``resume`` is False. The run has not started.
        CheckpointError: The checkpoint to continue from is damaged.
        OSError: ``save`` cannot be written to. The run has not started.
        KeyboardInterrupt: Ctrl-C; a checkpoint was written if ``save`` was given.

    >>> run = evolve("simple-regression", population=50, generations=2, seed=1, threads=1)
    >>> len(run.records), run.records[0].events > 50
    (3, True)
    >>> evolve("simple-regression", population=50, generations=2, seed=1, sampling="down:0.1").executions["sample"]
    300
    """
    settings = EvolveSettings.from_arguments(locals())
    if callback is not None:
        check_function(callback, "callback", 1)
    if not check_number(save_every, "save_every") >= 0:
        raise ValueError(f"save_every must not be negative, got {shown(save_every)}")
    folder = None if save is None else as_folder(save)
    if check_flag(resume, "resume") and folder is None:
        raise ValueError("resume=True needs the folder of the checkpoint as save")
    evolution = Evolution(settings)
    recorded = recorded_initial(folder) if folder is not None and resume and initial is None else {}
    identity = evolution.identity | recorded
    writer = CheckpointWriter(folder, identity, lambda: dump(evolution.state), load, every=save_every)
    state = writer.open(resume=resume)
    if state is not None:
        evolution.load(state)
    try:
        finished = False
        while not finished:
            record, finished = evolution.step()
            if callback is not None:
                callback(record)
            if not finished:
                writer.save_if_due(evolution.state.generation)
        result = evolution.result()
    except BaseException:  # Ctrl-C, or a callback or signal handler that raises
        writer.save(evolution.state.generation)
        raise
    writer.finish(evolution.state.generation)
    return result


def evolve_settings(*args: Any, **kwargs: Any) -> EvolveSettings:
    """The settings of the run that `evolve` makes with these arguments."""
    bound = inspect.signature(evolve).bind(*args, **kwargs)
    bound.apply_defaults()
    return EvolveSettings.from_arguments(bound.arguments)


class Evolution:
    """A run that advances one generation at a time; ``clock`` measures its seconds.

    Attributes:
        state: The state before the next generation, or before the current one if that failed.
        identity: All that the result depends on, as plain values; the parts of the problem as digests.

    >>> evolution = Evolution(evolve_settings("simple-regression", population=20, generations=1))
    >>> evolution.step()[1], evolution.step()[1]
    (False, True)
    """

    def __init__(self, settings: EvolveSettings, clock: Callable[[], float] = time.perf_counter) -> None:
        self.settings = settings
        self._clock = clock
        problem, instruction_set = settings.problem, settings.instruction_set
        self._run_key = key_from_seed(settings.seed)
        train, test = problem.sample(self._key(Lane.CASES, 0).k0)
        genes = problem.genes(instruction_set)
        self.train = problem.evaluator(train, instruction_set)
        self.test = problem.evaluator(test, instruction_set) if len(test) else None
        self._deadline = clock() + settings.time_limit
        self.identity = settings.as_dict() | {
            "cases": _digest((train, test)),
            "measures": _digest((problem.measures or problem.evaluate, self.train.targets)),
            "genes": _digest(genes),
        }
        self._offspring = OffspringGenerator(genes, settings.variation)
        self._parents = self._parent_selection()
        first = self._offspring.random(settings.population, self._key(Lane.GENESIS, 0), settings.threads)
        if settings.initial:
            self.identity["initial"] = _digest([genome.genes for genome in settings.initial])
            first = Population.from_genomes([*settings.initial, *list(first)[len(settings.initial) :]])
        inherited = InheritedErrors.none(self.train.n_errors)
        self.state = EvolutionState(0, first, inherited, self._parents.state_dict(), ())
        self._last: tuple[tuple[GenerationRecord, ...], PopulationSummary, Program] | None = None

    def _key(self, lane: Lane, generation: int) -> Key:
        return derived_key(self._run_key, generation, lane)

    def _parent_selection(self) -> ParentSelection:
        settings, threads, threshold = self.settings, self.settings.threads, self.settings.error_threshold
        if settings.partial:
            fast = FastLexicase(self.train.n_errors, settings.method, default_weight=settings.default_weight, seed=0)
            return PartialEvaluation(self.train, fast, threads, threshold)
        method, sampling = resolve_method(settings.method), settings.sampling
        if sampling is None:
            return FullEvaluation(self.train, method, threads, threshold)
        return SampledEvaluation(
            self.train, method, sampling, self._run_key, check=settings.check, threshold=threshold, threads=threads
        )

    def load(self, state: EvolutionState) -> None:
        """Continue from a state; one that does not fit this run raises CheckpointError."""
        size, inherited = len(state.population), state.inherited
        if size != self.settings.population:
            raise CheckpointError(f"the checkpoint has a population of {size}, expected {self.settings.population}")
        bounds = np.concatenate([[-1], inherited.individuals, [size]])
        fits = inherited.errors.shape[1] == self.train.n_errors and bool((bounds[1:] > bounds[:-1]).all())
        if inherited.ages is not None:
            fits = fits and inherited.ages.shape[1] == self.train.n_cases
        if not fits or np.isnan(inherited.errors).any():
            raise CheckpointError("the checkpoint has inherited errors of other individuals or cases")
        try:
            self._parents.load_state_dict(state.selection)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise CheckpointError(f"the checkpoint has no state of the selection method ({error})") from error
        self.state = state

    def step(self) -> tuple[GenerationRecord, bool]:
        """Run one generation; gives its record, and whether it was the last."""
        state, settings, timer = self.state, self.settings, PhaseTimer(self._clock)
        steps_before = self.train.steps
        programs, sizes = state.population.translate(settings.variation.max_points, settings.threads)
        timer.end("translate")

        key = self._key(Lane.SELECTION, state.generation)
        summary = self._parents.evaluate(programs, state.inherited, key, state.generation)
        timer.end("evaluate")
        spent = state.records[-1].executions_so_far if state.records else 0
        ends = [(settings.generations, state.generation), (settings.budget, spent), (self._deadline, timer.now)]
        finished = summary.solved or any(limit is not None and used >= limit for limit, used in ends)

        cost, children, inherited = summary.cost, state.population, state.inherited
        if not finished:
            plan = self._offspring.plan(
                state.population, settings.population, self._key(Lane.VARIATION, state.generation)
            )
            timer.end("vary")
            selection = self._parents.select(settings.n_selections or plan.n_parents)
            timer.end("select")
            children, inherited, used = self._breed(plan, selection.indices)
            cost = SelectionCost.of(selection, used, distinct=not settings.partial)
            timer.end("vary")

        timer.end("other")
        executions = self._parents.executions
        record = GenerationRecord(
            generation=state.generation,
            solved=summary.solved,
            **summary.statistics | ({} if settings.record_samples else {"sample": None}),
            solved_cases=int(np.count_nonzero(summary.errors == 0)),
            **cost._asdict(),
            pairs=self._parents.pairs,
            executions=executions.total,
            **{f"executions_{purpose}": count for purpose, count in vars(executions).items()},
            executions_so_far=spent + executions.total,
            push_steps=self.train.steps - steps_before,
            genome_size=float(state.population.sizes.mean()),
            program_size=float(sizes.mean()),
            **timer.seconds,
        )
        records = (*state.records, record)
        if finished:  # the state stays as it was, so that this generation can be run again
            self._last = records, summary, programs[summary.best]
        else:
            selection_state = self._parents.state_dict()
            self.state = EvolutionState(state.generation + 1, children, inherited, selection_state, records)
        return record, finished

    def _breed(
        self, plan: OffspringPlan, winners: NDArray[np.int64]
    ) -> tuple[Population, InheritedErrors, NDArray[np.bool_]]:
        """Make the next population; gives it, its inherited errors, and which of the winners were used."""
        state, n_selections = self.state, self.settings.n_selections
        parents = winners
        if n_selections is not None:
            parents = winners[draw_parents(plan.n_parents, n_selections, self._key(Lane.PARENTS, state.generation))]
        key = self._key(Lane.VARIATION, state.generation)
        children, n_used, is_random = self._offspring.breed(state.population, plan, parents, key, self.settings.threads)
        first_parents = np.where(is_random, -1, parents[plan.parent_start[:-1]])
        inherited = self._parents.inherited_errors(self._offspring.is_copy(plan), first_parents)
        used = plan.used_parents(n_used) if n_selections is None else np.ones(n_selections, np.bool_)
        return children, inherited, used

    def result(self) -> EvolutionResult:
        """Simplify the best program and run it on the test cases; raises ValueError before the run has ended."""
        if self._last is None:
            raise ValueError("the run has not ended")
        settings, (records, summary, best), simplified = self.settings, self._last, None
        train_errors, executions_report = self._parents.train_errors(summary.best)
        if summary.solved:
            key = self._key(Lane.SIMPLIFICATION, 0)
            simplified = simplify(best, self.train, settings.simplification_steps, key)
        unsimplified, final = (
            np.empty(0) if self.test is None else self.test.errors([program], settings.threads)[0]
            for program in (best, simplified or best)
        )
        as_function = settings.problem.function
        return EvolutionResult(
            problem=settings.problem.name,
            method=settings.method_name,
            seed=settings.seed,
            settings=settings.as_dict(),
            records=records,
            best=as_function(best, settings.instruction_set),
            genome=self.state.population[summary.best],
            simplified=None if simplified is None else as_function(simplified, settings.instruction_set),
            train_errors=train_errors,
            test_errors=final,
            test_errors_unsimplified=unsimplified,
            solved=summary.solved,
            success=settings.problem.success(final) if summary.solved else False,
            success_unsimplified=settings.problem.success(unsimplified) if summary.solved else False,
            executions_report=executions_report,
        )


def simplify(program: Program, evaluator: Evaluator, steps: int = 5000, key: Key | None = None) -> Program:
    """Make a smaller program with the same errors.

    Each step deletes one or two random points (four times in five) or one pair of parentheses, and keeps the result
    if no error changes. Removing parentheses also replaces a vector by its elements.

    Args:
        program: The program to simplify.
        evaluator: Evaluator of the cases whose errors must not change.
        steps: Number of attempts.
        key: Random bits; the same ones each time if None.

    >>> evaluator = Evaluator([[1], [2]], [2, 4], stack="integer")
    >>> print(simplify(Program("(5 in1 (in1 true) integer_add)"), evaluator, steps=200))
    (in1 in1 integer_add)
    """
    check_type(program, "program", Program)
    check_type(evaluator, "evaluator", Evaluator)
    check_count(steps, "steps")
    key = key_from_seed(0) if key is None else check_type(key, "key", Key)
    errors = evaluator.errors([program], 1)
    rejected: set[str] = set()
    for step in range(steps):
        candidate = Program.from_native(_native.gp_smaller(program.native, key.k0, key.k1, step))
        text = str(candidate)
        if text in rejected:
            continue
        if np.array_equal(evaluator.errors([candidate], 1), errors):
            program = candidate
        else:
            rejected.add(text)
    return program


class PhaseTimer:
    """Measures the seconds of each phase of a generation."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.now = clock()
        self.seconds: dict[str, Any] = {}

    def end(self, phase: str) -> None:
        """Add the time since the last phase ended to this phase."""
        now = self._clock()
        name = f"seconds_{phase}"
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.now
        self.now = now


def draw_parents(n: int, n_winners: int, key: Key) -> NDArray[np.int64]:
    """(n,) numbers from 0 to ``n_winners`` - 1, each drawn at random."""
    stream = Stream.of(key, 0, Lane.PARENTS)
    return np.array([stream.bounded(n_winners) for _ in range(n)], np.int64)


def _digest(part: object) -> str:
    return hashlib.sha256(stable_repr(part).encode()).hexdigest()
