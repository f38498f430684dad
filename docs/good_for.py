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
from flexicase.report._programs import evaluation_ratios
from flexicase.report._same_populations import LATE, early_and_late, savings
from flexicase.report._successes import is_complete
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
    """Draw the three figures, write the sentences above them, and return the files."""
    found = {results.spec.name: results for results in studies}
    if not {"gp-paper", "fast-laptop", "image-laptop", *BUDGETS} <= set(found):
        return []
    complete = {name: results for name, results in found.items() if is_complete(results)}
    tails = [complete[name] for name in TAILS if name in complete]
    folder = root / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        "savings": _savings(complete.get("same-populations"), found["gp-paper"], folder / "savings.png"),
        "selections": _selections(found["fast-laptop"], [found[name] for name in BUDGETS], folder / "selections.png"),
        "training": _training(found["image-laptop"], tails, folder / "training.png"),
    }
    page = (root / PAGE).read_text(encoding="utf-8")
    for name, text in parts.items():
        picture = f"![{name}](images/results/good-for/{name}.png)"
        page = replace_fragment(page, f"{text}\n\n{picture}", name)
    (root / PAGE).write_text(page, encoding="utf-8")
    return [root / PAGE, *(folder / f"{name}.png" for name in parts)]


def _savings(same: StudyResults | None, runs: StudyResults, path: Path) -> str:
    """Ratios of evaluations per selection; of the same populations if that study is complete."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for method, count in product(paper.HARD_FIRST, COUNTS):
        if same is not None:
            ratios[method, count] = [saving.ratio for saving in savings(same, method, count)]
        else:
            pairs = (evaluation_ratios(runs, p, [(method, BASELINE)], count) for p in runs.problems)
            ratios[method, count] = [ratio.ratio for tested in pairs for ratio, _ in tested.values()]
    rows = [
        Dots(f"{paper.title(method)}, {COUNTS[count].split()[0]}", method, values, float(np.median(values)))
        for (method, count), values in ratios.items()
    ]
    draw_dots(rows, "evaluations divided by those of lexicase; left of 1 saves; bar: median", path)
    ranked = [ratios[paper.FEWEST_EVALUATIONS, count] for count in COUNTS]
    source = "on the same populations" if same is not None else "in the paper's study"
    middles = " and ".join(f"{np.median(values):.2f}" for values in ranked)
    problems, late = max(map(len, ranked)), ""
    if same is not None:
        medians = [np.median(early_and_late(same, paper.FEWEST_EVALUATIONS, count)[:, 1]) for count in COUNTS]
        late = " and ".join(dict.fromkeys(f"{median:.2f}" for median in medians))
        late = f" In generations {LATE[0]} and {LATE[1]} it makes {late} times."
    return (
        f"Ranked – Num-Nonzeros makes {middles} times the evaluations of lexicase: medians over {problems} problems "
        f"{source}, by the population count and by the distinct count.{late} Each point is a problem:"
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
    first = variant_verdict(results).partition(" Successes")[0]
    gains = [f"{rows[budget, FEW][1]} points within {budget} million" for budget in budgets]
    return (
        f"{first} Fewer selections compute less (left, medians of the runs; solid: {problem}, dotted: {other}). In as "
        f"many generations they can solve fewer runs: {few} with 10 selections, {full} with full evaluation "
        f"({problem}). Right: runs solved at equal executions, with 95 % intervals. 10 selections with partial "
        f"evaluation, against lexicase on all cases: {', '.join(gains)}. They are solved sooner, not more often; with "
        f"full evaluation, 10 selections solve fewer ({rows[budgets[-1], FEW_IN_FULL][1]})."
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
    ratios = [(tail, compare(tail, "cifar10", HARD_MAX, measure=last_total)) for tail in tails]
    late = [f"{r} with {tail.spec.settings['train_cases']:,} images, {r.seeds} seeds" for tail, r in ratios if r]
    time = [f"{compare(tail, 'cifar10', HARD_MAX, measure=seconds)}" for tail in tails]
    end = (
        f" In the last 50 generations of a training on CIFAR-10, the ratio is {', and '.join(late)}; the ratio of the "
        f"seconds of training and selection is {' and '.join(time)}."
    )
    return (
        "Over a whole training on the digits, plain gradient lexicase computes "
        f"{100 * plain:.0f} % of the errors of all candidates on all cases, and hard cases first {100 * hard:.0f} % "
        f"(ratio of evaluations {compare(results, 'digits', HARD_MAX)}, 10 seeds).{end if late else ''} "
        "A selection costs most at the end, when candidates are alike (digits, means of the runs):"
    )
