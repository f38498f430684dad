"""The fixed cases that the package carries."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache, partial
from importlib import resources

from flexicase.problems.cases import Cases, Inputs


@cache
def read(name: str) -> Cases:
    """The fixed cases of a problem of the benchmark suite, as they are carried.

    >>> read("mirror-image").inputs[1], read("mirror-image").expected[1]
    (([1], [1]), True)
    """
    packed = resources.files("flexicase.problems").joinpath("data", f"{name}-edge.json.gz").read_bytes()
    cases = Cases()
    for line in gzip.decompress(packed).decode("utf-8").splitlines():
        record = json.loads(line)
        inputs = [value for key, value in record.items() if key.startswith("input")]
        outputs = [value for key, value in record.items() if key.startswith("output")]
        cases.inputs.append(tuple(inputs))
        cases.expected.append(outputs[0] if len(outputs) == 1 else tuple(outputs))
    return cases


def rows(name: str, start: int = 0, stop: int | None = None) -> list[Inputs]:
    """The inputs of some of them.

    >>> rows("mirror-image", 0, 1)
    [([], [])]
    """
    return read(name).inputs[start:stop]


def reader(name: str) -> Callable[[], Cases]:
    """A function that gives all of them.

    >>> len(reader("mirror-image")())
    23
    """
    return partial(read, name)
