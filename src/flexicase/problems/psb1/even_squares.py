"""Even Squares: the even squares below a number, one per line."""

from flexicase.problems.psb1._suite import ErrorMeasure, fixed, integer_cases, suite_problem, suite_settings


def squares(n: int) -> list[int]:
    """The positive even perfect squares below n."""
    return [root * root for root in range(2, 100, 2) if root * root < n]


PROBLEM = suite_problem(
    name="even-squares",
    description="Print all positive even perfect squares below n, one per line, no final newline.",
    answer=lambda n: "\n".join(map(str, squares(n))),
    sources=(fixed("even-squares"), integer_cases(20, 9999, train=83, test=1000)),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure("output", "integer_lines", target=lambda inputs, _: len(squares(*inputs))),
        ErrorMeasure("output", "integer_line_values", penalty=100, target=lambda inputs, _: squares(*inputs)),
    ),
    stacks=("integer", "boolean", "exec", "print"),
    settings=suite_settings(max_points=1600, steps=2000),
)
