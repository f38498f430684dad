"""Puts the tables and figures of the image studies into their page: ``python docs/image_results.py``.

Tables go between ``<!-- STUDY TABLE -->`` and ``<!-- end -->``, where STUDY is a folder of ``results`` and TABLE a part
of the report, or ``runs``: how many there are and what made them; or ``section``: the whole study.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from flexicase.experiments.results import StudyResults, read_results
from flexicase.report.figures import draw_figures
from flexicase.report.write import sections_of

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "results"
IMAGES = DOCS / "images" / "results"
sys.path.append(str(DOCS))

from make_results import section_text, standing, table_text  # noqa: E402

PAGE = DOCS / "image-results.md"
FIGURE = "last-generations"
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
        with tempfile.TemporaryDirectory() as folder:
            for file in draw_figures(sections_of(read_results(RESULTS / name)), Path(folder)):
                if file.suffix == ".png" and file.name.startswith(FIGURE):
                    shutil.copy(file, shown)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw()
