"""Objects that threads share, arrays that change under a selector, and threads or memory that cannot be had."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import flexicase as fx
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.matrix import ErrorMatrix
from tests.scripts import run_script

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")


def decided_by_first_cases() -> np.ndarray:
    """On every case one individual is best, and 200 of the others have equal errors."""
    errors = np.random.default_rng(1).random((600, 300)) + 1
    errors[:200] = 5.0  # kinds are numbered differently once equal rows are grouped
    errors[500:] -= 1
    return errors


@pytest.mark.slow
def test_a_draw_with_counts_leaves_alone_what_a_draw_without_them_reads() -> None:
    run_script("""
        errors = np.random.default_rng(1).random((600, 300)) + 1
        errors[:200] = 5.0  # kinds are numbered differently once equal rows are grouped
        errors[500:] -= 1
        for _ in range(20):
            selector = fx.Selector(errors, seed=1)
            started = threading.Event()
            drawn = []
            def draw():
                selector.draw_indices(1)
                started.set()
                drawn.append(selector.draw_indices(500_000))
            thread = threading.Thread(target=draw)
            thread.start()
            started.wait()
            time.sleep(0.01)  # the draw has begun and takes ten times as long
            selector.draw(1)
            thread.join()
            assert 500 <= drawn[0].min() and drawn[0].max() < 600
    """)


def test_grouping_equal_rows_first_changes_no_draw_without_counts() -> None:
    matrix = ErrorMatrix.from_array(decided_by_first_cases())
    key = fx.Selector([[0]], seed=5)._key
    expected = Lexicase().prepare(ErrorMatrix.from_array(matrix.values), key, "native").draw(key, range(2000), True, 1)
    assert len(np.unique(matrix.first_identical_row)) == 401
    found = Lexicase().prepare(matrix, key, "native").draw(key, range(2000), False, 1)
    np.testing.assert_array_equal(found.indices, expected.indices)


@pytest.mark.parametrize(
    "method", ["lexicase", fx.Lexicase(epsilon="mad"), fx.Lexicase(batch_size=2), "weighted-num-nonzeros"], ids=str
)
def test_threads_that_share_a_selector_get_events_of_their_own(method: str | fx.Lexicase) -> None:
    errors = np.random.default_rng(2).integers(0, 5, (80, 40)).astype(np.float64)
    expected = fx.select(errors, 4000, method, seed=3)
    selector = fx.Selector(errors, method, seed=3)
    with ThreadPoolExecutor(8) as pool:
        draws = list(pool.map(lambda k: selector.draw_indices(20) if k % 2 else selector.draw(20).indices, range(200)))
    chunks = {tuple(expected.indices[k : k + 20].tolist()) for k in range(0, 4000, 20)}
    assert {tuple(draw.tolist()) for draw in draws} == chunks


def test_threads_that_share_a_fast_selector_wait_for_each_other() -> None:
    errors = np.random.default_rng(3).integers(0, 3, (30, 50)).astype(np.float64)

    def evaluate(individuals: np.ndarray, cases: np.ndarray) -> np.ndarray:
        return errors[np.ix_(individuals, cases)]

    alone = fx.FastLexicase(50, seed=4)
    expected = np.concatenate([alone.select(evaluate, 30, 50).indices for _ in range(16)])
    shared = fx.FastLexicase(50, seed=4)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: shared.select(evaluate, 30, 50).indices, range(16)))
    chunks = {tuple(expected[k : k + 50].tolist()) for k in range(0, 800, 50)}
    assert {tuple(indices.tolist()) for indices in found} == chunks
    np.testing.assert_array_equal(shared.weights, alone.weights)


def test_an_evaluator_may_use_the_fast_selector_that_calls_it() -> None:
    fast = fx.FastLexicase(4, seed=1)
    inner = []

    def evaluate(individuals: np.ndarray, cases: np.ndarray) -> np.ndarray:
        if not inner:
            inner.append(None)
            inner[0] = fast.select(np.add.outer, 3, 2).indices.tolist()
        return np.add.outer(individuals, cases)

    assert fast.select(evaluate, 3, 2).indices.tolist() == [0, 0]
    assert inner == [[0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    ["selector.draw(20_000)", "fx.FastLexicase(300, seed=1).select(evaluate, 300, 5)"],
    ids=["draw", "select by an evaluator"],
)
def test_a_thread_at_work_while_the_interpreter_exits_does_not_abort_it(call: str) -> None:
    run_script(f"""
        errors = np.random.default_rng(1).integers(0, 2, (300, 300))
        def evaluate(individuals, cases):
            time.sleep(0.001)
            return errors[np.ix_(individuals, cases)]
        def work():
            selector = fx.Selector(errors, seed=1)
            while True:
                {call}
                begun.set()
        class Slow:
            def flush(self):
                time.sleep(0.2)  # the threads ask for the lock while the interpreter exits
        sys.stdout = Slow()
        begun = threading.Event()
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        begun.wait()
        time.sleep(0.1)
    """)


@pytest.mark.slow
@linux_only
@pytest.mark.parametrize("method", ["lexicase", "tournament", "dalex", "epsilon-mad"])
def test_threads_and_memory_that_cannot_be_had_are_no_crash(method: str) -> None:
    """With less and less memory left, a draw on 64 threads gives the right parents or MemoryError."""
    out = run_script(
        """
        import resource
        errors = np.random.default_rng(1).random((200, 300))
        methods = {"tournament": fx.Tournament(), "dalex": fx.DALex(), "epsilon-mad": fx.Lexicase(epsilon="mad")}
        method = methods.get(sys.argv[1], sys.argv[1])
        expected = fx.select(errors, 2000, method, seed=1).indices
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        outcomes = set()
        for extra in (0, 1, 2, 4, 8, 9, 17, 40, 70, 100, 300, 600):
            child = os.fork()
            if child == 0:
                resource.setrlimit(resource.RLIMIT_AS, (used + (extra << 20),) * 2)
                try:
                    found = fx.select(errors, 2000, method, seed=1, threads=64).indices
                    os._exit(0 if (found == expected).all() else 2)
                except MemoryError:
                    os._exit(1)
                finally:
                    os._exit(3)
            outcomes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(*sorted(outcomes))
        """,
        method,
    )
    assert set(out.split()) <= {"0", "1"}
    assert "0" in out.split()


SCRIBBLE = """
    kinds = {
        "bytes": lambda rng: rng.integers(0, 3, (n, m), dtype=np.uint8),
        "signed bytes": lambda rng: rng.integers(-3, 3, (n, m), dtype=np.int8),
        "coded": lambda rng: rng.integers(0, 3, (n, m)).astype(np.float64),
        "wide": lambda rng: rng.integers(-2**40, 2**40, (n, m)),
        "few": lambda rng: rng.integers(-2, 2, (n, m)).astype(np.float32),
        "continuous": lambda rng: rng.random((n, m)),
        "columns": lambda rng: np.asfortranarray(rng.random((n, m))),
    }
    methods = [
        "lexicase", "weighted-num-nonzeros", "ranked-num-nonzeros", fx.Lexicase(epsilon=0.5),
        fx.Lexicase(epsilon="mad"), fx.Lexicase(epsilon="mad-dynamic"), fx.Lexicase(epsilon="mad-static"),
        fx.Lexicase(batch_size=3), fx.Lexicase(batch_size=3, epsilon="mad-dynamic"),
        fx.Lexicase(max_cases=3, slippage=0.1),
        fx.Lexicase(sampling=fx.InformedDownSample(5, parent_rate=1.0)), fx.Lexicase(elitism=2), fx.Tournament(),
        fx.BatchTournament(batch_size=2), fx.DALex(std=3.0), "plexicase",
    ]
    def values(rng, dtype):
        if dtype.kind != "f":
            return rng.choice([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1, 2, 255 % np.iinfo(dtype).max], (n, m))
        return rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1.0, 2.0, 255.0, 256.0, 1e30, 0.5], (n, m))
    n, m = (int(a) for a in sys.argv[1:3])
    rng = np.random.default_rng(7)
    np.seterr(all="ignore")
