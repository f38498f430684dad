"""What instructions take, give and do, from ``descriptions.txt``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

#: The stacks that programs work on.
STACKS = (
    "exec",
    "code",
    "integer",
    "float",
    "boolean",
    "char",
    "string",
    "vector_integer",
    "vector_float",
    "vector_boolean",
    "vector_string",
)
_VECTORS = STACKS[-4:]
_FAMILIES = {
    "every stack": STACKS,
    "every stack but vectors": STACKS[:-4],
    "every vector stack": _VECTORS,
    "every stack that prints": STACKS,
}


class Description(NamedTuple):
    """What an instruction takes, gives and does.

    Attributes:
        takes: Stacks of what it takes; with ``?`` at most one item, with ``*`` any number.
        gives: Stacks of what it gives, in the same form.
        sentence: What it does.

    >>> descriptions()["integer_add"]
    Description(takes=('integer', 'integer'), gives=('integer',), sentence='Adds y and x.')
    """

    takes: tuple[str, ...]
    gives: tuple[str, ...]
    sentence: str


def _lines() -> Iterator[str]:
    """Every description as it is written, once for each stack of its family."""
    section = ""
    for line in files("flexicase.push").joinpath("descriptions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            for stack in _FAMILIES.get(section, ("",)):
                element = stack.removeprefix("vector_")
                yield line.replace("{stack}", stack).replace("{element}", element)


@cache
def descriptions() -> dict[str, Description]:
    """The description of every native instruction by its name."""
    found: dict[str, Description] = {}
    for line in _lines():
        name, effect, sentence = line.split(" | ")
        takes, gives = effect.split("->")
        if name in found:
            raise ValueError(f"descriptions.txt describes {name} twice")
        found[name] = Description(tuple(takes.split()), tuple(gives.split()), sentence)
    return found
