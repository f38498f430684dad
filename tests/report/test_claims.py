"""A verdict must follow from the data: the same statement has to come out either way."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flexicase.experiments.results import read_results
from flexicase.experiments.spec import read_spec
from flexicase.report._image_claims import image_claims
from flexicase.report._same_populations import early_and_late, savings
from flexicase.report._suite import suite_sections, suite_verdict
from flexicase.report.claims import RULES, RULES_AFTER, RULES_BEFORE, claims, claims_section, verdict_line
from flexicase.report.statistics import paired_outcomes
from tests.report.conftest import SPEC

RESULTS = Path(__file__).resolve().parents[2] / "results"


def verdict(results, words):
    found = [claim for claim in claims(results) if words in claim.statement]
    assert len(found) == 1, words
    return found[0]


def with_success(results, rule):
    """The same runs with other outcomes, each of them six times over."""
    runs = [
        replace(run, summary={"success": rule(run)}, seed=run.seed + 8 * copy)
        for copy in range(6)
        for run in results.runs
    ]
    return replace(results, runs=tuple(runs), spec=read_spec(SPEC.partition("[settings]")[0]))


def test_few_runs_leave_the_absence_of_a_difference_open(results):
    same = replace(results, runs=tuple(replace(run, summary={"success": False}) for run in results.runs))
    assert verdict(same, "significantly more runs").verdict == "not testable here"


@pytest.mark.slow
def test_many_equal_runs_agree_that_no_method_is_better(results):
    assert (
        verdict(with_success(results, lambda run: run.seed % 2 == 0), "significantly more runs").verdict == "reproduced"
    )


def test_a_test_that_finds_nothing_shows_no_equality(results):
    """Discordant runs leave differences of more than 10 points possible, though no test is significant."""
    noisy = with_success(results, lambda run: (run.seed + (run.method != "lexicase")) % 2 == 0)
    for words in ("significantly more runs", "No hard-first method"):
        claim = verdict(noisy, words)
        assert claim.verdict == "not testable here"
        assert claim.note == "No test finds one, but an interval goes beyond 10 points."


@pytest.mark.slow
def test_a_better_method_contradicts_the_paper(results):
    better = with_success(results, lambda run: run.method == "ranked-num-nonzeros")
    claim = verdict(better, "significantly more runs")
    assert claim.verdict == "not reproduced"
    assert "Ranked – Num-Nonzeros on Mirror Image: +100 (" in claim.note


def test_a_worse_hard_first_method_contradicts_the_paper(results):
    worse = with_success(results, lambda run: run.method != "ranked-num-nonzeros")
    assert verdict(worse, "No hard-first method").verdict == "not reproduced"
    assert verdict(worse, "Ranked – Num-Nonzeros on Mirror Image has a success rate").verdict == "not reproduced"


def test_runs_without_counts_have_no_claims_on_evaluations(results):
    columns = {"events", "seconds_select"}
    runs = [replace(run, columns={name: run.columns[name] for name in columns}) for run in results.runs]
    assert {claim.about for claim in claims(replace(results, runs=tuple(runs)))} == {"success", "time"}


def test_comparable_needs_an_interval_inside_the_margin_not_a_large_p(results):
    equal = with_success(results, lambda run: run.seed % 2 == 0)
    assert verdict(equal, "Ranked – Num-Nonzeros on Mirror Image has a success rate").verdict == "reproduced"
    noisy = with_success(results, lambda run: (run.seed + (run.method != "lexicase")) % 2 == 0)
    assert verdict(noisy, "Ranked – Num-Nonzeros on Mirror Image has a success rate").verdict == "not testable here"


@pytest.mark.parametrize("solves", [False, True])
def test_a_missing_mark_is_no_claim_of_equality(results, solves):
    """One side crossing 5 % and the other not does not make them differ."""
    claim = verdict(
        with_success(results, lambda run: run.method == "lexicase" or solves), "Weighted – Num-Zeros on Mirror Image is"
    )
    assert claim.verdict == "not testable here"
    assert f"{48 if solves else 0}/48 here, 48/50 in the paper" in claim.note


@pytest.mark.parametrize(("solves", "expected"), [(False, "reproduced"), (True, "not testable here")])
def test_easy_first_on_last_index_of_zero(results, solves, expected):
    changed = with_success(results, lambda run: run.method == "lexicase" or solves)
    assert verdict(changed, "Weighted – Num-Zeros on Last Index of Zero").verdict == expected


def test_easy_first_that_is_better_does_not_agree_with_worse(results):
    changed = with_success(results, lambda run: run.method == "weighted-num-zeros")
    assert verdict(changed, "Weighted – Num-Zeros on Last Index of Zero").verdict != "reproduced"


def test_fewest_evaluations_agree_where_the_method_has_them(results):
    claim = verdict(with_success(results, lambda run: True), "on Mirror Image, consistently")
    assert claim.verdict == "reproduced"
    assert claim.effect.startswith("lowest in 6 of 6 generations (5 of 5 without generation 0)")
    assert claim.effect_distinct.startswith("lowest in 6 of 6 generations")


def test_fewest_evaluations_differ_where_another_has_them(results):
    swapped = {"lexicase": "ranked-num-nonzeros", "ranked-num-nonzeros": "lexicase"}
    runs = tuple(replace(run, method=swapped.get(run.method, run.method)) for run in results.runs)
    many = with_success(replace(results, runs=runs), lambda run: True)
    assert verdict(many, "on Mirror Image, consistently").verdict == "not reproduced"
    assert verdict(many, "significantly fewer evaluations than lexicase on Mirror Image").verdict == "not reproduced"


def test_counts_that_disagree_are_said_to(results):
    """Where only distinct error vectors show the saving, neither "reproduced" nor "not reproduced" is true."""

    def swapped(run):
        if run.method == "weighted-num-zeros":
            return run
        columns = dict(run.columns)
        columns["evaluations"] = 600 - np.asarray(columns["evaluations"])
        return replace(run, columns=columns)

    many = with_success(results, lambda run: True)
    claim = verdict(replace(many, runs=tuple(map(swapped, many.runs))), "on Mirror Image, consistently")
    assert claim.verdict == "depends on the count"
    assert claim.note == "By the population count not reproduced, by the distinct count reproduced."


def test_counts_of_a_smaller_study_are_not_compared_with_the_papers(results):
    claim = verdict(results, "success counts")
    assert claim.verdict == "not testable here"
    assert claim.note == "The study has another size than the paper's."


def test_counts_far_from_the_papers_differ(results):
    claim = verdict(with_success(results, lambda run: False), "success counts")
    assert claim.verdict == "not reproduced"
    assert "0/48, paper 43/50" in claim.note


def test_problems_that_the_paper_does_not_have_have_no_claims(results):
    others = replace(results, runs=tuple(replace(run, problem=f"other-{run.problem}") for run in results.runs))
    assert claims(others) == []
    assert claims_section([]) is None


def test_the_table_has_every_claim_and_the_rules(results):
    found = claims(results)
    section = claims_section(found)
    assert len(section.table.rows) == len(found)
    assert section.text == f"{verdict_line(found)} {RULES} {RULES_AFTER}"
    assert claims_section(found, planned=True).text.endswith(RULES_BEFORE)
    assert {len(row) for row in section.table.rows} == {len(section.table.header)}
    counts = Counter(claim.verdict for claim in found)
    assert verdict_line(found).startswith(f"Of {len(found)} claims of the paper: {counts['reproduced']} reproduced")


@pytest.fixture(scope="module")
def paper_claims():
    return claims(read_results(RESULTS / "gp-paper"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "population", "distinct"),
    [
        ("Mirror Image", "0.89 (0.84–0.93)", "0.71 (0.69–0.73)"),
        ("Last Index of Zero", "0.62 (0.56–0.69)", "0.69 (0.63–0.75)"),
    ],
)
def test_ratios_of_the_papers_study(paper_claims, problem, population, distinct):
    """Computed independently of this package, from the exported rows."""
    start = f"Ranked – Num-Nonzeros makes significantly fewer evaluations than lexicase on {problem}"
    (claim,) = [claim for claim in paper_claims if claim.statement.startswith(start)]
    assert claim.effect.startswith(population)
    assert claim.effect_distinct.startswith(distinct)


def test_mirror_image_depends_on_the_count(paper_claims):
    (claim,) = [claim for claim in paper_claims if "on Mirror Image, consistently" in claim.statement]
    assert claim.verdict == "depends on the count"
    assert claim.effect.startswith("lowest in 88 of 93 generations (88 of 92 without generation 0)")
    assert claim.effect_distinct.startswith("lowest in 92 of 93 generations")


def test_counts_here_and_in_the_paper_are_pooled(paper_claims):
    (claim,) = [claim for claim in paper_claims if claim.statement.startswith("Ranked – Num-Zeros on Mirror Image")]
    assert "30/50 here, 35/50 in the paper, p = 0.402" in claim.note
    assert "65/100 against 86/100, p = 9e-04" in claim.note


def spec_of(folder):
    return (folder / "study.toml").read_text(encoding="utf-8")


def test_the_readme_states_the_verdicts_of_every_study(paper_claims):
    text = " ".join((RESULTS.parent / "README.md").read_text(encoding="utf-8").split())
    images = [path.parent for path in RESULTS.glob("*/manifest.json") if 'kind = "image"' in spec_of(path.parent)]
    judged = [found for folder in images if (found := image_claims(read_results(folder)))]  # complete studies
    assert judged
    for found in (paper_claims, *judged):
        counts = Counter(claim.verdict for claim in found)
        numbers = [counts[v] for v in ("reproduced", "not reproduced", "depends on the count", "not testable here")]
        assert f"| {len(found)} | {' | '.join(map(str, numbers))} |" in text


def test_every_page_states_the_saving_at_the_end_of_training():
    studies = [image_claims(read_results(RESULTS / name)) for name in ("cifar-tail", "cifar-tail-large")]
    claim, again = (found[0] for found in studies)
    (ratio, p), (other, q) = (found.effect.split(", p = ") for found in (claim, again))
    times = [found.effect.split(",")[0] for study in studies for found in study if found.about == "time"][::2]
    for name in ("README.md", "docs/torch.md", "docs/image-results.md"):
        text = " ".join((RESULTS.parent / name).read_text(encoding="utf-8").split())
        assert f"{ratio} times the evaluations" in text, name
        assert re.search(re.escape(other) + r"( times)? with 12,500", text), name
        assert name == "docs/torch.md" or " and ".join(times) in text, name
    assert f"p is {p} after adjustment" in text
    assert f"the interval reaches {claim.note[-6:-2]}" in text
    assert "Fewer in 7 of 8 seeds. The 6 with" in claim.note, "the page says one seed of eight, six seeds"
    assert f"With 12,500 images, p is {q}, and one seed of eight needs more." in text
    assert "Fewer in 7 of 8 seeds. The 7 with" in again.note
    assert f"over the seven others the ratio is {again.note.partition('%: ')[2]}" in text
    easy = sorted(
        found.effect.partition(" ")[0]
        for study in studies
        for found in study
        if found.statement.startswith("Fast – Num-Zeros") and "significantly fewer" in found.statement
    )
    assert f"Easy cases first take {easy[0]} to {easy[-1]} times." in text


def test_the_readme_states_the_medians_on_the_same_populations():
    results = read_results(RESULTS / "same-populations")
    middles = [
        np.median([saving.ratio for saving in savings(results, "ranked-num-nonzeros", count)])
        for count in ("evaluations", "evaluations_distinct")
    ]
    late = [
        np.median(early_and_late(results, "ranked-num-nonzeros", count)[:, 1])
        for count in ("evaluations", "evaluations_distinct")
    ]
    readme, page = (
        " ".join((RESULTS.parent / name).read_text(encoding="utf-8").split())
        for name in ("README.md", "docs/results.md")
    )
    assert "median ratio to lexicase {:.2f}, or {:.2f} by the distinct count".format(*middles) in readme
    assert {f"{value:.2f}" for value in late} == {"0.94"}, "the pages say one number for both counts"
    assert "0.94 by both at 40 and 45" in readme
    easy = np.median([saving.ratio for saving in savings(results, "ranked-num-zeros", "evaluations")])
    assert f"the median over 29 problems is {easy:.2f}" in readme
    assert "at generations 40 and 45 the median is 0.94 by both counts" in page


def test_the_readme_states_how_many_counts_agree_with_the_published_ones():
    verdict = suite_verdict(read_results(RESULTS / "psb1-published"))
    text = " ".join((RESULTS.parent / "README.md").read_text(encoding="utf-8").split())
    agree = re.search(r"(\d+ of \d+ counts) show no difference from the published ones", verdict)
    assert f"{agree[1]} on ten problems" in text


def generality(results, method):
    """Of the runs that a method and lexicase both solve: how many, how many generalise, and the difference."""
    mine, theirs = (
        {(r.problem, r.seed): bool(r.success) for r in results.runs if r.method == name and r.summary["solved"]}
        for name in (method, "lexicase")
    )
    pairs = [(mine[same], theirs[same]) for same in mine.keys() & theirs.keys()]
    found = paired_outcomes(pairs)
    points, low, high = (f"{100 * x:+.0f}".replace("-", "−") for x in (found.difference, *found.bounds))
    return len(pairs), *map(sum, zip(*pairs, strict=True)), f"{points} points, {low} to {high}"


def test_readme_and_guide_state_what_samplings_solve_at_equal_executions():
    results = read_results(RESULTS / "equal-executions")
    runs = results.runs
    methods = ["lexicase", *(f"lexicase sampling={name}" for name in ("down:0.1", "informed:0.1", "cohorts:10"))]
    plain, down, informed, cohorts = ([run.summary for run in runs if run.method == method] for method in methods)
    n_solved = [sum(summary["solved"] for summary in found) for found in (plain, down, informed, cohorts)]
    n_general = [sum(summary["success"] for summary in found) for found in (plain, down)]
    readme, guide = (
        " ".join((RESULTS.parent / name).read_text(encoding="utf-8").split()) for name in ("README.md", "docs/gp.md")
    )
    assert f"solves {n_solved[1]} of {len(down)} runs and all cases solve {n_solved[0]}" in readme
    assert f"solves {n_solved[1]} of {len(down)} runs on five problems, and lexicase on all cases solves" in guide
    cost = next(part for part in suite_sections(results) if part.id == "cost").table.rows
    assert f"it still solves {cost[1][-1].partition('/')[0]};" in guide
    assert f"`InformedDownSample(0.1)` solves {n_solved[2]}," in guide
    assert f"`Cohorts(10)` solves {n_solved[3]}," in guide
    assert f"Of all 75 runs, {n_general[1]} and {n_general[0]} do" in guide
    both, mine, theirs, points = generality(results, methods[1])
    assert f"of the {both} runs that both solve, {mine} with `DownSample(0.1)` also solve the test cases" in guide
    assert f"and {theirs} without it ({points})" in guide


def test_pages_state_what_samples_and_few_parents_solve():
    sections = {part.id: part for part in suite_sections(read_results(RESULTS / "parents-or-samples"))}
    sample, few = (row for row in sections["methods"].table.rows if row[0] == "solved")
    (solved, runs), (others, _) = (row[2].split("/") for row in (sample, few))
    points, interval = few[3].replace("-", "−").split(" ", 1)
    seconds = [row[3] for row in sections["cost"].table.rows]
    readme, guide, page = (
        " ".join((RESULTS.parent / name).read_text(encoding="utf-8").split())
        for name in ("README.md", "docs/gp.md", "docs/results.md")
    )
    assert f"{solved} of {runs} and {others} (p = {few[5]}), in half the time" in readme
    assert f"solve {others} of {runs} runs with 10 selections per generation" in guide
    assert f"`DownSample(0.1)` solves {solved}." in guide
    for text in (guide, page):
        assert f"{points} points" in text
        assert f"{interval.strip('()')}, p = {few[5]})" in text
    assert f"The sample solves {solved} of {runs} runs and 10 selections {others}" in page
    assert f"{seconds[0]} against {seconds[1]} seconds" in page
    assert float(seconds[0]) / float(seconds[1]) < 0.6, "the pages say half the time"


def test_every_page_states_what_few_parents_solve_at_equal_executions():
    results = read_results(RESULTS / "few-parents")
    sections = {part.id: part for part in suite_sections(results)}
    all_cases, ten, hundred, hard = (row for row in sections["methods"].table.rows if row[0] == "solved")
    (plain, runs), few, more, hard_first = ((*map(int, row[2].split("/")),) for row in (all_cases, ten, hundred, hard))
    in_time = [row[-1].partition("/")[0] for row in sections["cost"].table.rows]
    pages = ("README.md", *(f"docs/{name}.md" for name in ("fast", "gp", "results", "faq")))
    texts = {name: " ".join((RESULTS.parent / name).read_text(encoding="utf-8").split()) for name in pages}
    longer = {part.id: part for part in suite_sections(read_results(RESULTS / "few-parents-longer"))}
    base, in_full, late = (row for row in longer["methods"].table.rows if row[0] == "solved")
    for name, text in texts.items():
        assert f"{few[0]} of {runs}" in text, name
        both = f"{late[2].partition('/')[0]} and {base[2].replace('/', ' of ')}"
        if name == "docs/gp.md":
            both = f"10 selections solve {late[2].replace('/', ' of ')} runs and lexicase on all cases {base[2][:2]} "
        assert re.search("[Ww]ithin 20 million.{0,30}" + re.escape(both), text), name
        assert re.search(rf"(all cases|it) (solves )?{plain}\b", text), name
    page = texts["docs/results.md"]
    seconds = {row[1]: row[3] for row in longer["cost"].table.rows}
    assert f"solve {late[2].replace('/', ' of ')} runs and lexicase on all cases solves {base[2][:2]}" in page
    assert f"{seconds[late[1]]} seconds a run, lexicase {seconds[base[1]]}" in page
    points, interval = in_full[3].replace("-", "−").split(" ", 1)
    assert f"10 selections solve {in_full[2][:2]} ({points} points, {interval.strip('()')}, p = {in_full[6]})" in page
    for text in (page, texts["docs/gp.md"]):
        assert f"({late[3].replace('-', '−').replace(' (', ' points, ')}" in text
    change = ten[3].partition(" ")
    assert f"a difference of {change[0]} points (95 % interval {change[2].strip('()')})" in texts["docs/gp.md"]
    assert f"With 100 selections, {more[0]} are solved" in texts["docs/gp.md"]
    sentence = f"10 selections solve {in_time[1]} runs, 100 selections {in_time[2]} and lexicase {in_time[0]}"
    assert sentence in texts["docs/gp.md"]
    assert f"with hard cases first, 10 selections solve {hard_first[0]}" in texts["docs/results.md"]
    sentence = f"10 selections still solve {in_time[1]} runs, 100 selections {in_time[2]}, and lexicase {in_time[0]}"
    assert sentence in texts["docs/results.md"]
    both, mine, theirs, points = generality(results, "lexicase partial=True n_selections=10")
    assert f"of the {both} runs that both solve, {mine} also solve" in texts["docs/results.md"]
    assert f"with 10 selections and {theirs} with lexicase ({points})" in texts["docs/results.md"]
