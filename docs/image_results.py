"""Puts the tables and figures of the image studies into their page: ``python docs/image_results.py``.

Tables go between ``<!-- STUDY TABLE -->`` and ``<!-- end -->``, where STUDY is a folder of ``results`` and TABLE a part
of the report, or ``runs``: how many there are and what made them; or ``section``: the whole study.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from flexicase.experiments.results import StudyResults, read_results
from flexicase.report import _paper as paper
from flexicase.report._images import is_tail, last_total, log_ratios
from flexicase.report._paper import BASELINE
from flexicase.report._successes import is_complete
from flexicase.report.figures import draw_figures
from flexicase.report.statistics import paired_ratio
from flexicase.report.write import sections_of

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "results"
IMAGES = DOCS / "images" / "results"
sys.path.append(str(DOCS))

from make_results import section_text, standing, table_text  # noqa: E402
from study_figures import Dots, draw_dots  # noqa: E402

PAGE = DOCS / "image-results.md"
FIGURE = "last-generations"
RATIO = "evaluations divided by those of plain; left of 1 saves"
BLOCK = re.compile(r"<!-- (?P<study>[\w-]+) (?P<table>\w+) -->\n.*?<!-- end -->", re.DOTALL)


def section(name: str) -> str:
    """A whole study: every table of its report."""
    results = read_results(RESULTS / name)
    parts = [section_text(part) for part in sections_of(results) if part.table]
    return "\n\n".join([standing(results), *parts]) + "\n"


def table(results: StudyResults, name: str) -> str:
    """One of the report's tables, below the text that explains it."""
    if name == "runs":
        return f"{standing(results)}\n"
    part = next(part for part in sections_of(results) if part.id == name)
    assert part.table is not None
    return f"{part.text}\n\n{table_text(part.table)}\n"


def filled(page: str) -> str:
    """A page with its tables as the results now give them."""

    def block(match: re.Match[str]) -> str:
        name, part = match.group("study", "table")
        text = section(name) if part == "section" else table(read_results(RESULTS / name), part)
        return f"<!-- {name} {part} -->\n{text}<!-- end -->"

    return BLOCK.sub(block, page)


def draw() -> None:
    """Draw the figures of all studies on the page."""
    names = dict.fromkeys(match["study"] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    for name in names:
        shown = IMAGES / name
        shown.mkdir(parents=True, exist_ok=True)
        results = read_results(RESULTS / name)
        with tempfile.TemporaryDirectory() as folder:
            for file in draw_figures(sections_of(results), Path(folder)):
                if file.suffix == ".png" and file.name.startswith(FIGURE):
                    shutil.copy(file, shown)
        if is_tail(results) and is_complete(results):
            draw_dots(list(dots(results)), RATIO, shown / "ratios.png")


def dots(results: StudyResults) -> Iterator[Dots]:
    """For each fast variant, what every seed and their mean take at the end of a training, divided by plain."""
    for method in paper.IMAGE_ROWS:
        if method != BASELINE and results.runs_of("cifar10", method):
            logs = log_ratios(results, "cifar10", method, measure=last_total)
            mean = paired_ratio(logs)
            assert mean is not None
            yield Dots(paper.title(method), method, np.exp(logs).tolist(), mean.ratio, mean.interval)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw()
