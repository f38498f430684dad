"""``flexicase evolve``: a run of genetic programming."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import secrets
import shlex
from collections import deque
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, BadParameter, Option

from flexicase import gp
from flexicase._checkpoint import CheckpointError, prepare_folder, require_free
from flexicase.cli._output import (
    AsJson,
    Resume,
    Save,
    StatusLine,
    check_known,
    check_picture,
    emit,
    misuse_of,
    terminations_as_interrupts,
    write_stderr,
)
from flexicase.gp import EvolutionResult, GenerationRecord, Variation
from flexicase.gp._settings import EvolveSettings
from flexicase.gp._state import read
from flexicase.gp.evolve import evolve_settings
from flexicase.problems import Problem, from_file, names
from flexicase.selection.fast_lexicase import FastLexicase

#: Suffixes of files with cases, which may be compressed.
CASE_FILES = (".csv", ".json", ".jsonl")
#: Largest size of a file of programs, which may be a stream without end.
MAX_INITIAL_BYTES = 2**26
#: Number of generations whose mean time predicts the time left.
RECENT_GENERATIONS = 20


class Progress(StatusLine):
    """Shows the generations of a run on standard error."""

    def __init__(self, quiet: bool, settings: EvolveSettings) -> None:
        super().__init__(quiet)
        self._settings = settings
        self._seconds: deque[float] = deque(maxlen=RECENT_GENERATIONS)
        self._total = 0.0

    def update(self, record: GenerationRecord) -> None:
        self._seconds.append(record.seconds)
        self._total += record.seconds
        self.show(self.line(record), always=record.solved)

    def line(self, record: GenerationRecord) -> str:
        evaluations = "" if record.evaluations is None else f", {record.evaluations:,} evaluations"
        sample = "" if self._settings.sampling is None else f" on a sample of {record.sample_size}"
        text = (
            f"generation {record.generation}: best error {record.best_error:g}{sample}, "
            f"{record.solved_cases} cases solved{evaluations}, {record.seconds:.2f} s"
        )
        generations = self._settings.generations_left(record)
        if record.events and generations:
            left = generations * sum(self._seconds) / len(self._seconds)
            left = max(min(left, self._settings.time_limit - self._total), 0.0)
            text += f", {'about' if self._settings.generations is None else 'at most'} {_duration(left)} left"
        return text


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def evolve(
    problem: Annotated[
        str | None,
        Argument(
            help="Name of the problem ('flexicase problems' lists them), or a file of cases: CSV with columns "
            "input1, …, output1, …, or JSON.",
            show_default=False,
        ),
    ] = None,
    *,
    method: Annotated[
        str | None, Option(help="Selection method; 'flexicase methods' lists them. [default: lexicase]")
    ] = None,
    population: Annotated[int | None, Option(min=1, help="Number of individuals; the problem's by default.")] = None,
    generations: Annotated[
        int | None, Option(min=0, help="The last generation; the problem's by default, if --budget sets no end.")
    ] = None,
    seed: Annotated[int | None, Option(min=0, help="Same seed, same run. Random by default.")] = None,
    partial: Annotated[
        bool | None, Option("--partial", help="Run programs only on the cases that selection needs.")
    ] = None,
    default_weight: Annotated[
        str | None, Option(help="With --partial: weight of cases not visited yet, max or min. [default: max]")
    ] = None,
    sampling: Annotated[
        str | None,
        Option(
            metavar="NAME:SIZE",
            help="Run each generation on some cases: down:0.1, static:0.1, disjoint:0.1, rolling:0.1, informed:0.1, "
            "cohorts:10, phylogeny+down:0.1; settings follow after commas. [default: none]",
        ),
    ] = None,
    check: Annotated[
        str | None,
        Option(help="With --sampling: which sample solvers run on the other cases, all or first. [default: all]"),
    ] = None,
    budget: Annotated[
        int | None,
        Option(
            min=0,
            help="Executions after which the run ends. [default with --sampling: the cost of the problem's generations "
            "without it]",
        ),
    ] = None,
    profile: Annotated[
        str | None, Option(help="Defaults of a whole run: psb1, psb2 or propeller; other options override them.")
    ] = None,
    record_samples: Annotated[
        bool | None, Option("--record-samples", help="Keep the cases of each sample in the records.")
    ] = None,
    n_selections: Annotated[
        int | None,
        Option(
            "--selections", min=1, help="Selections per generation, whose winners are all parents. [default: as needed]"
        ),
    ] = None,
    steps: Annotated[
        int | None, Option(min=1, help="Largest number of steps of one execution; the problem's by default.")
    ] = None,
    simplification_steps: Annotated[
        int | None, Option(min=0, help="Attempts to make a solution smaller. [default: 5000]")
    ] = None,
    instruction_set: Annotated[
        str | None, Option(help="Instruction list: 2019, 2021, 2023 or psb2. [default: the problem's]")
    ] = None,
    initial: Annotated[
        Path | None,
        Option(help="File with a program per line: individuals of generation 0, filled up with random ones."),
    ] = None,
    time_limit: Annotated[
        float | None, Option(min=0, metavar="SECONDS", help="Seconds after which no further generation is bred.")
    ] = None,
    threads: Annotated[
        int | None, Option(min=1, help="Threads to use; the run does not depend on it. All by default.")
    ] = None,
    save: Save = None,
    resume: Resume = False,
    plot: Annotated[Path | None, Option(help="File for a picture of the run.")] = None,
    as_json: AsJson = False,
) -> None:
    """Evolve a program that solves a problem.

    Prints the simplified program and whether it also solves the test cases. Ctrl-C, SIGTERM and SIGHUP save a
    checkpoint; --resume continues from it, with the same result as an uninterrupted run.
    """
    options = locals()
    arguments = {name: options[name] for name in SETTINGS if options[name] is not None}
    if initial is not None:
        arguments["initial"] = _programs(initial)
    own = _from_file(problem)
    if resume:
        problem, arguments = _resumed(save, problem if own is None else own.name, arguments)
    arguments.setdefault("seed", secrets.randbits(48))
    settings = _check(problem if own is None else own, arguments, save, resume)
    problem = settings.problem.name
    check_picture(plot)
    folder = save or _spare_folder(f"{problem}-{arguments.get('method', 'lexicase')}-seed-{arguments['seed']}")
    arguments |= {"save": folder, "save_every": 30.0 if save else math.inf, "resume": resume}
    progress = Progress(as_json, settings)
    try:
        with terminations_as_interrupts(), progress.with_warnings():
            run = _followed(progress, folder, problem=own or problem, threads=threads, **arguments)
    finally:
        if folder is not None and not save:
            with contextlib.suppress(OSError):
                folder.rmdir()  # it holds a checkpoint if the run was interrupted
    picture = None
    try:
        if plot is not None:
            from flexicase.plot import run_picture

            run_picture(run).savefig(plot, dpi=150)
            picture = str(plot)
    finally:  # print the result even if drawing fails
        text = report(run) + ("" if picture is None else f"picture: {picture}\n")
        emit(as_json, {**run.as_dict(), "picture": picture}, text)


#: Arguments of `flexicase.gp.evolve` that a checkpoint records and that have an option here.
SETTINGS = [
    name
    for name in inspect.signature(gp.evolve).parameters
    if name in inspect.signature(evolve).parameters and name not in ("problem", "initial", "threads", "save", "resume")
]


def _followed(progress: Progress, folder: Path | None, **arguments: Any) -> EvolutionResult:
    """Evolve, and say how to continue an interrupted run."""
    try:
        return gp.evolve(callback=progress.update, **arguments)
    except KeyboardInterrupt:
        if folder is None or not any(folder.glob("*.checkpoint")):
            write_stderr("stopped; nothing was saved")
        else:
            write_stderr(f"saved; continue with: flexicase evolve --save {shlex.quote(str(folder))} --resume")
        raise


def _spare_folder(name: str) -> Path | None:
    """A folder for the checkpoint of a run without --save that is interrupted; None if none can be created here."""
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
    """The result of a run, for people."""
    text = f"{run.problem}, {run.method}, seed {run.seed}: {run.generation} generations in {run.seconds:.1f} s\n"
    spent = run.executions
    if run.settings["sampling"] is not None:
        text += (
            f"{spent['total']:,} executions: {spent['sample']:,} on samples, {spent['informed']:,} to inform them, "
            f"{spent['check']:,} to check candidates\n"
        )
    if run.simplified is None:
        solved = f"{int((run.train_errors == 0).sum())} of {len(run.train_errors)} errors are zero"
        total = f"{run.train_errors.sum():g}"
        return text + f"not solved; the best program has a total error of {total} ({solved}):\n{run.best}\n"
    wrong = int((run.test_errors != 0).sum())
    verdict = {
        True: "errors on the test cases: it generalizes",
        False: f"errors on the test cases: it does not generalize: {wrong} of {len(run.test_errors)} are not zero",
        None: "there are no test cases: whether it generalizes is unknown",
    }[run.success]
    if run.success is not None and run.success != run.success_unsimplified:
        verdict += f"; before simplification it {'generalized' if run.success_unsimplified else 'did not'}"
    return (
        text
        + f"training cases solved by a program of {run.best.points} points, simplified to {run.simplified.points}:\n"
        + f"{run.simplified}\n"
        + f"{verdict}\n"
    )


def _from_file(problem: str | None) -> Problem | None:
    """The problem in a file of cases; None for the name of a problem."""
    if problem is None or problem in names() or not problem.removesuffix(".gz").endswith(CASE_FILES):
        return None
    with misuse_of("PROBLEM"):
        try:
            return from_file(problem)
        except OSError as error:
            raise ValueError(f"{problem}: {error.strerror or error}") from None


def _programs(path: Path) -> list[str]:
    """The programs in a file, one per line; empty lines and those that start with ; are left out."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_INITIAL_BYTES + 1)
        if len(data) > MAX_INITIAL_BYTES:
            raise ValueError(f"must have at most {MAX_INITIAL_BYTES:,} bytes")
        lines = [line.strip() for line in data.decode().splitlines()]
    except UnicodeDecodeError:
        raise BadParameter(f"{path}: must be UTF-8 text", param_hint="--initial") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadParameter(f"{path}: {reason}", param_hint="--initial") from None
    return [line for line in lines if line and not line.startswith(";")]


