"""One HTML page that needs nothing else: tables, claims and charts of a study."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flexicase.report import paper
from flexicase.report.layouts import layout_of
from flexicase.report.results import Results
from flexicase.report.successes import Cell, baseline_rate, differs, p_text, success_table

RESOURCES = Path(__file__).parent / "page"


def render(results: Results) -> str:
    """The page of a study.

    Args:
        results: The study.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    layout = layout_of(results)
    parts = layout.sections(results)
    charts = [asdict(chart) for part in parts for chart in part.charts]
    environment = Environment(loader=FileSystemLoader(RESOURCES), autoescape=True, trim_blocks=True)
    return environment.get_template("page.html.j2").render(
        name=results.name,
        title=f"Lexicase selection at scale: {layout.title}",
        done=len(results.runs),
        planned=results.planned,
        success_tables=_success_tables(results) if layout.successes else [],
        claims=layout.claims(results),
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


def _success_tables(results: Results) -> list[dict[str, Any]]:
    cells = success_table(results)
    return [
        {
            "id": problem,
            "problem": paper.title(problem),
            "published": any(cell.published is not None for cell in cells if cell.problem == problem),
            "rows": [_shown(cell, cells) for cell in cells if cell.problem == problem],
        }
        for problem in results.problems
    ]


def _shown(cell: Cell, cells: list[Cell]) -> dict[str, Any]:
    mark = ""
    if differs(cell):
        mark = "worse" if cell.rate < baseline_rate(cells, cell.problem) else "better"
    return {
        "title": paper.title(cell.method),
        "successes": cell.successes,
        "runs": cell.runs,
        "interval": f"{cell.interval.low:.2f}–{cell.interval.high:.2f}",
        "p": p_text(cell.p_value),
        "adjusted": p_text(cell.adjusted),
        "published": "" if cell.published is None else f"{cell.published}/{paper.RUNS}",
        "mark": mark,
        "paper_mark": "worse" if (cell.problem, cell.method) in paper.WORSE else "",
    }
