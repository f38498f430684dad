"""Shares of the full matrix must be of the right runs, or partial evaluation looks better than it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.experiments.spec import read_spec
from flexicase.report._variants import by_selections, full_matrix, of_variant, shares, variant_sections
from flexicase.report.figures import draw_figures
from flexicase.report.write import IMAGES, PROGRAMS, VARIANTS, layout_of

SPEC = """name = "known"
problems = ["mirror-image"]
methods = ["lexicase", "ranked-num-nonzeros"]
seeds = 3
[settings]
population = 10
[variants.full]
partial = false
[variants.fast-2]
partial = true
n_selections = 2
[variants.fast-2-min]
partial = true
default_weight = "min"
n_selections = 2
[variants.fast-all]
partial = true
"""
METHODS = ("lexicase", "ranked-num-nonzeros")
#: Pairs of each generation but the last, of a matrix with 1000, and selections.
VARIANT = {"full": (1000, 17), "fast-2": (100, 2), "fast-2-min": (150, 2), "fast-all": (800, 17)}


def run(method: str, variant: str, seed: int) -> FinishedRun:
    pairs, events = VARIANT[variant]
    fewer = 2 if method != "lexicase" and variant != "full" else 1
    generations = 3 + seed
    last = 1000 if variant == "full" else 7  # in the last generation only one event is made, to see who is best
    columns = {
        "generation": np.arange(generations + 1),
        "pairs": np.array([pairs // fewer + (0 if variant == "full" else 20 * seed)] * generations + [last]),
        "events": np.array([events] * generations + [0 if variant == "full" else 1]),
        "evaluations": np.array([5000] * generations + [0]),
        "seconds_evaluate": np.full(generations + 1, 0.002),
        "seconds_select": np.full(generations + 1, 0.003),
    }
    facts = {"success": seed == 0}
    name = f"{method}-{variant}-{seed}"
    return FinishedRun(name, "mirror-image", method, variant, seed, facts, columns, {"version": "1", "machine": "m"})


def known_variants() -> StudyResults:
    runs = tuple(run(method, variant, seed) for seed in range(3) for method in METHODS for variant in VARIANT)
    return StudyResults(read_spec(SPEC), len(runs), runs)


@pytest.fixture(scope="module")
def results() -> StudyResults:
    return known_variants()


def test_the_full_matrix_is_what_is_computed_without_partial_evaluation(results):
    assert full_matrix(results, "mirror-image") == 1000


def test_shares_leave_out_the_last_generation(results):
    found = shares(results, "mirror-image", "lexicase")
    assert [found[name].median for name in VARIANT] == pytest.approx([100.0, 12.0, 17.0, 82.0])
    assert (found["fast-2"].low, found["fast-2"].high) == pytest.approx((11.0, 13.0))
    assert [found[name].selections for name in VARIANT] == [17, 2, 2, 17]


def test_the_curve_over_selections_is_of_one_default_and_without_the_full_matrix(results):
    found = by_selections(results, "mirror-image", "ranked-num-nonzeros")
    assert [(share.selections, share.median) for share in found] == [(2, pytest.approx(7.0)), (17, pytest.approx(42.0))]


def test_a_run_that_never_bred_has_no_share(results):
    short = run("lexicase", "full", 0)
    short.columns.update({name: values[:1] for name, values in short.columns.items()})
    alone = StudyResults(read_spec(SPEC), 1, (short,))
    assert shares(alone, "mirror-image", "lexicase") == {}
    assert [part.id for part in variant_sections(alone)] == ["summary", "selections", "pairs", "time"]


def test_the_table_has_a_row_for_each_variant(results):
    table = variant_sections(results)[0].table
    assert len(table.rows) == 8
    assert table.rows[1] == [
        *("Mirror Image", "Lexicase", "fast-2", "2", "1/3", "0.06–0.79", "12 [11–13]", "5 k", "5"),
    ]


def test_variants_are_kept_apart(results):
    assert {r.variant for r in of_variant(results, "fast-2").runs} == {"fast-2"}
    chart = next(part for part in variant_sections(results) if part.id == "pairs").charts[0]
    assert list(chart.views) == ["fast-2", "fast-2-min", "fast-all", "full"]
    assert chart.views["fast-2"]["lines"][0]["y"] == pytest.approx([12.0, 12.0, 12.0, 13.0, 14.0])
    assert chart.views["fast-2"]["lines"][0]["active"] == [3, 3, 3, 2, 1]


def test_each_kind_of_study_has_its_report(results):
    assert layout_of(results) is VARIANTS
    assert layout_of(StudyResults(read_spec(SPEC), 3, results.runs[:1])) is PROGRAMS
    assert layout_of(StudyResults(read_spec('kind = "image"\n' + SPEC), 0, ())) is IMAGES


@pytest.mark.slow
def test_the_figure_is_drawn(results, tmp_path):
    pytest.importorskip("matplotlib")
    files = draw_figures(VARIANTS.sections(results), tmp_path)
    assert [path.name for path in files] == [f"pairs-by-selections-mirror-image.{suffix}" for suffix in ("png", "svg")]
    assert files[0].read_bytes().startswith(b"\x89PNG")


def test_a_study_whose_runs_all_ended_at_once_has_no_figure(results, tmp_path):
    """Nothing was bred, so that there is nothing to put on a logarithmic axis."""
    runs = (replace(run, columns={name: values[-1:] for name, values in run.columns.items()}) for run in results.runs)
    ended = replace(results, runs=tuple(runs))
    assert by_selections(ended, "mirror-image", "lexicase") == []
    assert draw_figures(VARIANTS.sections(ended), tmp_path) == []
