"""The report of the image study, from an export with known contents."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.experiments.spec import read_spec
from flexicase.report._curves import last_curve
from flexicase.report._image_claims import image_claims
from flexicase.report._images import (
    accuracy_differences,
    compare,
    image_sections,
    image_verdict,
    last_total,
    tail_shares,
    typical,
)
from flexicase.report._sections import format_si
from flexicase.report.claims import UNPLANNED, claims_section
from flexicase.report.statistics import paired_ratio

HARD_MAX, HARD_MIN = (f"weighted-num-nonzeros default_weight={weight}" for weight in ("max", "min"))
SPLIT = "weighted-split default_weight=max"
METHODS = ("lexicase", HARD_MAX, HARD_MIN, SPLIT)
FACTORS = dict(zip(METHODS, (1.0, 0.5, 0.6, 0.45), strict=True))
GENERATIONS = 80
SPEC = 'name = "known"\nkind = "image"\nproblems = ["digits"]\nmethods = ["lexicase"]\nseeds = 8'

UNTIL = " The study is not complete, so nothing is tested yet."


def run(method: str, seed: int) -> FinishedRun:
    base = 100.0 + np.arange(GENERATIONS) + 7 * seed
    evaluations = np.round(FACTORS[method] * (1 + 0.02 * seed) * base).astype(np.int64)
    columns = {
        "generation": np.arange(GENERATIONS),
        "events": np.ones(GENERATIONS, np.int64),
        "evaluations": evaluations,
        "pairs": 2 * evaluations,
        "forward_calls": evaluations // 4,
        "ended": (np.arange(GENERATIONS) >= 78).astype(np.int64),
        "seconds_select": np.full(GENERATIONS, 0.25),
        "seconds_train": np.full(GENERATIONS, 0.75),
    }
    correct = {"lexicase": 490, SPLIT: 480}.get(method, 488)
    facts = {"success": True, "accuracy": correct / 500, "correct": correct, "test_cases": 500}
    return FinishedRun(f"{method}-{seed}", "digits", method, "", seed, facts, columns, {"version": "1", "machine": "m"})


@pytest.fixture
def results() -> StudyResults:
    runs = tuple(run(method, seed) for seed in range(8) for method in METHODS)
    return StudyResults(read_spec(SPEC), len(runs), runs)


def test_the_last_generations_are_smoothed_first_and_then_cut(results):
    curve = last_curve(results.runs_of("digits", "lexicase")[:1], "evaluations")
    assert curve.generation.tolist() == list(range(-50, 0))
    values = results.runs[0].columns["evaluations"]
    assert curve.mean[-1] == pytest.approx(values[-20:].mean())
    assert curve.mean[0] == pytest.approx(values[80 - 50 - 19 : 80 - 49].mean())


def test_short_runs_have_short_curves(results):
    short = run("lexicase", 0)
    short.columns.update({name: values[:22] for name, values in short.columns.items()})
    assert last_curve([short], "evaluations").generation.tolist() == [-3, -2, -1]
    short.columns.update({name: values[:5] for name, values in short.columns.items()})
    assert len(last_curve([short], "evaluations").mean) == 0


def test_ratios_are_of_the_same_seeds(results):
    found = compare(results, "digits", HARD_MAX)
    logs = [
        math.log(run(HARD_MAX, s).columns["evaluations"].sum() / run(METHODS[0], s).columns["evaluations"].sum())
        for s in range(8)
    ]
    assert found.ratio == pytest.approx(math.exp(np.mean(logs)))
    assert found.interval.low < found.ratio < found.interval.high
    assert (found.lower, found.seeds) == (8, 8)
    assert found.p_value == pytest.approx(2 / 2**8)
    assert compare(results, "digits", METHODS[0]) is None


def test_a_typical_generation_is_not_swayed_by_selections_that_ran_out_of_cases(results):
    before = compare(results, "digits", HARD_MAX, measure=typical)
    for found in results.runs_of("digits", HARD_MAX):
        found.columns["evaluations"][-3:] = 10**6
    assert compare(results, "digits", HARD_MAX).ratio > 100
    after = compare(results, "digits", HARD_MAX, measure=typical)
    assert before.ratio <= after.ratio < 1.1 * before.ratio
    row = next(part.table.rows[1] for part in image_sections(results) if part.id == "typical")
    assert row[3] == str(after) == f"{after.ratio:.2f} ({after.interval.low:.2f}–{after.interval.high:.2f})"


def test_fewer_than_50_generations_have_no_median_of_the_last_50(results):
    for found in results.runs:
        found.columns.update({name: values[-49:] for name, values in found.columns.items()})
    assert typical(list(results.runs)).size == 0
    assert "typical" not in [part.id for part in image_sections(results)]


def test_two_seeds_give_no_interval(results):
    two = replace(results, runs=tuple(found for found in results.runs if found.seed < 2))
    assert compare(two, "digits", HARD_MAX) is None


def test_shares_of_the_last_tenth_and_paired_accuracies(results):
    first = results.runs[0].columns["evaluations"]
    assert tail_shares(list(results.runs[:1])) == pytest.approx([first[-8:].sum() / first.sum()])
    assert accuracy_differences(results, "digits", SPLIT) == pytest.approx([-2.0] * 8)


def test_tests_of_a_table_are_adjusted_together(results):
    rows = next(part.table.rows for part in image_sections(results) if part.id == "ratios")
    assert [row[5:] for row in rows[1:]] == [["0.008", "0.023"]] * 3  # 2 / 2**8, times three


@pytest.mark.slow
def test_an_unfinished_study_is_not_tested(results):
    """A test that was planned for all runs must not be looked at before they are done."""
    unfinished = replace(results, planned=len(results.runs) + 1)
    parts = {part.id: part for part in image_sections(unfinished)}
    assert image_claims(unfinished) == []
    assert not image_verdict(results)
    assert image_verdict(unfinished) == f"32 of 33 runs are done.{UNTIL}"
    assert [row[3:] for row in parts["ratios"].table.rows[1:]] == [
        [row[3], "8/8", "", ""] for row in parts["ratios"].table.rows[1:]
    ]
    assert {row[5] for row in parts["accuracy"].table.rows} == {""}
    for name in ("ratios", "typical", "accuracy"):
        assert parts[name].text.endswith(UNTIL)
        assert UNTIL not in {part.id: part for part in image_sections(results)}[name].text


def test_tables_hold_the_known_numbers(results):
    parts = {part.id: part for part in image_sections(results)}
    accuracy = {row[1]: row[2:] for row in parts["accuracy"].table.rows}
    assert accuracy["Lexicase"] == ["98.00", "98.00–98.00", "", ""]
    assert float(accuracy["Fast – Split, Default-Max"][3]) < 0.001  # 96 % against 98 % of 4,000
    assert [row[2:] for row in parts["endings"].table.rows] == [["640", "624", "16", "0"]] * 4
    assert {row[3] for row in parts["passes"].table.rows} == {"2.00"}
    assert {row[5] for row in parts["passes"].table.rows} == {"25 %"}
    assert [chart.id for chart in parts["evaluations"].charts] == ["evaluations-digits", "last-generations-digits"]


def test_accuracies_of_the_papers_study_stand_beside_the_published_ones(results):
    runs = tuple(replace(found, problem="cifar10") for found in results.runs)
    table = {p.id: p for p in image_sections(replace(results, runs=runs))}["accuracy"].table
    assert table.rows[0][-1] == "93.34"
    assert table.rows[1][-1] == "93.19 (0.276)"


def test_claims_say_what_agrees(results):
    start, end = "makes significantly fewer evaluations than plain gradient lexicase", "(Digits)."
    verdicts = {claim.statement: claim.verdict for claim in image_claims(results)}
    assert verdicts == {
        f"Fast – Num-Nonzeros, Default-Max {start} {end}": "reproduced",
        f"Fast – Num-Nonzeros, Default-Min {start} {end}": "reproduced",
        f"Fast – Num-Nonzeros, Default-Max makes fewer evaluations than with Default-Min {end}": "reproduced",
        f"Most evaluations happen in the last few generations {end}": "not reproduced",
        f"Fast – Num-Nonzeros, Default-Max has an accuracy similar to that of plain {end}": "reproduced",
        f"Fast – Num-Nonzeros, Default-Min has an accuracy similar to that of plain {end}": "reproduced",
        f"Fast – Num-Nonzeros, Default-Max takes less time than plain gradient lexicase {end}": "not testable here",
        f"Fast – Num-Nonzeros, Default-Min takes less time than plain gradient lexicase {end}": "not testable here",
        "Fast gradient lexicase ends up with fewer generations.": "not testable here",
    }


def test_the_page_is_of_images(results):
    pytest.importorskip("jinja2")
    from flexicase.report.write import render

    page = render(results, image_sections(results))
    assert "the image-classification study" in page
    assert "Successful runs" not in page
    assert "Why selections ended" in page


def test_the_end_of_training_is_judged_as_its_plan_says(results):
    """Generations before the last 50 must not count, nor contrasts that the plan does not name."""
    spec = read_spec(SPEC + "\n[settings]\narch = 'digits'\ngenerations = 80\npretrain_epochs = 5\n")
    facts = {"pretrain_accuracy": 0.995, "pretrain_test_accuracy": 0.6}
    tail = replace(results, spec=spec, runs=tuple(replace(r, summary=r.summary | facts) for r in results.runs))
    before = compare(tail, "digits", HARD_MAX, measure=last_total)
    for found in tail.runs_of("digits", HARD_MAX):
        found.columns["evaluations"][:-50] = 10**9
    assert compare(tail, "digits", HARD_MAX, measure=last_total) == before
    parts = {part.id: part for part in image_sections(tail)}
    assert "ratios" not in parts
    assert "typical" not in parts
    assert parts["tail"].table.rows[1][3] == str(before)
    assert "8 of 8 networks have a training accuracy of at least 99 %" in parts["pretraining"].text
    plain, hard = (
        found[7].columns["evaluations"][-50:].sum() for found in map(partial(tail.runs_of, "digits"), METHODS[:2])
    )
    row = parts["pretraining"].table.rows[7]
    assert row[:6] == ["Digits", "7", "99.50", "60.00", format_si(plain), f"{hard / plain:.2f}"]
    claims = image_claims(tail)
    assert claims[0].note == f"Fewer in 8 of 8 seeds. The 8 with a training accuracy of at least 99 %: {before}."
    assert [claim.about for claim in claims] == ["evaluations"] * 3 + ["time"] * 2 + ["accuracy"] * 2
    assert [UNPLANNED in claim.note for claim in claims] == [False] * 2 + [True] * 3 + [False] * 2
    assert {claim.verdict for claim in claims[-2:]} == {"reproduced"}
    still = [replace(r, summary=r.summary | {"pretrain_test_accuracy": 0.982}) for r in tail.runs if r.method != SPLIT]
    near = image_claims(replace(tail, runs=tuple(still), planned=len(still)))[-1]
    assert near.verdict == "not testable here", "no run could leave the margin"
    assert near.note.startswith("Every run ends within 0.60 points of the network")
    assert "by the distinct count" not in claims_section(claims).table.header, "it would hide the notes"
    assert claims[0].effect == f"{before}, p = 0.016", "Holm over the two variants that this study has"
    for weak in tail.runs[: 5 * len(METHODS)]:
        weak.summary["pretrain_accuracy"] = 0.98
    logs = np.log([last_total([found])[0] for found in tail.runs_of("digits", HARD_MAX)[5:]])
    logs -= np.log([last_total([found])[0] for found in tail.runs_of("digits", "lexicase")[5:]])
    note = image_claims(tail)[0].note
    assert note == f"Fewer in 8 of 8 seeds. The 3 with a training accuracy of at least 99 %: {paired_ratio(logs)}."
    del tail.runs[0].summary["pretrain_accuracy"]
    with pytest.raises(ValueError, match="expected accuracies of its pre-trained network"):
        image_sections(tail)
