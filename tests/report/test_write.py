"""Files beside the page must hold the numbers that the page shows."""

import csv

import pytest

from flexicase.report.write import write_report
from tests.report.conftest import expected_means


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
