"""``flexicase select``: parents from a file of errors."""

from __future__ import annotations

import dataclasses
import json
import secrets
import sys
from collections.abc import Sequence
from typing import Annotated, Any

from typer import Argument, BadParameter, Exit, Option

import flexicase
from flexicase._checks import check_choice, first_invalid
from flexicase.cli._error_files import HEADERS, read_errors
from flexicase.cli._output import FAILED, AsJson, aligned, emit, emit_json, misuse_of, open_input, write_stdout
from flexicase.selection.epsilon import MAD_MODES, Epsilon
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.methods import PAPER_METHODS, resolve_method
from flexicase.selection.methods import methods as method_names
from flexicase.selection.protocol import Ended, Method, Selection
from flexicase.selection.select import MAX_EVENTS
from flexicase.selection.verify import read_battery, verify_draws

MAX_DRAWS_BYTES = 2**28
COUNTS = ("evaluations", "evaluations_distinct", "cases_used", "ended")


def select(
    errors: Annotated[
        str,
        Argument(
            metavar="ERRORS",
            help="Errors, one row per individual and one column per case, lower is better: "
            "csv (comma, semicolon, tab or blanks), npy, npz or parquet; - reads standard input.",
        ),
    ],
    *,
    n: Annotated[int, Option("-n", "--number", min=0, max=MAX_EVENTS, help="How many parents to select.")] = 1,
    method: Annotated[str, Option(help="Selection method; 'flexicase methods' lists them.")] = "lexicase",
    seed: Annotated[int | None, Option(min=0, help="Same seed, same parents. Random if left out.")] = None,
    counts: Annotated[bool, Option("--counts", help="Print the counts of every selection event too.")] = False,
    as_json: AsJson = False,
    threads: Annotated[int, Option(min=1, help="Threads to use; the parents do not depend on it.")] = 1,
    nan: Annotated[str, Option(help="NaN errors: 'raise' refuses them, 'worst' counts them as worst.")] = "raise",
    maximize: Annotated[bool, Option("--maximize", help="The file has scores: higher is better.")] = False,
    solved: Annotated[
        float | None, Option(help="Error or score from which on a case counts as solved. Errors: exactly 0.")
    ] = None,
    replace: Annotated[
        bool, Option("--replace/--no-replace", help="Whether an individual may be selected again.")
    ] = True,
    epsilon: Annotated[
        str | None, Option(help="Distance from the best that survives a case: a number, or 'mad'.")
    ] = None,
    header: Annotated[str, Option(help="Whether the first line of a csv names columns: auto, yes, no.")] = "auto",
) -> None:
    """Select parents from an error matrix.

    Prints one index per line, counted from 0; with --counts a table (tab-separated if piped).
    """
    chosen = _method(method, epsilon)
    with misuse_of("--nan"):
        check_choice(nan, "the value", ("raise", "worst"))
    with misuse_of("--header"):
        check_choice(header, "the value", HEADERS)
    seed = secrets.randbits(48) if seed is None else seed
    name = "standard input" if errors == "-" else errors
    with open_input(errors) as file:
        matrix = read_errors(file, name, header)
    invalid = first_invalid(matrix) if nan == "raise" else None
    if invalid is not None:
        place = "individual {}, case {} (counted from 0)".format(*invalid)
        raise ValueError(f"{name}: {place} is NaN; --nan worst counts it as the worst error")
    options: Any = {"nan": nan, "maximize": maximize, "solved": solved, "replace": replace}
    outcome = flexicase.select(matrix, n, chosen, seed=seed, threads=threads, **options)
    if as_json:
        found = {"indices": outcome.indices.tolist(), "counts": _counts(outcome)}
        emit_json(found | {"method": method, "seed": seed, "version": flexicase.__version__})
    elif counts:
        write_stdout(_count_table(outcome, method))
    else:
        write_stdout("".join(f"{index}\n" for index in outcome.indices))


def _method(name: str, epsilon: str | None) -> Method:
    with misuse_of("--method"):
        method = resolve_method(name)
    if epsilon is None:
        return method
    if not isinstance(method, Lexicase):
        raise BadParameter(f"method {name!r} is not a lexicase method and has none", param_hint="--epsilon")
    try:
        return dataclasses.replace(method, epsilon=_number_or_name(epsilon))
    except ValueError:
        names = ", ".join(("mad", *(f"mad-{mode}" for mode in MAD_MODES)))
        raise BadParameter(
            f"expected a number of at least 0 or one of {names}, got {epsilon!r}", param_hint="--epsilon"
        ) from None


def _number_or_name(text: str) -> Epsilon:
    try:
        return float(text)
    except ValueError:
        return text


def _counts(outcome: Selection) -> dict[str, list[Any]] | None:
    if not outcome.counted:
        return None
    columns = {name: getattr(outcome, name).tolist() for name in COUNTS}
    columns["ended"] = [Ended(code).label for code in columns["ended"]]
    return columns


def _count_table(outcome: Selection, method: str) -> str:
    columns = _counts(outcome)
    if columns is None:
        raise BadParameter(f"method {method!r} uses all cases at once and has none", param_hint="--counts")
    rows = list(zip(outcome.indices.tolist(), *columns.values(), strict=True))
    return (aligned if sys.stdout is not None and sys.stdout.isatty() else tab_separated)(("index", *columns), rows)


def tab_separated(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Lines of tab-separated values."""
    return "".join("\t".join(map(str, row)) + "\n" for row in (header, *rows))


def methods(
    as_json: Annotated[bool, Option("--json", help="Print a JSON list of names and descriptions.")] = False,
) -> None:
    """List the selection methods, the paper's five first."""
    described = [(name, resolve_method(name).describe()) for name in method_names()]
    values = [{"name": n, "description": d, "paper": n in PAPER_METHODS} for n, d in described]
    emit(as_json, values, aligned(("method", "what it does"), described))


def verify(
    draws: Annotated[
        str | None,
        Argument(
            metavar="DRAWS",
            help="JSON object: for each matrix of the battery, by its name, the indices of at least 100 parents; "
            "- reads standard input.",
        ),
    ] = None,
    *,
    method: Annotated[str, Option(help="Method that the selector implements.")] = "lexicase",
    battery: Annotated[bool, Option("--battery", help="Print the battery, with exact probabilities.")] = False,
    as_json: AsJson = False,
) -> None:
    """Test recorded draws of any selector against the exact probabilities of a method.

    Exits with 1 if the selector does not have these probabilities.
    """
    if battery:
        emit_json(read_battery())
        return
    if draws is None:
        raise BadParameter("the file with recorded draws is missing", param_hint="DRAWS")
    chosen = _method(method, None)
    try:
        with open_input(draws) as file:
            found = verify_draws(json.loads(file.read(MAX_DRAWS_BYTES)), chosen)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{draws}: {error}") from None
    failures = [{"matrix": f.matrix, "p_value": f.p_value, "cause": f.cause} for f in found.failures]
    values = {"passed": found.passed, "p_value": found.p_value, "method": method, "failures": failures}
    emit(as_json, values, f"{found}\n")
    raise Exit(0 if found.passed else FAILED)
