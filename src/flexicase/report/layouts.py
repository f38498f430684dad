"""What a report of each kind of study consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from flexicase.report.claims import Claim, claims
from flexicase.report.figures import draw_evaluations, draw_image_evaluations, draw_shares
from flexicase.report.image import image_sections
from flexicase.report.image_claims import image_claims
from flexicase.report.own import own_sections
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
        success: What a success is, where methods are compared by their successes; empty elsewhere.
    """

    title: str
    sections: Callable[[Results], list[Section]]
    claims: Callable[[Results], list[Claim]]
    draw: Callable[[Results, Path], list[Path]]
    success: str = ""


PROGRAMS = Layout(
    "the program-synthesis study",
    program_sections,
    claims,
    draw_evaluations,
    success="A success solves every held-out test case.",
)
IMAGES = Layout("the image-classification study", image_sections, image_claims, draw_image_evaluations)
VARIANTS = Layout("partial evaluation", variant_sections, lambda _: [], draw_shares)
OWN = Layout("runs of their own kind", own_sections, lambda _: [], lambda *_: [])
OWN_SUCCESS = "What a success is, the runs say themselves."


def layout_of(results: Results) -> Layout:
    """The layout for a study.

    Args:
        results: The study.
    """
    if results.kind == "image":
        return IMAGES
    if results.kind != "gp":
        tell = all("success" in run.facts for run in results.runs)
        return replace(OWN, success=OWN_SUCCESS if tell else "")
    return VARIANTS if len(results.variants) > 1 else PROGRAMS
