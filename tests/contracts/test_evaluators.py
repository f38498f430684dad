"""One contract, every evaluator."""

from __future__ import annotations

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


MAKERS = {
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


def test_may_be_closed_twice_and_used_again(make) -> None:
    with make(functions.difference) as evaluate:
        first = evaluate([1, 2], [3]).tolist()
    evaluate.close()
    assert evaluate([1, 2], [3]).tolist() == first


def test_refuses_what_is_not_a_function(make) -> None:
    if make.kind == "pairs":
        with pytest.raises(TypeError, match="function must be callable, got 3"):
            PairEvaluator(3)
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
