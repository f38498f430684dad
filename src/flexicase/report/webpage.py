"""One HTML page that needs nothing else: tables, claims and charts of a study."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from flexicase.report import paper
from flexicase.report.layouts import layout_of
from flexicase.report.results import Results
from flexicase.report.successes import success_groups

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
        from_paper=any(run.method in (*paper.ROWS, *paper.IMAGE_ROWS) for run in results.runs),
        success=layout.success,
        success_tables=success_groups(results) if layout.success else [],
        claims=layout.claims(results),
        sections=parts,
        spec=results.spec.strip(),
        charts=Markup(_script_safe(json.dumps(charts, separators=(",", ":")))),
        script=Markup((RESOURCES / "charts.js").read_text(encoding="utf-8")),
        css=Markup((RESOURCES / "page.css").read_text(encoding="utf-8")),
        **results.origin(),
    )


def _script_safe(text: str) -> str:
    """JSON that cannot end the script element it stands in."""
    return text.replace("<", "\\u003c")
