"""Coin Sums: the fewest coins for an amount."""

from flexicase.problems.psb2._suite import FixedCases, integer_cases, slots, suite_problem


def answer(cents: int) -> tuple[int, ...]:
    """Pennies, nickels, dimes and quarters."""
    quarters, rest = divmod(cents, 25)
    dimes, rest = divmod(rest, 10)
    return rest % 5, rest // 5, dimes, quarters


PROBLEM = suite_problem(
    name="coin-sums",
    description="Given an amount in cents, return the numbers of pennies, nickels, dimes and quarters that make it "
    "with the fewest coins.",
    answer=answer,
    sources=(
        FixedCases([(cents,) for cents in (*range(1, 31), 35, 41, 109, 10000)]),
        integer_cases(1, 10000, train=166, test=2000),
    ),
    measures=slots(4, "absolute", penalty=100_000),
    stacks=("integer", "boolean", "exec"),
    extra_instructions=tuple(f"output_integer{i}" for i in range(1, 5)),
    constants=(0, 1, 5, 10, 25),
)
