"""A small example: the errors of a genetic-programming population (made by ``tools/make_example_errors.py``)."""

from __future__ import annotations

from importlib import resources

import numpy as np
from numpy.typing import NDArray

__all__ = ["example_errors"]


def example_errors() -> NDArray[np.uint16]:
    """The errors of 500 programs on 100 cases of Last Index of Zero, halfway through a run.

    Two fifths of the programs behave exactly like another one, no program solves all cases, and
    a tenth of the entries are 1000, the penalty for a program without an answer.
    ``tools/make_example_errors.py`` in the repository is the run that the matrix comes from.

    Returns:
        (500, 100) uint16, lower is better.

    Example:
        >>> from flexicase.data import example_errors
        >>> errors = example_errors()
        >>> errors.shape, int(errors.max()), bool((errors == 0).all(axis=1).any())
        ((500, 100), 1000, False)
    """
    with resources.files(__name__).joinpath("example_errors.npz").open("rb") as file, np.load(file) as archive:
        return np.asarray(archive["errors"], dtype=np.uint16)
