"""Evaluation on Ray: actors that die, machines that die, pieces that kill, populations that change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import flexicase as fx
from flexicase.evaluation import EvaluationError, RayEvaluator
from tests.contracts.evaluators import difference
from tests.evaluation import lingering
from tests.processes import is_alive, wait_until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
N_INDIVIDUALS, N_CASES, N_EVENTS = 12, 40, 8

pytest.importorskip("ray", reason="Ray is not installed (the cluster extra)")


def outcome(s: fx.FastSelection, fast: fx.FastLexicase):
    return [
        *(s.indices.tolist(), s.evaluations.tolist(), s.cases_used.tolist(), s.ended.tolist()),
        fast.weights.tolist(),
    ]


@pytest.fixture(scope="module")
def expected():
    """What selection gives without Ray."""
    fast = fx.FastLexicase(N_CASES, seed=3)
    return outcome(fast.select(difference, N_INDIVIDUALS, N_EVENTS), fast)


@pytest.mark.usefixtures("local_ray")
def test_kill_9_of_an_actor_changes_nothing(tmp_path, expected) -> None:
    with RayEvaluator(lingering.linger, str(tmp_path), workers=2) as evaluate:
        killed = []

        def kill() -> None:
            wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
            killed.append(min(int(path.name) for path in tmp_path.iterdir()))
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        fast = fx.FastLexicase(N_CASES, seed=3)
        s = fast.select(evaluate, N_INDIVIDUALS, N_EVENTS)
        killer.join()
        assert outcome(s, fast) == expected
        wait_until(lambda: not is_alive(killed[0]))
        evaluate(range(8), range(8))
    assert len(list(tmp_path.iterdir())) >= 2


@pytest.mark.usefixtures("local_ray")
def test_a_piece_that_always_kills_its_worker_is_named_after_n_attempts(tmp_path) -> None:
    with RayEvaluator(lingering.dies_of_case_13, str(tmp_path), workers=2, attempts=2) as evaluate:
        fast = fx.FastLexicase(N_CASES, seed=3)
        weights, state = fast.weights.tolist(), fast.state_dict()["next_event"]
        with pytest.raises(EvaluationError, match=r"worker process died in 2 attempts.*cases 13\)") as caught:
            fast.select(evaluate, N_INDIVIDUALS, 200)
        assert caught.value.cases.tolist() == [13]
        deaths = [line.partition(" ")[2] for line in (tmp_path / "deaths").read_text().splitlines()]
        last = f"{caught.value.individuals.tolist()} [13]"
        assert deaths.count(last) == 2
        assert (fast.weights.tolist(), fast.state_dict()["next_event"]) == (weights, state)
        assert evaluate([5, 6], [12]).tolist() == difference([5, 6], [12]).tolist()


@pytest.mark.usefixtures("local_ray")
def test_what_fails_ahead_of_time_is_an_error_only_if_it_is_needed(tmp_path) -> None:
    """Otherwise it would depend on the speed of the workers whether a selection works."""

    def fails(individuals, cases):
        return lingering.fails_if_7_meets_13("", individuals, cases)

    with RayEvaluator(lingering.fails_if_7_meets_13, str(tmp_path), workers=2) as evaluate:
        for seed in range(12):
            careful, fast = (fx.FastLexicase(N_CASES, seed=seed, lookahead=k) for k in (1, "auto"))
            try:
                found = outcome(careful.select(fails, N_INDIVIDUALS), careful)
            except EvaluationError:
                with pytest.raises(EvaluationError, match="ZeroDivisionError: 7 on 13"):
                    fast.select(evaluate, N_INDIVIDUALS)
            else:
                assert outcome(fast.select(evaluate, N_INDIVIDUALS), fast) == found


@pytest.mark.usefixtures("local_ray")
def test_a_new_population_is_noticed_by_actors_and_selector() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=30) * 20, rng.normal(size=30) * 20
    fast, twin = (fx.FastLexicase(N_CASES, seed=3) for _ in range(2))
    with RayEvaluator(lingering.weigh, one, workers=1) as evaluate:
        for population in (one, other):
            if population is other:
                evaluate.new_population(other)
            s = fast.select(evaluate, 30, 4)
            expected = twin.select(partial(lingering.weigh, population), 30, 4)
            assert s.indices.tolist() == expected.indices.tolist()
            assert fast.weights.tolist() == twin.weights.tolist()


@pytest.mark.usefixtures("local_ray")
def test_a_worker_that_was_started_again_unnoticed_is_given_the_population() -> None:
    """It is sent with the first batch of a generation only."""
    population = np.arange(30) * 1.5
    with RayEvaluator(lingering.weigh, population, workers=1) as evaluate:
        evaluate._started()._sent_generation[0] = evaluate.generation  # as if sent to one that died while idle
        found = evaluate([1, 2], [3, 4])
    assert found.tolist() == lingering.weigh(population, np.array([1, 2]), np.array([3, 4])).tolist()


@pytest.mark.usefixtures("local_ray")
def test_pieces_grow_to_ten_milliseconds_of_work(tmp_path) -> None:
    """Tasks of microseconds would cost far more to send than to do."""

    def per_pair(individuals, cases):
        time.sleep(1e-4 * len(individuals) * len(cases))
        return difference(individuals, cases)

    with RayEvaluator(per_pair, workers=1) as evaluate:
        evaluate(range(50), range(40))
        assert 1e-4 * evaluate.batch_size() >= 0.010
        assert 1e-4 * evaluate.batch_size() <= 0.020


@pytest.mark.usefixtures("local_ray")
def test_what_is_at_work_at_the_end_of_a_call_serves_the_next(tmp_path) -> None:
    with RayEvaluator(lingering.linger, str(tmp_path), workers=2) as evaluate:
        fast = fx.FastLexicase(N_CASES, seed=3)
        s = [fast.select(evaluate, N_INDIVIDUALS) for _ in range(N_EVENTS)]
        evaluated = sum(int(each.pairs.sum()) for each in s)
        known = fast.cache_info().pairs + sum(len(i) * len(c) for i, c in evaluate.pending())
    assert evaluated == known


def test_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
        RayEvaluator(difference, workers=0)
    with pytest.raises(ValueError, match="attempts must be at least 1, got 0"):
        RayEvaluator(difference, attempts=0)
    lock = threading.Lock()
    with pytest.raises(TypeError, match="function must be picklable to reach other processes"):
        RayEvaluator(lambda i, c: lock)


@pytest.fixture
def run_alone():
    """Start a program with a Ray of its own, in a folder of its own with a short name: sockets lie there."""
    started = []
    place = "/tmp" if Path("/tmp").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="ray-", dir=place, ignore_cleanup_errors=True) as ray_folder:

        def call(script: str, folder: Path) -> subprocess.Popen[str]:
            paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
            program = subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(script), str(folder)],
                env=os.environ | {"PYTHONPATH": paths, "RAY_worker_niceness": "0", "RAY_TMPDIR": ray_folder},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            started.append(program)
            return program

        yield call
        for program in started:
            program.kill()
            program.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="Ray has clusters of several nodes on Linux only")
def test_kill_9_of_a_node_changes_nothing(tmp_path, run_alone) -> None:
    """Two nodes of Ray's own cluster utility; the second loses all its processes in the middle of a selection."""
    script = """
        import os, signal, sys, threading, time, warnings
        from pathlib import Path
        warnings.simplefilter("ignore")
        import ray
        from ray.cluster_utils import Cluster
        import flexicase as fx
        from flexicase.evaluation import RayEvaluator
        from tests.contracts.evaluators import difference
        from tests.evaluation import lingering

        folder = Path(sys.argv[1])
        store = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
        cluster = Cluster(initialize_head=True, head_node_args=store | {"include_dashboard": False})
        node = cluster.add_node(**store)
        raylet = node.all_processes["raylet"][0].process.pid

        def kill():
            while len(list(folder.iterdir())) < 2:
                time.sleep(0.005)
            os.kill(raylet, signal.SIGKILL)  # its workers end with it

        killer = threading.Thread(target=kill)
        killer.start()
        with RayEvaluator(lingering.linger, str(folder), address=cluster.address) as evaluate:
            fast = fx.FastLexicase(40, seed=3)
            s = fast.select(evaluate, 12, 8)
            killer.join()
            twin = fx.FastLexicase(40, seed=3)
            plain = twin.select(difference, 12, 8)
            assert s.indices.tolist() == plain.indices.tolist()
            assert s.evaluations.tolist() == plain.evaluations.tolist()
            assert fast.weights.tolist() == twin.weights.tolist()
            evaluate(range(10), range(10))
        assert node.all_processes["raylet"][0].process.poll() is not None
        assert not ray.is_initialized()
        print("identical", len(list(folder.iterdir())))
        cluster.shutdown()
    """
    program = run_alone(script, tmp_path)
    said, errors = program.communicate(timeout=120)
    assert program.returncode == 0, errors
    assert "identical 2" in said


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as on POSIX")
def test_an_interrupt_ends_the_actors_and_leaves_the_selector_as_it_was(tmp_path, run_alone) -> None:
    """As Ctrl-C does, to the whole group of processes; the Ray that was started goes when the evaluator is closed."""
    script = """
        import sys
        import flexicase as fx
        from flexicase.evaluation import RayEvaluator
        from tests.contracts.evaluators import difference
        from tests.evaluation import lingering

        with RayEvaluator(lingering.sleeps_once, sys.argv[1], workers=2) as evaluate:
            fast = fx.FastLexicase(40, seed=3)
            try:
                fast.select(evaluate, 12, 5)
            except KeyboardInterrupt:
                assert fast.state_dict()["next_event"] == 0
            else:
                raise SystemExit("not interrupted")
            plain = fx.FastLexicase(40, seed=3).select(difference, 12, 5)
            assert fast.select(evaluate, 12, 5).indices.tolist() == plain.indices.tolist()
        import ray
        assert not ray.is_initialized()
        print("went on")
    """
    program = run_alone(script, tmp_path)
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    os.killpg(program.pid, signal.SIGINT)
    said, errors = program.communicate(timeout=60)
    assert program.returncode == 0, errors
    assert said == "went on\n"
    wait_until(lambda: not any(is_alive(int(path.name)) for path in tmp_path.iterdir()))
