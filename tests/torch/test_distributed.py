"""Gradient lexicase on the ranks of torchrun jobs: the result of one process, even if ranks are killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
import torch.distributed as dist
from typer.testing import CliRunner

from flexicase.cli import app
from flexicase.torch._distributed import RankLostError, agree_on_prefix, detect_lost_rank
from flexicase.torch._state import read
from tests.torch._helpers import TRAININGS, fingerprint, search, small, with_traps

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this build of PyTorch has no torch.distributed")
needs_gloo = pytest.mark.skipif(os.name == "nt", reason="torchrun needs gloo")


ROOT = Path(__file__).resolve().parents[2]


PATIENCE = 240


@pytest.fixture(scope="module")
def torchrun():
    """Starts jobs on two ranks, and leaves none behind."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    jobs = []

    def start(*arguments, options=(), where=("--standalone", "--nproc-per-node", "2")):
        command = [sys.executable, "-m", "torch.distributed.run", *where, *options, "-m", *map(str, arguments)]
        jobs.append(subprocess.Popen(command, cwd=ROOT, **pipes))
        return jobs[-1]

    yield start
    for job in jobs:
        job.terminate()  # which ends its ranks too
        job.communicate()


def ended(job):
    """Exit code, standard output and error of a job."""
    output, errors = job.communicate(timeout=PATIENCE)
    return job.returncode, output, errors


@pytest.fixture(scope="module")
def done(torchrun, tmp_path_factory):
    """Exit code, standard error and folder of a job that trains, and then tries what cannot work."""
    folder = tmp_path_factory.mktemp("ranks")
    code, _, errors = ended(torchrun("tests.torch._helpers", folder, "equal", "refused"))
    return code, errors, folder


@pytest.mark.slow
@needs_gloo
def test_two_ranks_give_what_one_process_gives(done):
    """Parents, parameters, weights, counts and accuracy, to the last bit; also where candidates divide unevenly."""
    _, errors, folder = done
    assert (folder / "fresh 1").exists(), errors
    expected = {}
    for name, training in TRAININGS.items():
        found = training()
        found.fit(4)
        expected[name] = fingerprint(found)
        assert name != "broken" or len({record.parent for record in found.records}) > 1
        if name == "alike":
            assert found.records[-1].cases_used == 1500
            assert found.records[-1].forward_calls > 4 * 6  # several calls for a block
    for rank in range(2):
        assert {name: (folder / f"{name} {rank}").read_text() for name in TRAININGS} == expected
    assert (folder / "fresh 0").read_text() == (folder / "fresh 1").read_text()  # without a seed, a common one


@pytest.mark.slow
@needs_gloo
def test_a_job_whose_ranks_are_killed_ends_as_if_nothing_had_happened(torchrun, tmp_path):
    """kill -9 of rank 1 while it trains, then of rank 0 while it selects."""
    job = torchrun("tests.torch._helpers", tmp_path, "killed", options=["--max-restarts", "2"])
    for restart in range(2):
        victim, until = tmp_path / f"pid {restart}", time.monotonic() + PATIENCE
        while not victim.exists() and job.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        assert victim.exists(), "the rank to be killed did not get so far"
        os.kill(int(victim.read_text()), signal.SIGKILL)
    whole = with_traps()
    whole.fit(5)
    code, _, errors = ended(job)
    assert code == 0, errors
    assert [(tmp_path / f"killed {rank}").read_text() for rank in range(2)] == [fingerprint(whole)] * 2
    assert (tmp_path / "generations").read_text() == "0:0 0:1 1:2 2:3 2:4 "  # each done once
    assert fingerprint_of(read(tmp_path / "saved")) == fingerprint(whole)


