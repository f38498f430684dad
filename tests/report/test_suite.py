"""A row of the suite's page must hold the counts of its runs, beside the published counts of the same kind of runs."""

import json
from dataclasses import replace

import numpy as np
import pytest

from flexicase import problems
from flexicase.experiments._tables import write_tables
from flexicase.experiments.results import read_results
from flexicase.report._suite import (
    MEASURES,
    median_executions,
    published_counts,
    suite_cells,
    suite_sections,
    suite_verdict,
)
from flexicase.report.statistics import fisher_exact, holm, mcnemar
from flexicase.report.write import SUITE, layout_of, write_report
from tests.report.conftest import CHROMIUM, browse

pa = pytest.importorskip("pyarrow")
pytest.importorskip("jinja2")

SEEDS = 8
METHODS = {"lexicase": "base", "lexicase sampling=down:0.25": "sampling=down:0.25"}
SPEC = """name = "many"
suite = "psb2"
exclude = [{exclude}]
methods = ["lexicase", {{method = "lexicase", sampling = "down:0.25"}}]
seeds = 8
[settings]
profile = "psb2"
{settings}
"""
PROBLEMS = ("fizz-buzz", "fuel-cost", "gcd", "paired-digits")


def outcome(problem, method, seed):
    """Solved in all runs but one; generalises in half of these, simplified in all, and never on GCD."""
    solved = seed > 0 or method != "lexicase"
    success = solved and problem != "gcd"
    return {
        "solved": solved,
        "success_unsimplified": success and seed % 2 == 0,
        "success": success,
        "executions": 1_000_000 * (1 + seed) if solved else 60_000_000,
    }


def write_export(folder, settings="", leave_out=()):
    runs, rows, timings, provenance = [], [], [], []
    for seed in range(SEEDS):
        for problem in PROBLEMS:
            for method, variant in METHODS.items():
                run_id = f"{problem}-{variant}-{seed}"
                facts = outcome(problem, method, seed)
                runs.append(
                    {"id": run_id, "problem": problem, "method": "lexicase", "variant": variant, "seed": seed}
                    | {"state": "done", "digest": "0" * 64}
                    | {key: value for key, value in facts.items() if key not in leave_out}
                )
                rows.append({"id": run_id, "generation": 0})
                timings.append({"id": run_id, "seconds_select": 0.1})
                origin = {"version": "1", "machine": "m", "command": "flexicase run"}
                origin["processor_seconds"] = (2.0 if method == "lexicase" else 5.0) * (1 + seed)
                provenance.append(
                    {"id": run_id, "attempts": 1, **dict.fromkeys(("started", "finished", "seconds"), 1.0)} | origin
                )
    tables = {"runs": runs, "rows": rows, "timings": timings, "provenance": provenance}
    folder.mkdir(parents=True, exist_ok=True)
    write_tables(folder, {name: pa.Table.from_pylist(content) for name, content in tables.items()}, "parquet")
    exclude = json.dumps([name for name in problems.names("psb2") if name not in PROBLEMS])[1:-1]
    (folder / "study.toml").write_text(SPEC.format(exclude=exclude, settings=settings))


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    write_export(folder)
    return folder


@pytest.fixture(scope="module")
def results(export):
    return read_results(export)


@pytest.fixture(scope="module")
def sections(results):
    assert layout_of(results) is SUITE
    return {section.id: section for section in suite_sections(results)}


def rows_of(section):
    return {(row[0], row[1]): dict(zip(section.table.header[2:], row[2:], strict=True)) for row in section.table.rows}


def test_published_counts_are_of_known_problems_with_a_source():
    for table in published_counts():
        assert set(table.counts) <= set(problems.names(table.suite))
        assert table.source
        assert set(table.columns) <= set(MEASURES)
        for row in table.counts.values():
            assert len(row) == len(table.columns)
            assert all(count is None or 0 <= count <= table.runs for count in row)
    first = published_counts()[0]
    assert sum(first.count(name, "success_unsimplified") for name in first.counts) == 576 - 16  # without Vector Average


