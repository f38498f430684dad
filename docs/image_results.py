"""Puts the tables and figures of the image studies into their page: ``python docs/image_results.py``.

Tables go between ``<!-- STUDY TABLE -->`` and ``<!-- end -->``, where STUDY is a folder of ``results`` and TABLE a part
of the report, or ``runs``: how many there are and what made them.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from flexicase.experiments.results import StudyResults, read_results
from flexicase.report.figures import draw_figures
from flexicase.report.write import sections_of

DOCS = Path(__file__).resolve().parent
sys.path.append(str(DOCS))

from make_results import standing, table_text  # noqa: E402

PAGE = DOCS / "image-results.md"
FIGURE = "last-generations"
BLOCK = re.compile(r"<!-- (?P<study>[\w-]+) (?P<table>\w+) -->\n.*?<!-- end -->", re.DOTALL)


def study(name: str) -> StudyResults:
    """The results of a study."""
    return read_results(DOCS.parent / "results" / name)


def table(results: StudyResults, name: str) -> str:
    """One of the report's tables, below the text that explains it."""
    if name == "runs":
        return f"{standing(results)}\n"
    section = next(section for section in sections_of(results) if section.id == name)
    assert section.table is not None
    return f"{section.text}\n\n{table_text(section.table)}\n"


def filled(page: str) -> str:
    """A page with its tables as the results now give them."""

    def block(match: re.Match[str]) -> str:
        mark = f"<!-- {match['study']} {match['table']} -->"
        return f"{mark}\n{table(study(match['study']), match['table'])}<!-- end -->"

    return BLOCK.sub(block, page)


def draw() -> None:
    """Draw the figures of all studies on the page."""
    for name in dict.fromkeys(match["study"] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))):
        with tempfile.TemporaryDirectory() as folder:
            for file in draw_figures(sections_of(study(name)), Path(folder)):
                if file.suffix == ".png" and file.name.startswith(FIGURE):
                    (DOCS / "images" / file.name).write_bytes(file.read_bytes())


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw()
