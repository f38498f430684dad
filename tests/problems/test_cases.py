"""Random cases follow their descriptions."""

from __future__ import annotations

import string
from collections import Counter
from functools import cache

import pytest

from flexicase import problems
from flexicase.problems.random_inputs import generator
from flexicase.push.draws import VISIBLE

LOWER = set(string.ascii_lowercase)


@cache
def sampled(name: str) -> tuple[list, list]:
    train, test = problems.load(name).sample(seed=11)
    return train.inputs, test.inputs


def texts(name: str) -> list[str]:
    return [case[0] for case in sampled(name)[1]]


def test_mirror_image() -> None:
    train, test = sampled("mirror-image")
    assert len(train[0][0]) == 0
    assert sum(a == b[::-1] for a, b in test) >= 500
    assert sum(a == b for a, b in test) >= 100
    assert all(len(a) == len(b) and 1 <= len(a) <= 50 for a, b in test)
    assert all(-1000 <= x <= 1000 for a, b in test for x in a + b)
    changed = [sum(x != y for x, y in zip(a, b[::-1], strict=True)) for a, b in test[600:800]]
    assert 1 <= max(changed) <= 5
    assert Counter(changed)[1] > Counter(changed)[5] > 0


def test_last_index_of_zero_splits_its_lists() -> None:
    problem = problems.load("last-index-of-zero")
    train, test = problem.sample(3)
    zeros = [v for (v,) in train.inputs[8:38] + test.inputs[:20]]
    assert sorted(map(len, zeros)) == list(range(1, 51))
    four = [tuple(v) for (v,) in train.inputs[38:58] + test.inputs[20:24]]
    assert len(set(four)) == 24
    two = [tuple(v) for (v,) in train.inputs[58:68] + test.inputs[24:26]]
    assert len(set(two)) == 12
    assert len({tuple(v) for (v,) in train.inputs[68:72]}) == 4
    assert problem.sample(4)[0].inputs[8:38] != train.inputs[8:38]
    for (vector,) in test.inputs[26:]:
        assert 0 in vector
        assert 1 <= len(vector) <= 50
        assert all(-50 <= x <= 50 for x in vector)


def test_the_frozen_draws_are_drawn_anew_for_each_run() -> None:
    for name in (
        "compare-string-lengths",
        "for-loop-index",
        "last-index-of-zero",
        "negative-to-zero",
        "vectors-summed",
    ):
        problem = problems.load(name)
        n_edge = len(problem.fixed_cases())
        first, second = (
            [case for source in problem.sources for case in source.sample(generator(seed))[0]] for seed in (1, 2)
        )
        assert first[:n_edge] != second[:n_edge], name


def test_compare_string_lengths() -> None:
    train, test = sampled("compare-string-lengths")
    for start in (7, 10):
        assert len(set(train[start : start + 3])) == 3
        assert Counter("".join(case) for case in train[start : start + 3]).most_common(1)[0][1] == 3
        assert all(case.count("") == 2 for case in train[start : start + 3])
    for start in (13, 16, 19):
        assert len({tuple(sorted(case)) for case in train[start : start + 3]}) == 1
        assert all(len(set(case)) == 2 for case in train[start : start + 3])
    assert all(len(set(case)) == 1 for case in test[:100])
    assert all(len(a) <= len(b) <= len(c) for a, b, c in test[100:300])
    assert {len(a) for a, _, _ in test[300:]} == set(range(50))


@pytest.mark.parametrize(("name", "low", "high"), [("collatz-numbers", 11, 9998), ("even-squares", 20, 9999)])
def test_integers_are_in_their_range(name: str, low: int, high: int) -> None:
    values = [n for (n,) in sampled(name)[1]]
    assert low <= min(values) < low + 200
    assert high - 200 < max(values) <= high


def test_count_odds_and_negative_to_zero_have_three_kinds() -> None:
    for name, special in (("count-odds", lambda x: x % 2 == 1), ("negative-to-zero", lambda x: x < 0)):
        vectors = [v for (v,) in sampled(name)[1]]
        assert all(all(map(special, v)) for v in vectors[:100])
        assert not any(any(map(special, v)) for v in vectors[100:200])
        shares = [sum(map(special, v)) / len(v) for v in vectors[200:] if len(v) > 20]
        assert min(shares) < 0.1
        assert max(shares) > 0.9
        assert all(-1000 <= x <= 1000 for v in vectors for x in v)
        assert {len(v) for v in vectors} == set(range(1, 51))


def test_digits_has_all_sizes_and_signs() -> None:
    numbers = [n for (n,) in sampled("digits")[1]]
    assert {len(str(abs(n))) for n in numbers} == set(range(1, 11))
    assert 400 < sum(n < 0 for n in numbers) < 600


def test_for_loop_index() -> None:
    _, test = sampled("for-loop-index")
    assert all(start < 0 <= finish for start, finish, _ in test[:100])
    for start, finish, step in test:
        assert 1 <= step <= 10
        assert 1 <= len(range(start, finish, step)) <= 20
    assert all(-500 <= start <= 499 for start, _, _ in test[100:])


def test_grade() -> None:
    for *thresholds, score in sampled("grade")[1]:
        assert sorted(set(thresholds), reverse=True) == thresholds
        assert 0 <= min(*thresholds, score) <= max(*thresholds, score) <= 100