def test_counts_are_tested_against_those_of_the_same_sampling(results):
    cells = {(c.method, c.problem): c for c in suite_cells(results) if c.measure == "success"}
    full, sampled = METHODS
    found = cells[full, "fizz-buzz"]
    assert (found.count, found.runs, found.published, found.published_runs) == (7, 8, 25, 100)
    assert found.p_value == fisher_exact(7, 8, 25, 100)
    family = [cells[full, name] for name in PROBLEMS]
    assert [cell.adjusted for cell in family] == holm([cell.p_value for cell in family])
    assert cells[sampled, "fizz-buzz"].published == 82
    assert cells[sampled, "paired-digits"].published is None  # those runs had no sample
    assert all(c.published is None for c in suite_cells(results) if c.measure == "solved")  # PSB2 has none


def test_a_problem_has_one_row_for_each_method(sections):
    table = sections["problems"].table
    assert [row[0] for row in table.rows] == ["Lexicase"] * 4 + ["Lexicase, sampling down:0.25"] * 4
    row = next(row for row in table.rows if row[:2] == ["Lexicase", "Fizz Buzz"])
    assert row[2:] == ["7/8", "3/8", "7/8 ↑", "25", "8e-04 (0.002)", "5 M"]
    assert next(row for row in table.rows if row[1] == "GCD")[-1] == "–"
    assert "Helmuth and Kelly" in sections["published"].text
    assert "2508.03966" in sections["published"].text


def test_methods_are_compared_over_all_problems_by_seed(sections):
    rows = rows_of(sections["methods"])
    assert rows["solved", "Lexicase"]["runs"] == "28/32"
    found = rows["solved", "Lexicase, sampling down:0.25"]
    assert (found["runs"], found["gained and lost"]) == ("32/32", "+4 −0")
    assert found["McNemar p"] == f"{mcnemar(4, 0):.3f}"


def test_the_verdict_states_the_difference_of_each_method(results, sections):
    _, other = (row for row in sections["methods"].table.rows if row[0] == "solved")
    assert other[3]
    assert f"; {other[1]} {other[2]} {other[3]}." in suite_verdict(results)


def test_without_lexicase_methods_are_compared_with_the_first(tmp_path, monkeypatch):
    """A study of two ways to save executions has no run on all cases."""
    sampled = METHODS["lexicase sampling=down:0.25"]
    monkeypatch.setattr(f"{__name__}.METHODS", {"lexicase": "partial=True", "lexicase sampled": sampled})
    write_export(tmp_path)
    study = tmp_path / "study.toml"
    study.write_text(study.read_text().replace('"lexicase", {', '{method = "lexicase", partial = true}, {', 1))
    found = {s.id: s for s in suite_sections(read_results(tmp_path))}
    rows = rows_of(found["methods"])
    assert rows["solved", "Lexicase, partial"]["gained and lost"] == ""
    assert rows["solved", "Lexicase, sampling down:0.25"]["gained and lost"] == "+4 −0"
    assert "The difference from lexicase, partial is paired" in found["methods"].text
    assert "the runs of lexicase, partial that do not solve" in found["cost"].text


@pytest.mark.parametrize("setting", ["partial = true", "n_selections = 10"])
def test_published_counts_are_of_runs_with_one_selection_per_parent(tmp_path, setting):
    write_export(tmp_path)
    study = tmp_path / "study.toml"
    before = read_results(tmp_path)
    assert any(cell.published is not None for cell in suite_cells(before) if cell.method == "lexicase")
    study.write_text(f"{study.read_text()}\n{setting}\n")
    assert not any(cell.published for cell in suite_cells(read_results(tmp_path)))


