"""A study of runs of one's own kind: every column over the steps."""

from __future__ import annotations

from functools import partial

from flexicase.exported import is_timing
from flexicase.report.results import Results
from flexicase.report.sections import Section, View, charts_of, curve_lines


def own_sections(results: Results) -> list[Section]:
    """All parts of the page, in order.

    Args:
        results: The study.
    """
    columns = dict.fromkeys(name for run in results.runs for name in run.columns if not is_timing(name))
    views = {name: View(name, partial(curve_lines, results, column=name)) for name in columns}
    charts = charts_of(results, "columns", "means over the runs that have the step", "mean", views, x="step")
    text = "The columns of the runs, step by step. Bands are 95 % intervals of the mean (Student)."
    return [Section("columns", "Step by step", text, charts)]
