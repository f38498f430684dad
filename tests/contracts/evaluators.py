"""Functions to evaluate with that other processes can import."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np


def difference(individuals, cases):
    return np.abs(np.asarray(individuals)[:, None] * 7 % 5 - np.asarray(cases) % 3)


def raises_on_13(individuals, cases):
    if 13 in cases:
        raise ZeroDivisionError("case 13")
    return difference(individuals, cases)


def nan_on_13(individuals, cases):
    return np.where(np.asarray(cases) == 13, np.nan, difference(individuals, cases))


def text(individuals, cases):
    return np.full((len(individuals), len(cases)), "error")


def too_narrow(individuals, cases):
    return np.zeros((len(individuals), len(cases) - 1))


def dies_on_13(individuals, cases):
    if 13 in cases:
        os._exit(3)
    return difference(individuals, cases)


def process_number(individuals, cases):
    time.sleep(0.05)
    return np.full((len(individuals), len(cases)), os.getpid())


def sleeps_once(individuals, cases):
    """Leaves a file with the number of its process and sleeps for very long, the first two times it is called."""
    sleepers = Path(os.environ["SLEEPERS"])
    if len(list(sleepers.iterdir())) < 2:
        (sleepers / str(os.getpid())).touch()
        time.sleep(600)
    return difference(individuals, cases)


async def rollout(individual: int, case: int) -> float:
    return float(individual + case)
