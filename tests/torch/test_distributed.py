"""Gradient lexicase on the ranks of real torchrun jobs: the outcome of one process, whatever happens to a rank."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch.distributed as dist
from typer.testing import CliRunner

from flexicase.cli import app
from flexicase.torch._checkpoint import load
from tests.torch.rank_jobs import TRAININGS, with_traps
from tests.torch.training_runs import fingerprint, search

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not dist.is_available() or os.name == "nt", reason="this build of PyTorch has no torch.distributed with gloo"
    ),
]


@pytest.fixture(scope="module")
def torchrun():
    """Starts jobs on two ranks, and leaves none behind."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    jobs = []

    def start(*arguments, options=()):
        jobs.append(subprocess.Popen([*launcher, *options, "-m", *map(str, arguments)], cwd=ROOT, **pipes))
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
    code, _, errors = ended(torchrun("tests.torch.rank_jobs", folder, "equal", "refused"))
    return code, errors, folder


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
            assert found.records[-1].cases == 1500
            assert found.records[-1].forward_calls > 4 * 6  # several calls for a block
    for rank in range(2):
        assert {name: (folder / f"{name} {rank}").read_text() for name in TRAININGS} == expected
    assert (folder / "fresh 0").read_text() == (folder / "fresh 1").read_text()  # without a seed, a common one


def test_a_job_whose_ranks_are_killed_ends_as_if_nothing_had_happened(torchrun, tmp_path):
    """kill -9 of rank 1 while it trains, then of rank 0 while it selects."""
    job = torchrun("tests.torch.rank_jobs", tmp_path, "killed", options=["--max-restarts", "2"])
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
    assert fingerprint_of(load(tmp_path / "saved")) == fingerprint(whole)


def fingerprint_of(state):
    found = with_traps()
    found.load_state_dict(state, allow_changed=["transform", "selection_transform"])  # traps elsewhere
    return fingerprint(found)


def test_what_cannot_work_is_told_on_all_ranks_and_divergence_ends_the_job(done):
    code, errors, folder = done
    assert code == 1, errors
    alike = "ValueError: all ranks must be started alike: rank 0 has "
    same = {
        "ranks": "ValueError: population must be at least the number of ranks, got 1 candidates on 2 ranks",
        "seed": f"{alike}seed=5, rank 1 has seed=6",
        "no seed": f"{alike}seed=5, rank 1 has seed=None",
        "cases": f"{alike}cases=96, rank 1 has cases=97",
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
    assert len(load(folder / "saved")["records"]) == 2  # the last checkpoint is whole, and from before


def test_the_command_works_under_torchrun_and_only_rank_0_speaks(torchrun, tmp_path):
    arguments = ["train", "--data", "fake", "--generations", "3", "--threads", "1", "--batch-size", "16", "--json"]
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
    assert len(load(tmp_path)["records"]) == 3


def test_restarts_without_going_on_are_refused(tmp_path, monkeypatch):
    """Otherwise a job whose rank dies would start over in silence."""
    monkeypatch.setenv("TORCHELASTIC_MAX_RESTARTS", "3")
    done = CliRunner().invoke(app, ["train", "--data", "fake", "--save", str(tmp_path)])
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
