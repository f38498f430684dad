"""Pick from 20 prompts on 100 examples when every rollout, one prompt on one example, costs money.

The rollouts are simulated. Compares picks made on demand with full evaluation and with a random subset of the examples
at the same cost, over 30 seeds. Quality is measured on 2000 examples that no pick has seen.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import flexicase as fx
from flexicase.evaluation import AsyncEvaluator

PROMPTS, EXAMPLES, UNSEEN, SEEDS = 20, 100, 2000, 30
METHOD = fx.Lexicase(order=fx.Weighted("num_nonzeros"))
Results = dict[str, list[tuple[float, ...]]]


def independent(rng: np.random.Generator) -> np.ndarray:
    """(prompts, examples) failures of unrelated prompts: good prompts fail less, and easy examples are failed less."""
    skill, difficulty = rng.normal(0.5, 0.7, PROMPTS), rng.normal(0, 1.5, EXAMPLES + UNSEEN)
    return rng.random((PROMPTS, EXAMPLES + UNSEEN)) > 1 / (1 + np.exp(difficulty - skill[:, None]))


def lineage(rng: np.random.Generator) -> np.ndarray:
    """(prompts, examples) failures of prompts that were made from each other: each redraws 10 % of its parent's."""
    difficulty = rng.normal(0, 1.5, EXAMPLES + UNSEEN)
    rows = [rng.random(EXAMPLES + UNSEEN) > 1 / (1 + np.exp(difficulty))]
    for _ in range(PROMPTS - 1):
        skill = rng.normal(0.5, 2.0)
        redrawn = rng.random(EXAMPLES + UNSEEN) > 1 / (1 + np.exp(difficulty - skill))
        rows.append(np.where(rng.random(EXAMPLES + UNSEEN) < 0.1, redrawn, rows[rng.integers(len(rows))]))
    return np.array(rows)


class Rollouts:
    """Looks up failures; counts rollouts, and rounds of rollouts that can run at the same time."""

    def __init__(self, failures: np.ndarray) -> None:
        self.failures, self.rollouts, self.rounds = failures, 0, 0

    def __call__(self, individuals: np.ndarray, cases: np.ndarray) -> np.ndarray:
        self.rollouts += len(individuals) * len(cases)
        self.rounds += 1
        return self.failures[np.ix_(individuals, cases)]


def on_demand(failures: np.ndarray, n: int, seed: int, **settings: object) -> tuple[np.ndarray, int, int]:
    """Picks, rollouts and rounds of `FastLexicase`."""
    evaluate = Rollouts(failures)
    method = replace(METHOD, max_cases=settings.pop("max_cases", None))
    s = fx.FastLexicase(EXAMPLES, method, seed=seed, **settings).select(evaluate, PROMPTS, n)
    return s.indices, evaluate.rollouts, evaluate.rounds


def compare(make: Callable[[np.random.Generator], np.ndarray], n: int) -> Results:
    """For each way to pick: rollouts, rounds, mean quality of the picks, and unseen examples that some pick solves."""
    results: Results = {}
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        seen, unseen = np.split(make(rng), [EXAMPLES], axis=1)
        solved = ~unseen

        def record(name: str, picks: np.ndarray, rollouts: int, rounds: int, solved: np.ndarray = solved) -> None:
            found = (rollouts, rounds, 100 * solved[picks].mean(), 100 * solved[picks].any(axis=0).mean())
            results.setdefault(name, []).append(found)

        best = np.argsort(seen.sum(axis=1), kind="stable")
        record("all examples, lexicase", fx.select(seen, n, METHOD, seed=seed).indices, seen.size, 1)
        record("all examples, best mean", best[:n], seen.size, 1)
        for name, settings in {
            "on demand": {"lookahead": 1},
            "on demand, look-ahead": {"lookahead": "auto"},
            "on demand, 4 cases at a time": {"lookahead": 4},
            "on demand, at most 5 cases": {"lookahead": 1, "max_cases": 5},
        }.items():
            picks, rollouts, rounds = on_demand(seen, n, seed, **settings)
            record(name, picks, rollouts, rounds)
            if name == "on demand":
                size = max(1, round(rollouts / PROMPTS))
        subset = seen[:, rng.choice(EXAMPLES, size, replace=False)]
        record("same cost, lexicase", fx.select(subset, n, METHOD, seed=seed).indices, subset.size, 1)
        best = np.argsort(subset.sum(axis=1) + rng.random(PROMPTS) / 2, kind="stable")
        record("same cost, best mean", best[:n], subset.size, 1)
        record("no rollouts, random", rng.choice(PROMPTS, n, replace=False), 0, 0)
    return results


def estimate(values: list[float]) -> str:
    """A mean and its standard error."""
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.1f}"


def table(by_kind: dict[str, Results], n: int) -> str:
    """Means over all seeds for each kind of prompts, with the standard errors of the qualities."""
    columns = ["rollouts", "rounds", "solved by a pick, %"] + ["by any pick, %"] * (n > 1)
    lines = [" | ".join(["| picks from", *(f"{kind}: {column}" for kind in by_kind for column in columns)]) + " |"]
    lines.append("|---" + "|--:" * (len(columns) * len(by_kind)) + "|")
    for name in next(iter(by_kind.values())):
        cells = []
        for results in by_kind.values():
            rollouts, rounds, *qualities = (list(values) for values in zip(*results[name], strict=True))
            cells += [f"{np.mean(rollouts):.0f}", f"{np.mean(rounds):.1f}"]
            cells += [estimate(values) for values in qualities[: len(columns) - 2]]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def difference(results: Results, one: str, other: str) -> str:
    """How much more a pick solves in one way than in another, on the same prompts."""
    return estimate([a[2] - b[2] for a, b in zip(results[one], results[other], strict=True)])


def one_pick_with_requests() -> None:
    """The same with coroutines, as for a service, within a budget."""
    failures = lineage(np.random.default_rng(0))

    async def rollout(prompt: int, example: int) -> float:
        await asyncio.sleep(0.001)  # stands for a request
        return float(failures[prompt, example])

    with AsyncEvaluator(rollout, concurrency=20) as evaluate:
        s = fx.FastLexicase(EXAMPLES, seed=0).select(evaluate, PROMPTS, budget=200)
    why = f"{fx.Ended(s.ended[0]).label} after {s.cases_used[0]} examples, one of {s.candidates_left[0]} prompts"
    print(f"prompt {s.indices[0]}: {why}; {len(evaluate.finished)} rollouts of {PROMPTS * EXAMPLES}")


def main() -> None:
    """Print one table for each number of picks."""
    one_pick_with_requests()
    for n in (1, 10):
        by_kind = {make.__name__: compare(make, n) for make in (independent, lineage)}
        print(f"\n{n} pick{'s' if n > 1 else ''}, {SEEDS} seeds\n\n{table(by_kind, n)}\n")
        for kind, results in by_kind.items():
            for other in (
                "all examples, lexicase",
                "all examples, best mean",
                "same cost, lexicase",
                "same cost, best mean",
            ):
                print(f"{kind}: on demand - {other}: {difference(results, 'on demand', other)}")


if __name__ == "__main__":
    main()
