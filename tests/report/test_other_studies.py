"""Reports of studies that are not the paper's: other methods, variants of one's own, runs of one's own kind."""

import csv
import warnings
from dataclasses import replace

import numpy as np
import pytest

from flexicase.experiments import Study, StudyOptions, export_study, parse_spec, run_study
from flexicase.experiments._tables import write_tables
from flexicase.experiments.results import PROVENANCE_COLUMNS, read_results
from flexicase.report.claims import claims
from flexicase.report.write import write_report
from tests.report.browser import CHROMIUM, browse

pytestmark = pytest.mark.slow

pa = pytest.importorskip("pyarrow")
pytest.importorskip("jinja2")

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
    results = replace(results, runs=results.runs * 5)
    (claim,) = [claim for claim in claims(results) if "evaluations per generation" in claim.statement]
    assert "Lexicase" in claim.evidence
    assert "Tournament" not in claim.evidence


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
    assert [row["p"] != "" for row in rows] == [False, True, False, True]


@pytest.fixture
def own(tmp_path):
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


def test_runs_of_an_own_kind_have_a_report_too(own):
    report = report_of(own)
    (row,) = table(report, "successes")
    assert (row["method"], row["successes"], row["runs"]) == ("walk", "1", "2")
    assert [row["generations"] for row in table(report, "runs")] == ["3", "2"]
    text = report.page.read_text(encoding="utf-8")
    assert "What a success is, the runs say themselves." in text
    assert "The methods are those of" not in text


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_their_pages_are_drawn_without_complaint(own, made, tmp_path):
    """One point, no evaluations, values below zero."""
    _, lonely = made(GP.format(methods=["tournament"], seeds=1, generations=1))
    assert not [path for path in lonely.files if path.suffix == ".png"]
    with browse(tmp_path / "profile") as browser:
        browser.open(lonely.page)
        assert browser.complaints == []
        ticks = "[...document.querySelectorAll('#diversity-simple-regression svg.chart text[text-anchor=middle]')]"
        assert browser.value(f"{ticks}.map(t => t.textContent)")[0] == "0"
        assert browser.value("document.getElementById('evaluations-simple-regression')") is None
        browser.open(report_of(own).page)
        chart = "document.getElementById('columns-line')"
        browser.value(
            f"(() => {{ const s = {chart}.querySelector('select'); s.value = 'position';"
            "s.dispatchEvent(new Event('change')); })()"
        )
        labels = browser.value(f"[...{chart}.querySelectorAll('svg.chart text')].map(t => t.textContent)")
        assert {"-3", "-1", "0"} <= set(labels)
        assert browser.complaints == []
