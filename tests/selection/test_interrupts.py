"""Ctrl-C during long calls, and other Python threads meanwhile."""

from __future__ import annotations

import os
import textwrap

import pytest

from tests.scripts import run_script

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals as POSIX has them")

MEASURE = """
    import signal
    started = []
    def interrupt():
        time.sleep(float(sys.argv[1]))
        started.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    def delay(call):
        "Seconds from Ctrl-C to the KeyboardInterrupt that a call raises."
        threading.Thread(target=interrupt).start()
        try:
            call()
        except KeyboardInterrupt:
            return time.monotonic() - started.pop()
        raise SystemExit("the call ended first")
    rng = np.random.default_rng(1)
"""

CALLS = {  # what to set up, and the call
    "draw": ("e = rng.integers(0, 2, (400, 400))", "fx.Selector(e).draw_indices(30_000_000)"),
    "draw-counts": ("e = rng.integers(0, 2, (400, 400))", "fx.Selector(e).draw(10_000_000)"),
    "draw-threads": ("e = rng.integers(0, 2, (400, 400))", "fx.select_indices(e, 30_000_000, threads=2)"),
    "continuous": ("e = rng.random((400, 400))", "fx.select_indices(e, 200_000_000)"),
    "epsilon": ("e = rng.random((2000, 400))", "fx.select(e, 3_000_000, fx.Lexicase(epsilon='mad'))"),
    "batch": ("e = rng.random((2000, 400))", "fx.select(e, 3_000_000, fx.Lexicase(batch_size=200))"),
    "tournament": ("e = rng.random((50, 5))", "fx.select(e, 80_000_000, 'tournament')"),
    "dalex": ("e = rng.random((2000, 400))", "fx.select(e, 3_000_000, fx.DALex(std=1.0))"),
    "plexicase": (
        "e = np.where(np.eye(3000) > 0, 0, rng.integers(1, 9, (3000, 3000))); e[:, :50] = 0",
        "[fx.probabilities(e, 'plexicase') for _ in range(100)]",
    ),
    "probabilities": ("e = rng.integers(0, 2, (60, 60))", "fx.probabilities(e, max_states=10**8)"),
    "probabilities-ranked": (
        "e = rng.integers(0, 3, (60, 40))",
        "fx.probabilities(e, fx.Lexicase(order=fx.Ranked('num_nonzeros'), max_cases=30), max_states=10**8)",
    ),
    "trace": (
        "e = rng.integers(0, 2, (400, 400)); from flexicase.selection.trace import trace",
        "trace(e, 1_000_000)",
    ),
    "informed": (
        "e = rng.integers(0, 2, (2000, 3000))",
        "[fx.Selector(e, fx.Lexicase(sampling=fx.InformedDownSample(0.9, parent_rate=1.0))) for _ in range(99)]",
    ),
    "fast": (
        "e = rng.integers(0, 2, (300, 200)).astype(float)",
        "fx.FastLexicase(200).select(lambda i, c: e[np.ix_(i, c)], 300, 50_000_000)",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_long_call(name: str) -> None:
    """Within 100 ms on a quiet machine; tests run on busy ones."""
    setup, call = CALLS[name]
    found = run_script(f"{textwrap.dedent(MEASURE)}\n{setup}\nprint(delay(lambda: {call}))", "0.15")
    print(name, found)
    assert float(found) < 1.0


@pytest.mark.slow
def test_ctrl_c_ends_the_preparation_of_a_large_matrix() -> None:
    code = (
        MEASURE
        + """
    errors = np.broadcast_to(rng.integers(0, 2, (1, 30_000), dtype=np.int64), (100_000, 30_000))  # takes no memory
    print(delay(lambda: fx.Selector(errors)))
    """
    )
    assert float(run_script(code, "0.15")) < 1.0


@pytest.mark.slow
def test_an_interrupted_selector_goes_on_as_if_nothing_had_happened() -> None:
    code = (
        MEASURE
        + """
    errors = rng.integers(0, 2, (400, 400))
    few = errors.astype(float)
    for method in ("lexicase", fx.Lexicase(epsilon="mad"), fx.DALex(std=1.0)):
        selector = fx.Selector(errors, method, seed=1)
        first = selector.draw(3).indices
        delay(lambda: selector.draw(50_000_000))
        both = np.concatenate([first, selector.draw(50).indices])
        assert (both == fx.select(errors, 53, method, seed=1).indices).all(), method
    fast, other = fx.FastLexicase(400, seed=1), fx.FastLexicase(400, seed=1)
    evaluate = lambda i, c: few[np.ix_(i, c)]
    delay(lambda: fast.select(evaluate, 400, 50_000_000))
    assert (fast.select(evaluate, 400, 20).indices == other.select(evaluate, 400, 20).indices).all()
    assert (fast.weights == other.weights).all()
    """
    )
    run_script(code, "0.1")


@pytest.mark.slow
def test_other_threads_run_during_long_calls() -> None:
    """A thread that ticks every millisecond never waits long, also if an evaluator never lets others run."""
    code = """
    gaps = []
    stop = threading.Event()
    def tick():
        last = time.monotonic()
        while not stop.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            gaps.append(now - last)
            last = now
    rng = np.random.default_rng(1)
    errors = rng.integers(0, 2, (1500, 1500))
    few = np.zeros((60, 1))
    thread = threading.Thread(target=tick)
    thread.start()
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        fx.select(errors, 3000)
        fx.FastLexicase(3, seed=1).select(lambda i, c: few[i][:, c * 0], 60, 20_000)
    stop.set()
    thread.join()
    print(sorted(gaps)[-2])
    """
    assert float(run_script(code)) < 1.0
