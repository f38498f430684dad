"""``flexicase evolve``."""

import json
import os
import signal
import subprocess
import sys

import pytest

SMALL = ["--population", "40", "--generations", "2", "--threads", "1"]


def test_a_run_that_solves_nothing_says_so(run):
    done = run("evolve", "mirror-image", *SMALL)
    assert done.exit_code == 0
    assert done.stdout.startswith("mirror-image, lexicase, seed 0: 2 generations in ")
    assert "not solved; the best program has a total error of " in done.stdout
    assert "generation 0: best error" in done.stderr


def test_a_solution_is_printed_with_its_verdict(run):
    done = run("evolve", "mirror-image", "--population", "1000", "--generations", "30", "--seed", "0")
    assert done.exit_code == 0
    assert "training cases solved by a program of " in done.stdout
    assert "errors on the test cases: it " in done.stdout


def test_json_is_one_object_and_quiet(run):
    partial = ("--partial", "--parents", 7, "--method", "ranked-num-nonzeros")
    done = run("evolve", "mirror-image", *SMALL, "--json", *partial)
    found = json.loads(done.stdout)
    assert (found["problem"], found["success"], len(found["records"])) == ("mirror-image", False, 3)
    assert found["method"] == "partial ranked-num-nonzeros"
    assert found["records"][0]["events"] == 7
    assert done.stderr == ""


def test_the_picture_is_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    done = run("evolve", "mirror-image", *SMALL, "--plot", tmp_path / "run.png")
    assert done.stdout.endswith(f"picture: {tmp_path / 'run.png'}\n")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_a_saved_run_is_resumed_with_its_settings(run, tmp_path):
    arguments = ["evolve", "mirror-image", *SMALL, "--seed", "9", "--method", "ranked-num-zeros"]
    first = json.loads(run(*arguments, "--save", tmp_path, "--json").stdout)
    again = json.loads(run("evolve", "--resume", tmp_path, "--json").stdout)
    for outcome in (first, again):
        for record in outcome["records"]:
            del record["seconds"]
    assert first == again


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name of a problem is missing"),
        (["miror-image"], "did you mean 'mirror-image'"),
        (["mirror-image", "--method", "lexicas"], "did you mean 'lexicase'"),
        (["mirror-image", "--population", "0"], "--population"),
        (["mirror-image", "--generations", "-1"], "--generations"),
        (["mirror-image", "--seed", "-1"], "--seed"),
        (["mirror-image", "--method", "tournament", "--partial"], "needs one of lexicase"),
        (["--resume", "nowhere"], "no checkpoint in nowhere"),
    ],
)
def test_wrong_calls(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = run("evolve", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_resumed_run_with_other_settings_is_refused(run, tmp_path):
    run("evolve", "mirror-image", *SMALL, "--save", tmp_path)
    done = run("evolve", "--resume", tmp_path, "--seed", "3")
    assert (done.exit_code, "seed=0, this run has seed=3" in done.stderr) == (1, True)
    assert run("evolve", "last-index-of-zero", "--resume", tmp_path).exit_code == 2


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_saves_and_the_resumed_run_ends_as_usual(run, tmp_path):
    command = [sys.executable, "-m", "flexicase", "evolve", "mirror-image", "--population", "60", "--threads", "1"]
    command += ["--method", "random", "--generations", "400"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    folder = "mirror-image-random-seed-0"
    assert stderr.endswith(f"saved; go on with: flexicase evolve --resume {folder}\n")
    resumed = json.loads(run("evolve", "--resume", tmp_path / folder, "--json").stdout)
    straight = json.loads(run(*command[3:], "--json").stdout)
    for outcome in (resumed, straight):
        for record in outcome["records"]:
            del record["seconds"]
    assert resumed == straight
