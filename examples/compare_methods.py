"""Compare the paper's five methods on one generation's errors: cost, and who gets selected."""

import numpy as np

import flexicase as fx
from flexicase.data import example_errors


def main() -> None:
    """Print mean evaluations and how specialised the parents are, per method."""
    errors = example_errors()
    solved = (errors == 0).sum(axis=1)
    hard = (errors == 0).mean(axis=0) < 0.1
    print(f"{'method':24}{'evaluations':>12}{'cases solved':>14}{'solve a hard case':>19}")
    for name in fx.methods()[:5]:  # the methods of the paper
        s = fx.select(errors, 2000, name, seed=1)
        on_hard = (errors[s.indices][:, hard] == 0).any(axis=1)
        print(f"{name:24}{np.mean(s.evaluations):12,.0f}{solved[s.indices].mean():14.1f}{on_hard.mean():19.1%}")


if __name__ == "__main__":
    main()
