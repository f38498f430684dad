"""Write the report of a study: one self-contained HTML page, its tables as CSV and its figures as image files."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import shutil
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import require_package
from flexicase._files import write_atomically
from flexicase.experiments._tables import is_timing
from flexicase.experiments.results import StudyResults, read_results
from flexicase.report import _paper as paper
from flexicase.report._curves import COUNTS, MAX_DRAWN, mean_curve
from flexicase.report._image_claims import image_claims
from flexicase.report._images import image_sections, image_verdict, is_tail
from flexicase.report._programs import program_sections
from flexicase.report._same_populations import same_population_sections, same_population_verdict
from flexicase.report._sections import Section, View, charts_of, curve_lines, each, unique_name
from flexicase.report._successes import success_section, success_table
from flexicase.report._suite import FEW_PROBLEMS, MEASURES, suite_sections, suite_verdict
from flexicase.report._variants import WORK, variant_sections, variant_verdict
from flexicase.report.claims import Claim, claims, claims_section, verdict_line
from flexicase.report.figures import SUFFIXES, draw_figures, figures_of

RESOURCES = Path(__file__).parent / "page"
#: Ids that the page has by itself.
OWN_IDS = ("origin", "charts", "palette")
PACKAGES = ("jinja2", "matplotlib", "pyarrow", "pydantic", "scipy")
PAGE = "report.html"
#: Subfolder of a report's folder, for files that are not complete yet.
PARTIAL = ".flexicase-report.partial"


@dataclass(frozen=True)
class Layout:
    """What the report of a kind of study shows, and the columns and summary values that every run must have."""

    title: str
    sections: Callable[[StudyResults], list[Section]]
    claims: Callable[[StudyResults], list[Claim]] = lambda _: []
    verdict: Callable[[StudyResults], str] = lambda _: ""
    columns: tuple[str, ...] = ()
    summary: dict[str, type | UnionType] = field(default_factory=dict)


def generic_sections(results: StudyResults) -> list[Section]:
    """The sections for runs of a user's own kind: successes if the runs have them, and every column."""
    columns = dict.fromkeys(name for run in results.runs for name in run.columns if not is_timing(name))
    views = {name: View(name, partial(curve_lines, results, column=name)) for name in columns}
    charts = charts_of(results, "columns", "means over the runs that have the step", "mean", views, x="step")
    text = "The columns of the runs, step by step. Bands are 95 % intervals of the mean (Student)."
    has_success = all(run.summary.get("success") is not None for run in results.runs)
    successes = [success_section(results, "Each job defines what counts as a success.")] if has_success else []
    return [*successes, Section("columns", "Step by step", text, charts)]


PROGRAMS = Layout("the program-synthesis study", program_sections, claims, summary={"success": bool})
IMAGES = Layout(
    "the image-classification study",
    image_sections,
    image_claims,
    verdict=image_verdict,
    columns=("evaluations", "ended", "pairs", "forward_calls", "seconds_select", "seconds_train"),
    summary={"accuracy": int | float, "correct": int, "test_cases": int},
)
VARIANTS = Layout(
    "partial evaluation",
    variant_sections,
    verdict=variant_verdict,
    columns=("events", "pairs", "evaluations", *WORK),
    summary={"success": bool},
)
SAME_POPULATIONS = Layout(
    "methods on the same populations",
    same_population_sections,
    verdict=same_population_verdict,
    columns=("generation",),
)
SUITE = Layout(
    "program-synthesis benchmarks",
    suite_sections,
    verdict=suite_verdict,
    summary={**dict.fromkeys(MEASURES, bool), "executions": int},
)
GENERIC = Layout("runs of their own kind", generic_sections)


