"""Genetic programming runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

from flexicase._checkpoint import WriteFailures, as_folder, prepare_folder, require_free
from flexicase._checks import check_flag, check_function, check_number, shown
from flexicase.gp.checkpoint import Keeper, describe
from flexicase.gp.evolution import Evolution
from flexicase.gp.records import Generation, Run
from flexicase.gp.setup import SIMPLIFICATION_STEPS, Setup
from flexicase.gp.variation import Variation
from flexicase.problems import Problem
from flexicase.push.instructions import Profile
from flexicase.rng import Seed
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.protocol import Method
from flexicase.selection.weights import Default

#: Called with the record of each generation as it ends.
Callback = Callable[[Generation], object]


def evolve(  # noqa: PLR0917 - the first ones are the call that everybody makes
    problem: str | Problem,
    method: str | Method = "lexicase",
    population: int | None = None,
    generations: int | None = None,
    seed: Seed = 0,
    threads: int | None = None,
    callback: Callback | None = None,
    *,
    partial: bool | Default | FastLexicase = False,
    parents: int | None = None,
    variation: Variation | None = None,
    simplification_steps: int = SIMPLIFICATION_STEPS,
    profile: Profile = "W",
    save: str | Path | None = None,
    save_every: float = 30.0,
    resume: bool = False,
) -> Run:
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
    setup = Setup.of(
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
        return drive(evolution, None, math.inf, callback)
    keeper = Keeper(folder, evolution.identity())
    prepare_folder(keeper.folder)
    state = keeper.load() if resume else None
    if state is not None:
        evolution.load(state)
    return drive(evolution, keeper, save_every, callback)


def drive(evolution: Evolution, keeper: Keeper | None, save_every: float, callback: Callback | None) -> Run:
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
