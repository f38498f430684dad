"""Pick models on their validation rows, computing only the predictions that selection looks at.

A model here is a small polynomial; any object with ``predict(rows)`` will do, such as a fitted
scikit-learn estimator: `evaluate` stays as it is.
"""

from dataclasses import dataclass

import numpy as np

import flexicase as fx

MODELS, ROWS, ENSEMBLE = 300, 20_000, 5


@dataclass
class Polynomial:
    """Least squares on a few training rows, in scikit-learn's manner."""

    degree: int

    def fit(self, x: np.ndarray, y: np.ndarray) -> "Polynomial":
        """Learn the coefficients."""
        self.coefficients = np.polyfit(x, y, self.degree)
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Values at (rows,) points."""
        return np.polyval(self.coefficients, x)


def main() -> None:
    """Select an ensemble of specialists: each is good where many others are not."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, ROWS)
    y = np.sin(2 * x) + 0.1 * rng.normal(size=ROWS)
    models = []
    for _ in range(MODELS):
        near = x - rng.uniform(-3, 3)
        rows = rng.choice(np.flatnonzero(np.abs(near) < 1.5), 30)
        models.append(Polynomial(int(rng.integers(1, 6))).fit(x[rows], y[rows]))

    def evaluate(individuals: np.ndarray, cases: np.ndarray) -> np.ndarray:
        """(m, b) errors of m models on b validation rows: 0 where a prediction is close enough."""
        predictions = np.array([models[i].predict(x[cases]) for i in individuals])
        return np.abs(predictions - y[cases]) > 0.3

    fast = fx.FastLexicase(ROWS, "weighted-num-nonzeros", default_weight="max", seed=1)
    s = fast.select(evaluate, MODELS, n=ENSEMBLE)
    print(f"models chosen: {s.indices.tolist()}")
    computed = int(s.pairs.sum())
    print(f"computed {computed:,} of {MODELS * ROWS:,} predictions ({computed / MODELS / ROWS:.2%})")
    print(f"cases looked at per selection: {s.cases_used.tolist()}")


if __name__ == "__main__":
    main()