def layout_of(results: StudyResults) -> Layout:
    """The layout for a study; a ValueError says which run lacks what it shows."""
    counted = all(run.summary.get("executions") is not None for run in results.runs)
    of_suite = results.spec.suite is not None or (counted and len(results.problems) > FEW_PROBLEMS)
    programs = VARIANTS if len(results.variants) > 1 else SUITE if of_suite else PROGRAMS
    layout = {"image": IMAGES, "gp": programs, "same-populations": SAME_POPULATIONS}.get(results.spec.kind, GENERIC)
    for run in results.runs:
        for name in layout.columns:
            if name not in run.columns:
                raise ValueError(f"run {run.id!r}: its rows must have a column {name!r}")
        for name, kind in layout.summary.items():
            if not isinstance(run.summary.get(name), kind):
                raise ValueError(f"run {run.id!r}: expected a value for {name!r}, got {run.summary.get(name)!r}")
    return layout


def sections_of(results: StudyResults) -> list[Section]:
    """All sections of a study's report: the claims of the paper first."""
    layout = layout_of(results)
    table = claims_section(layout.claims(results), planned=is_tail(results))
    return [part for part in (table, *layout.sections(results)) if part]


@dataclass(frozen=True)
class Report:
    """The page that was written, and the tables and figures beside it."""

    page: Path
    files: list[Path]


def write_report(export: Path, folder: Path) -> Report:
    """Write the page of a study, and its tables and figures as files.

    Files of an earlier report in the folder are replaced when all new ones are complete.

    Args:
        export: What ``flexicase export`` wrote.
        folder: The report's folder, created if missing.

    Raises:
        FileNotFoundError: There is no such export.
        ValueError: The export is damaged or holds no finished run; or the folder has no report, but a file that would
            be replaced.
        OSError: The folder cannot be written to.
    """
    require_package("reports need", *PACKAGES)
    partial = folder / PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        results = read_results(export)
        with np.errstate(all="ignore"):  # infinite values are gaps in charts
            sections = sections_of(results)
            files = [*write_tables(results, sections, partial), *draw_figures(sections, partial)]
            names = [path.name for path in files]
            write_atomically(partial / PAGE, render(results, sections, names).encode())
        _refuse_foreign(folder, names)
        for name in (*names, PAGE):
            os.replace(partial / name, folder / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Report(folder / PAGE, [folder / name for name in names])


def check_folder(folder: Path) -> None:
    """Raise an ImportError or OSError if no report can be written to a folder, before the work that it takes."""
    require_package("reports need", *PACKAGES)
    existing = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(existing))
    if not os.access(existing, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(existing))


def _refuse_foreign(folder: Path, names: list[str]) -> None:
    """Raise ValueError if a folder without a report has files with the names of its tables and figures."""
    found = [] if (folder / PAGE).exists() else [name for name in names if os.path.lexists(folder / name)]
    if found:
        raise ValueError(f"{folder / found[0]} is no part of a report and would be replaced: choose another folder")


def render(results: StudyResults, sections: list[Section], files: Collection[str] = ()) -> str:
    """The page of a study as HTML, with the sections of its layout and links to files beside it."""
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    layout = layout_of(results)
    taken = {*OWN_IDS, *(part.id for part in sections)}
    parts = [
        replace(part, charts=[replace(chart, id=unique_name(chart.id, taken)) for chart in part.charts])
        for part in sections
    ]
    verdict = verdict_line(layout.claims(results)) or layout.verdict(results)
    settings = (results.spec.kind, results.spec.settings, results.problems)
    charts = [asdict(chart) for part in parts for chart in part.charts]
    data = json.dumps(_finite(charts), separators=(",", ":"), allow_nan=False)
    environment = Environment(loader=FileSystemLoader(RESOURCES), autoescape=True, trim_blocks=True)
    return environment.get_template("page.html.j2").render(
        name=results.spec.name,
        title=f"Lexicase selection at scale: {layout.title}",
        done=len(results.runs),
        planned=results.planned,
        from_paper=any(run.method in (*paper.ROWS, *paper.IMAGE_ROWS) for run in results.runs),
        verdict=verdict or f"{len(results.runs)} finished runs; none of the paper's claims is about them.",
        different="" if layout is SUITE else paper.differences(*settings),
        sections=parts,
        files=_links(parts, files),
        spec=results.spec.text.strip(),
        charts=Markup(data.replace("<", "\\u003c")),  # must not end the script element
        script=Markup((RESOURCES / "charts.js").read_text(encoding="utf-8")),
        css=Markup((RESOURCES / "page.css").read_text(encoding="utf-8")),
        **results.origin(),
    )


