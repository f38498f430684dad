"""Twitter: is a tweet empty, too long, or how long is it?"""

from flexicase.problems.psb2._suite import ErrorMeasure, fixed, string_cases, suite_problem
from flexicase.push import RandomString

TWEETS = RandomString(0, 200, ((1.0, "".join(map(chr, range(33, 127)))),))
EMPTY, LONG = "You didn't type anything", "Too many characters"


def answer(tweet: str) -> str:
    """The message for a tweet."""
    if not tweet:
        return EMPTY
    return LONG if len(tweet) > 140 else f"Your tweet has {len(tweet)} characters"


PROBLEM = suite_problem(
    name="twitter",
    description='Given a string, return "You didn\'t type anything" if it is empty, "Too many characters" if it has '
    'more than 140, else "Your tweet has X characters".',
    answer=answer,
    sources=(fixed("twitter"), string_cases(TWEETS, train=194, test=2000)),
    measures=(ErrorMeasure("string", "levenshtein", penalty=10_000),),
    stacks=("integer", "boolean", "exec", "string", "char"),
    constants=(0, 140, LONG, EMPTY, "Your tweet has ", " characters"),
)
