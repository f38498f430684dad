"""One HTML page that needs nothing else: tables, claims and charts of a study."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flexicase.report import paper
from flexicase.report.curves import LARGEST
from flexicase.report.layouts import layout_of
from flexicase.report.results import Results
from flexicase.report.sections import unique_name
from flexicase.report.successes import success_groups

RESOURCES = Path(__file__).parent / "page"
#: Ids that the page has by itself.
OWN_IDS = ("successes", "claims", "origin", "charts", "palette")


def render(results: Results) -> str:
    """The page of a study.

    Args:
        results: The study.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    layout = layout_of(results)
    parts, success_tables = layout.sections(results), success_groups(results) if layout.success else []
    taken = {*OWN_IDS, *(part.id for part in parts)}
    for table in success_tables:
        table["id"] = unique_name(f"successes-{table['id']}", taken)
    for place, part in enumerate(parts):
        named = [replace(chart, id=unique_name(chart.id, taken)) for chart in part.charts]
        parts[place] = replace(part, charts=named)
    charts = [asdict(chart) for part in parts for chart in part.charts]
    environment = Environment(loader=FileSystemLoader(RESOURCES), autoescape=True, trim_blocks=True)
    return environment.get_template("page.html.j2").render(
        name=results.name,
        title=f"Lexicase selection at scale: {layout.title}",
        done=len(results.runs),
        planned=results.planned,
        from_paper=any(run.method in (*paper.ROWS, *paper.IMAGE_ROWS) for run in results.runs),
        success=layout.success,
        success_tables=success_tables,
        claims=layout.claims(results),
        sections=parts,
        spec=results.spec.strip(),
        charts=Markup(_script_safe(json.dumps(_finite(charts), separators=(",", ":"), allow_nan=False))),
        script=Markup((RESOURCES / "charts.js").read_text(encoding="utf-8")),
        css=Markup((RESOURCES / "page.css").read_text(encoding="utf-8")),
        **results.origin(),
    )


def _finite(value: Any) -> Any:
    """The same with None, a gap in a chart, for numbers that JSON does not have or that no axis can reach."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value if not isinstance(value, float) or abs(value) < LARGEST else None


def _script_safe(text: str) -> str:
    """JSON that cannot end the script element it stands in."""
    return text.replace("<", "\\u003c")
