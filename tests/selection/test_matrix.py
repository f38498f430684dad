"""What is accepted as an error matrix, and what the refusals say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexicase as fx
from flexicase.selection.matrix import ErrorMatrix
from tests.selection._helpers import KINDS, LAYOUTS

GRID = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 1, 1]])


class DLPackOnly:
    """A tensor that can be reached through DLPack alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **arguments: Any) -> Any:
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class ArrayOnly:
    """An object that only knows how to become an array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array if dtype is None else self.array.astype(dtype)


class NeedsDetaching(DLPackOnly):
    """A tensor with a gradient, which must be detached before it is read."""

    def __dlpack__(self, **arguments: Any) -> Any:
        raise BufferError("requires grad")

    def detach(self) -> DLPackOnly:
        return DLPackOnly(self.array)


BACKENDS = ("native", "reference")


def refused(errors: Any, error: type[Exception], message: str, **options: Any) -> None:
    with pytest.raises(error, match=message):
        fx.select(errors, 1, seed=1, **options)


def test_nan_is_refused_with_its_row_and_case() -> None:
    errors = np.ones((5, 4))
    errors[3, 2] = np.nan
    refused(errors, ValueError, r'individual 3, case 2 has nan \(nan="worst" counts it as the worst error\)')


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nan_is_found_in_any_layout(layout: str) -> None:
    errors = np.ones((70, 33), dtype=np.float32)
    errors[66, 31] = errors[68, 2] = np.nan
    refused(LAYOUTS[layout](errors), ValueError, r"individual 66, case 31 has nan")


def test_nan_can_count_as_the_worst() -> None:
    errors = [[np.nan, 0.0], [1.0, np.nan], [np.nan, np.nan]]
    assert set(fx.select(errors, 60, nan="worst", seed=1).indices) == {0, 1}
    as_inf = np.nan_to_num(np.array(errors), nan=np.inf)
    assert (fx.select(errors, 60, nan="worst", seed=1).indices == fx.select(as_inf, 60, seed=1).indices).all()


def test_an_unknown_nan_policy_is_refused() -> None:
    refused(GRID, ValueError, r"nan must be one of 'raise', 'worst', got 'ignore'", nan="ignore")


def test_plus_infinity_is_an_error_like_others() -> None:
    assert (fx.select([[np.inf, 0.0], [np.inf, 1.0]], 30, seed=1).indices == 0).all()


INFINITE = np.array([[-np.inf, 2.0, 0.0], [0.0, np.inf, -np.inf], [np.inf, 1.0, 1.0], [-np.inf, 3.0, np.inf]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        "lexicase", "weighted-num-nonzeros", "ranked-num-zeros", "plexicase", fx.Lexicase(max_cases=2),
        fx.Lexicase(epsilon=0.5), fx.Lexicase(epsilon=0.5, sampling=fx.DownSample(2)),
    ],
    ids=str,
)  # fmt: skip
def test_infinite_errors_are_the_best_and_the_worst(method: Any) -> None:
    """One rule: -inf is better than every number, inf is worse; so the same as with numbers beyond all others."""
    finite = np.nan_to_num(INFINITE, posinf=1e6, neginf=-1e6)
    for errors in (INFINITE, INFINITE.astype(np.float32), np.asfortranarray(INFINITE)):
        for backend in ("native", "reference"):
            found = fx.select(errors, 200, method, seed=1, backend=backend)
            assert (found.indices == fx.select(finite, 200, method, seed=1).indices).all()
    np.testing.assert_allclose(fx.probabilities(INFINITE, method), fx.probabilities(finite, method), atol=1e-12)
    scores = fx.select(-INFINITE, 200, method, seed=1, maximize=True, solved=0)
    if not isinstance(method, str):
        assert (scores.indices == found.indices).all()


@pytest.mark.parametrize("method", ["dalex", "lexicase", fx.Lexicase(batch_size=2)], ids=str)
def test_the_best_of_all_wins_also_in_sums(method: Any) -> None:
    errors = [[-np.inf, -np.inf], [-np.inf, 0.0], [0.0, -1e300], [np.inf, np.inf]]
    for backend in BACKENDS:
        assert set(fx.select(errors[::2], 50, method, seed=1, backend=backend)) == {0}
        assert 3 not in fx.select(errors, 50, method, seed=1, backend=backend)


def test_infinite_errors_of_both_signs_do_not_part_the_kernels() -> None:
    """Sums of both are inf; a distance from -inf that is no number keeps the pool. No warning, no empty pool."""
    rng = np.random.default_rng(1)
    errors = rng.choice([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf], (30, 12))
    for options in (
        {"epsilon": "mad"}, {"epsilon": "mad-dynamic"}, {"epsilon": "mad-static"}, {"batch_size": 3}, {"elitism": 2},
        {"epsilon": np.inf}, {"epsilon": 1.0, "batch_size": 2},
    ):  # fmt: skip
        native, reference = (fx.select(errors, 60, fx.Lexicase(**options), seed=1, backend=b) for b in BACKENDS)
        assert (native.indices == reference.indices).all(), options
        assert (native.evaluations == reference.evaluations).all()
    small = errors[:6, :4]
    assert fx.probabilities(small, fx.Lexicase(batch_size=2)).sum() == pytest.approx(1)
    fast = [fx.FastLexicase(12, seed=1, backend=b).select(lambda i, c: errors[np.ix_(i, c)], 30, 40) for b in BACKENDS]
    assert (fast[0].indices == fast[1].indices).all()


def test_ragged_rows_are_refused() -> None:
    refused([[1, 2], [3]], ValueError, r"errors must be an array with rows of equal length: ")


@pytest.mark.parametrize(
    ("errors", "found"),
    [
        (np.zeros((2, 2, 2)), r"3 dimension\(s\), shape \(2, 2, 2\)"),
        (5, r"0 dimension\(s\), shape \(\)"),
    ],
)
def test_other_than_two_dimensions_are_refused(errors: Any, found: str) -> None:
    expected = r"errors must be a matrix \(individuals × cases\) or one number per individual, got "
    refused(errors, ValueError, expected + found)


def test_one_number_per_individual_is_one_case() -> None:
    scores = [3, 1, 2, 1]
    s = fx.select(scores, 200, seed=1)
    assert (s.indices == fx.select([[score] for score in scores], 200, seed=1).indices).all()
    assert set(s.indices) == {1, 3}
    for strided in (np.arange(10.0)[::-3], np.broadcast_to(1.0, 4)):
        assert ErrorMatrix.from_array(strided).values.tolist() == [[x] for x in strided]
    assert fx.probabilities(scores).tolist() == [0, 0.5, 0, 0.5]
    refused([], ValueError, r"errors must have at least one individual, got shape \(0, 1\)")


def test_no_individuals_are_refused() -> None:
    refused(np.empty((0, 3)), ValueError, r"errors must have at least one individual, got shape \(0, 3\)")


def test_no_cases_are_a_random_pick() -> None:
    assert set(fx.select([[], [], []], 100, seed=1).indices) == {0, 1, 2}


@pytest.mark.parametrize(
    ("errors", "dtype"),
    [
        ([[1j, 2]], "complex128"),
        ([["1", "2"]], "<U1"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), r"datetime64\[D\]"),
        (np.array([[3]], dtype="m8[s]"), r"timedelta64\[s\]"),
    ],
)
def test_what_is_not_real_numbers_is_refused(errors: Any, dtype: str) -> None:
    refused(errors, TypeError, rf"errors must be real numbers, got dtype {dtype}")


def test_masked_entries_are_refused_rather_than_read() -> None:
    masked = np.ma.masked_array(GRID, mask=GRID == 1)
    refused(masked, ValueError, r'individual 0, case 2 has nan \(nan="worst" counts it as the worst error\)')
    refused(list(masked), ValueError, r"individual 0, case 2 has nan")
    worst = np.where(GRID == 1, np.inf, GRID)
    for errors in (masked, list(masked)):
        chosen = fx.select(errors, 20, seed=1, nan="worst")
        assert (chosen.indices == fx.select(worst, 20, seed=1).indices).all()
    unmasked = fx.select(np.ma.masked_array(GRID), 20, seed=1)
    assert (unmasked.indices == fx.select(GRID, 20, seed=1).indices).all()


@pytest.mark.parametrize("shape", [(2**31, 1), (1, 2**31)])
def test_too_long_a_side_is_refused(shape: tuple[int, int]) -> None:
    errors = np.broadcast_to(np.uint8(1), shape)
    refused(errors, ValueError, r"errors must have fewer than 2\*\*31 individuals and cases, got shape")


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2**16, 2**15), (2**15, 2**16)])
def test_two_to_the_31_entries_are_counted_right(shape: tuple[int, int]) -> None:
    """256 kinds of rows, equal on all cases: the first case leaves one kind, and nothing after it tells it apart."""
    errors = np.broadcast_to(np.arange(shape[0], dtype=np.uint8)[:, None], shape)
    s = fx.select(errors, 5, seed=1)
    same = shape[0] // 256
    assert (s.indices % 256 == 0).all()
    assert (s.evaluations == shape[0] + same * (shape[1] - 1)).all()
    assert (s.evaluations_distinct == 256).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["int8", "int64-huge", "uint16", "float32", "float64", "float16"])
def test_memory_layout_changes_neither_draws_nor_the_input(kind: str, layout: str) -> None:
    errors = KINDS[kind](np.random.default_rng(1), 23, 17)
    view = LAYOUTS[layout](errors)
    before = view.copy()
    computing = () if kind == "int64-huge" else ("epsilon-lexicase", fx.Lexicase(elitism=3))
    for method in ("lexicase", *computing):
        a, b = fx.select(view, 50, method, seed=5), fx.select(errors, 50, method, seed=5)
        assert (a.indices == b.indices).all()
        assert (a.evaluations == b.evaluations).all()
    assert np.array_equal(view, before)


@pytest.mark.parametrize("bias", ["average", "variance", "median"])
def test_memory_layout_does_not_show_in_the_weights(bias: str) -> None:
    """Sums in another sequence would round differently and break ties of ranks."""
    errors = np.random.default_rng(1).random((301, 40))
    statistics = [ErrorMatrix.from_array(e).statistics for e in (errors, np.asfortranarray(errors), errors[::-1])]
    weights = [getattr(s, bias).tolist() for s in statistics]
    assert weights[0] == weights[1] == weights[2]


@pytest.mark.parametrize("wrap", [DLPackOnly, ArrayOnly, NeedsDetaching, np.ndarray.tolist, tuple])
def test_lists_and_foreign_arrays_are_read(wrap: Any) -> None:
    assert (fx.select(wrap(GRID), 40, seed=3).indices == fx.select(GRID, 40, seed=3).indices).all()


def test_read_only_foreign_arrays_are_read() -> None:
    errors = GRID.astype(np.float32)
    errors.flags.writeable = False
    assert (fx.select(DLPackOnly(errors), 40, seed=3).indices == fx.select(GRID, 40, seed=3).indices).all()


def test_broadcast_arrays_are_read() -> None:
    errors = np.broadcast_to(np.array([3, 1, 2]), (4, 3))
    assert (fx.select(errors, 40, seed=3).indices == fx.select(errors.copy(), 40, seed=3).indices).all()


def test_groups_name_the_first_individual_with_the_same_errors() -> None:
    errors = np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0], [2.0, 1.0], [2.0, 1.5]])
    assert ErrorMatrix.from_array(errors).first_identical_row.tolist() == [0, 1, 0, 1, 4]


@pytest.mark.parametrize("kind", KINDS)
def test_groups_and_zeros_agree_with_plain_comparison(kind: str) -> None:
    errors = KINDS[kind](np.random.default_rng(2), 50, 3)
    matrix = ErrorMatrix.from_array(errors)
    first = [next(j for j in range(50) if (errors[j] == errors[i]).all()) for i in range(50)]
    assert matrix.first_identical_row.tolist() == first
    assert matrix.statistics.zeros.tolist() == (errors == 0).sum(axis=0).tolist()


def test_a_part_has_its_own_rows_and_columns() -> None:
    part = ErrorMatrix.from_array(GRID).submatrix(np.array([1, 3]), np.array([0, 2]))
    assert part.values.tolist() == [[1, 2], [1, 1]]
    assert (part.n_individuals, part.n_cases) == (2, 2)
    assert ErrorMatrix.from_array(GRID).submatrix(None, None).values.tolist() == GRID.tolist()


def test_a_tensor_that_cannot_be_read_is_named() -> None:
    """A tensor elsewhere than on the CPU, or of a type NumPy lacks, says so through its own message."""

    class Elsewhere:
        def __array__(self, dtype: object = None, copy: object = None) -> None:
            raise TypeError("can't convert a tensor on another device")

    with pytest.raises(TypeError, match="errors must be an array on the CPU, but Elsewhere says: can't convert"):
        ErrorMatrix.from_array(Elsewhere())


def test_wide_integers_in_lists_are_told_apart() -> None:
    errors = [[2**64 - 1, 1], [2**64 - 2, 1]]
    for backend in ("native", "reference"):
        assert set(fx.select(errors, 20, seed=1, backend=backend).indices) == {1}


@pytest.mark.parametrize(
    ("errors", "found"),
    [
        (np.array([[1, "7"]], dtype=object), r"entry \[0, 1\] is '7'"),
        (None, "got None"),
        ({"a": 1}, r"got \{'a': 1\}"),
        ((i for i in range(2)), "got <generator"),
    ],
)
def test_objects_that_are_no_numbers_are_refused_with_their_place(errors: Any, found: str) -> None:
    refused(errors, TypeError, rf"errors must be real numbers, .*{found}")


class Frame(ArrayOnly):
    """Like a data frame of a nullable type: an array of objects."""


class NAType:
    """What pandas has for a missing number."""


def test_data_frames_of_nullable_types_are_read() -> None:
    frame = Frame(GRID.astype(object))
    assert (fx.select(frame, 20, seed=1).indices == fx.select(GRID, 20, seed=1).indices).all()
    frame.array[2, 1] = NAType()
    refused(frame, ValueError, r'individual 2, case 1 has nan \(nan="worst" counts it as the worst error\)')
    worst = np.array(GRID, dtype=float)
    worst[2, 1] = np.inf
    chosen = fx.select(frame, 20, seed=1, nan="worst")
    assert (chosen.indices == fx.select(worst, 20, seed=1).indices).all()


def test_bfloat16_tensors_are_read() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(GRID).to(torch.bfloat16).requires_grad_()
    matrix = ErrorMatrix.from_array(tensor)
    assert matrix.values.dtype == np.float32
    assert matrix.values.tolist() == GRID.tolist()


def test_tensors_of_doubles_keep_their_bits() -> None:
    torch = pytest.importorskip("torch")
    errors = torch.tensor([[0.1, 1.0], [0.1 + 1e-12, 1.0]], dtype=torch.float64)
    assert ErrorMatrix.from_array(errors).values.tolist() == errors.tolist()


def test_bfloat16_arrays_are_read() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert ErrorMatrix.from_array(GRID.astype(ml_dtypes.bfloat16)).values.tolist() == GRID.tolist()


BEYOND = np.array([[2**53 + 1, 0], [2**53, 1], [2**53 + 2, 3]])


@pytest.mark.parametrize(
    "method",
    [
        fx.Lexicase(epsilon=1),
        fx.Lexicase(epsilon="mad"),
        fx.Lexicase(epsilon="mad-static"),
        fx.Lexicase(epsilon="mad-dynamic"),
        fx.Lexicase(batch_size=2),
        fx.Lexicase(elitism=1),
        fx.Lexicase(epsilon=1, sampling=fx.DownSample(1.0)),
        fx.Tournament(),
        fx.BatchTournament(),
        fx.FitnessProportionate(),
        fx.DALex(),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_methods_that_compute_refuse_integers_that_float64_rounds(method: fx.Method, dtype: type, backend: Any) -> None:
    with pytest.raises(ValueError, match=r"^errors must be exact as float64 .* case 0 has 9007199254740993$"):
        fx.select(BEYOND.astype(dtype), 1, method, seed=1, backend=backend)
    exact = BEYOND.copy()
    exact[0, 0] = 2**60
    assert len(fx.select(exact.astype(dtype), 3, method, seed=1, backend=backend)) == 3


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_the_largest_integers_are_not_taken_for_exact(dtype: type) -> None:
    """Rounded up to a power of two, they are beyond the type they came from."""
    errors = np.array([[np.iinfo(dtype).max], [0]], dtype=dtype)
    with pytest.raises(ValueError, match=f"individual 0, case 0 has {np.iinfo(dtype).max}$"):
        fx.select(errors, 1, fx.Lexicase(epsilon=1))


@pytest.mark.parametrize("method", ["lexicase", fx.Lexicase(max_cases=1), fx.Lexicase(epsilon=0), "plexicase"], ids=str)
def test_methods_that_only_compare_read_all_integers_exactly(method: fx.Method | str, backend: Any) -> None:
    only = BEYOND[:, :1]
    assert set(fx.select(only, 20, method, seed=1, backend=backend).indices.tolist()) == {1}


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is a double here")
def test_long_doubles_are_read_if_none_is_rounded() -> None:
    errors = np.array([[0.5, 1.0], [np.inf, 0.25]], dtype=np.longdouble)
    expected = fx.select(errors.astype(np.float64), 20, seed=1).indices
    np.testing.assert_array_equal(fx.select(errors, 20, seed=1).indices, expected)
    for beyond in (np.longdouble(1) / 3, np.longdouble(10) ** 400):
        errors[1, 1] = beyond
        with pytest.raises(ValueError, match=r"^errors must be exact as float64, but \w+ .* is at \(1, 1\)$"):
            fx.select(errors, 1)
    errors[1, 1] = np.nan
    assert len(fx.select(errors, 2, nan="worst")) == 2


SCORES = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
SCORE_KINDS = {
    "bool": SCORES.astype(bool),
    "uint8": SCORES.astype(np.uint8),
    "int8-extremes": np.where(SCORES, 127, -128).astype(np.int8),
    "int64-extremes": np.where(SCORES, 2**63 - 1, -(2**63)),
    "uint64-extremes": np.where(SCORES, np.uint64(2**64 - 1), np.uint64(0)),
    "float32": SCORES.astype(np.float32),
    "float64-tiny": SCORES * 5e-324,
    "infinite": np.where(SCORES, 1.0, -np.inf),
    "strided": np.repeat(SCORES.astype(np.int16), 2, axis=1)[:, ::2],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCORE_KINDS)
@pytest.mark.parametrize("backend", ["native", "reference"])
def test_scores_are_maximized_whatever_their_type(kind: str, backend: Any) -> None:
    """Negating would wrap unsigned and smallest integers, and pick wrong parents."""
    errors = 1 - SCORES
    for method in ("lexicase", fx.Lexicase(max_cases=1), fx.Lexicase(order=fx.Ranked([1, 2, 3, 4]))):
        expected = fx.select(errors, 300, method, seed=1, backend=backend)
        found = fx.select(SCORE_KINDS[kind], 300, method, seed=1, maximize=True, backend=backend)
        assert (found.indices == expected.indices).all()
        assert (found.evaluations == expected.evaluations).all()
        assert (found.evaluations_distinct == expected.evaluations_distinct).all()
    assert fx.probabilities(SCORE_KINDS[kind], maximize=True).tolist() == fx.probabilities(errors).tolist()


COMPUTING = [
    "weighted-num-nonzeros", "ranked-num-zeros", "weighted-average", "ranked-split", "fitness-proportionate",
    fx.Lexicase(sampling=fx.InformedDownSample(2, parent_rate=1.0)),
    fx.Lexicase(sampling=fx.InformedDownSample(2, parent_rate=1.0, solved_by=0.5)),
    fx.Lexicase(order=fx.Weighted("num_nonzeros"), sampling=fx.DownSample(2)),
    fx.Lexicase(order=fx.Weighted(lambda s: s.errors.sum(axis=0))),
]  # fmt: skip


@pytest.mark.parametrize("method", COMPUTING, ids=lambda m: m if isinstance(m, str) else m.describe())
def test_methods_that_compute_with_errors_need_to_know_what_is_solved(method: Any) -> None:
    """A score of 0 taken for solved would turn hard cases into easy ones, silently."""
    kinds = [SCORES.astype(np.uint8), SCORES.astype(np.float32), SCORES * 10 - 7]
    expected = fx.select(1.0 - SCORES, 200, method, seed=3)
    for scores, solved in zip(kinds, (1, [1.0] * 4, 3), strict=True):
        scale = 10.0 if solved == 3 else 1.0
        if scale > 1 and method in COMPUTING[4:]:
            continue  # computes with the size of errors
        found = fx.select(scores, 200, method, seed=3, maximize=True, solved=solved)
        assert (found.indices == expected.indices).all()
    with pytest.raises(ValueError, match=r"^solved must be the score that solves a case if maximize=True"):
        fx.select(SCORES, 1, method, seed=3, maximize=True)


def test_a_threshold_counts_as_solved() -> None:
    """Above the threshold selection still prefers the higher score; only the weights see solved and unsolved."""
    scores = np.array([[0.9, 0.2, 0.95], [0.95, 0.1, 0.3], [0.2, 0.3, 0.2]], dtype=np.float32)
    matrix = ErrorMatrix.from_array(scores, "raise", True, 0.9)
    assert matrix.statistics.zeros.tolist() == [2, 0, 1]
    assert matrix.submatrix(None, np.array([2, 0])).statistics.zeros.tolist() == [1, 2]
    assert ErrorMatrix.from_array(scores, "raise", True, [0.9, 0.2, 1]).statistics.zeros.tolist() == [2, 2, 0]
    assert ErrorMatrix.from_array(1 - scores, solved=0.5).statistics.zeros.tolist() == [2, 0, 1]
    assert fx.probabilities(scores, fx.Lexicase(order=fx.Weighted([1, 0, 0])), maximize=True).tolist() == [0, 1, 0]
    worst = np.where(scores > 0.92, np.nan, scores)
    assert ErrorMatrix.from_array(worst, "worst", True, 0.9).statistics.zeros.tolist() == [1, 0, 0]
    refused(scores, ValueError, r"solved must have one number per case: .* \(3,\), got \(2,\)", solved=[1, 2])
    refused(scores, ValueError, r"solved must be a number or one number per case, got NaN", solved=np.nan)
    refused(scores, TypeError, r"solved must be real numbers", solved="1")
    refused(scores, TypeError, r"maximize must be True or False, got 'yes'", maximize="yes")
    refused([[2**60]], ValueError, r"errors must not have integers beyond 2\*\*53", maximize=True, solved=1)


def test_every_entry_point_maximizes() -> None:
    errors, scores = 1 - SCORES, SCORES + 6
    options: Any = {"maximize": True, "solved": 7}
    method = "ranked-num-nonzeros"
    assert (
        fx.select_indices(scores, 50, method, seed=1, **options) == fx.select_indices(errors, 50, method, seed=1)
    ).all()
    assert (
        fx.trace(scores, 50, method, seed=1, **options).indices == fx.trace(errors, 50, method, seed=1).indices
    ).all()
    assert fx.probabilities(scores, method, **options).tolist() == fx.probabilities(errors, method).tolist()
    a, b = (
        fx.estimate_probabilities(e, method, 500, seed=1, **o).probabilities
        for e, o in ((scores, options), (errors, {}))
    )
    assert a.tolist() == b.tolist()
    assert fx.advise(4, 4, 1, errors=scores, **options).share == fx.advise(4, 4, 1, errors=errors).share
    c, d = (
        fx.FastLexicase(e.shape[1], method, seed=1, **o).select(lambda i, c, e=e: e[np.ix_(i, c)], len(e), 50)
        for e, o in ((scores, options), (errors, {}))
    )
    assert c.indices.tolist() == d.indices.tolist()


def test_a_matrix_is_freed_without_the_garbage_collector() -> None:
    """A cached reference to itself would keep its memory, and slow down every next selection."""
    matrix = ErrorMatrix.from_array(GRID)
    assert matrix.statistics.zeros.sum() == (GRID == 0).sum()
    assert matrix.above_solved is matrix
    assert all(value is not matrix for value in vars(matrix).values())
