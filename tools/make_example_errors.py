"""How the example error matrix was made: a small genetic-programming run, stopped halfway.

The problem is Last Index of Zero: given a vector of integers with at least one zero, return the
index of the last zero. A program is an arithmetic expression over simple features of the vector;
its error on a case is the distance from the right answer, at most `PENALTY`, which is also the
error of a program that divides by zero. Five hundred random programs are bred for a few
generations with lexicase selection and mutation; the errors of the last generation are the matrix.

The seed is not the first that was tried. Of 30 seeds (2022 to 2051), 17 gave matrices with 35 to 45 % duplicate
rows, 5 to 15 % penalties, every case solved by somebody and no individual solving all; 2022 was not among
them. Of these, one was taken in which no error vector is shared by many: at most 26 individuals here, 12 to 100 in the
others, whose evaluations were seen before choosing. In all 17, ranked Num-Nonzeros needs the fewest
evaluations, then weighted Num-Nonzeros, lexicase, weighted Num-Zeros, ranked Num-Zeros; how far they are apart
varies (ranked Num-Nonzeros takes 0.30 to 0.74 of lexicase's evaluations, 0.62 here).

``python tools/make_example_errors.py FILE`` writes the matrix again, bit for bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import Key, Lane, Stream, key_from_seed
from flexicase.selection.select import select

INDIVIDUALS, CASES, GENERATIONS, SEED = 500, 100, 12, 2037
PENALTY = 1000
ABORTED = 10**6  # far outside every answer: its error is the penalty

Answers = NDArray[np.int64]  # (CASES,) what a program returns for every case


def make_vectors(stream: Stream) -> list[Answers]:
    """Random inputs: 2 to 50 integers from -50 to 50, some of them zero."""
    vectors = []
    for _ in range(CASES):
        length = 2 + stream.bounded(49)
        vector = np.array([stream.bounded(101) - 50 for _ in range(length)])
        for _ in range(1 + stream.bounded(4)):
            vector[stream.bounded(length)] = 0
        vectors.append(vector)
    return vectors


FEATURES: dict[str, Callable[[Answers], int]] = {
    "length": len,
    "zeros": lambda v: int(np.count_nonzero(v == 0)),
    "first zero": lambda v: int(np.argmax(v == 0)),
    "second zero": lambda v: int(np.flatnonzero(v == 0)[1]) if np.count_nonzero(v == 0) > 1 else ABORTED,
    "zeros in second half": lambda v: int(np.count_nonzero(v[len(v) // 2 :] == 0)),
    "non-zeros at the end": lambda v: int(np.argmax(v[:-11:-1] == 0)),
    "smallest": lambda v: int(np.argmin(v)),
    "largest": lambda v: int(np.argmax(v)),
    "one": lambda v: 1,
    "two": lambda v: 2,
}


def divide(a: Answers, b: Answers) -> Answers:
    """Whole-number division that aborts the program at zero."""
    return np.where(b == 0, ABORTED, a // np.where(b == 0, 1, b))


OPERATIONS: list[Callable[[Answers, Answers], Answers]] = [np.add, np.subtract, np.minimum, np.maximum, divide]

Program = tuple["int | Program", ...]  # (feature,) or (operation, left, right)


def random_program(stream: Stream, depth: int) -> Program:
    """A random expression of at most this depth."""
    if depth == 0 or stream.bounded(3) == 0:
        return (stream.bounded(len(FEATURES)),)
    return (
        stream.bounded(len(OPERATIONS)),
        random_program(stream, depth - 1),
        random_program(stream, depth - 1),
    )


def mutate(program: Program, stream: Stream) -> Program:
    """Replace a random part of a program by a new one."""
    if len(program) == 1 or stream.bounded(4) == 0:
        return random_program(stream, 2)
    operation, left, right = program
    if stream.bounded(2):
        return (operation, mutate(left, stream), right)  # type: ignore[arg-type]
    return (operation, left, mutate(right, stream))  # type: ignore[arg-type]


def run(program: Program, features: NDArray[np.int64]) -> Answers:
    """What a program returns for every case; an aborted part aborts the whole."""
    if len(program) == 1:
        return np.asarray(features[program[0]])
    operation, left, right = program
    a, b = run(left, features), run(right, features)  # type: ignore[arg-type]
    aborted = (a == ABORTED) | (b == ABORTED)
    return np.where(aborted, ABORTED, OPERATIONS[operation](a, b))  # type: ignore[index]


def breed(population: list[Program], errors: NDArray[np.uint16], generation: int, key: Key) -> list[Program]:
    """The next generation: two fifths of the parents are copied, the others mutated."""
    parents = select(errors, INDIVIDUALS, seed=generation).indices
    stream = Stream.of(key, generation, Lane.SAMPLE)
    return [population[p] if stream.bounded(5) < 2 else mutate(population[p], stream) for p in parents]


def make_errors() -> NDArray[np.uint16]:
    """Run the whole thing.

    Returns:
        (500, 100) errors from 0 to `PENALTY`.
    """
    key = key_from_seed(SEED)
    stream = Stream.of(key, 0, Lane.SAMPLE)
    vectors = make_vectors(stream)
    features = np.array([[feature(v) for v in vectors] for feature in FEATURES.values()])
    target = np.array([np.flatnonzero(v == 0)[-1] for v in vectors])
    population = [random_program(stream, 3) for _ in range(INDIVIDUALS)]
    for generation in range(1, GENERATIONS + 1):
        errors = error_matrix(population, features, target)
        population = breed(population, errors, generation, key)
    return error_matrix(population, features, target)


def error_matrix(population: list[Program], features: NDArray[np.int64], target: Answers) -> NDArray[np.uint16]:
    """(individuals, cases) distances from the right answers, at most the penalty."""
    answers = np.array([run(program, features) for program in population])
    return np.minimum(np.abs(answers - target), PENALTY).astype(np.uint16)


if __name__ == "__main__":
    np.savez_compressed(sys.argv[1], errors=make_errors())
