"""Draw the three pictures of `flexicase.plot` into one file: pools, weights, evaluations."""

import sys

import matplotlib as mpl

import flexicase as fx
from flexicase import plot
from flexicase.data import example_errors


def main(path: str) -> None:
    """Write the picture to ``path``."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    errors = example_errors()
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(19, 4.4), layout="constrained")
    plot.funnel(errors, ax=left)
    plot.case_weights(errors, "weighted-num-nonzeros", ax=middle)
    plot.evaluations({name: fx.select(errors, 1000, name, seed=0) for name in fx.methods()[:5]}, ax=right)
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "selection.png")
