"""Bring the pages with results, their figures, the tables and the list of results up to date with results/.

    python docs/make_results.py                    # or: make results

Every number, table and verdict between the marks of docs/results.md, docs/gp.md and results/README.md comes from the
exported studies; the words around them do not depend on how the studies come out. Image studies have a page of their
own (docs/image_results.py).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from flexicase.experiments.results import StudyResults, read_results
from flexicase.report import _paper as paper
from flexicase.report._sections import Chart, Section, Table
from flexicase.report.claims import verdict_line
from flexicase.report.figures import draw_figures, figures_of
from flexicase.report.write import PROGRAMS, layout_of, sections_of, write_tables

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "docs")]

from good_for import fill_page  # noqa: E402
from study_figures import draw_ratios  # noqa: E402

from fragments import markdown_table, replace_fragment  # noqa: E402

PAGE, GP_PAGE = Path("docs/results.md"), Path("docs/gp.md")
LIST = Path("results/README.md")
IMAGES = Path("docs/images/results")
TABLES = "tables"
#: What stands above a study of this kind; other studies have their headings in the page.
SAME_POPULATIONS = """## The same populations

Runs of different methods differ in their populations, not only in what selection costs. Here the paper's five methods
select from the same errors, those of runs with lexicase on every problem of the first benchmark suite."""
RATIOS = (
    "Evaluations of the hard-first orders divided by those of lexicase; a point without a line has fewer than 3 seeds."
)
#: A list of more problems than this says how many they are.
MAX_LISTED = 6
NO_BREAK = "\N{NO-BREAK SPACE}"


def main() -> None:
    """Do it."""
    for path in refresh(ROOT):
        print(path)


def refresh(root: Path) -> list[Path]:
    """Rewrite everything below the project's folder, and return the files."""
    studies = [read_results(manifest.parent) for manifest in sorted((root / "results").glob("*/manifest.json"))]
    pages = {path: path.read_text(encoding="utf-8") for path in (root / PAGE, root / GP_PAGE)}
    files = [*pages, root / LIST]
    for results in studies:
        name, sections = results.spec.name, sections_of(results)
        files += write_tables(results, sections, root / "results" / name / TABLES)
        if results.spec.kind != "image":
            pictures = draw(results, sections, root / IMAGES / name)
            files += pictures
            pages[root / PAGE] = replace_fragment(pages[root / PAGE], fragment(results, sections, pictures), name)
            for part in sections:
                if f"<!-- {name}-{part.id}:begin -->" in pages[root / GP_PAGE]:
                    text = f"{standing(results)}\n\n{section_text(part)}"
                    pages[root / GP_PAGE] = replace_fragment(pages[root / GP_PAGE], text, f"{name}-{part.id}")
    if "<!-- finding:begin -->" in pages[root / PAGE]:
        pages[root / PAGE] = replace_fragment(pages[root / PAGE], finding(studies), "finding")
    overview = (root / LIST).read_text(encoding="utf-8")
    (root / LIST).write_text(replace_fragment(overview, list_of(studies), "studies"), encoding="utf-8")
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
    return files + fill_page(studies, root)


def finding(studies: list[StudyResults]) -> str:
    """What each study found, in one or two sentences."""
    lines = []
    for results in studies:
        layout = layout_of(results)
        outcome = verdict_line(layout.claims(results)) or layout.verdict(results)
        lines.append(f"- `{results.spec.name}`, {layout.title}: {outcome}")
    return "\n".join(lines)


def draw(results: StudyResults, sections: list[Section], folder: Path) -> list[Path]:
    """The figures that the page shows, drawn into a folder that holds nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if results.spec.kind == "same-populations":
        draw_ratios(results, folder / "ratios.png")
        return [folder / "ratios.png"]
    with tempfile.TemporaryDirectory() as everything:
        drawn = draw_figures(sections, Path(everything))
        return [Path(shutil.copy(path, folder)) for path in drawn if is_shown(path)]


def is_shown(path: Path) -> bool:
    """Whether a figure is for the page; the others are the same on other scales, or for printing."""
    return path.suffix == ".png" and "distinct" not in path.stem and not path.stem.endswith("-log")


def fragment(results: StudyResults, sections: list[Section], pictures: list[Path]) -> str:
    """A study as Markdown: how far it is, then text, figures and table of each section."""
    captions = {"ratios": RATIOS} | {figure.name: caption_of(figure.chart) for figure in figures_of(sections)}
    parts = [SAME_POPULATIONS] if results.spec.kind == "same-populations" else []
    parts.append(standing(results))
    parts += [
        f"![{path.stem.replace('-', ' ')}](images/results/{results.spec.name}/{path.name})\n\n*{captions[path.stem]}*"
        for path in pictures
    ]
    parts += [section_text(part) for part in sections if part.table]
    return "\n\n".join(parts)


def caption_of(chart: Chart) -> str:
    """What a figure shows, and on how many runs its curves rest."""
    if chart.kind != "evaluations":
        return chart.title
    means = "Means over the runs that are still active, so later means are of runs that are not solved yet"
    return f"{chart.title} {means}; bands are 95 % intervals. {chart.caption}"


def section_text(part: Section) -> str:
    """A section as Markdown: its text and table."""
    return f"**{part.title}.** {part.text}\n\n{table_text(part.table) if part.table else ''}"


def standing(results: StudyResults) -> str:
    """How far a study is, and what made it."""
    origin, done = results.origin(), len(results.runs)
    far = f"all {done} runs" if done == results.planned else f"{done} of {results.planned} runs so far"
    sizes = ", ".join(f"{name} {value}" for name, value in results.spec.settings.items() if not isinstance(value, list))
    cost = [run.provenance.get("processor_seconds") for run in results.runs]
    if None not in cost:
        took = f"The runs took {sum(cost) / 3600:.1f} processor hours in all"
    else:
        hours = sum(run.provenance.get("seconds") or 0.0 for run in results.runs) / 3600
        took = f"The runs took {hours:.1f} hours in all, each with one thread, beside other work"
    made = f"Made by flexicase {origin['versions']} on {origin['machines']}"
    return f"{far[:1].upper()}{far[1:]}; {sizes}. {made}. {took}."


def table_text(table: Table) -> str:
    """A table as Markdown, one for each problem; numbers stay in one line."""
    parts = []
    for group in table.groups():
        rows = [[*row[1 : table.names], *(cell.replace(" ", NO_BREAK) for cell in row[table.names :])] for row in group]
        title = group[0][0]
        text = markdown_table(table.header[1:], rows, table.names - 1)
        parts.append(f"*{title[:1].upper()}{title[1:]}*\n\n{text}")
    return "\n\n".join(parts)


def list_of(studies: list[StudyResults]) -> str:
    """A line for each study."""
    rows = []
    for results in studies:
        titles = list(map(paper.title, results.problems))
        problems = ", ".join(titles) if len(titles) <= MAX_LISTED else f"{len(titles)} problems"
        layout = layout_of(results)
        kind = "programs" if layout is PROGRAMS else layout.title
        rows.append([f"`{results.spec.name}`", f"{kind}: {problems}", f"{len(results.runs)} of {results.planned}"])
    return markdown_table(("folder", "study", "runs"), rows, names=2)


if __name__ == "__main__":
    main()
