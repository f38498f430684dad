"""X-Word Lines: words, so many on each line."""

from collections.abc import Sequence

from flexicase.problems.psb1._suite import ErrorMeasure, RandomCases, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import pick, string
from flexicase.push import Char, RandomString
from flexicase.push.program import Value

GROUPS = ((0.15, " "), (0.05, "\n"), (0.80, "".join(map(chr, range(32, 127)))))
#: The number of words per line, each as often as it is listed.
COUNTS = (1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10)


def answer(given: str, count: int) -> str:
    """The lines to print."""
    words = given.split()
    return "\n".join(" ".join(words[i : i + count]) for i in range(0, len(words), count))


def words_on_lines(inputs: Sequence[Value], expected: Value) -> list[int]:
    """The words on each full line and on the last line; an empty line counts as one word."""
    return [inputs[1], max(len(expected.split("\n")[-1].split()), 1)]


PROBLEM = suite_problem(
    name="x-word-lines",
    title="X-Word Lines",
    description="Given a text and an integer X, print the words of the text, X per line, single spaces between them; "
    "the last line may be shorter; no final newline.",
    answer=answer,
    sources=(
        fixed("x-word-lines"),
        RandomCases(lambda rng: (string(rng, RandomString(1, 100, GROUPS)), pick(rng, COUNTS)), train=104, test=2000),
    ),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure("output", "newlines", target=lambda _, expected: expected.count("\n")),
        ErrorMeasure("output", "words_per_line", target=words_on_lines),
    ),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    constants=tuple(map(Char, " \n")),
    settings=suite_settings(max_points=3200, steps=1600),
)
