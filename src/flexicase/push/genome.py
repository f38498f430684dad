"""Plush and Plushy genomes, and the programs they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

import numpy as np

from flexicase import _native
from flexicase._checks import check_count, shown
from flexicase.push.program import Program
from flexicase.push.values import Value, check_sequence

#: Blocks that a gene can close.
MAX_CLOSE = 2**31 - 1


class Gene(NamedTuple):
    """A gene of a Plush genome.

    Attributes:
        item: A literal or a symbol.
        close: Code blocks that end after it.
        silent: True for a gene without effect, ``"no-op"`` for one that is translated to ``exec_noop``.

    >>> Gene(5, close=1)
    Gene(item=5, close=1, silent=False)
    """

    item: Value
    close: int = 0
    silent: bool | Literal["no-op"] = False


class Marker(Enum):
    """What a Plushy genome holds beside items: the end of a block, or a gene to leave out.

    >>> Marker.CLOSE.value
    'close'
    """

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
        """Prepare the genes."""
        if isinstance(genes, str | bytes) or not isinstance(genes, Iterable):
            raise TypeError(f"genes must be a sequence of Gene objects, got {shown(genes)}")
        self.genes = tuple(genes)
        closes, silent = [], []
        for i, gene in enumerate(self.genes):
            close, silence = _checked(gene, f"genes[{i}]")
            closes.append(close)
            silent.append(silence)
        self.native = _native.push_genome([gene.item for gene in self.genes], closes, silent)

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
                    genes[-1] = genes[-1]._replace(close=genes[-1].close + 1)
            else:
                genes.append(Gene(item))
        return cls(genes)

    def __reduce__(self) -> tuple[type[Genome], tuple[tuple[Gene, ...]]]:
        return Genome, (self.genes,)

    def __len__(self) -> int:
        return len(self.genes)

    def translate(self, max_points: int = 1200) -> Program:
        """The program; the empty one if it would have more than ``max_points`` points."""
        return Program.from_native(_native.push_translate(self.native, check_count(max_points, "max_points")))


def _checked(gene: Any, name: str) -> tuple[int, int]:
    """The close and the silence of a gene in native form."""
    if not isinstance(gene, Gene):
        raise TypeError(f"{name} must be a Gene, got {shown(gene)}")
    if isinstance(gene.item, tuple):
        raise TypeError(f"{name}.item must be a literal or a symbol, not code in parentheses")
    is_noop = isinstance(gene.silent, str) and gene.silent == "no-op"
    if not is_noop and not isinstance(gene.silent, bool | np.bool_):
        raise TypeError(f"{name}.silent must be True, False or 'no-op', got {shown(gene.silent)}")
    return check_count(gene.close, f"{name}.close", 0, MAX_CLOSE), 2 if is_noop else int(gene.silent)