def _check(problem: str | Problem | None, arguments: dict[str, Any], save: Path | None, resume: bool) -> EvolveSettings:
    """The settings of the run; refuses invalid options before it starts."""
    if problem is None:
        raise BadParameter("the name of a problem is missing", param_hint="PROBLEM")
    if isinstance(problem, str):
        check_known(problem, names(), "PROBLEM", "problem")
    if save is not None and not resume:
        with misuse_of("--save"):
            require_free(save, remedy="pass --resume to continue it")
    try:
        settings = evolve_settings(problem, **arguments)
        if settings.partial:
            FastLexicase(0, settings.method)
    except (TypeError, ValueError) as error:
        raise BadParameter(str(error)) from None
    return settings


def _resumed(folder: Path | None, problem: str | None, arguments: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Problem and arguments of the run to continue: those given, and those of its checkpoint for the rest."""
    if folder is None:
        raise BadParameter("needs the folder of the checkpoint as --save", param_hint="--resume")
    found = read(folder)
    if found is None:
        if problem is None:
            raise BadParameter(f"no checkpoint in {folder}", param_hint="--resume")
        return problem, arguments
    settings = found[0]
    if problem not in (None, settings["problem"]):
        raise BadParameter(f"the checkpoint is of {settings['problem']}, not of {problem}", param_hint="PROBLEM")
    recorded = {"sampling": "none"} | {name: settings[name] for name in SETTINGS if settings.get(name) is not None}
    try:
        variation = Variation(**settings["variation"])
    except TypeError as error:
        raise CheckpointError(f"the checkpoint in {folder} has other settings than this version ({error})") from None
    return settings["problem"], {**recorded, "variation": variation, **arguments}
