"""Plush and Plushy genomes and their translation to and from programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

import numpy as np

from flexicase import _native
from flexicase._checks import check_count, shown
from flexicase.push.program import Program, Symbol, Value, check_sequence, check_type

#: Largest number of blocks that a gene closes.
MAX_CLOSE = 2**31 - 1


class Gene(NamedTuple):
    """A gene of a Plush genome.

    Attributes:
        item: A literal or a symbol.
        close: Number of code blocks that end after it.
        silent: True for a gene without effect, ``"no-op"`` for one that is translated to ``exec_noop``.
    """

    item: Value
    close: int = 0
    silent: bool | Literal["no-op"] = False


class Marker(Enum):
    """Markers of a Plushy genome: the end of a block, and a gene to leave out."""

    CLOSE = "close"
    SKIP = "skip"


class Genome:
    """A Plush genome.

    Args:
        genes: The genes, from left to right.

    >>> from flexicase.push import Symbol
    >>> genome = Genome([Gene(1), Gene(Symbol("exec_dup")), Gene(2, close=1), Gene(3)])
    >>> print(genome.translate())
    (1 exec_dup (2) 3)
    """

    __slots__ = ("genes", "native")

    def __init__(self, genes: Iterable[Gene]) -> None:
        if isinstance(genes, str | bytes) or not isinstance(genes, Iterable):
            raise TypeError(f"genes must be a sequence of Gene objects, got {shown(genes)}")
        self.genes = tuple(genes)
        marks = [_native_marks(gene, f"genes[{i}]") for i, gene in enumerate(self.genes)]
        items = [gene.item for gene in self.genes]
        self.native = _native.push_genome(items, [close for close, _ in marks], [silent for _, silent in marks])

    @classmethod
    def from_plushy(cls, items: Sequence[Value | Marker]) -> Genome:
        """The Plush genome of a Plushy genome.

        >>> genome = Genome.from_plushy([1, Marker.CLOSE, Marker.SKIP, 2, 3])
        >>> [(gene.item, gene.close) for gene in genome.genes]
        [(1, 1), (3, 0)]
        """
        genes: list[Gene] = []
        skip = False
        for item in check_sequence(items, "items", "values and markers"):
            if skip:
                skip = False
            elif item is Marker.SKIP:
                skip = True
            elif item is Marker.CLOSE:
                if genes:
                    _close(genes, 1)
            else:
                genes.append(Gene(item))
        return cls(genes)

    @classmethod
    def from_program(cls, program: Program) -> Genome:
        """A genome whose translation does what a program does.

        It translates to the program itself if every instruction that takes code blocks is followed by them. Otherwise
        the next item becomes a block, and a block that is missing at the end of a list is empty.

        >>> print(Genome.from_program(Program("(1 exec_dup (2) 3)")).translate())
        (1 exec_dup (2) 3)
        """
        code = check_type(program, "program", Program).code
        genes: list[Gene] = []
        # Lists that are being read, each with the number of blocks that its instructions still wait for.
        open_lists: list[tuple[Iterator[Value], list[int]]] = [(iter(code if isinstance(code, tuple) else (code,)), [])]
        while open_lists:
            items, awaited = open_lists[-1]
            for item in items:
                if isinstance(item, tuple) and not awaited:
                    genes.append(Gene(Symbol("noop_open_paren")))
                    awaited.append(1)
                if isinstance(item, tuple):
                    open_lists.append((iter(item), []))
                    break
                genes.append(Gene(item))
                if blocks := _blocks(item):
                    awaited.append(blocks)
                elif awaited:
                    _close_block(genes, awaited)
            else:
                open_lists.pop()
                if open_lists:
                    _close(genes, sum(awaited))
                    _close_block(genes, open_lists[-1][1])
        return cls(genes)

    def __reduce__(self) -> tuple[type[Genome], tuple[tuple[Gene, ...]]]:
        return Genome, (self.genes,)

    def __len__(self) -> int:
        return len(self.genes)

    def translate(self, max_points: int = 1200) -> Program:
        """Translate to a program, which is empty if it would have more than ``max_points`` points."""
        return Program.from_native(_native.push_translate(self.native, check_count(max_points, "max_points")))


def _blocks(item: Value) -> int:
    """Number of code blocks that an item opens in a genome."""
    return len(Genome([Gene(item)]).translate().code) - 1 if isinstance(item, Symbol) else 0


def _close(genes: list[Gene], blocks: int) -> None:
    genes[-1] = genes[-1]._replace(close=genes[-1].close + blocks)


def _close_block(genes: list[Gene], awaited: list[int]) -> None:
    """End a block, and with it every instruction that has all its blocks and is itself a block."""
    while awaited:
        _close(genes, 1)
        awaited[-1] -= 1
        if awaited[-1]:
            return
        awaited.pop()


def _native_marks(gene: Any, name: str) -> tuple[int, int]:
    """The close count and the silence of a gene as the engine reads them."""
    check_type(gene, name, Gene)
    if isinstance(gene.item, tuple):
        raise TypeError(f"{name}.item must be a literal or a symbol, not code in parentheses")
    is_noop = isinstance(gene.silent, str) and gene.silent == "no-op"
    if not is_noop and not isinstance(gene.silent, bool | np.bool_):
        raise TypeError(f"{name}.silent must be True, False or 'no-op', got {shown(gene.silent)}")
    return check_count(gene.close, f"{name}.close", 0, MAX_CLOSE), 2 if is_noop else int(gene.silent)
