"""`select` and `Selector`: arguments, results and what they promise."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import flexicase as fx
from tests.selection._helpers import chi_square_p

GRID = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 1, 1]])


@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (-1, ValueError, r"^n must be at least 0, got -1$"),
        (1.0, TypeError, r"^n must be an integer, got 1\.0$"),
        (True, TypeError, r"^n must be an integer, got True$"),
        ("3", TypeError, r"^n must be an integer, got '3'$"),
        (None, TypeError, r"^n must be an integer, got None$"),
        ((), ValueError, r"^n must be an integer or a tuple of at least one, got \(\)$"),
        ((2, -1), ValueError, r"^n must be at least 0, got -1$"),
        ((2, 1.0), TypeError, r"^n must be an integer, got 1\.0$"),
        ((2**39, 2**39), ValueError, r"^n must be at most 1,099,511,627,776, got "),
    ],
)
def test_a_bad_number_of_parents_is_refused(n: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.select(GRID, n)


@pytest.mark.parametrize(
    ("threads", "error", "message"),
    [
        (0, ValueError, r"^threads must be at least 1, got 0$"),
        (-2, ValueError, r"^threads must be at least 1, got -2$"),
        (1.5, TypeError, r"^threads must be an integer, got 1\.5$"),
        (True, TypeError, r"^threads must be an integer, got True$"),
        ("2", TypeError, r"^threads must be an integer, got '2'$"),
    ],
)
def test_a_bad_number_of_threads_is_refused(threads: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.select(GRID, 1, threads=threads)


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), (1.0, TypeError), ("a", TypeError), (True, TypeError), ([1], TypeError)]
)
def test_a_bad_seed_is_refused(seed: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^seed must "):
        fx.select(GRID, 1, seed=seed)


def test_numpy_integers_are_numbers_of_parents_and_threads() -> None:
    assert len(fx.select(GRID, np.int16(3), threads=np.uint8(2))) == 3


def test_a_refused_draw_uses_up_no_event() -> None:
    selector = fx.Selector(GRID, seed=4)
    with pytest.raises(ValueError, match="n must be"):
        selector.draw(-1)
    with pytest.raises(ValueError, match="threads must be"):
        selector.draw(2, threads=0)
    assert (selector.draw(30).indices == fx.select(GRID, 30, seed=4).indices).all()


def test_the_same_seed_gives_the_same_parents_and_another_does_not() -> None:
    first = fx.select(GRID, 60, seed=1).indices
    assert (fx.select(GRID, 60, seed=1).indices == first).all()
    assert (fx.select(GRID, 60, seed=2).indices != first).any()


def test_a_generator_moves_on_from_call_to_call() -> None:
    generator = np.random.default_rng(1)
    a, b = fx.select(GRID, 60, seed=generator).indices, fx.select(GRID, 60, seed=generator).indices
    assert (a != b).any()
    again = np.random.default_rng(1)
    assert (fx.select(GRID, 60, seed=again).indices == a).all()
    assert (fx.select(GRID, 60, seed=again).indices == b).all()


def test_no_seed_is_fresh_randomness() -> None:
    draws = {tuple(fx.select(GRID, 40).indices.tolist()) for _ in range(10)}
    assert len(draws) == 10


def test_one_parent_is_the_default() -> None:
    assert len(fx.select(GRID)) == 1
    assert len(fx.Selector(GRID).draw()) == 1


def test_a_selection_takes_no_other_attributes() -> None:
    """A misspelt name is an error, not a new attribute."""
    s = fx.select(GRID, 2, seed=1)
    with pytest.raises(AttributeError):
        s.indexes = np.zeros(2)


def test_selection_is_with_replacement() -> None:
    s = fx.select(np.array([[0], [1]]), 5, seed=1)
    assert s.indices.tolist() == [0] * 5


def test_a_method_object_of_ones_own_is_asked_to_prepare() -> None:
    class Last:
        """Always the last individual."""

        def prepare(self, matrix: Any, key: Any, backend: str) -> Any:
            self.seen = (matrix.n_individuals, matrix.n_cases, backend)
            return self

        def draw(self, key: Any, events: range, counts: bool, threads: int) -> Any:
            return fx.Selection(np.full(len(events), self.seen[0] - 1))

        def describe(self) -> str:
            return "the last individual"

    mine = Last()
    assert isinstance(mine, fx.Method)
    s = fx.select(GRID, 3, mine)
    assert s.indices.tolist() == [3, 3, 3]
    assert not s.counted
    assert mine.seen == (4, 3, "native")


def test_changing_the_result_does_not_change_later_draws() -> None:
    selector = fx.Selector(GRID, seed=1)
    selector.draw(5).indices[:] = -1
    assert (selector.draw(20).indices >= 0).all()


def test_a_selector_keeps_its_errors_alive() -> None:
    """The kernel reads the array at every draw; a temporary must not be freed under it."""
    selectors = [fx.Selector(np.full((50, 400), float(i)) + np.eye(50, 400), seed=1) for i in range(20)]
    expected = fx.Selector(np.eye(50, 400), seed=1).draw(10).indices
    for selector in selectors:
        assert (selector.draw(10).indices == expected).all()


def test_more_events_than_any_memory_holds_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="n must be at most"):
        fx.select(GRID, 2**62)


def test_n_may_be_a_shape() -> None:
    """Children × parents, in the order of the events of as many single parents."""
    flat, pairs = fx.select(GRID, 6, seed=1), fx.select(GRID, (3, 2), seed=1)
    for name in ("indices", "evaluations", "evaluations_distinct", "cases_used", "ended"):
        assert (getattr(pairs, name) == getattr(flat, name).reshape(3, 2)).all()
    assert (fx.select_indices(GRID, (3, 2), seed=1) == pairs.indices).all()
    assert fx.select(GRID, (0, 2), seed=1).indices.shape == (0, 2)
    assert len(pairs) == 3
    assert repr(pairs) == "Selection(n=(3, 2), counted=True)"
    selector = fx.Selector(GRID, seed=1)
    assert [*selector.draw((1, 2)).indices[0], *selector.draw(4).indices] == flat.indices.tolist()
    assert fx.select(GRID, (3, 2), "tournament", seed=1).indices.shape == (3, 2)


def test_a_selection_is_iterated_and_is_an_index() -> None:
    s = fx.select(GRID, 5, seed=1)
    assert [GRID[i].tolist() for i in s] == GRID[s].tolist() == GRID[s.indices].tolist()
    assert (np.asarray(s) == s.indices).all()
    assert np.shares_memory(np.asarray(s), s.indices)
    assert not np.shares_memory(np.array(s), s.indices)
    assert np.asarray(s, dtype=np.float32).dtype == np.float32
    assert torch.as_tensor(GRID)[s].tolist() == GRID[s].tolist()
    assert ["abcd"[i] for i in s] == ["abcd"[s[k]] for k in range(5)] == list(map("abcd".__getitem__, s))


class Frame:
    """As much of a data frame as selection sees: an index, positions and numbers."""

    def __init__(self, values: Any, index: list[Any]) -> None:
        self.values, self.index, self.iloc = np.array(values), index, None

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values


def test_rows_with_labels_are_selected_by_label() -> None:
    frame = Frame(GRID, ["a", "b", "c", "d"])
    s = fx.select(frame, (3, 2), seed=1)
    assert (s.indices == fx.select(GRID, (3, 2), seed=1).indices).all()
    assert s.labels.tolist() == [["abcd"[i] for i in row] for row in s.indices]
    with pytest.raises(ValueError, match=r"^labels exist only if errors are a data frame"):
        fx.select(GRID, 2).labels  # noqa: B018


WITHOUT = {
    "lexicase": fx.Lexicase(),
    "weighted": fx.Lexicase(order=fx.Weighted("num_nonzeros")),
    "ranked": fx.Lexicase(order=fx.Ranked("average")),
    "epsilon": fx.Lexicase(epsilon=1.0),
    "mad": fx.Lexicase(epsilon="mad"),
    "mad-dynamic": fx.Lexicase(epsilon="mad-dynamic"),
    "batch": fx.Lexicase(batch_size=2, max_cases=3, slippage=0.1),
    "elitism": fx.Lexicase(elitism=3),
    "down-sample": fx.Lexicase(sampling=fx.DownSample(3)),
    "event sample": fx.Lexicase(sampling=fx.DownSample(3, per="event")),
    "cohorts": fx.Lexicase(sampling=fx.Cohorts(3)),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_without_replacement_every_individual_survives_once(name: str) -> None:
    rng = np.random.default_rng(1)
    errors = rng.integers(0, 3, (20, 6))
    errors[10:] = errors[:10]
    options: Any = {"seed": 1, "replace": False}
    whole, reference = (fx.select(errors, 20, WITHOUT[name], backend=b, **options) for b in ("native", "reference"))
    assert sorted(whole) == list(range(20))
    for counted in ("indices", "evaluations", "evaluations_distinct", "cases_used", "ended"):
        assert (getattr(whole, counted) == getattr(reference, counted)).all(), counted
    assert (fx.select_indices(errors, 20, WITHOUT[name], threads=4, **options) == whole.indices).all()
    selector = fx.Selector(errors, WITHOUT[name], **options)
    assert [*selector.draw(3), *selector.draw(0), *selector.draw((2, 6)).indices.flat, *selector.draw(5)] == [*whole]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "reference"])
def test_survivors_have_the_probabilities_of_one_event_after_another(backend: str) -> None:
    """Exact: the second event is one on the individuals left, with the weights and epsilons of all."""
    errors = np.array([[0, 2, 1, 4], [1, 0, 2, 3], [2, 1, 0, 2], [1, 1, 1, 1], [3, 3, 3, 0], [0, 3, 2, 2]])
    weights = np.count_nonzero(errors, axis=0)
    mad = np.median(np.abs(errors - np.median(errors, axis=0)), axis=0)
    same = [
        (fx.Lexicase(), fx.Lexicase()),
        (fx.Lexicase(order=fx.Weighted("num_nonzeros")), fx.Lexicase(order=fx.Weighted(weights))),
        (fx.Lexicase(epsilon="mad", max_cases=2), fx.Lexicase(epsilon=mad, max_cases=2)),
    ]
    n = 4000 if backend == "native" else 600
    for method, on_those_left in same:
        expected = {}
        for first, p in enumerate(fx.probabilities(errors, on_those_left)):
            left = np.delete(np.arange(6), first)
            for second, q in zip(left.tolist(), fx.probabilities(errors[left], on_those_left), strict=True):
                expected[first, second] = p * q
        pairs = [fx.select(errors, 2, method, seed=s, replace=False, backend=backend).indices for s in range(n)]
        assert chi_square_p(Counter(map(tuple, np.array(pairs).tolist())), expected) > 1e-4


def test_what_replacement_cannot_be_left_out_of_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"^method must be a lexicase method if replace=False, got Tournament\(size=7\)$"
    ):
        fx.select(GRID, 2, "tournament", replace=False)
    with pytest.raises(TypeError, match=r"^replace must be True or False, got 0$"):
        fx.select(GRID, 2, replace=0)
    with pytest.raises(ValueError, match=r"^n must be at most 4 without replacement, the rows .* left, got 5$"):
        fx.select(GRID, 5, replace=False)
    selector = fx.Selector(GRID, seed=1, replace=False)
    first = selector.draw_indices(3).tolist()
    with pytest.raises(ValueError, match=r"^n must be at most 1 without replacement, the rows .* left, got 2$"):
        selector.draw(2)
    assert sorted([*first, *selector.draw(1)]) == [0, 1, 2, 3]
    assert len(selector.draw(0)) == 0


def test_threads_share_a_selector_without_replacement() -> None:
    errors = np.random.default_rng(1).integers(0, 3, (600, 20))
    selector = fx.Selector(errors, seed=1, replace=False)
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: selector.draw_indices(5), range(120)))
    assert sorted(np.concatenate(drawn)) == list(range(600))
