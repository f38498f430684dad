"""How methods are drawn: the paper's colours and lines, and a set that colour-blind readers can tell apart."""

from __future__ import annotations

from typing import NamedTuple

BLACK, RED, BLUE = "#000000", "#d62728", "#1f5fb4"
OTHER_COLOURS = ("#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#7f7f7f")
DOTTED = (0, (1.0, 1.2))


class Style(NamedTuple):
    """A line: the paper's colour, a colour-blind safe one (Okabe and Ito, 2008), and whether it is dotted.

    >>> style("weighted-num-zeros", 0)
    Style(colour='#1f5fb4', safe='#56b4e9', dotted=True)
    """

    colour: str
    safe: str
    dotted: bool


_PAPER = {
    "lexicase": Style(BLACK, BLACK, False),
    "weighted-num-nonzeros": Style(RED, "#e69f00", True),
    "ranked-num-nonzeros": Style(RED, "#d55e00", False),
    "weighted-num-zeros": Style(BLUE, "#56b4e9", True),
    "ranked-num-zeros": Style(BLUE, "#0072b2", False),
    "weighted-num-nonzeros default_weight=max": Style(RED, "#d55e00", False),
    "weighted-num-nonzeros default_weight=min": Style(RED, "#e69f00", True),
    "weighted-num-zeros default_weight=max": Style(BLUE, "#0072b2", False),
    "weighted-num-zeros default_weight=min": Style(BLUE, "#56b4e9", True),
}
_OTHERS = ("#009e73", "#cc79a7", "#999933", "#882255", "#7f7f7f")


def style(method: str, i: int) -> Style:
    """The style of a method; ``i``, its place among the study's methods, colours those that the paper lacks."""
    other = _OTHERS[i % len(_OTHERS)]
    return _PAPER.get(method, Style(other, other, False))
