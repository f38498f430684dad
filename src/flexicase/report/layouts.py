"""What a report of each kind of study consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flexicase.report.claims import Claim, claims
from flexicase.report.figures import draw_evaluations, draw_image_evaluations, draw_shares
from flexicase.report.image import image_sections
from flexicase.report.image_claims import image_claims
from flexicase.report.programs import program_sections
from flexicase.report.results import Results
from flexicase.report.sections import Section
from flexicase.report.variants import variant_sections


@dataclass(frozen=True)
class Layout:
    """The parts of a report.

    Attributes:
        title: What the study is of.
        sections: Charts and tables.
        claims: Statements of the paper, and whether the data agree.
        draw: Writes the figures to a folder; gives the files.
        successes: Whether methods are compared by their successes, with the paper's beside them.
    """

    title: str
    sections: Callable[[Results], list[Section]]
    claims: Callable[[Results], list[Claim]]
    draw: Callable[[Results, Path], list[Path]]
    successes: bool


PROGRAMS = Layout("the program-synthesis study", program_sections, claims, draw_evaluations, successes=True)
IMAGES = Layout("the image-classification study", image_sections, image_claims, draw_image_evaluations, successes=False)
VARIANTS = Layout("partial evaluation", variant_sections, lambda _: [], draw_shares, successes=False)


def layout_of(results: Results) -> Layout:
    """The layout for a study.

    Args:
        results: The study.
    """
    if results.kind == "image":
        return IMAGES
    return VARIANTS if len(results.variants) > 1 else PROGRAMS
