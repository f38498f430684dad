"""What is seen of a run of genetic programming while it goes on."""

from __future__ import annotations

import contextlib
import itertools
import math
import shlex
import warnings
from collections import deque
from pathlib import Path
from typing import Annotated, Any

import typer

from flexicase._checkpoint import CheckpointError, prepare_folder, require_free
from flexicase._checks import did_you_mean
from flexicase.cli._output import StatusLine, check_picture, emit_json, terminations_as_interrupts, write_stdout
from flexicase.gp import EvolutionResult, GenerationRecord, Variation, evolve
from flexicase.gp._state import describe, read
from flexicase.problems import load, names
from flexicase.selection.methods import PAPER_METHODS, resolve_method

LOOK_BACK = 20


class Progress(StatusLine):
    """Follows a run on standard error.

    Args:
        quiet: Show nothing.
        last: The last generation the run may reach, for the time left; unknown if None.
    """

    def __init__(self, quiet: bool = False, last: int | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__(quiet)
        self._last = last
        self._seconds: deque[float] = deque(maxlen=LOOK_BACK)

    def __enter__(self) -> Progress:
        """Take over the last line of a terminal."""
        super().__enter__()
        return self

    def update(self, record: GenerationRecord) -> None:
        """Show a generation."""
        self._seconds.append(record.seconds.total)
        self.show(self.line(record), always=record.best_error == 0)

    def line(self, record: GenerationRecord) -> str:
        """A generation in a line."""
        evaluations = "" if record.evaluations is None else f", {record.evaluations:,} evaluations"
        text = (
            f"generation {record.generation}: best error {record.best_error:g}, "
            f"{record.solved_cases} cases solved{evaluations}, {record.seconds.total:.2f} s"
        )
        if self._last is not None and record.events and record.generation < self._last:
            left = (self._last - record.generation) * sum(self._seconds) / len(self._seconds)
            text += f", at most {_duration(left)} left"
        return text


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


#: Settings of a checkpoint that are arguments of a run.
KEPT = ("method", "population", "generations", "seed", "partial", "parents", "simplification_steps", "profile")


def command(
    problem: Annotated[
        str | None, typer.Argument(help="Name of the problem; 'flexicase problems' lists them.", show_default=False)
    ] = None,
    *,
    method: Annotated[
        str | None, typer.Option(help="Selection method; 'flexicase methods' lists them. [default: lexicase]")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same run. [default: 0]")] = None,
    population: Annotated[int | None, typer.Option(min=1, help="Individuals; the problem's own by default.")] = None,
    generations: Annotated[
        int | None, typer.Option(min=0, help="The last generation; the problem's own by default.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to use; the run does not depend on it. All by default.")
    ] = None,
    partial: Annotated[
        bool | None, typer.Option("--partial", help="Run programs only on the cases that selection looks at.")
    ] = None,
    parents: Annotated[
        int | None,
        typer.Option(min=1, help="Selections per generation, whose winners are all parents. [default: as needed]"),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Folder for checkpoints; it must not hold any yet.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Folder of a checkpoint to go on from.")] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a picture of the run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Evolve a program that solves a problem.

    Prints the program, made smaller, and whether it solves the test cases too. Ctrl-C, SIGTERM and SIGHUP save a
    checkpoint, and --resume goes on from it: the end is the same as that of an uninterrupted run.
    """
    given = {
        "method": method,
        "population": population,
        "generations": generations,
        "seed": seed,
        "partial": partial,
        "parents": parents,
    }
    arguments: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if resume is not None:
        problem, arguments = _resumed(resume, problem, arguments)
    _check(problem, arguments, save, resume)
    if plot is not None:
        check_picture(plot)
    arguments["seed"] = arguments.get("seed", 0)
    folder = (
        resume or save or _spare_folder(f"{problem}-{arguments.get('method', 'lexicase')}-seed-{arguments['seed']}")
    )
    arguments |= {"save": folder, "save_every": 30.0 if save or resume else math.inf, "resume": resume is not None}
    last = arguments.get("generations", load(problem).settings.generations)  # type: ignore[arg-type]
    try:
        with terminations_as_interrupts(), Progress(quiet=as_json, last=last) as progress:
            run = _followed(progress, folder, problem=problem, threads=threads, **arguments)
    finally:
        if folder is not None and not (save or resume):
            with contextlib.suppress(OSError):
                folder.rmdir()  # unless the run was saved there
    picture = None
    try:
        if plot is not None:
            from flexicase.plot import run_picture

            run_picture(run).savefig(plot, dpi=150)
            picture = str(plot)
    finally:  # a picture that fails does not take the run with it
        if as_json:
            emit_json({**run.as_dict(), "picture": picture})
        else:
            write_stdout(report(run) + ("" if picture is None else f"picture: {picture}\n"))


def _followed(progress: Progress, folder: Path | None, **arguments: Any) -> EvolutionResult:
    """Evolve, with warnings and the way to go on among the lines of the progress."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = lambda message, *_: progress.note(f"flexicase: warning: {message}")
        try:
            return evolve(callback=progress.update, **arguments)
        except KeyboardInterrupt:
            if folder is None or not any(folder.glob("*.checkpoint")):
                progress.note("stopped; nothing was saved")
            else:
                progress.note(f"saved; go on with: flexicase evolve --resume {shlex.quote(str(folder))}")
            raise


def _spare_folder(name: str) -> Path | None:
    """A folder for a run without --save, used only if it is interrupted; None if none can be made here."""
    for number in itertools.count(1):
        folder = Path(name if number == 1 else f"{name}-{number}")
        try:
            require_free(folder)
            prepare_folder(folder)
        except ValueError:
            continue
        except OSError:
            break
        return folder
    return None


def report(run: EvolutionResult) -> str:
    """What a run found, for people."""
    last = run.records[-1]
    text = f"{run.problem}, {run.method}, seed {run.seed}: {run.generation} generations in {run.seconds:.1f} s\n"
    if run.simplified is None:
        solved = f"{last.solved_cases} of {len(run.train_errors)} errors are zero"
        return text + f"not solved; the best program has a total error of {last.best_error:g} ({solved})\n"
    wrong = int((run.test_errors != 0).sum())
    verdict = {
        True: "errors on the test cases: it generalises",
        False: f"errors on the test cases: it does not generalise: {wrong} of {len(run.test_errors)} are not zero",
        None: "there are no test cases: whether it generalises is unknown",
    }[run.success]
    return (
        text
        + f"training cases solved by a program of {run.best.points} points, simplified to {run.simplified.points}:\n"
        + f"{run.simplified}\n"
        + f"{verdict}\n"
    )


def _check(problem: str | None, arguments: dict[str, Any], save: Path | None, resume: Path | None) -> None:
    """Refuse what cannot be meant before anything happens."""
    if problem is None:
        raise typer.BadParameter("the name of a problem is missing", param_hint="PROBLEM")
    if resume is None and problem not in names():
        raise typer.BadParameter(f"unknown problem {problem!r}{did_you_mean(problem, names())}", param_hint="PROBLEM")
    if save is not None and resume is not None and save != resume:
        raise typer.BadParameter("a resumed run saves where it was; leave --save out", param_hint="--save")
    if save is not None and resume is None:
        try:
            require_free(save, describe, remedy=f"--resume {shlex.quote(str(save))} continues it")
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--save") from None
    try:
        resolve_method(arguments.get("method", "lexicase"))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--method") from None
    if arguments.get("partial") and arguments.get("method", "lexicase") not in PAPER_METHODS:
        raise typer.BadParameter(f"needs one of {', '.join(PAPER_METHODS)}", param_hint="--partial")


def _resumed(folder: Path, problem: str | None, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Problem and arguments of the run that a checkpoint is of; what was given besides is checked against it."""
    found = read(folder)
    if found is None:
        raise typer.BadParameter(f"no checkpoint in {folder}", param_hint="--resume")
    settings = found[0]
    if problem not in (None, settings["problem"]):
        raise typer.BadParameter(f"the checkpoint is of {settings['problem']}, not of {problem}", param_hint="PROBLEM")
    kept = {name: settings[name] for name in KEPT if name in settings}
    try:
        variation = Variation(**settings["variation"])
    except TypeError as error:
        raise CheckpointError(f"the checkpoint in {folder} has other settings than this version ({error})") from None
    return settings["problem"], {**kept, "variation": variation, **arguments}