@pytest.mark.slow
@needs_gloo
def test_agents_that_count_restarts_differently_meet_again(torchrun, tmp_path):
    """Two agents, as on two machines: only that of the rank that died counts a restart."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        endpoint = f"localhost:{free.getsockname()[1]}"
    where = ("--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d", "--rdzv-endpoint", endpoint)
    options = ["--max-restarts", "3", "--rdzv-conf", "last_call_timeout=1"]
    agents = [torchrun("tests.torch._helpers", tmp_path, "meet", options=options, where=where) for _ in range(2)]
    alone = small()
    alone.fit(2)
    for agent in agents:
        code, _, errors = ended(agent)
        assert code == 0, errors
    restarts, found = zip(*((tmp_path / f"met {rank}").read_text().split() for rank in range(2)), strict=True)
    assert found == (fingerprint(alone),) * 2
    assert restarts[0] != restarts[1]


def fingerprint_of(state):
    found = with_traps()
    found.load_state_dict(state, allow_changed=["transform", "selection_transform"])  # traps elsewhere
    return fingerprint(found)


@pytest.mark.slow
@needs_gloo
def test_what_cannot_work_is_told_on_all_ranks_and_divergence_ends_the_job(done):
    code, errors, folder = done
    assert code == 1, errors
    alike = "ValueError: all ranks must have the same settings: rank 0 has "
    same = {
        "ranks": "ValueError: population must be at least the number of ranks, got 1 candidates on 2 ranks",
        "seed": f"{alike}seed=5, rank 1 has seed=6",
        "no seed": f"{alike}seed=5, rank 1 has seed=None",
        "cases": f"{alike}n_cases=96, rank 1 has n_cases=97",
        "content": f"{alike}train_set='96 cases of float32 (1, 8, 8), int64 (), ",
        "generations": f"{alike}generations=3, rank 1 has generations=4",
        "diverged": "TrainingError: the loss of candidate 1 in generation 2 is nan: training has diverged",
    }
    for name, message in same.items():
        told = [(folder / f"{name} {rank}").read_text() for rank in range(2)]
        assert told[0] == told[1]
        assert told[0].startswith(message)
    differing = {
        "training": ("RankFailedError: rank 1: OSError: cannot read", "OSError: cannot read"),
        "selection": ("rank 1: OSError: cannot read", "EvaluationError: the evaluator raised OSError: cannot read"),
        "damaged": ("CheckpointError: ", "RankFailedError: rank 0: CheckpointError: "),
    }
    for name, messages in differing.items():
        for rank, message in enumerate(messages):
            assert message in (folder / f"{name} {rank}").read_text()
    assert len(read(folder / "saved")["records"]) == 2  # the last checkpoint is whole, and from before


@pytest.mark.slow
@needs_gloo
def test_the_command_works_under_torchrun_and_only_rank_0_speaks(torchrun, tmp_path):
    arguments = [
        "train",
        "--train-cases",
        "128",
        "--generations",
        "3",
        "--threads",
        "1",
        "--batch-size",
        "16",
        "--json",
        "--seed",
        "3",
    ]
    job = torchrun("flexicase", *arguments, "--save", tmp_path, "--resume", options=["--max-restarts", "1"])
    alone = json.loads(CliRunner().invoke(app, arguments).stdout)
    code, output, errors = ended(job)
    assert code == 0, errors
    found = json.loads(output)  # one object, from one rank
    for record in (*found["records"], *alone["records"]):
        for name in ("seconds_train", "seconds_select", "seconds_test"):
            del record[name]
    assert found["records"] == alone["records"]
    assert found["accuracy"] == alone["accuracy"]
    assert len(read(tmp_path)["records"]) == 3


@pytest.mark.slow
def test_restarts_without_going_on_are_refused(tmp_path, monkeypatch):
    """Otherwise a job whose rank dies would start over in silence."""
    monkeypatch.setenv("TORCHELASTIC_MAX_RESTARTS", "3")
    done = CliRunner().invoke(app, ["train", "--save", str(tmp_path)])
    assert done.exit_code == 2
    assert "--save: needs --resume under torchrun --max-restarts" in done.stderr


def test_one_process_is_told_to_use_torchrun(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ValueError, match="distributed=True needs several processes: start this with torchrun"):
        search(distributed=True)
    with pytest.raises(ValueError, match="distributed must be True, False or 'auto', got 'yes'"):
        search(distributed="yes")
    assert search(distributed="auto").rank == 0


def test_a_pytorch_without_ranks_is_named(monkeypatch):
    monkeypatch.setattr(dist, "is_available", lambda: False)
    with pytest.raises(ImportError, match=r"distributed training needs torch\.distributed, which this build of"):
        search(distributed=True)


def names(store, ranks, world_size):
    with ThreadPoolExecutor(len(ranks)) as threads:
        patience = timedelta(seconds=20)
        return list(threads.map(lambda rank: agree_on_prefix(store, rank, world_size, patience), ranks))


@pytest.mark.parametrize("ranks", [[0, 1, 2], [2, 1, 0]])
def test_all_ranks_of_a_start_know_one_name_and_the_next_start_has_another(ranks):
    store = dist.HashStore()
    found = [names(store, ranks, 3) for _ in range(3)]
    assert all(len(set(start)) == 1 for start in found)
    assert len({start[0] for start in found}) == 3


@pytest.mark.parametrize("left", [[0], [1], [2, 1]])
def test_ranks_that_came_alone_and_died_confuse_nobody(left):
    store = dist.HashStore()
    for rank in left:
        with pytest.raises(RankLostError, match="not all of the 3 ranks arrived within 0 s"):
            agree_on_prefix(store, rank, 3, timedelta(seconds=0.05))
    assert len(set(names(store, [2, 0, 1], 3))) == 1


def test_the_reason_is_told_without_places_in_other_sources():
    with (
        pytest.raises(RankLostError, match=r"^contact with another rank was lost: Connection closed by peer$"),
        detect_lost_rank(),
    ):
        raise RuntimeError("[/a/b/pair.cc:553] Connection closed by peer. This is typically so.\nMore")
