"""Even Squares: the even squares below a number, one per line."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import integer
from flexicase.push.genome import RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def squares(n: int) -> list[int]:
    """The positive even perfect squares below n."""
    return [root * root for root in range(2, 100, 2) if root * root < n]


PROBLEM = Problem(
    name="even-squares",
    description="Print all positive even perfect squares below n, one per line, no final newline.",
    answer=lambda n: "\n".join(map(str, squares(n))),
    domains=(
        FixedCases(carried_inputs("even-squares")),
        RandomCases(lambda rng: (integer(rng, 20, 9999),), train=83, test=1000),
    ),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure("output", "integer_lines", target=lambda inputs, _: len(squares(*inputs))),
        ErrorMeasure("output", "integer_line_values", penalty=100, target=lambda inputs, _: squares(*inputs)),
    ),
    stacks=("exec", "integer", "boolean", "print"),
    generators=(RandomTag(("integer", "boolean", "exec")), RandomTagged(), Symbol("in1")),
    settings=ProblemSettings(max_points=1600, max_initial_genome=200, steps=2000),
    edge=carried_reader("even-squares"),
)
