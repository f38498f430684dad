"""Replays golden records of another Push system: ``python tools/conformance.py FILE...``.

A file holds one JSON record a line, plain or compressed with gzip, of the kinds step, program, translate and errors, or
the cases or random constants of a benchmark problem; problems.json holds the settings of problems. Each record that the
package disagrees with is printed; the last line counts them. Files named .md are skipped.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from conformance_psb2 import check_case, check_constants, check_errors, check_problem
from conformance_values import Record, difference, genome_of, records, same, state_of, value_of
from flexicase import _native
from flexicase.push.genome import Genome
from flexicase.push.interpreter import Limits, RunState
from flexicase.push.program import Program

# Functions of which Java does not always give the nearest double.
_LAST_PLACE = ("arcsin", "arccos", "arctan")
#: Kinds of records of benchmark problems, by a key that only they have.
_UNNAMED = {"edge_errors": "errors of a problem", "input1": "case", "constant_generator": "constants"}
_TERMINATION = {"normal": "normal", "step_limit": "abnormal"}
_ANSWERS = {"mirror-image": ("boolean", 1), "last-index-of-zero": ("integer", 1_000_000)}


def _ulps(record: Record) -> int:
    text = json.dumps(record.get("program", record.get("instruction", "")))
    return 1 if any(f"float_{name}" in text for name in _LAST_PLACE) else 0


def _limits(record: Record, steps: int = 600) -> Limits:
    return Limits(steps=record.get("evalpush_limit", steps), points=record.get("max_points", 2000))


def _run(program: Any, state: dict[str, Any], limits: Limits) -> RunState:
    native = program.native if isinstance(program, Program) else Program(program).native
    return RunState(*_native.push_run(native, state, limits.native))


def _check_run(expected: Record, found: RunState, ulps: int) -> str:
    problem = difference(state_of(expected["final"]), found.stacks, ulps)
    if problem:
        return f"run: {problem}"
    if _TERMINATION.get(found.termination) != expected["termination"]:
        return f"termination: expected {expected['termination']}, found {found.termination}"
    if found.steps != expected["steps"]:
        return f"steps: expected {expected['steps']}, found {found.steps}"
    return ""


def _check_step(record: Record) -> str:
    before = state_of(record["before"])
    item = value_of(record["literal"] if "literal" in record else {"instruction": record["instruction"]})
    ulps = _ulps(record)
    found = RunState(*_native.push_execute(_native.push_code(item), before, _limits(record).native))
    problem = difference(state_of(record["after"]), found.stacks, ulps)
    if problem or "run" not in record:
        return problem
    program = (item, *before.pop("exec", []))
    limits = Limits(steps=record["run"]["evalpush_limit"], points=record["max_points"])
    return _check_run(record["run"], _run(program, before, limits), ulps)


def _check_translation(genome: Genome, record: Record) -> str:
    program = genome.translate(record["max_points"])
    expected = value_of(record["program"])
    if not same(expected, program.code):
        return f"program: expected {expected}, found {program.code}"
    if "points" in record and program.points != record["points"]:
        return f"points: expected {record['points']}, found {program.points}"
    return ""


def _check_program(record: Record) -> str:
    genome = genome_of(record["genome"])
    problem = _check_translation(genome, record)
    program = genome.translate(record["max_points"])
    for expected in record["runs"]:
        if problem:
            return problem
        state = {"input": [value_of(item) for item in expected["inputs"]]}
        if record["problem"] == "broad":
            state["output"] = [""]
        problem = _check_run(expected, _run(program, state, _limits(record)), _ulps(record))
    return problem


def _check_translate(record: Record) -> str:
    if record["representation"] == "plush":
        return _check_translation(genome_of(record["genome"]), record)
    genome = Genome.from_plushy([value_of(item) for item in record["genome"]])
    expected = genome_of(record["plush"])
    if not same(expected.genes, genome.genes):
        return f"plush: expected {expected.genes}, found {genome.genes}"
    return _check_translation(genome, record)


@cache
def _cases(folder: Path) -> Any:
    return json.loads((folder / "error-cases.json").read_text(encoding="utf-8"))


def _check_errors(record: Record, folder: Path) -> str:
    problem = _check_translation(genome_of(record["genome"]), record) if "genome" in record else ""
    if problem:
        return problem
    stack, penalty = _ANSWERS[record["problem"]]
    program = Program(value_of(record["program"]))
    outputs, errors = [], []
    for case in _cases(folder)[record["problem"]]:
        inputs = [value_of(item) for item in case["inputs"]]
        answer = _run(program, {"input": inputs}, _limits(record)).top(stack)
        correct = value_of(case["output"])
        outputs.append(answer)
        if answer is None:
            errors.append(penalty)
        else:
            errors.append(int(answer is not correct) if stack == "boolean" else abs(answer - correct))
    expected = [
        None if item is None else value_of(item) if isinstance(item, dict) else item for item in record["outputs"]
    ]
    if not same(expected, outputs):
        return f"outputs: expected {expected}, found {outputs}"
    if [float(error) for error in record["errors"]] != [float(error) for error in errors]:
        return f"errors: expected {record['errors']}, found {errors}"
    return ""


def check(record: Record, path: Path) -> str:
    """What the package does otherwise than a record says, or an empty text.

    Args:
        record: A golden record.
        path: Its file, whose folder has the cases of error records, and whose name tells the problem of a case.

    >>> check({"kind": "step", "instruction": "integer_inc", "max_points": 1200,
    ...        "before": {"integer": [{"int": 1}]}, "after": {"integer": [{"int": 2}]}}, Path())
    ''
    """
    folder = path.parent
    checks: dict[str, Callable[[Record], str]] = {
        "step": _check_step,
        "program": _check_program,
        "translate": _check_translate,
        "errors": lambda item: _check_errors(item, folder),
        "errors of a problem": lambda item: check_errors(item, folder),
        "case": lambda item: check_case(item, path),
        "constants": check_constants,
        "problem": check_problem,
    }
    kind = kind_of(record)
    return checks[kind](record) if kind in checks else f"no kind of record is called {kind!r}"


def kind_of(record: Record) -> str:
    """The kind of a record, which those of benchmark problems do not name.

    >>> kind_of({"input1": 1, "output1": 2})
    'case'
    """
    for key, kind in _UNNAMED.items():
        if key in record:
            return kind
    return str(record.get("kind", "problem" if "genes" in record else None))


def main(paths: Sequence[str]) -> int:
    """Replay files; 1 if the package disagrees with a record, or there is nothing to replay."""
    if not paths:
        sys.stderr.write("usage: python tools/conformance.py FILE...\n")
        return 2
    passed = failed = 0
    for path in map(Path, paths):
        for record in records(path) if path.suffix != ".md" else ():
            problem = check(record, path)
            if problem:
                failed += 1
                print(f"{record.get('id', path.name)} {record.get('instruction', kind_of(record))}: {problem}")
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
