"""Files beside the page must hold the numbers that the page shows."""

import contextlib
import csv
import json
import re
import shutil
import subprocess
import warnings
from dataclasses import replace

import numpy as np
import pytest

from flexicase.experiments import Study, StudyOptions, export_study, parse_spec, run_study
from flexicase.experiments._tables import read_tables, write_tables
from flexicase.experiments.results import PROVENANCE_COLUMNS, read_results
from flexicase.report._programs import program_sections
from flexicase.report.write import write_report
from tests.report.conftest import CHROMIUM, METHODS, PROBLEMS, SEEDS, browse, expected_means

pytestmark = pytest.mark.slow

pa = pytest.importorskip("pyarrow")
pytest.importorskip("jinja2")
Figure = pytest.importorskip("matplotlib.figure").Figure


@pytest.fixture(scope="module")
def report(export, tmp_path_factory):
    return write_report(export, tmp_path_factory.mktemp("report"))


def test_tables_hold_counts_and_means(report):
    folder = report.page.parent
    with (folder / "successes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert next((r["method"], r["successes"], r["runs"], r["paper_successes"]) for r in rows) == (
        "lexicase",
        "6",
        "8",
        "",
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


@contextlib.contextmanager
def quick_pictures(lay_out=lambda figure: None):
    """Figures are files, but at most laid out and not drawn, which takes a second each."""

    def save(figure, path, **options):
        if path.suffix == ".png":
            lay_out(figure)
        path.touch()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", save)
        yield


@pytest.fixture
def empty_pictures():
    with quick_pictures():
        yield


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
        generation = tables["rows"]["generation"].to_numpy()
        for name in ("rows", "timings"):
            for place, column in enumerate(tables[name].column_names[1:], start=1):
                values = tables[name][column].to_numpy().astype(float)
                values[generation == 1], values[generation == 3] = np.inf, 1e308
                values[::7], values[1::7] = np.nan, -np.inf
                if column not in ("generation", "events"):
                    tables[name] = tables[name].set_column(place, column, pa.array(values, from_pandas=False))

    with warnings.catch_warnings(), quick_pictures(Figure.draw_without_rendering):
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


# Reading the export


def test_only_finished_runs_are_read_and_all_are_counted(results):
    assert len(results.runs) == SEEDS * 6
    assert results.planned == (SEEDS + 1) * 6
    assert results.problems == PROBLEMS
    assert results.methods("mirror-image") == METHODS


def test_rows_belong_to_their_run(results):
    run = results.runs_of("last-index-of-zero", "lexicase")[3]
    assert run.seed == 3
    assert run.columns["evaluations"].tolist() == [203, 213, 223, 233, 0]
    assert run.columns["seconds_select"] == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.05])
    assert run.generations == 5
    assert not run.success


def test_settings_and_name_come_from_the_specification(results):
    assert results.spec.name == "known"
    assert results.spec.settings == {"population": 10, "generations": 6}


def test_a_missing_export_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"manifest\.json"):
        read_results(tmp_path)


def test_a_damaged_table_is_named(export, tmp_path):
    folder = shutil.copytree(export, tmp_path / "copy")
    (folder / "rows.parquet").write_bytes((folder / "rows.parquet").read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read"):
        read_results(folder)


@pytest.mark.parametrize("content", [b"[", b"\xff"])
def test_a_damaged_study_is_named(content, export, tmp_path):
    folder = shutil.copytree(export, tmp_path / "copy")
    (folder / "study.toml").write_bytes(content)
    with pytest.raises(ValueError, match=r"study\.toml(: not valid TOML| cannot be read)"):
        read_results(folder)


def test_a_study_without_finished_runs_says_so(export, tmp_path):
    folder = shutil.copytree(export, tmp_path / "copy")
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["tables"]["rows"], manifest["tables"]["timings"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="no run of this study is finished"):
        read_results(folder)


def test_a_single_variant_is_not_taken_for_the_problem_as_it_is(export, tmp_path):
    """Its settings are others: the paper's numbers do not stand beside it."""
    folder = shutil.copytree(export, tmp_path / "copy")
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text + "[variants.base]\npopulation = 5\n")
    assert read_results(folder).problems == ("mirror-image-base", "last-index-of-zero-base")


# Studies that are not the paper's: other methods, variants, runs of a user's own kind

GP = """name = "other"
problems = ["simple-regression"]
methods = {methods}
seeds = {seeds}
[settings]
population = 20
generations = {generations}
simplification_steps = 0
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Run a study; gives its results and its report."""

    def call(text):
        folder, spec = tmp_path_factory.mktemp("other"), parse_spec(text)
        assert run_study(folder, spec, StudyOptions(workers=2)) == "complete"
        export_study(Study(folder / spec.name), folder / "export")
        with quick_pictures():
            return read_results(folder / "export"), report_of(folder / "export")

    return call