"""


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(40, 100), (700, 70)], ids=str)
def test_errors_that_change_between_draws_give_valid_indices(shape: tuple[int, int]) -> None:
    """Bounded loops and indices in range, whatever the array holds when it is read again."""
    code = (
        SCRIBBLE
        + """
    for name, make in kinds.items():
        for method in methods:
            errors = make(rng)
            copy = errors.copy()
            selector = fx.Selector(errors, method, seed=1)
            if rng.random() < 0.5:
                selector.draw_indices(5)
            for _ in range(3):
                errors[...] = values(rng, errors.dtype)
                if rng.random() < 0.5:
                    errors[1:] = errors[0]
                for draw in (selector.draw_indices, lambda n: selector.draw(n).indices):
                    chosen = draw(60)
                    assert 0 <= chosen.min() and chosen.max() < n, (name, method)
    """
    )
    run_script(code, *map(str, shape), seconds=120)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lexicase", "weighted-num-nonzeros", "ranked-num-nonzeros"])
@pytest.mark.parametrize("cases", [64, 1000])
def test_errors_that_become_equal_are_not_told_apart_by_memory_outside(method: str, cases: int) -> None:
    """The search for a case on which two individuals differ ends with the cases, whatever lies behind them."""

    def draw(better_outside: int) -> np.ndarray:
        wide = np.random.default_rng(1).random((40, cases + 1024)) + 1
        errors = wide[:, :cases]
        errors[:2] = 0.0
        errors[0, cases // 2] = 0.5
        selector = fx.Selector(errors, method, seed=1)
        selector.draw(1)
        errors[...] = 0.0
        wide[:, cases:] = 1.0
        wide[better_outside, cases:] = 0.0
        return selector.draw_indices(2000)

    np.testing.assert_array_equal(draw(0), draw(1))


@pytest.mark.slow
def test_errors_that_change_during_draws_give_valid_indices() -> None:
    code = (
        SCRIBBLE
        + """
    def scribble(errors, stop):
        with np.errstate(all="ignore"):
            while not stop.is_set():
                errors[...] = values(np.random.default_rng(), errors.dtype)
    for name, make in kinds.items():
        errors = make(rng)
        stop = threading.Event()
        thread = threading.Thread(target=scribble, args=(errors, stop))
        for method in methods:
            try:
                selector = fx.Selector(errors, method, seed=1, nan="worst")
            except ValueError:
                selector = fx.Selector(make(rng), method, seed=1)
            if not thread.is_alive():
                thread.start()
            for draw in (selector.draw_indices, lambda n: selector.draw(n).indices, lambda n: selector.draw(n).indices):
                chosen = draw(100)
                assert 0 <= chosen.min() and chosen.max() < n, (name, method)
            try:
                fx.probabilities(errors, method, max_states=50)
            except (ValueError, TypeError):
                pass
        stop.set()
        thread.join()
    """
    )
    run_script(code, "90", "70", seconds=120)


def test_a_failed_draw_uses_up_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = np.random.default_rng(4).integers(0, 4, (50, 20))
    selector = fx.Selector(errors, seed=9)
    kernel = selector._kernel

    class Failing:
        def draw(self, *_: object) -> None:
            raise KeyboardInterrupt

    selector._kernel = Failing()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        selector.draw(7)
    selector._kernel = kernel
    np.testing.assert_array_equal(selector.draw(30).indices, fx.select(errors, 30, seed=9).indices)


def test_threads_prepare_one_matrix_once() -> None:
    """Several kernels on one matrix, each asked first by several threads at once."""
    errors = np.random.default_rng(5).integers(0, 2, (400, 200)).astype(np.int32)
    expected = fx.select(errors, 300, seed=2)
    for _ in range(10):
        matrix = ErrorMatrix.from_array(errors)
        key = fx.Selector([[0]], seed=2)._key
        kernels = [Lexicase().prepare(matrix, key, "native") for _ in range(4)]
        barrier = threading.Barrier(8)

        def draw(k: int) -> np.ndarray:
            barrier.wait()  # noqa: B023
            return kernels[k % 4].draw(key, range(300), k % 2 == 0, 1).indices  # noqa: B023

        with ThreadPoolExecutor(8) as pool:
            for indices in pool.map(draw, range(8)):
                np.testing.assert_array_equal(indices, expected.indices)
