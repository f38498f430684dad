"""Shopping List: prices with discounts."""

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, rounded, single, suite_problem
from flexicase.problems.random_inputs import floats, integer
from flexicase.push import RandomFloat


def answer(prices: list[float], discounts: list[float]) -> float:
    """The price of all, rounded; what is left of each price is of single precision, as in the suite."""
    total = 0.0
    for price, discount in zip(prices, discounts, strict=False):
        total += price * single((100.0 - discount) / 100.0)
    return rounded(total, 2)


def shopping(rng: Rng) -> Inputs:
    """Prices below 50 and discounts below 100."""
    size = integer(rng, 1, 20)
    prices, discounts = floats(rng, size, 0.0, 50.0), floats(rng, size, 0.0, 100.0)
    return [rounded(price, 2) for price in prices], [rounded(discount, 2) for discount in discounts]


PROBLEM = suite_problem(
    name="shopping-list",
    description="Given the prices of some things and their discounts in percent, return the price of all of them.",
    answer=answer,
    sources=(fixed("shopping-list"), RandomCases(shopping, train=190, test=2000)),
    measures=(ErrorMeasure("float", "rounded", penalty=1_000_000, decimals=2),),
    stacks=("integer", "boolean", "exec", "float", "vector_float"),
    constants=(0.0, 100.0, RandomFloat(0.0, 100.0)),
)