def test_median_and_smallest() -> None:
    _, test = sampled("median")
    assert all(len(set(case)) <= 2 for case in test[600:900])
    assert {case.index(Counter(case).most_common()[-1][0]) for case in test[600:900]} == {0, 1, 2}
    assert all(len(set(case)) == 1 for case in test[900:])
    _, test = sampled("smallest")
    assert all((len(set(case)) <= 2 and 1 in Counter(case).values()) or len(set(case)) == 1 for case in test[:100])
    assert all(len(set(case)) == 1 for case in test[100:200])
    assert all(0 <= x <= 100 for case in test[200:400] for x in case)
    assert min(x for case in test[400:] for x in case) < -90


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "longest", "allowed"),
    [
        ("checksum", 50, set(VISIBLE)),
        ("double-letters", 20, set(VISIBLE)),
        ("scrabble-score", 20, set(VISIBLE)),
        ("pig-latin", 50, LOWER | {" "}),
        ("replace-space-with-newline", 20, set(map(chr, range(32, 127)))),
        ("syllables", 20, set(map(chr, (*range(32, 65), *range(91, 127))))),
        ("x-word-lines", 100, set(map(chr, range(32, 127))) | {"\n"}),
        ("word-stats", 100, set(VISIBLE)),
    ],
)
def test_texts_have_their_characters_and_lengths(name: str, longest: int, allowed: set[str]) -> None:
    given = texts(name)
    assert max(map(len, given)) == longest or name == "pig-latin"
    assert set("".join(given)) == allowed


def test_pig_latin_words_are_separated_by_single_spaces() -> None:
    assert all(" ".join(given.split(" ")) == given.strip(" ") and "  " not in given for given in texts("pig-latin"))


def test_shares_of_characters() -> None:
    spaces = "".join(texts("replace-space-with-newline"))
    assert spaces.count(" ") / len(spaces) == pytest.approx(0.2 + 0.8 / 95, abs=0.02)
    vowels = "".join(texts("syllables"))
    assert sum(c in "aeiouy" for c in vowels) / len(vowels) == pytest.approx(0.2 + 0.8 * 6 / 69, abs=0.02)
    words = "".join(texts("x-word-lines"))
    assert words.count("\n") / len(words) == pytest.approx(0.05, abs=0.01)


def test_x_word_lines_counts() -> None:
    counts = Counter(x for _, x in sampled("x-word-lines")[1])
    assert counts[1] / 2000 == pytest.approx(1 / 6, abs=0.03)
    assert counts[4] / 2000 == pytest.approx(1 / 9, abs=0.03)
    assert counts[10] / 2000 == pytest.approx(1 / 18, abs=0.03)
    assert set(counts) == set(range(1, 11))


def test_word_stats_texts_have_a_sentence_and_a_working_copy() -> None:
    train, test = sampled("word-stats")
    assert all(working == original for working, original in train + test)
    assert all(set(given) & set(".!?") for given, _ in test)


def test_string_differences() -> None:
    train, test = sampled("string-differences")
    assert min(max(map(len, case)) for case in train[30:]) == 2
    assert min(max(map(len, case)) for case in test) == 1
    assert max(max(map(len, case)) for case in test) == 10
    assert not any(set("".join(case)) & set(" \n\t") for case in test)
    longer_first = sum(len(a) > len(b) for a, b in test)
    assert longer_first / sum(len(a) != len(b) for a, b in test) == pytest.approx(0.5, abs=0.06)
    same = [x == y for a, b in test for x, y in zip(a, b, strict=False)]
    assert sum(same) / len(same) == pytest.approx(0.6 + 0.4 / 94, abs=0.02)


def test_super_anagrams() -> None:
    _, test = sampled("super-anagrams")
    assert set("".join(a + b for a, b in test)) == LOWER
    longer_first = sum(len(a) > len(b) for a, b in test) / sum(len(a) != len(b) for a, b in test)
    assert longer_first == pytest.approx(0.2, abs=0.05)
    assert all(min(len(a), len(b)) >= 1 and max(len(a), len(b)) <= 20 for a, b in test)


def test_test_lists() -> None:
    assert [n for (n,) in sampled("sum-of-squares")[1]] == list(range(1, 101))
    assert [c for (c,) in sampled("scrabble-score")[1][:26]] == list(string.ascii_uppercase)
    assert [n for (n,) in sampled("small-or-large")[1][:80]] == [*range(980, 1020), *range(1980, 2020)]


def test_wallis_pi_splits_13_to_197() -> None:
    train, test = sampled("wallis-pi")
    assert sorted(n for (n,) in train[15:] + test) == list(range(13, 198))
    assert [n for (n,) in train[:15]] == [*range(1, 13), 198, 199, 200]


@pytest.mark.slow
def test_vectors() -> None:
    _, test = sampled("vector-average")
    lengths = [len(v) for (v,) in test]
    assert lengths[:1000] == [1] * 500 + [2] * 500
    assert set(lengths[1000:1500]) == {3, 4, 5}
    assert set(lengths[1500:1550]) == {50}
    _, test = sampled("vectors-summed")
    assert all(len(a) == len(b) for a, b in test)
    assert {len(a) for a, _ in test[:100]} == {50}
    _, test = sampled("string-lengths-backwards")
    assert {len(v) for (v,) in test} == set(range(1, 51))
    assert {len(s) for (v,) in test for s in v} == set(range(51))


def test_number_io_is_a_float_and_an_integer() -> None:
    for real, whole in sampled("number-io")[1]:
        assert type(real) is float
        assert -100 <= real < 100
        assert type(whole) is int
        assert -100 <= whole <= 100
