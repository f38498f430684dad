"""Files beside the page must hold the numbers that the page shows."""

import contextlib
import csv
import json
import re
import shutil
import subprocess
import warnings

import numpy as np
import pytest

from flexicase.experiments._tables import read_tables, write_tables
from flexicase.report.write import write_report
from tests.report.conftest import expected_means

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report(export, tmp_path_factory):
    pytest.importorskip("jinja2")
    return write_report(export, tmp_path_factory.mktemp("report"))


def test_tables_hold_counts_and_means(report):
    folder = report.page.parent
    with (folder / "successes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert next((r["method"], r["successes"], r["runs"], r["paper_successes"]) for r in rows) == (
        "lexicase",
        "6",
        "8",
        "43",
    )
    with (folder / "evaluations.csv").open() as file:
        points = [r for r in csv.DictReader(file) if (r["problem"], r["method"]) == ("mirror-image", "lexicase")]
    means = [float(r["mean"]) for r in points if r["count"] == "evaluations"]
    assert means == pytest.approx(expected_means("lexicase"))


def test_every_run_has_a_line_with_its_totals(report, results):
    with (report.page.parent / "runs.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["id"] for line in lines] == [run.id for run in results.runs]
    first, run = lines[0], results.runs[0]
    assert (first["method"], int(first["seed"]), int(first["generations"])) == (run.method, run.seed, run.generations)
    assert int(first["evaluations"]) == run.columns["evaluations"].sum()
    assert {line["success"] for line in lines} == {"True", "False"}


def test_pictures_are_there_in_both_formats(report):
    stems = {path.stem for path in report.files if path.suffix == ".png"}
    assert "evaluations-mirror-image-log" in stems
    assert "evaluations-distinct-last-index-of-zero-linear" in stems
    for stem in stems:
        assert (report.page.parent / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (report.page.parent / f"{stem}.svg").read_text()


def test_the_page_loads_nothing_from_elsewhere(report):
    text = report.page.read_text()
    assert "src=" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def changed(export, folder, change):
    """A copy of an export with other tables; `change` gets a dictionary of them."""
    shutil.copytree(export, folder)
    tables = read_tables(folder)
    change(tables)
    write_tables(folder, tables, "parquet")
    return folder


def renamed(table, column, names):
    values = [names.get(value, value) for value in table[column].to_pylist()]
    return table.set_column(table.column_names.index(column), column, [values])


HOSTILE = (
    "../../escaped",
    "/tmp/flexicase-escaped",
    "..",
    "",
    "a/b",
    "con.",
    "x" * 400,
    "a\nb",
    "A",
    "ä",
    "</script><b>",
)


@pytest.fixture
def empty_pictures(monkeypatch):
    """Figures are files, but nothing is drawn, which takes a second each."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda _, path, **options: path.touch())


@pytest.mark.usefixtures("empty_pictures")
def test_names_in_data_never_become_paths(export, tmp_path):
    """A problem called ../../x would put figures outside the report's folder."""
    home = tmp_path / "home"

    def change(tables):
        runs = tables["runs"]
        names = [HOSTILE[place % len(HOSTILE)] for place in range(len(runs))]
        tables["runs"] = runs.set_column(runs.column_names.index("problem"), "problem", [names])

    report = write_report(changed(export, home / "a" / "export", change), home / "a" / "b" / "report")
    folder = report.page.parent
    outside = {path for path in tmp_path.rglob("*") if path.is_file() and path.parent != folder}
    assert outside == set((home / "a" / "export").iterdir())
    assert len(report.files) == len(set(report.files)) == len(list(folder.iterdir())) - 1
    assert len([path for path in report.files if path.suffix == ".svg"]) == 4 * len(HOSTILE)
    assert all(re.fullmatch(r"[a-z0-9-]{,120}\.(csv|png|svg)", path.name) for path in report.files)
    assert "</script><b>" not in report.page.read_text()


def test_no_file_is_written_outside_of_the_report(export, tmp_path, monkeypatch):
    """The folder that the path of a figure goes through may exist."""

    def save(_, path, **options):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def change(tables):
        tables["runs"] = renamed(tables["runs"], "problem", {"mirror-image": "/../../../../escaped"})

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", save)
    folder = tmp_path / "a" / "b" / "report"
    with contextlib.suppress(OSError):
        write_report(changed(export, tmp_path / "export", change), folder)
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {folder, tmp_path / "export"}


@pytest.mark.usefixtures("empty_pictures")
def test_names_that_differ_in_other_characters_only_have_files_of_their_own(export, tmp_path):
    def change(tables):
        tables["runs"] = renamed(tables["runs"], "problem", {"mirror-image": "a b", "last-index-of-zero": "a/b"})

    report = write_report(changed(export, tmp_path / "export", change), tmp_path / "report")
    assert len({path.name.lower() for path in report.files if path.suffix == ".png"}) == 8
    ids = re.findall(r' id="([^"]*)"', report.page.read_text())
    assert len(ids) == len(set(ids))


def not_json(constant):
    raise AssertionError(f"{constant} is not JSON")


@pytest.fixture(scope="module")
def unbounded(export, tmp_path_factory):
    """The report of runs with infinities, NaN and the largest floats in their columns: nothing in some generations."""

    def change(tables):
        import pyarrow as pa

        generation = tables["rows"]["generation"].to_numpy()
        for name in ("rows", "timings"):
            for place, column in enumerate(tables[name].column_names[1:], start=1):
                values = tables[name][column].to_numpy().astype(float)
                values[generation == 1], values[generation == 3] = np.inf, 1e308
                values[::7], values[1::7] = np.nan, -np.inf
                if column not in ("generation", "events"):
                    tables[name] = tables[name].set_column(place, column, pa.array(values, from_pandas=False))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folder = tmp_path_factory.mktemp("unbounded")
        return write_report(changed(export, folder / "export", change), folder / "report").page


def charts_in(page):
    text = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page.read_text(), re.S)[1]
    return json.loads(text, parse_constant=not_json)


def test_infinite_values_are_gaps_in_charts(unbounded):
    """JSON has no infinity: a single one and the page would draw nothing."""
    charts = charts_in(unbounded)
    assert len(charts) == 8
    lines = [line for chart in charts for view in chart["views"].values() for line in view["lines"]]
    assert any(None in line["y"] for line in lines)
    assert any(value is not None for line in lines for value in line["y"])


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_every_chart_with_gaps_is_drawn(unbounded, tmp_path):
    """Runs the page's script on a minimal document: a value that is missing must not reach a coordinate."""
    page = unbounded.read_text()
    script = re.findall(r"<script>(.*?)</script>", page, re.S)[0]
    (tmp_path / "page.js").write_text(
        DOCUMENT % (json.dumps(json.dumps(charts_in(unbounded))), re.findall(r'<div id="([^"]*)"', page))
        + script
        + "\nshow();"
    )
    done = subprocess.run(["node", tmp_path / "page.js"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    drawn = json.loads(done.stdout)
    assert drawn["charts"] == 8
    assert drawn["bad"] == []
    assert drawn["gaps"] > 0


DOCUMENT = """
class Node_ {
  constructor(name) { this.name = name; this.attributes = {}; this.children = []; this.style = {}; this.dataset = {};
    this.classList = { toggle() {} }; all.push(this); }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  append(...nodes) { this.children.push(...nodes); }
  replaceChildren() { this.children = []; }
  addEventListener(kind, call) { if (kind === "click" && this.className === "log") clicks.push(call); }
}
const all = [], clicks = [];
const charts = new Node_("script");
charts.textContent = %s;
const boxes = Object.fromEntries(%s.map((id) => [id, new Node_("div")]));
globalThis.window = { addEventListener() {} };
globalThis.document = {
  createElementNS: (_, name) => new Node_(name), createElement: (name) => new Node_(name),
  getElementById: (id) => (id === "charts" ? charts : boxes[id] ?? new Node_("input")), body: new Node_("body"),
};
const show = () => clicks.forEach((click) => click()) ?? console.log(JSON.stringify({
  charts: Object.values(boxes).filter((box) => box.children.some((node) => node.name === "svg")).length,
  bad: all.flatMap((node) => Object.entries(node.attributes).filter(([, v]) => /NaN|Infinity|undefined|null/.test(v))
    .map(([key, value]) => `${node.name} ${key} ${value.slice(0, 80)}`)),
  gaps: all.filter((node) => node.name === "path" && (node.attributes.d.match(/M/g) ?? []).length > 1).length,
}));
"""
