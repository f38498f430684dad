"""One contract, every evaluator."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import flexicase as fx
from flexicase.evaluation import (
    AsyncEvaluator,
    CaseEvaluator,
    EvaluationError,
    PairEvaluator,
    ProcessEvaluator,
    RayEvaluator,
    ThreadEvaluator,
)
from flexicase.evaluation._local import split_block
from simulated_cluster import SimulatedCluster
from tests.contracts import evaluators as functions
from tests.processes import is_alive, wait_until


class SinglePairs:
    """A function of blocks, called for one pair."""

    def __init__(self, function) -> None:
        self.function = function

    def __call__(self, individual: int, case: int):
        assert type(individual) is int
        assert type(case) is int
        return self.function([individual], [case])[0][0]


def awaited(function):
    """A coroutine function for pairs from a function of blocks."""
    pair = SinglePairs(function)

    async def rollout(individual: int, case: int):
        await asyncio.sleep(0)
        return pair(individual, case)

    return rollout


MAKERS = {
    "async": lambda function: AsyncEvaluator(awaited(function), 3),
    "pairs": lambda function: PairEvaluator(SinglePairs(function)),
    "threads": lambda function: ThreadEvaluator(function, 3),
    "processes": lambda function: ProcessEvaluator(function, 2),
    "ray": lambda function: RayEvaluator(function, workers=1),
    "simulated": lambda function: SimulatedCluster(function, 3, pair_seconds=0.02),
}


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.slow if kind == "ray" else ()) for kind in MAKERS])
def make(request: pytest.FixtureRequest):
    """A maker of each kind of evaluator; what it made is closed afterwards."""
    made = []
    if request.param == "ray":
        request.getfixturevalue("local_ray")

    def maker(function):
        made.append(MAKERS[request.param](function))
        return made[-1]

    maker.kind = request.param
    yield maker
    for evaluator in made:
        evaluator.close()


def test_gives_the_errors_of_every_block(make) -> None:
    evaluate = make(functions.difference)
    assert isinstance(evaluate, CaseEvaluator)
    for individuals, cases in [
        (range(9), range(20)),
        ([4], [7]),
        ([5, 2], [9]),
        ([3], range(30)),
        ([], [1]),
        ([1], []),
    ]:
        rows, columns = np.array(individuals, dtype=np.int64), np.array(cases, dtype=np.int64)
        errors = evaluate(rows, columns)
        assert errors.dtype == np.float64
        np.testing.assert_array_equal(errors, functions.difference(rows, columns))


def test_selects_the_same_parents(make) -> None:
    evaluate = make(functions.difference)
    plain = fx.FastLexicase(40, seed=3).select(functions.difference, 12, 5)
    s = fx.FastLexicase(40, seed=3).select(evaluate, 12, 5)
    assert s.indices.tolist() == plain.indices.tolist()
    assert s.evaluations.tolist() == plain.evaluations.tolist()
    highest = [
        fx.FastLexicase(40, "lexicase", seed=3, maximize=True).select(given, 12, 5)
        for given in (functions.difference, evaluate)
    ]
    assert highest[0].indices.tolist() == highest[1].indices.tolist() != plain.indices.tolist()
    assert highest[0].evaluations.tolist() == highest[1].evaluations.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (functions.raises_on_13, "the evaluator raised ZeroDivisionError: case 13"),
        (
            functions.nan_on_13,
            "errors from the evaluator must be numbers, but individual 1, case 13 has nan",
        ),
        (functions.text, "errors from the evaluator must be real numbers, got dtype <U"),
        (functions.too_narrow, "the evaluator (must have shape|raised IndexError)"),
    ],
)
def test_a_failure_names_the_pairs(make, function, message: str) -> None:
    evaluate = make(function)
    with pytest.raises(EvaluationError, match=message) as caught:
        evaluate(np.array([1, 2, 3, 4]), np.array([13, 14]))
    assert 1 in caught.value.individuals
    assert 13 in caught.value.cases
    if function in (functions.raises_on_13, functions.nan_on_13):
        np.testing.assert_array_equal(evaluate(np.array([1, 2]), np.array([3])), functions.difference([1, 2], [3]))


@pytest.mark.slow
def test_may_be_closed_twice_and_used_again(make) -> None:
    with make(functions.difference) as evaluate:
        first = evaluate([1, 2], [3]).tolist()
    evaluate.close()
    assert evaluate([1, 2], [3]).tolist() == first


def test_refuses_what_is_not_a_function(make) -> None:
    if make.kind in ("pairs", "async"):
        with pytest.raises(TypeError, match="function must be callable, got 3"):
            (PairEvaluator if make.kind == "pairs" else AsyncEvaluator)(3)
    else:
        name = "evaluate" if make.kind == "simulated" else "function"
        with pytest.raises(TypeError, match=f"{name} must be callable, got 3"):
            make(3)


@pytest.mark.parametrize("kind", [ThreadEvaluator, ProcessEvaluator])
def test_refuses_no_workers(kind) -> None:
    with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
        kind(functions.difference, 0)


def test_threads_work_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=20)

    def meet(individuals, cases):
        meeting.wait()
        return np.zeros((len(individuals), len(cases)))

    with ThreadEvaluator(meet, 3) as evaluate:
        assert evaluate(range(9), [0]).shape == (9, 1)


def test_processes_are_others() -> None:
    with ProcessEvaluator(functions.process_number, 2) as evaluate:
        found = set(evaluate(range(8), [0]).ravel().tolist())
    assert os.getpid() not in found
    assert found


def test_a_dead_process_is_an_error_and_the_next_call_works() -> None:
    with ProcessEvaluator(functions.dies_on_13, 2) as evaluate:
        fast = fx.FastLexicase(30, seed=1)
        with pytest.raises(EvaluationError, match=r"a worker process died.*individuals 5, 6; cases 13\)") as caught:
            evaluate([5, 6], [13])
        assert caught.value.cases.tolist() == [13]
        assert evaluate([5, 6], [12]).tolist() == functions.difference([5, 6], [12]).tolist()
        with pytest.raises(EvaluationError, match="a worker process died"):
            fast.select(evaluate, 3, 200)
        assert fast.state_dict()["next_event"] == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on POSIX")
@pytest.mark.parametrize("whom", ["process", "group"])
def test_an_interrupt_stops_the_processes_at_once(whom: str, tmp_path) -> None:
    """Long calls would otherwise go on after Ctrl-C, keep the program from ending, or leave orphans."""
    script = """
        import flexicase as fx
        from flexicase.evaluation import ProcessEvaluator
        from tests.contracts import evaluators as functions

        evaluate = ProcessEvaluator(functions.sleeps_once, 2)
        fast = fx.FastLexicase(40, seed=3)
        try:
            fast.select(evaluate, 12, 5)
        except KeyboardInterrupt:
            assert fast.state_dict()["next_event"] == 0
        else:
            raise SystemExit("not interrupted")
        plain = fx.FastLexicase(40, seed=3).select(functions.difference, 12, 5)
        assert fast.select(evaluate, 12, 5).indices.tolist() == plain.indices.tolist()
    """
    root = Path(__file__).resolve().parent.parent.parent
    environment = os.environ | {"SLEEPERS": str(tmp_path), "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2, seconds=20)
        os.killpg(program.pid, signal.SIGINT) if whom == "group" else os.kill(program.pid, signal.SIGINT)
        _, said = program.communicate(timeout=20)
    finally:
        program.kill()
    assert (program.returncode, said) == (0, "")
    wait_until(lambda: not any(is_alive(int(sleeper.name)) for sleeper in tmp_path.iterdir()), seconds=20)


def test_a_function_that_cannot_travel_is_refused() -> None:
    with pytest.raises(TypeError, match="function must be picklable to reach other processes"):
        ProcessEvaluator(lambda i, c: [[0]], 1)


def test_errors_cross_processes() -> None:
    error = pickle.loads(pickle.dumps(EvaluationError("broken", [1, 2], [3])))
    assert str(error) == "broken (individuals 1, 2; cases 3)"


@pytest.mark.parametrize(
    ("m", "b", "parts"), [(9, 4, 3), (4, 9, 3), (1, 1, 5), (2, 2, 5), (0, 3, 2), (3, 0, 2), (7, 7, 1)]
)
def test_a_block_is_cut_without_gap_or_overlap(m: int, b: int, parts: int) -> None:
    covered = np.zeros((m, b), dtype=int)
    pieces = split_block(m, b, parts)
    assert len(pieces) <= parts
    for rows, columns in pieces:
        covered[rows, columns] += 1
    assert (covered == 1).all()


def test_rollouts_run_at_the_same_time_up_to_the_limit() -> None:
    now = most = 0

    async def rollout(individual: int, case: int) -> float:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0.005)
        now -= 1
        return float(individual == case)

    with AsyncEvaluator(rollout, concurrency=5) as evaluate:
        assert evaluate(range(4), range(5)).tolist() == np.eye(4, 5).tolist()
    assert (now, most) == (0, 5)
    assert len(evaluate.finished) == 20
    with pytest.raises(ValueError, match="concurrency must be at least 1, got 0"):
        AsyncEvaluator(rollout, 0)


def test_rollouts_work_beside_a_running_event_loop_and_share_theirs() -> None:
    loops = set()

    async def rollout(individual: int, case: int) -> float:
        loops.add(asyncio.get_running_loop())
        return 0.0

    async def program(evaluate) -> list:
        loops.discard(asyncio.get_running_loop())
        return [evaluate([0], [1]).tolist(), evaluate([0], [2]).tolist()]

    with AsyncEvaluator(rollout) as evaluate:
        assert asyncio.run(program(evaluate)) == [[[0.0]], [[0.0]]]
    assert len(loops) == 1


@pytest.mark.slow
def test_a_failed_rollout_loses_none_that_was_under_way() -> None:
    """Rollouts cost money: what was started before the failure is awaited, kept, and not paid for again."""
    started, broken = [], True

    async def rollout(individual: int, case: int) -> float:
        started.append((individual, case))
        if broken and len(started) == 8:
            raise ConnectionError("quota")
        await asyncio.sleep(0.01)
        return functions.difference([individual], [case])[0, 0]

    with AsyncEvaluator(rollout, concurrency=4) as evaluate:
        fast = fx.FastLexicase(40, seed=3)
        with pytest.raises(EvaluationError, match="raised ConnectionError: quota") as caught:
            fast.select(evaluate, 12, 5)
        assert isinstance(caught.value.__cause__, ConnectionError)
        assert fast.state_dict()["next_event"] == 0
        assert len(evaluate.finished) == len(started) - 1 >= 7
        broken, paid = False, set(evaluate.finished)
        del started[:]
        s = fast.select(evaluate, 12, 5, known=evaluate.known_errors(12, 40))
        assert not paid & set(started)
        assert s.pairs.sum() == len(started)
    plain = fx.FastLexicase(40, seed=3).select(functions.difference, 12, 5)
    assert s.indices.tolist() == plain.indices.tolist()


@pytest.mark.parametrize("failure", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), StopIteration(1)])
def test_nothing_that_a_rollout_raises_blocks_the_caller(failure: BaseException) -> None:
    """An event loop that a task ended would leave the caller waiting."""
    fails = True

    async def rollout(individual: int, case: int) -> float:
        if fails and case == 1:
            raise failure
        return 0.0

    expected = type(failure) if isinstance(failure, SystemExit | KeyboardInterrupt) else EvaluationError
    with AsyncEvaluator(rollout, 2) as evaluate:
        with pytest.raises(expected):
            evaluate([0, 1], [0, 1, 2])
        fails = False
        assert evaluate([0, 1], [0, 1]).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_wrong_rollouts_are_refused() -> None:
    with AsyncEvaluator(lambda individual, case: 1.0) as evaluate, pytest.raises(EvaluationError, match="await"):
        evaluate([0], [0])

    async def calls_itself(individual: int, case: int) -> float:
        return evaluate([individual], [case])[0, 0]

    with AsyncEvaluator(calls_itself) as evaluate, pytest.raises(EvaluationError, match="by its own coroutines"):
        evaluate([0], [0])


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on POSIX")
def test_an_interrupt_cancels_rollouts_and_keeps_finished_ones() -> None:
    cancelled = []

    async def rollout(individual: int, case: int) -> float:
        if individual == 1:
            while (0, 0) not in evaluate.finished:
                await asyncio.sleep(0)
            os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(0 if individual == 0 else 60)
        except asyncio.CancelledError:
            cancelled.append(individual)
            raise
        return 0.0

    with AsyncEvaluator(rollout, 2) as evaluate, pytest.raises(KeyboardInterrupt):
        evaluate([0, 1, 2, 3], [0])
    assert evaluate.finished == {(0, 0): 0.0}
    assert sorted(cancelled) in ([1], [1, 2])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_can_go_on_with_coroutines() -> None:
    """The thread of the event loop is not there; the call waited for it for ever."""
    with AsyncEvaluator(functions.rollout) as evaluate:
        assert evaluate([1], [2]).tolist() == [[3.0]]
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(20)
            os._exit(0 if evaluate([1], [3]).tolist() == [[4.0]] else 1)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on resources")
def test_an_event_loop_that_cannot_start_is_an_error() -> None:
    """The call waited for it for ever."""
    script = """
    import resource, signal
    from flexicase.evaluation import AsyncEvaluator
    from tests.contracts.evaluators import rollout
    signal.alarm(20)
    with AsyncEvaluator(rollout) as evaluate:
        evaluate([1], [2])  # opens the files of modules that are imported at first use
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    try:
        evaluate([1], [2])
    except OSError as error:
        print(error.strerror)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    print(evaluate([1], [2]))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "Too many open files\n[[3.]]\n"
