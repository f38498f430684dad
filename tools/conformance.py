"""Replays golden records of another Push system: ``python tools/conformance.py FILE...``.

A file holds one JSON record a line, plain or compressed with gzip, of the kinds step, program, translate and errors.
Each record that the engine disagrees with is printed; the last line counts them.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from flexicase import _native
from flexicase.push.genome import Gene, Genome, Marker
from flexicase.push.interpreter import Limits, RunState
from flexicase.push.program import Char, Float32, Program, Symbol, Value

Record = Mapping[str, Any]

# Functions of which Java does not always give the nearest double.
_LAST_PLACE = ("arcsin", "arccos", "arctan")
_TERMINATION = {"normal": "normal", "step_limit": "abnormal"}
_ANSWERS = {"mirror-image": ("boolean", 1), "last-index-of-zero": ("integer", 1_000_000)}


def _real(value: Any) -> float:
    if isinstance(value, dict):
        return Float32(value["float32"])
    return float(value)


def value_of(record: Any) -> Value:
    """The value of a JSON item.

    >>> value_of([{"int": 1}, {"instruction": "exec_dup"}, [{"vec": []}]])
    (1, Symbol('exec_dup'), ([],))
    """
    if record is None:
        return None
    if isinstance(record, list):
        return tuple(value_of(item) for item in record)
    key = next(key for key in record if key not in ("close", "silent"))
    payload = record[key]
    if key == "vfloat":
        return [_real(element) for element in payload]
    if key in ("vint", "vbool", "vstr", "vec"):
        return list(payload)
    makers: Mapping[str, Any] = {
        "instruction": Symbol,
        "int": int,
        "float": _real,
        "float32": Float32,
        "bool": bool,
        "char": Char,
        "str": str,
        "meta": Marker,
    }
    if key not in makers:
        raise ValueError(f"no kind of item is called {key!r}")
    return makers[key](payload)


def state_of(record: Mapping[str, Any]) -> dict[str, list[Value]]:
    """The stacks of a JSON state, top first.

    >>> state_of({"integer": [{"int": 1}], "tag": [[5, {"bool": True}]]})
    {'integer': [1], 'tag': [(5, True)]}
    """
    state = {name: [value_of(item) for item in items] for name, items in record.items() if name != "tag"}
    if "tag" in record:
        state["tag"] = [(number, value_of(item)) for number, item in record["tag"]]
    return state


def genome_of(record: list[dict[str, Any]]) -> Genome:
    """The genome of JSON genes.

    >>> len(genome_of([{"int": 5, "close": 1}]))
    1
    """
    return Genome(Gene(value_of(gene), gene.get("close", 0), gene.get("silent", False)) for gene in record)


def _is_near(a: float, b: float, ulps: int) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or (math.isfinite(a) and math.isfinite(b) and abs(a - b) <= ulps * math.ulp(max(abs(a), abs(b))))


def same(a: Value, b: Value, ulps: int = 0) -> bool:
    """Are two values equal, kinds included, floats to within ``ulps`` units in the last place?

    >>> same((1, [0.5]), (1, [0.5])), same(1, 1.0), same(True, 1)
    (True, False, False)
    """
    waiting = [(a, b)]
    while waiting:
        x, y = waiting.pop()
        if isinstance(x, list | tuple):
            if type(x) is not type(y) or len(x) != len(y):
                return False
            waiting.extend(zip(x, y, strict=True))
        elif isinstance(x, bool) or isinstance(y, bool) or x is None or y is None:
            if x is not y:
                return False
        elif isinstance(x, int):
            if not isinstance(y, int) or int(x) != int(y):
                return False
        elif isinstance(x, float):
            if type(x) is not type(y) or not _is_near(x, y, ulps):
                return False
        elif type(x) is not type(y) or str.__str__(x) != str.__str__(y):
            return False
    return True


def difference(expected: Mapping[str, list[Value]], found: Mapping[str, list[Value]], ulps: int = 0) -> str:
    """What differs between two states, or an empty text.

    >>> difference({"integer": [1]}, {"integer": [2]})
    'integer: expected [1], found [2]'
    """
    for name in sorted({*expected, *found}):
        wanted, got = expected.get(name, []), found.get(name, [])
        if not same(wanted, got, ulps):
            return f"{name}: expected {wanted}, found {got}"
    return ""


def _ulps(record: Record) -> int:
    text = json.dumps(record.get("program", record.get("instruction", "")))
    return 1 if any(f"float_{name}" in text for name in _LAST_PLACE) else 0


def _limits(record: Record, steps: int = 600) -> Limits:
    return Limits(steps=record.get("evalpush_limit", steps), points=record["max_points"])


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


def check(record: Record, folder: Path) -> str:
    """What the engine does otherwise than a record says, or an empty text.

    Args:
        record: A golden record.
        folder: Where the cases of error records are, in ``error-cases.json``.

    >>> check({"kind": "step", "instruction": "integer_inc", "max_points": 1200,
    ...        "before": {"integer": [{"int": 1}]}, "after": {"integer": [{"int": 2}]}}, Path())
    ''
    """
    checks: dict[str, Callable[[Record], str]] = {
        "step": _check_step,
        "program": _check_program,
        "translate": _check_translate,
        "errors": lambda item: _check_errors(item, folder),
    }
    if record["kind"] not in checks:
        return f"no kind of record is called {record['kind']!r}"
    return checks[record["kind"]](record)


def records(path: Path) -> Iterator[Record]:
    """The records of a file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def main(paths: Sequence[str]) -> int:
    """Replay files; 1 if the engine disagrees with a record, or there is nothing to replay."""
    if not paths:
        sys.stderr.write("usage: python tools/conformance.py FILE...\n")
        return 2
    passed = failed = 0
    for path in map(Path, paths):
        for record in records(path):
            problem = check(record, path.parent)
            if problem:
                failed += 1
                print(f"{record.get('id', path.name)} {record.get('instruction', record['kind'])}: {problem}")
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
