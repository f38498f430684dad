"""Lexicase selection in gepa: a prompt collects skills, and every example needs one of them.

Both language models are imitated, so the example needs no key: an example is solved if the prompt names its skill, and
reflection adds a skill at random and sometimes loses one.
"""

import random
from typing import Any

import gepa
from gepa import EvaluationBatch

from flexicase.adapters.gepa import LexicaseCandidateSelector

SKILLS, EXAMPLES = 20, 40


class Imitation:
    """A gepa adapter that evaluates and proposes without a language model."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def evaluate(self, batch: list[int], candidate: dict[str, str], capture_traces: bool = False) -> EvaluationBatch:
        """Score 1 for every example whose skill the prompt names."""
        skills = candidate["prompt"].split()
        scores = [float(str(example % SKILLS) in skills) for example in batch]
        return EvaluationBatch(outputs=scores, scores=scores, trajectories=list(batch) if capture_traces else None)

    def make_reflective_dataset(self, candidate: dict[str, str], batch: EvaluationBatch, components: list[str]) -> Any:
        """What a language model would read."""
        return {component: [{"scores": str(batch.scores)}] for component in components}

    def propose_new_texts(self, candidate: dict[str, str], dataset: Any, components: list[str]) -> dict[str, str]:
        """Add a skill; lose one in half of the cases."""
        skills = candidate["prompt"].split()
        if skills and self.random.random() < 0.5:
            skills.remove(self.random.choice(skills))
        return {"prompt": " ".join(sorted({*skills, str(self.random.randrange(SKILLS))}))}


def run(lexicase: bool, seed: int, budget: int = 3000) -> float:
    """The mean score of the best prompt."""
    result = gepa.optimize(
        {"prompt": "0"},
        trainset=list(range(EXAMPLES)),
        valset=list(range(EXAMPLES)),
        adapter=Imitation(seed),
        candidate_selection_strategy=LexicaseCandidateSelector(seed=seed) if lexicase else "pareto",
        max_metric_calls=budget,
        seed=seed,
        logger=type("Silent", (), {"log": lambda self, message: None})(),
    )
    return max(result.val_aggregate_scores)


if __name__ == "__main__":
    print(f"best prompt: pareto {run(False, 1):.3f}, lexicase {run(True, 1):.3f} of the examples")