def report_of(export):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return write_report(export, export.parent / "report")


def table(report, name):
    with (report.page.parent / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def uncounted(made):
    return made(GP.format(methods=["lexicase", "tournament", "ranked-num-nonzeros"], seeds=1, generations=3))


def test_what_a_method_does_not_count_is_no_number(uncounted):
    """-1 evaluations would be the fewest of all."""
    _, report = uncounted
    shown = {row["method"]: row["evaluations per run"] for row in table(report, "totals")}
    assert shown["Tournament"] == "–"
    assert shown["Lexicase"] != "–"
    assert {row["evaluations"] == "" for row in table(report, "runs") if row["method"] == "tournament"} == {True}
    assert {row["method"] for row in table(report, "evaluations")} == {"lexicase", "ranked-num-nonzeros"}


def test_the_claim_on_evaluations_compares_those_that_count(uncounted):
    """With five copies of each run there are enough to compare."""
    results, _ = uncounted
    copies = range(5)
    results = replace(results, runs=tuple(replace(run, seed=seed) for seed in copies for run in results.runs))
    (table,) = [part.table for part in program_sections(results) if part.id == "ratios"]
    filled = [row[1] for row in table.rows if row[2]]
    assert filled == ["Ranked – Num-Nonzeros"]


def test_variants_are_compared_each_with_its_own(made):
    """A large population with one method against a small one with another would say nothing of the methods."""
    text = GP.format(methods=["lexicase", "tournament"], seeds=1, generations=1)
    _, report = made(text + "[variants.small]\n[variants.large]\npopulation = 30\n")
    rows = table(report, "successes")
    assert [(row["problem"], row["method"], row["runs"]) for row in rows] == [
        ("simple-regression-small", "lexicase", "1"),
        ("simple-regression-small", "tournament", "1"),
        ("simple-regression-large", "lexicase", "1"),
        ("simple-regression-large", "tournament", "1"),
    ]
    assert [row["fisher_p"] != "" for row in rows] == [False, True, False, True]


@pytest.fixture
def own_kind(tmp_path):
    """An export of runs of another kind, whose position goes below zero."""
    ids = ["a", "a", "a", "b", "b"]
    runs = [
        {"id": name, "problem": "line", "method": "walk", "variant": "base", "seed": seed, "state": "done"}
        | {"digest": "0", "success": seed == 0}
        for seed, name in enumerate("ab")
    ]
    values = {"string": ["a", "b"], "int64": [1, 1], "float64": [0.5, 1.5]}
    tables = {
        "runs": pa.Table.from_pylist(runs),
        "provenance": pa.table({name: values[kind] for name, kind in PROVENANCE_COLUMNS.items()}),
        "rows": pa.table({"id": ids, "step": [0, 1, 2, 0, 1], "position": np.array([-1, -2, -3, -1, -4])}),
        "timings": pa.table({"id": ids, "seconds": np.ones(len(ids))}),
    }
    folder = tmp_path / "export"
    folder.mkdir()
    write_tables(folder, tables, "parquet")
    (folder / "study.toml").write_text(
        'name = "walks"\nkind = "mine:Walk"\nproblems = ["a"]\nmethods = ["b"]\nseeds = 2\n'
    )
    return folder


def test_runs_of_an_own_kind_have_a_report_too(own_kind):
    report = report_of(own_kind)
    (row,) = table(report, "successes")
    assert (row["method"], row["successes"], row["runs"]) == ("walk", "1", "2")
    assert [row["generations"] for row in table(report, "runs")] == ["3", "2"]
    text = report.page.read_text(encoding="utf-8")
    assert "Each job defines what counts as a success." in text
    assert "The methods are those of" not in text


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_their_pages_are_drawn_without_complaint(own_kind, made, tmp_path):
    """One point, no evaluations, values below zero."""
    _, lonely = made(GP.format(methods=["tournament"], seeds=1, generations=1))
    assert not [path for path in lonely.files if path.suffix == ".png"]
    with browse(tmp_path / "profile") as browser:
        browser.open(lonely.page)
        assert browser.complaints == []
        ticks = "[...document.querySelectorAll('#diversity-simple-regression svg.chart text[text-anchor=middle]')]"
        assert browser.value(f"{ticks}.map(t => t.textContent)")[0] == "0"
        assert browser.value("document.getElementById('evaluations-simple-regression')") is None
        browser.open(report_of(own_kind).page)
        chart = "document.getElementById('columns-line')"
        browser.value(
            f"(() => {{ const s = {chart}.querySelector('select'); s.value = 'position';"
            "s.dispatchEvent(new Event('change')); })()"
        )
        labels = browser.value(f"[...{chart}.querySelectorAll('svg.chart text')].map(t => t.textContent)")
        assert {"-3", "-1", "0"} <= set(labels)
        assert browser.complaints == []
