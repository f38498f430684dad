"""Wallis Pi: the first factors of the Wallis product."""

from flexicase.problems import SplitCases
from flexicase.problems.psb1._suite import ErrorMeasure, fixed, rounded, suite_problem, suite_settings
from flexicase.push import RandomFloat, RandomInteger, to_text


def answer(n: int) -> float:
    """2/3 · 4/3 · 4/5 · 6/5 · 6/7 · … with n factors, rounded to 5 decimals."""
    product = 1.0
    for k in range(1, n + 1):
        product *= 2 * (k // 2 + 1) / (2 * ((k + 1) // 2) + 1)
    return rounded(product, 5)


PROBLEM = suite_problem(
    name="wallis-pi",
    description="Given an integer n from 1 to 200, return the product of the first n factors of "
    "2/3 · 4/3 · 4/5 · 6/5 · 6/7 · …, rounded to 5 decimals.",
    answer=answer,
    sources=(fixed("wallis-pi"), SplitCases([(n,) for n in range(13, 198)], train=135, test=50)),
    measures=(
        ErrorMeasure("float", "rounded_answer", penalty=1_000_000, decimals=5),
        ErrorMeasure("float", "rounded_text", decimals=5, target=lambda _, expected: to_text(expected)),
    ),
    stacks=("integer", "float", "boolean", "exec"),
    constants=(RandomInteger(-500, 500), RandomInteger(-10, 10), RandomFloat(-500.0, 500.0), RandomFloat(0.0, 1.0)),
    settings=suite_settings(max_points=2400, steps=8000, constant_tweak_rate=0.9, error_threshold=1e-3),
)
