"""Functions for actors: the population is a folder in which they leave a note of every call."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.contracts.evaluators import difference

SECONDS = 0.03


def linger(folder, individuals, cases):
    """Leaves a file named after its process before it goes on."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(SECONDS)
    return difference(individuals, cases)


def dies_of_case_13(folder, individuals, cases):
    if 13 in cases:
        with open(Path(folder) / "deaths", "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {individuals.tolist()} {cases.tolist()}\n")
        os._exit(1)
    return difference(individuals, cases)


def fails_if_7_meets_13(folder, individuals, cases):
    """Cannot evaluate individual 7 on case 13."""
    if 7 in individuals and 13 in cases:
        raise ZeroDivisionError("7 on 13")
    return difference(individuals, cases)


def weigh(population, individuals, cases):
    """Errors that depend on the population, an array."""
    return abs(population[individuals][:, None] - cases)


def sleeps_once(folder, individuals, cases):
    """The first two processes to be called sleep for very long."""
    notes = Path(folder)
    if len(list(notes.iterdir())) < 2:
        (notes / str(os.getpid())).touch()
        time.sleep(600)
    return difference(individuals, cases)
