"""Fills the page on what the paper's idea is good for from the studies in results/; ``make results`` calls it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np

from flexicase.experiments.results import StudyResults
from flexicase.report import _paper as paper
from flexicase.report._curves import COUNTS, totals
from flexicase.report._images import compare, last_total, seconds
from flexicase.report._paper import BASELINE
from flexicase.report._same_populations import LATE, early_and_late, savings
from flexicase.report._suite import MEASURES, method_rows
from flexicase.report._variants import by_selections, each, solved_of, variant_verdict

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "docs")]

from study_figures import Dots, draw_dots, draw_selections, draw_training  # noqa: E402

from fragments import replace_fragment  # noqa: E402

PAGE = Path("docs/good-for.md")
IMAGES = Path("docs/images/results/good-for")
#: Candidates of a generation and training cases of the image study of the digits.
POPULATION, DIGITS = 4, 1297
HARD_MAX = paper.IMAGE_ROWS[1]
TAILS = ("cifar-tail", "cifar-tail-large")
#: Studies at equal executions, with different budgets, and the methods of which the page shows the runs solved.
BUDGETS = ("few-parents", "few-parents-longer")
FEW, FEW_IN_FULL = "Lexicase, partial, 10 selections", "Lexicase, 10 selections"
SHOWN = {paper.title(BASELINE): "lexicase", FEW_IN_FULL: "10 selections, in full", FEW: "10 selections, partial"}


def fill_page(studies: Iterable[StudyResults], root: Path) -> list[Path]:
    """Draw the three figures, write the sentences above them, and return the files; nothing if a study is missing."""
    found = {results.spec.name: results for results in studies}
    if not {"same-populations", "fast-laptop", "image-laptop", *BUDGETS, *TAILS} <= set(found):
        return []
    folder = root / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    equal, tails = ([found[name] for name in names] for names in (BUDGETS, TAILS))
    parts = {
        "savings": _savings(found["same-populations"], folder / "savings.png"),
        "selections": _selections(found["fast-laptop"], equal, folder / "selections.png"),
        "training": _training(found["image-laptop"], tails, folder / "training.png"),
    }
    page = (root / PAGE).read_text(encoding="utf-8")
    for name, text in parts.items():
        picture = f"![{name}](images/results/good-for/{name}.png)"
        page = replace_fragment(page, f"{text}\n\n{picture}", name)
    (root / PAGE).write_text(page, encoding="utf-8")
    return [root / PAGE, *(folder / f"{name}.png" for name in parts)]


def _savings(results: StudyResults, path: Path) -> str:
    """Ratios of evaluations per selection, on the same populations."""
    ratios = {
        (method, count): [saving.ratio for saving in savings(results, method, count)]
        for method, count in product(paper.HARD_FIRST, COUNTS)
    }
    rows = [
        Dots(f"{paper.title(method)}, {COUNTS[count].split()[0]}", method, values, float(np.median(values)))
        for (method, count), values in ratios.items()
    ]
    draw_dots(rows, "evaluations divided by those of lexicase; left of 1 saves; bar: median", path)
    whole = [np.median(ratios[paper.FEWEST_EVALUATIONS, count]) for count in COUNTS]
    late = [np.median(early_and_late(results, paper.FEWEST_EVALUATIONS, count)[:, 1]) for count in COUNTS]
    at_all, at_end = (" and ".join(dict.fromkeys(f"{x:.2f}" for x in medians)) for medians in (whole, late))
    return (
        f"**1. Hard cases first save few evaluations.** Ranked – Num-Nonzeros makes {at_all} times the evaluations of "
        f"lexicase (medians over {len(rows[0].ratios)} problems, population and distinct count), {at_end} times in "
        f"generations {LATE[0]} and {LATE[1]}. A point is a problem:"
    )


def _selections(results: StudyResults, equal: list[StudyResults], path: Path) -> str:
    """The share of the matrix that partial evaluation computes, by the number of selections, and what it solves.

    ``results`` is a study at equal generations, ``equal`` are studies at equal executions.
    """
    shares = {(p, m): by_selections(results, p, m) for p, m, _ in each(results)}
    budgets = [study.spec.settings["budget"] // 10**6 for study in equal]
    rows = {
        (budget, name): (solved, difference)
        for budget, study in zip(budgets, equal, strict=True)
        for measure, name, solved, difference, *_ in method_rows(study)
        if measure == MEASURES["solved"] and name in SHOWN
    }
    counts = {f"{budget} million, {SHOWN[name]}": solved for (budget, name), (solved, _) in rows.items()}
    draw_selections(shares, counts, path)
    problem, other = map(paper.title, results.problems)
    full, few = (solved_of(results, results.problems[0], variant) for variant in ("full", "fast-10"))
    first = variant_verdict(results).partition(". Successes")[0]
    gains = [f"{rows[budget, FEW][1]} points within {budget} million" for budget in budgets]
    return (
        "**2. In generational GP, one selection per parent saves no work, and few selections solve sooner.** "
        f"{first} (left, medians; solid: {problem}, dotted: {other}). 10 selections with partial evaluation solve "
        f"sooner, not more: against lexicase on all cases, {' executions, '.join(gains)} (right, with 95 % intervals). "
        f"With full evaluation they solve fewer, {rows[budgets[-1], FEW_IN_FULL][1]}. In as many generations they can "
        f"solve fewer, too: {few} against {full} ({problem})."
    )


def _training(results: StudyResults, tails: list[StudyResults], path: Path) -> str:
    """The share of the matrix of candidates and cases that gradient lexicase computes, and what is saved at the end."""
    shares, whole = {}, {}
    for method in paper.IMAGE_ROWS:
        if runs := results.runs_of("digits", method):
            length = min(run.generations for run in runs)
            shares[method] = np.mean([run.columns["pairs"][:length] for run in runs], axis=0) / (POPULATION * DIGITS)
            whole[method] = totals(runs, "pairs").mean() / (length * POPULATION * DIGITS)
    draw_training(shares, path)
    plain, hard = whole[BASELINE], whole[HARD_MAX]
    ends = [
        f"{compare(tail, 'cifar10', HARD_MAX, measure=last_total)} with {tail.spec.settings['train_cases']:,} images"
        for tail in tails
    ]
    times = [f"{compare(tail, 'cifar10', HARD_MAX, measure=seconds)}" for tail in tails]
    return (
        "**3. One selection at a time reads few errors.** "
        f"Gradient lexicase computes {100 * plain:.0f} % of all errors of a training on the digits, most at the end "
        f"(below), and hard cases first {100 * hard:.0f} %: {compare(results, 'digits', HARD_MAX)} times the "
        f"evaluations. In the last 50 generations on CIFAR-10: {' and '.join(ends)}. Times of training and selection: "
        f"{' and '.join(times)}."
    )