def test_methods_are_compared_by_processor_time_too(results, sections):
    """Fewer programs per generation may cost more time per execution: equal executions are not equal time."""
    rows = {row[1]: row[2:] for row in sections["cost"].table.rows}
    assert rows["Lexicase"] == ["11.9 M", "9.0", "0.8", "0/32"]  # the runs without a solution took 2 seconds
    assert rows["Lexicase, sampling down:0.25"] == ["4.5 M", "22.5", "5.0", "0/32"]
    slower = [replace(r, provenance={"processor_seconds": 3.0 if r.summary["solved"] else 4.0}) for r in results.runs]
    rows = {s.id: s for s in suite_sections(replace(results, runs=tuple(slower)))}["cost"].table.rows
    assert [row[-1] for row in rows] == ["28/32", "32/32"]
    unknown = [replace(r, provenance={}) for r in results.runs]
    assert "cost" not in {s.id for s in suite_sections(replace(results, runs=tuple(unknown)))}


def test_settings_that_differ_are_named_and_others_are_not(tmp_path):
    """A count of runs with other settings must not be called equal to the published one, nor different."""
    write_export(tmp_path, "population = 500")
    smaller = read_results(tmp_path)
    assert all(cell.p_value is cell.adjusted is None for cell in suite_cells(smaller))
    assert "published ones" not in suite_verdict(smaller)
    found = {section.id: section for section in suite_sections(smaller)}
    assert "p (Holm)" not in found["problems"].table.header
    rows = [row[1:] for row in found["published"].table.rows]
    assert ["population", "500", "1,000", "all"] in rows
    assert not any(row[0] in ("steps", "operators", "sampling") for row in rows)
    write_export(tmp_path, "generations = 300")
    rows = {s.id: s for s in suite_sections(read_results(tmp_path))}["published"].table.rows
    assert [row[0] for row in rows] == ["Lexicase, sampling down:0.25"]
    assert rows[0][1:4] == ["generations", "300", "1,200"]


def test_a_run_that_ends_without_success_never_succeeds(results):
    """As a censored run, one that stops early on a program that fails the tests would raise the share of the others."""
    runs = results.runs_of("fizz-buzz", "lexicase")
    assert median_executions(runs) == 5_000_000  # the fourth success of eight runs
    assert median_executions(results.runs_of("gcd", "lexicase")) != median_executions(runs)


def test_runs_without_executions_are_refused(tmp_path):
    write_export(tmp_path, leave_out=["executions"])
    with pytest.raises(ValueError, match="expected a value for 'executions', got None"):
        layout_of(read_results(tmp_path))


def test_settings_that_cannot_be_read_are_refused(tmp_path):
    write_export(tmp_path, "colour = 3")
    with pytest.raises(ValueError, match=r"settings of the study cannot be read: .*colour"):
        suite_sections(read_results(tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_fits_and_the_chart_switches_between_problems(export, tmp_path, width):
    page = write_report(export, tmp_path / "report").page
    with browse(tmp_path / "profile") as browser:
        browser.open(page, width=width)
        assert browser.value("document.documentElement.scrollWidth <= window.innerWidth")
        labels = browser.value("[...document.querySelectorAll('#survival option')].map(o => o.textContent)")
        assert labels == ["Fizz Buzz", "Fuel Cost", "GCD", "Paired Digits"]
        assert "no difference from the published ones" in browser.value("document.querySelector('.outcome').innerText")
        assert browser.complaints == []


def test_nothing_is_tested_before_all_runs_are_done(export):
    whole = read_results(export)
    unfinished = replace(whole, runs=whole.runs[:-1])
    assert any(cell.adjusted is not None for cell in suite_cells(whole))
    shares = [c for c in suite_cells(whole) if c.measure == "success" and c.adjusted is not None]
    mean = np.mean([c.count / c.runs - c.published / c.published_runs for c in shares])
    assert f"generalised simplified {100 * mean:+.0f} (" in suite_verdict(whole)
    assert all(cell.p_value is cell.adjusted is None for cell in suite_cells(unfinished))
    assert suite_verdict(unfinished).endswith("The study is not complete, so nothing is tested yet.")
    by_problem, by_method = suite_sections(unfinished)[:2]
    assert "published" in by_problem.table.header
    assert "p (Holm)" not in by_problem.table.header
    assert {cell for row in by_method.table.rows for cell in row[-2:]} == {""}
