"""One HTML page that needs nothing else: tables, claims and charts of a study."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flexicase.report import paper
from flexicase.report.claims import claims
from flexicase.report.results import Results
from flexicase.report.sections import sections
from flexicase.report.successes import Cell, differs, success_table

RESOURCES = Path(__file__).parent / "page"


def render(results: Results) -> str:
    """The page of a study.

    Args:
        results: The study.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    parts = sections(results)
    charts = [asdict(chart) for part in parts for chart in part.charts]
    environment = Environment(loader=FileSystemLoader(RESOURCES), autoescape=True, trim_blocks=True)
    return environment.get_template("page.html.j2").render(
        name=results.name,
        title="Lexicase selection at scale: the program-synthesis study",
        done=len(results.runs),
        planned=results.planned,
        problems=[paper.title(problem) for problem in results.problems],
        success_rows=_success_rows(results),
        claims=claims(results),
        sections=parts,
        spec=results.spec.strip(),
        charts=Markup(_script_safe(json.dumps(charts, separators=(",", ":")))),
        script=Markup((RESOURCES / "charts.js").read_text(encoding="utf-8")),
        css=Markup((RESOURCES / "page.css").read_text(encoding="utf-8")),
        **_origin(results),
    )


def _script_safe(text: str) -> str:
    """JSON that cannot end the script element it stands in."""
    return text.replace("<", "\\u003c")


def _origin(results: Results) -> dict[str, str]:
    def distinct(key: str) -> str:
        return ", ".join(sorted({str(run.made_by.get(key) or "unknown") for run in results.runs}))

    return {"versions": distinct("version"), "machines": distinct("machine"), "commands": distinct("command")}


def _success_rows(results: Results) -> list[dict[str, Any]]:
    cells = {(cell.problem, cell.method): cell for cell in success_table(results)}
    methods = paper.in_order(tuple(dict.fromkeys(method for _, method in cells)))
    return [
        {
            "title": paper.title(method),
            "cells": [_shown(cells[problem, method], cells) if (problem, method) in cells else None
                      for problem in results.problems],
        }
        for method in methods
    ]


def _shown(cell: Cell, cells: dict[tuple[str, str], Cell]) -> dict[str, Any]:
    mark = ""
    if differs(cell):
        mark = "worse" if cell.rate < cells[cell.problem, "lexicase"].rate else "better"
    return {
        "successes": cell.successes,
        "runs": cell.runs,
        "interval": f"{cell.interval.low:.2f}–{cell.interval.high:.2f}",
        "p": _p_value(cell.p_value),
        "adjusted": _p_value(cell.adjusted),
        "published": "" if cell.published is None else f"{cell.published}/{paper.RUNS}",
        "mark": mark,
        "paper_mark": "worse" if (cell.problem, cell.method) in paper.WORSE else "",
    }


def _p_value(p: float | None) -> str:
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"
