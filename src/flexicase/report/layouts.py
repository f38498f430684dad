"""What a report of each kind of study consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import UnionType

from flexicase.report.claims import Claim, claims
from flexicase.report.figures import draw_evaluations, draw_image_evaluations, draw_shares
from flexicase.report.image import image_sections
from flexicase.report.image_claims import image_claims
from flexicase.report.own import own_sections
from flexicase.report.programs import program_sections
from flexicase.report.results import Results, Run
from flexicase.report.sections import Section
from flexicase.report.variants import WORK, variant_sections


@dataclass(frozen=True)
class Layout:
    """The parts of a report.

    Attributes:
        title: What the study is of.
        sections: Charts and tables.
        claims: Statements of the paper, and whether the data agree.
        draw: Writes the figures to a folder; gives the files.
        success: What a success is, where methods are compared by their successes; empty elsewhere.
        columns: Columns that the rows of every run must have.
        facts: Facts that every run must have, with their types.
    """

    title: str
    sections: Callable[[Results], list[Section]]
    claims: Callable[[Results], list[Claim]]
    draw: Callable[[Results, Path], list[Path]]
    success: str = ""
    columns: tuple[str, ...] = ()
    facts: dict[str, type | UnionType] = field(default_factory=dict)


PROGRAMS = Layout(
    "the program-synthesis study",
    program_sections,
    claims,
    draw_evaluations,
    success="A success solves every held-out test case.",
    facts={"success": bool},
)
IMAGES = Layout(
    "the image-classification study",
    image_sections,
    image_claims,
    draw_image_evaluations,
    columns=("evaluations", "ended", "forward_passes", "forward_calls", "seconds_select", "seconds_train"),
    facts={"accuracy": int | float, "correct": int, "test_cases": int},
)
VARIANTS = Layout(
    "partial evaluation",
    variant_sections,
    lambda _: [],
    draw_shares,
    columns=("events", "pairs", "evaluations", *WORK),
    facts={"success": bool},
)
OWN = Layout("runs of their own kind", own_sections, lambda _: [], lambda *_: [])
OWN_SUCCESS = "What a success is, the runs say themselves."


def layout_of(results: Results) -> Layout:
    """The layout for a study.

    Args:
        results: The study.

    Raises:
        ValueError: A run has not what the layout shows.
    """
    if results.kind == "image":
        layout = IMAGES
    elif results.kind == "gp":
        layout = VARIANTS if len(results.variants) > 1 else PROGRAMS
    else:
        tell = all(run.facts.get("success") is not None for run in results.runs)
        layout = replace(OWN, success=OWN_SUCCESS if tell else "")
    for run in results.runs:
        _check(run, layout)
    return layout


def _check(run: Run, layout: Layout) -> None:
    missing = [name for name in layout.columns if name not in run.columns]
    if missing:
        raise ValueError(f"run {run.id!r}: its rows must have a column {missing[0]!r}")
    for name, kind in layout.facts.items():
        if not isinstance(run.facts.get(name), kind):
            raise ValueError(f"run {run.id!r}: expected a value for {name!r}, got {run.facts.get(name)!r}")