def _links(sections: list[Section], files: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Labels and names of the files beside the page, by the id of a chart or of a section."""
    links = {part.id: [("table as CSV", f"{part.id}.csv")] if part.table else [] for part in sections}
    if "successes" in links:
        links["successes"] += [("all runs", "runs.csv"), ("curves of evaluations", "evaluations.csv")]
    for chart, view, scale, name in figures_of(sections):
        words = [chart.views[view]["label"]] if len(chart.views) > 1 else []
        for suffix in SUFFIXES:
            link = " ".join([*words, scale, suffix.upper()]), f"{name}.{suffix}"
            links.setdefault(chart.id, []).append(link)
    return {key: [link for link in found if link[1] in files] for key, found in links.items()}


def _finite(value: Any) -> Any:
    """The same with None, a gap in a chart, for numbers that JSON does not have or that no axis can reach."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value if not isinstance(value, float) or abs(value) < MAX_DRAWN else None


def write_tables(results: StudyResults, sections: list[Section], folder: Path) -> list[Path]:
    """Write the tables of the sections as CSV; beside successes, also the runs and the curves of evaluations."""
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, list[list[Any]]] = {p.id: [p.table.header, *p.table.rows] for p in sections if p.table}
    if "successes" in tables:
        tables["successes"] = _success_lines(results)  # numbers instead of text
        tables |= {"runs": _run_lines(results), "evaluations": _evaluation_lines(results)}
    files = []
    for name, lines in tables.items():
        if len(lines) > 1:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(lines)
            files.append(folder / f"{name}.csv")
            write_atomically(files[-1], text.getvalue().encode())
    return files


def _success_lines(results: StudyResults) -> list[list[Any]]:
    header = (
        "problem method successes runs low high difference difference_low difference_high "
        "mcnemar_p mcnemar_p_holm fisher_p fisher_p_holm paper_successes paper_runs"
    )
    lines: list[list[Any]] = [header.split()]
    for c in success_table(results):
        published = [c.published, None if c.published is None else paper.RUNS]
        paired = [None, None, None] if c.paired is None else [c.difference, *c.bounds]
        tests = [c.paired, c.paired_adjusted, c.p_value, c.adjusted]
        lines.append([c.problem, c.method, c.successes, c.runs, *c.interval, *paired, *tests, *published])
    return lines


def _evaluation_lines(results: StudyResults) -> list[list[Any]]:
    lines: list[list[Any]] = [["problem", "method", "count", "generation", "mean", "low", "high", "active"]]
    for problem, method, runs in each(results):
        for count in COUNTS:
            points = zip(*(column.tolist() for column in mean_curve(runs, count)), strict=True)
            lines += [[problem, method, count, *point] for point in points]
    return lines


def _run_lines(results: StudyResults) -> list[list[Any]]:
    summed = [name for name in (*COUNTS, "seconds_select") if any(name in run.columns for run in results.runs)]
    lines: list[list[Any]] = [["id", "problem", "method", "seed", "success", "generations", *summed]]
    for run in results.runs:
        sums = (_exact_sum(run.columns[name]) if name in run.columns else None for name in summed)
        lines.append([run.id, run.problem, run.method, run.seed, run.success, run.generations, *sums])
    return lines


def _exact_sum(values: NDArray[Any]) -> Any:
    """The sum, of whole numbers without overflow."""
    return values.sum().item() if values.dtype.kind == "f" else values.sum(dtype=object)
