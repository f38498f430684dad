"""``flexicase train``."""

import json
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")

SMALL = ["--data", "fake", "--generations", "3", "--threads", "1", "--batch-size", "16", "--eval-every", "2"]


def test_a_training_is_told_and_summed_up(run):
    done = run("train", *SMALL)
    assert done.exit_code == 0
    assert done.stdout.startswith("3 generations: accuracy ")
    assert " forward passes, " in done.stdout
    assert "generation 2: loss " in done.stderr
    assert "accuracy" in done.stderr


def test_json_is_one_object_and_quiet(run):
    done = run("train", *SMALL, "--selection", "lexicase", "--json")
    found = json.loads(done.stdout)
    assert (found["selection"], found["generations"], len(found["records"])) == ("lexicase", 3, 3)
    assert found["records"][1]["accuracy"] is not None
    assert done.stderr == ""


def test_the_picture_is_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    done = run("train", *SMALL, "--plot", tmp_path / "training.png")
    assert done.stdout.endswith(f"picture: {tmp_path / 'training.png'}\n")
    assert (tmp_path / "training.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "digit"], "unknown value 'digit'; did you mean 'digits'?"),
        (["--bias", "variance"], "unknown value 'variance'"),
        (["--resume"], "needs --save, the folder of the checkpoint"),
        (["--data", "cifar10"], "--data cifar10 needs it: the folder with CIFAR-10"),
        (["--device", "cuda:99"], "device must be one that torch can use here, got 'cuda:99'"),
        (["--generations", "0"], "--generations"),
    ],
)
def test_wrong_calls_end_with_code_2(run, arguments, message):
    done = run("train", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_missing_data_ends_with_code_1_and_says_what_to_download(run, tmp_path):
    done = run("train", "--data", "cifar10", "--directory", tmp_path)
    assert done.exit_code == 1
    assert "download cifar-10-python.tar.gz" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_ctrl_c_saves_and_resume_ends_the_same(run, tmp_path):
    arguments = ["train", "--data", "fake", "--generations", "400", "--threads", "1", "--json", "--save", str(tmp_path)]
    code = "import sys; from flexicase.cli import main; sys.argv[0] = 'flexicase'; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, *(a for a in arguments if a != "--json")], stderr=subprocess.PIPE, text=True
    )
    child.stderr.readline()
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=60)
    assert child.returncode == 130
    assert f"saved in {tmp_path}; the same command with --resume goes on" in told
    from flexicase.torch.checkpoint import load

    reached = len(load(tmp_path)["records"])
    assert 1 <= reached < 400
    short = [str(reached + 2) if a == "400" else a for a in arguments]
    resumed = json.loads(run(*short, "--resume").stdout)
    assert resumed["generations"] == reached + 2
