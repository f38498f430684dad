"""The comparison as text, as Markdown and as JSON-ready values."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import numpy as np

import flexicase
from flexicase import _native
from flexicase._provenance import processor, usable_cores
from fragments import markdown_table, text_table
from selection.comparison import Entry, Row
from selection.costs import Cost
from selection.workloads import WORKLOADS

HEADERS = ("", "method", "counts", "selections/s", "n", "times the next best", "goal", "holds")


def environment() -> dict[str, Any]:
    """Versions and machine, to be kept with every figure."""
    return {
        "flexicase": flexicase.__version__,
        "isa": _native.isa(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.system(),
        "cpu": processor(),
        "cores": usable_cores(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "date": datetime.now(timezone.utc).date().isoformat(),
    }


@dataclass(slots=True)
class Report:
    """All that one run measured.

    Attributes:
        rows: Selections per second.
        costs: Other figures.
        skipped: Peers that were not measured, with the reason.
        environment: Versions, machine, settings.
    """

    rows: list[Row] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=environment)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-ready values."""
        return {
            "environment": self.environment,
            "rows": [row.as_dict() for row in self.rows],
            "costs": [cost.as_dict() for cost in self.costs],
            "skipped": self.skipped,
        }

    def as_text(self) -> str:
        """Tables for a terminal or a log."""
        parts = []
        for key in dict.fromkeys(row.workload for row in self.rows):
            w = WORKLOADS[key]
            parts.append(f"{w.key}: {w.title}, n = {w.n}")
            parts.append(text_table(HEADERS, [_cells(row) for row in self.rows if row.workload == key]) + "\n")
        if self.costs:
            parts.append(
                text_table(("cost", "value", "goal", "holds"), [_cost_cells(cost) for cost in self.costs]) + "\n"
            )
        parts += [f"not measured: {peer} ({reason})" for peer, reason in self.skipped.items()]
        parts.append(self._caption())
        return "\n".join(parts)

    def as_markdown(self) -> str:
        """A fragment of a page: speed beside the peers, then the orders, then the costs."""
        parts = [self._speed_table(), self._order_table(), self._cost_table(), self._caption()]
        return "\n\n".join(part for part in parts if part)

    def _main(self) -> str:
        return self.rows[0].runner if self.rows else ""

    def _find(self, workload: str, runner: str, entry: Entry) -> Row | None:
        wanted = (workload, runner, entry)
        return next((r for r in self.rows if (r.workload, r.runner, r.entry) == wanted), None)

    def _speed_table(self) -> str:
        main, body = self._main(), []
        runners = [r for r in dict.fromkeys(row.runner for row in self.rows) if r != main]
        for key in dict.fromkeys(row.workload for row in self.rows):
            method = "epsilon-lexicase" if WORKLOADS[key].epsilon else "lexicase"
            for major in (False, True) if WORKLOADS[key].epsilon else (False,):
                found = [self._find(key, main, Entry(method, counts, major)) for counts in (False, True)]
                others = [self._find(key, r, Entry(method, False, major)) for r in runners]
                title = f"{key}: {WORKLOADS[key].title}, n = {WORKLOADS[key].n}" + (
                    " (stored case by case)" if major else ""
                )
                ratio = found[0].ratio if found[0] else None
                times = f"{engineering(ratio)} ×" if ratio else "–"
                body.append([title, *(_speed(row) for row in (*found, *others)), times])
        return markdown_table(["selections per second", main, "with counts", *runners, "times the next best"], body)

    def _order_table(self) -> str:
        rows = [r for r in self.rows if r.runner == self._main() and not r.entry.counts]
        keys = list(dict.fromkeys(r.workload for r in rows if r.entry.method.startswith("ranked-")))
        methods = list(dict.fromkeys(r.entry.method for r in rows if r.workload in keys))
        body = [[m, *(_speed(self._find(k, self._main(), Entry(m))) for k in keys)] for m in methods]
        return markdown_table(["order", *(f"{k}: {WORKLOADS[k].title}" for k in keys)], body) if keys else ""

    def _cost_table(self) -> str:
        body = [[cost.what, f"{cost.value:.3g} {cost.unit}"] for cost in self.costs]
        return markdown_table(["cost", ""], body) if body else ""

    def _caption(self) -> str:
        e = self.environment
        return (
            f"{e['cpu']} ({e['isa']}), Python {e['python']}, NumPy {e['numpy']}, flexicase {e['flexicase']}, "
            f"{e['date']}; one thread, processor seconds, best of several, preprocessing included."
        )


def engineering(value: float) -> str:
    """A number with three digits and a unit prefix.

    Example:
        >>> engineering(3_412_000.0), engineering(76.2)
        ('3.41 M', '76.2')
    """
    for factor, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= factor * 0.9995:
            return f"{value / factor:#.3g}".rstrip(".") + prefix
    return f"{value:#.3g}".rstrip(".")


def _speed(row: Row | None) -> str:
    return "–" if row is None else engineering(row.selections_per_second)


def _holds(holds: bool | None) -> str:
    return "" if holds is None else "yes" if holds else "no"


def _cells(row: Row) -> list[str]:
    layout = ", cases-major" if row.entry.cases_major else ""
    return [
        row.runner,
        row.entry.method + layout,
        "yes" if row.entry.counts else "no",
        engineering(row.selections_per_second),
        str(row.timing.n),
        f"{engineering(row.ratio)} × {row.best_peer}" if row.ratio is not None else "",
        f"≥ {engineering(row.goal)}" if row.goal is not None else "",
        _holds(row.holds),
    ]


def _cost_cells(cost: Cost) -> list[str]:
    goal = "" if cost.goal is None else f"{'≤' if cost.at_most else '≥'} {cost.goal:g}"
    return [cost.what, f"{cost.value:.3g} {cost.unit}", goal, _holds(cost.holds)]
