"""Values, states and genomes of golden records."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flexicase.push.genome import Gene, Genome, Marker
from flexicase.push.program import Char, Float32, Symbol, Value

Record = Mapping[str, Any]


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
    """The stacks of a JSON state, top first; an output that is no text lists slots.

    >>> state_of({"integer": [{"int": 1}], "tag": [[5, {"bool": True}]]})
    {'integer': [1], 'tag': [(5, True)]}
    """
    state = {name: [value_of(item) for item in items] for name, items in record.items() if name != "tag"}
    output = state.get("output", [])
    if not all(type(item) is str for item in output):
        del state["output"]
        state |= {f"output{i + 1}": [item] for i, item in enumerate(output) if item is not None}
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


def records(path: Path) -> Iterator[Record]:
    """The records of a file: one a line, or the settings of one problem each in problems.json."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        if path.name.startswith("problems.json"):
            for name, record in json.load(lines).items():
                yield {"problem": name, **record}
            return
        for line in lines:
            if line.strip():
                yield json.loads(line)
