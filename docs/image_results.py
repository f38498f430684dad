"""Puts the tables and figures of the image studies into their page: ``python docs/image_results.py``.

Tables go between ``<!-- STUDY TABLE -->`` and ``<!-- end -->``, where STUDY is a folder of ``results`` and TABLE a part
of the report, or ``claims``, or ``runs``: how many there are.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from flexicase.experiments.results import StudyResults, read_results
from flexicase.report._images import image_sections
from flexicase.report.claims import image_claims
from flexicase.report.figures import draw_figures

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "image-results.md"
FIGURE = "last-generations"
BLOCK = re.compile(r"<!-- (?P<study>[\w-]+) (?P<table>\w+) -->\n.*?<!-- end -->", re.DOTALL)


def study(name: str) -> StudyResults:
    """The results of a study."""
    return read_results(DOCS.parent / "results" / name)


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def table(results: StudyResults, name: str) -> str:
    """One of the report's tables, without the column that names the data."""
    if name == "runs":
        return f"{len(results.runs)} of {results.planned} runs are done, in the order of the seeds.\n"
    if name == "claims":
        rows = [[claim.statement, claim.verdict, claim.evidence] for claim in image_claims(results)]
        return markdown(["statement", "here", "evidence"], rows)
    found = next(section.table for section in image_sections(results) if section.id == name)
    assert found is not None
    return markdown(found.header[1:], [row[1:] for row in found.rows])


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
            for file in draw_figures(image_sections(study(name)), Path(folder)):
                if file.suffix == ".png" and file.name.startswith(FIGURE):
                    (DOCS / "images" / file.name).write_bytes(file.read_bytes())


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw()
