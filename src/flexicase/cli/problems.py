"""``flexicase problems``: lists and describes problems, and scores programs."""

from __future__ import annotations

import math
from typing import Annotated, Any

from typer import Argument, BadParameter, Context, Exit, Option, Typer

from flexicase import problems
from flexicase.cli._output import FAILED, AsJson, aligned, emit, misuse_of, open_input
from flexicase.problems import Cases, ErrorMeasure, Problem, ProgramScore
from flexicase.push import Program, Symbol, to_text
from flexicase.push.draws import Generator
from flexicase.push.program import Value

SAMPLES = 5
FIXED_SAMPLES = 2
SHOWN_FAILURES = 5
MAX_WIDTH = 70

app = Typer(help="List and describe problems, and score programs.", rich_markup_mode=None)
Name = Annotated[str, Argument(metavar="NAME", help="Name of a problem; 'flexicase problems' lists them.")]


@app.callback(invoke_without_command=True, epilog="\b\nExample:\n  flexicase problems show mirror-image")
def listing(
    context: Context,
    suite: Annotated[str | None, Option(help="List only the problems of a benchmark suite: psb1 or psb2.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List and describe problems, and score programs."""
    if context.invoked_subcommand is not None:
        return
    with misuse_of("--suite"):
        rows = [_row(problems.load(name)) for name in problems.names(suite)]  # type: ignore[arg-type]
    emit(as_json, rows, aligned(tuple(rows[0]), [tuple(row.values()) for row in rows]))


@app.command(epilog="\b\nExample:\n  flexicase problems show last-index-of-zero")
def show(
    name: Name,
    seed: Annotated[int, Option(min=0, help="Seed of the random cases.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Describe a problem and show some of its cases."""
    problem = _load(name)
    fixed = problem.fixed_cases().inputs
    fixed = fixed[:: max(1, len(fixed) // FIXED_SAMPLES)][:FIXED_SAMPLES]
    cases = problem.cases(fixed) + problem.draw_cases(SAMPLES - len(fixed), seed)
    emit(as_json, _as_dict(problem, cases), _description(problem, cases))


@app.command(
    epilog="\b\nExample:\n  flexicase problems score mirror-image --program solution.push\n"
    "  echo '(in1 in2 vector_integer_reverse vector_integer_eq)' | flexicase problems score mirror-image --program -"
)
def score(
    name: Name,
    program: Annotated[
        str, Option(metavar="FILE", help="A Push program as Clojush prints it; - reads standard input.")
    ],
    n_random_cases: Annotated[
        int, Option("--random-cases", min=0, help="Number of random cases, besides the fixed ones.")
    ] = 300,
    seed: Annotated[int, Option(min=0, help="Same seed, same random cases.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Run a program on the fixed cases of a problem and on random ones.

    Exits with 0 if all errors are zero (rounded where the problem rounds them), with 1 if not, and with 2 if the
    program cannot be read.
    """
    problem = _load(name)
    code = _read(program, n_inputs=len(problem.draw_cases(1, 0).inputs[0]))
    with misuse_of("--random-cases"):
        outcome = problems.score(problem, code, n_random_cases, seed)
    emit(as_json, _score_as_dict(outcome, seed), _report(outcome))
    raise Exit(0 if outcome.passed else FAILED)


def _load(name: str) -> Problem:
    with misuse_of("NAME"):
        return problems.load(name)


def _read(source: str, n_inputs: int) -> Program:
    try:
        with open_input(source) as file:
            return problems.read_program(file.read().decode("utf-8-sig"), n_inputs)
    except (OSError, TypeError, ValueError) as error:
        name = "standard input" if source == "-" else source
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadParameter(f"{name}: {reason}", param_hint="--program") from None


def _row(problem: Problem) -> dict[str, Any]:
    return {
        "problem": problem.name,
        "train": sum(source.n_train for source in problem.sources),
        "test": sum(source.n_test for source in problem.sources),
        "errors": len(problem.measures),
        "genes": len(problem.genes()),
        "title": problem.title,
    }


def _as_dict(problem: Problem, cases: Cases) -> dict[str, Any]:
    return {
        **_row(problem),
        "description": problem.description,
        "measures": [{"stack": m.stack, "error": _error_name(m), "penalty": m.penalty} for m in problem.measures],
        "stacks": list(problem.stacks),
        "generators": [_generator(entry) for entry in problem.generators],
        "settings": problem.settings.as_dict(),
        "cases": [{"inputs": list(inputs), "expected": _plain(expected)} for inputs, expected in cases],
    }


def _description(problem: Problem, cases: Cases) -> str:
    row, settings = _row(problem), problem.settings
    shares = problem.gene_shares
    facts = [
        ("cases", f"{row['train']} for training, {row['test']} for testing"),
        ("errors per case", ", ".join(f"{_error_name(m)} of {m.stack}" for m in problem.measures)),
        ("stacks", " ".join(problem.stacks)),
        ("genes", f"{row['genes']}: instructions and {' '.join(map(_generator, problem.generators))}"),
        *([("shares of genes", "{:.0%} inputs, {:.0%} constants".format(*shares))] if shares else []),
        ("steps of a run", str(settings.steps)),
        ("points of a program", f"at most {settings.variation.max_points}"),
        ("generations", str(settings.generations)),
        ("error threshold", f"{settings.error_threshold:g}"),
    ]
    rows = [(_inputs(cases, i), _clipped(expected)) for i, expected in enumerate(cases.expected)]
    return f"{problem.title}: {problem.description}\n\n{aligned(None, facts)}\n{aligned(('inputs', 'expected'), rows)}"


def _error_name(measure: ErrorMeasure) -> str:
    return measure.error if isinstance(measure.error, str) else getattr(measure.error, "__name__", "function")


def _generator(entry: Generator) -> str:
    plain = isinstance(entry, Symbol | bool | int | float | str | list | tuple)
    return (to_text(entry) if plain else repr(entry)) if len(repr(entry)) <= MAX_WIDTH else _shortened(repr(entry))


def _shortened(text: str, width: int = MAX_WIDTH) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _clipped(value: Value, width: int = MAX_WIDTH) -> str:
    return _shortened("nothing" if value is None else to_text(value), width)


def _inputs(cases: Cases, case: int) -> str:
    inputs = cases.inputs[case]
    return "  ".join(_clipped(value, MAX_WIDTH // len(inputs)) for value in inputs)


def _report(outcome: ProgramScore) -> str:
    failing = outcome.failing
    n_random = len(outcome.cases) - outcome.n_fixed
    head = (
        f"{outcome.n_fixed} fixed and {n_random} random cases of {outcome.problem.title}: "
        f"total error {outcome.total:g}, {len(failing)} failing\n"
    )
    if not failing:
        return head
    rows = [
        (
            i,
            " ".join(f"{error:g}" for error in outcome.errors[i]),
            _inputs(outcome.cases, i),
            _clipped(outcome.expected(i)),
            _clipped(outcome.answer(i)),
        )
        for i in failing[:SHOWN_FAILURES]
    ]
    more = f"… and {len(failing) - len(rows)} more\n" if len(failing) > len(rows) else ""
    return f"{head}\n{aligned(('case', 'errors', 'inputs', 'expected', 'got'), rows)}{more}"


def _score_as_dict(outcome: ProgramScore, seed: int) -> dict[str, Any]:
    return {
        "problem": outcome.problem.name,
        "passed": outcome.passed,
        "total_error": outcome.total,
        "fixed_cases": outcome.n_fixed,
        "random_cases": len(outcome.cases) - outcome.n_fixed,
        "seed": seed,
        "points": outcome.program.points,
        "failing": [
            {
                "case": i,
                "inputs": list(outcome.cases.inputs[i]),
                "expected": _plain(outcome.expected(i)),
                "got": _plain(outcome.answer(i)),
                "errors": outcome.errors[i].tolist(),
            }
            for i in outcome.failing
        ],
    }


def _plain(value: Value) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
