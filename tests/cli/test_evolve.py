"""``flexicase evolve``."""

import inspect
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import flexicase.cli.evolve as cli_evolve
from flexicase import gp
from flexicase.cli import app

SMALL = ["--population", "40", "--generations", "2", "--threads", "1", "--seed", "0"]


def test_options_are_the_arguments_of_the_function():
    """Only what cannot be written on a command line is missing, and only the output options are added."""
    function, command = (inspect.signature(f).parameters for f in (gp.evolve, cli_evolve.evolve))
    assert set(function) - set(command) == {"variation", "callback", "save_every"}
    assert set(command) - set(function) == {"plot", "as_json"}
    options = {
        option for parameter in typer.main.get_command(app).commands["evolve"].params for option in parameter.opts
    }
    shared = {name.removeprefix("n_").replace("_", "-") for name in set(function) & set(command)} - {"problem"}
    assert options == {"problem", *(f"--{name}" for name in shared | {"plot", "json"})}


def test_a_run_without_a_seed_draws_one_and_prints_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["evolve", "mirror-image", *SMALL[:-2]]
    first, second = (run(*arguments).stdout.partition(", seed ")[2].partition(":")[0] for _ in range(2))
    assert int(first) != int(second)


def test_resume_without_a_checkpoint_starts_the_run(run, tmp_path):
    """The same command starts and continues a run."""
    command = ["evolve", "mirror-image", *SMALL, "--save", tmp_path / "run", "--resume"]
    first, second = run(*command), run(*command)
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stdout.partition(" in ")[0] == second.stdout.partition(" in ")[0]


def test_a_run_that_solves_nothing_says_so(run):
    done = run("evolve", "mirror-image", *SMALL)
    assert done.exit_code == 0
    assert done.stdout.startswith("mirror-image, lexicase, seed 0: 2 generations in ")
    assert "not solved; the best program has a total error of " in done.stdout
    assert "generation 0: best error" in done.stderr


@pytest.mark.slow
def test_a_solution_is_printed_with_its_verdict(run):
    done = run("evolve", "mirror-image", "--population", "1000", "--generations", "30", "--seed", "0")
    assert done.exit_code == 0
    assert "training cases solved by a program of " in done.stdout
    assert "errors on the test cases: it " in done.stdout


def test_json_is_one_object_and_quiet(run):
    partial = ("--partial", "--default-weight", "min", "--selections", 7, "--method", "ranked-num-nonzeros")
    done = run("evolve", "mirror-image", *SMALL, "--json", *partial)
    found = json.loads(done.stdout)
    assert (found["problem"], found["success"], len(found["records"])) == ("mirror-image", False, 3)
    assert found["method"] == "partial ranked-num-nonzeros"
    assert found["records"][0]["events"] == 7
    assert (found["settings"]["default_weight"], found["settings"]["n_selections"]) == ("min", 7)
    assert done.stderr == ""


@pytest.mark.slow
def test_the_picture_is_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    done = run("evolve", "mirror-image", *SMALL, "--plot", tmp_path / "run.png")
    assert done.stdout.endswith(f"picture: {tmp_path / 'run.png'}\n")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_a_saved_run_is_resumed_with_its_settings(run, tmp_path):
    arguments = ["evolve", "mirror-image", *SMALL, "--seed", "9", "--method", "ranked-num-zeros"]
    first = json.loads(run(*arguments, "--save", tmp_path, "--json").stdout)
    again = json.loads(run("evolve", "--save", tmp_path, "--resume", "--json").stdout)
    for outcome in (first, again):
        for record in outcome["records"]:
            for name in [name for name in record if name.startswith("seconds")]:
                del record[name]
    assert first == again


@pytest.mark.slow
@pytest.mark.parametrize("profile", [(), ("--profile", "propeller")])
def test_a_sampled_run_is_resumed_with_its_settings(run, tmp_path, profile):
    options = ["--sampling", "informed:0.1,every=3", "--check", "first", "--budget", "3000", "--steps", "300"]
    arguments = ["evolve", "mirror-image", "--population", "40", "--threads", "1", "--seed", "3", *options, *profile]
    first = json.loads(run(*arguments, "--save", tmp_path, "--json").stdout)
    again = json.loads(run("evolve", "--save", tmp_path, "--resume", "--json").stdout)
    assert first["settings"] == again["settings"]
    assert first["best"] == again["best"]
    found = {name: first["settings"][name] for name in ("sampling", "check", "budget", "steps", "generations")}
    assert list(found.values()) == ["informed:0.1,every=3", "first", 3000, 300, None]
    assert first["executions"]["total"] >= 3000
    assert "on a sample of 10" in run(*arguments).stderr


def test_no_sampling_overrides_that_of_a_profile_and_is_resumed(run, tmp_path):
    options = ["--profile", "propeller", "--sampling", "none", "--save", tmp_path]
    first = run("evolve", "mirror-image", *SMALL, *options)
    assert (first.exit_code, run("evolve", "--save", tmp_path, "--resume").exit_code) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name of a problem is missing"),
        (["mirror-image", "--sampling", "dwn:0.1"], "did you mean 'down'"),
        (["mirror-image", "--sampling", "down:x"], "size must be an integer"),
        (["mirror-image", "--sampling", "down:0.1", "--partial"], "sampling must be None with partial"),
        (["mirror-image", "--check", "some"], "check must be one of 'all', 'first'"),
        (["mirror-image", "--profile", "psb9"], "profile must be one of"),
        (["mirror-image", "--budget", "-1"], "--budget"),
        (["miror-image"], "did you mean 'mirror-image'"),
        (["mirror-image", "--method", "lexicas"], "did you mean 'lexicase'"),
        (["mirror-image", "--population", "0"], "--population"),
        (["mirror-image", "--generations", "-1"], "--generations"),
        (["mirror-image", "--seed", "-1"], "--seed"),
        (["mirror-image", "--method", "tournament", "--partial"], "these work: "),
        (["mirror-image", "--default-weight", "mean"], "default_weight must be one of 'max', 'min'"),
        (["mirror-image", "--instruction-set", "1999"], "instruction_set must be one of"),
        (["--save", "nowhere", "--resume"], "no checkpoint in nowhere"),
        (["mirror-image", "--initial", "nowhere.txt"], "--initial: nowhere.txt: No such file"),
        (["mirror-image", "--time-limit", "-1"], "--time-limit"),
        (["mirror-image", "--resume"], "needs the folder of the checkpoint as --save"),
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
    done = run("evolve", "--save", tmp_path, "--resume", "--seed", "3")
    assert (done.exit_code, "seed=0, this run has seed=3" in done.stderr) == (1, True)
    assert run("evolve", "last-index-of-zero", "--save", tmp_path, "--resume").exit_code == 2


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        ("missing/run.png", "missing/run.png cannot be written (No such file or directory)"),
        ("run.xyz", ".png, .ps, "),
        ("run", "got 'run'"),
        ("/proc/run.png", "cannot be written"),
    ],
)
def test_a_picture_that_cannot_be_written_is_refused_before_the_run(run, tmp_path, monkeypatch, plot, message):
    """Noticed at the end, it would cost the run."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    done = run("evolve", "mirror-image", *SMALL, "--plot", plot)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert "generation 0" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_picture_without_matplotlib_is_refused_before_the_run(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("evolve", "mirror-image", *SMALL, "--plot", tmp_path / "run.png")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "matplotlib: pip install 'flexicase[report]'" in done.stderr
    assert "generation 0" not in done.stderr


@pytest.mark.parametrize("as_json", [False, True])
def test_a_picture_that_fails_after_the_run_does_not_lose_it(run, tmp_path, monkeypatch, as_json):
    pytest.importorskip("matplotlib")

    def fail(*_, **__):
        raise OSError(28, "No space left on device", "run.png")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    done = run("evolve", "mirror-image", *SMALL, "--plot", tmp_path / "run.png", *(["--json"] if as_json else []))
    assert done.exit_code == 1
    assert "run.png: No space left on device" in done.stderr
    if as_json:
        assert json.loads(done.stdout)["picture"] is None
    else:
        assert done.stdout.startswith("mirror-image, lexicase, seed 0: 2 generations in ")
        assert "picture" not in done.stdout


def test_a_folder_in_use_is_refused_and_its_checkpoint_stays(run, tmp_path):
    run("evolve", "mirror-image", *SMALL, "--save", tmp_path)
    before = (tmp_path / "run.checkpoint").read_bytes()
    done = run("evolve", "mirror-image", *SMALL, "--seed", "3", "--save", tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert (
        "holds a checkpoint of generation 2 of mirror-image, lexicase, seed 0; pass --resume to continue it"
        in done.stderr
    )
    assert (tmp_path / "run.checkpoint").read_bytes() == before


@pytest.mark.parametrize("save", ["file", "/proc/none"])
def test_a_folder_that_cannot_be_written_to_is_refused_before_the_run(run, tmp_path, save):
    (tmp_path / "file").write_text("")
    done = run("evolve", "mirror-image", *SMALL, "--save", tmp_path / save)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "save must be a folder that can be written to" in done.stderr
    assert "generation 0" not in done.stderr


def test_a_full_disk_at_the_end_does_not_lose_the_run(run, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flexicase._checkpoint.write_atomically", fail)
    done = run("evolve", "mirror-image", *SMALL, "--save", tmp_path / "run")
    assert done.exit_code == 0
    assert done.stdout.startswith("mirror-image, lexicase, seed 0: 2 generations in ")
    warning = f"flexicase: warning: no checkpoint was written to {tmp_path / 'run'} (No space left on device)"
    assert done.stderr.count(warning) == 1


def test_a_run_without_save_leaves_nothing_and_needs_no_folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("evolve", "mirror-image", *SMALL).exit_code == 0
    assert list(tmp_path.iterdir()) == []
    monkeypatch.chdir("/proc/self")
    assert run("evolve", "mirror-image", *SMALL).exit_code == 0


def test_a_second_interrupted_run_without_save_gets_a_folder_of_its_own(run, tmp_path, monkeypatch):
    """The checkpoint of the first must not be overwritten, nor be in the way."""
    monkeypatch.chdir(tmp_path)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("flexicase.cli.evolve.Progress.update", interrupt)
    first, second = run("evolve", "mirror-image", *SMALL), run("evolve", "mirror-image", *SMALL)
    assert (first.exit_code, second.exit_code) == (130, 130)
    assert first.stderr.endswith("continue with: flexicase evolve --save mirror-image-lexicase-seed-0 --resume\n")
    assert second.stderr.endswith("continue with: flexicase evolve --save mirror-image-lexicase-seed-0-2 --resume\n")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux")
def test_standard_error_that_cannot_be_written_does_not_lose_the_run(tmp_path):
    """Neither a full disk under a log file nor a closed terminal ends a run."""
    command = [sys.executable, "-m", "flexicase", "evolve", "mirror-image", *SMALL]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout[:36]) == (0, "mirror-image, lexicase, seed 0: 2 ge")


def started(folder, *options):
    """A long run in a process of its own, past its first generation."""
    command = [
        sys.executable,
        "-m",
        "flexicase",
        "evolve",
        "mirror-image",
        "--population",
        "60",
        "--threads",
        "1",
        "--seed",
        "0",
    ]
    process = subprocess.Popen(
        [*command, "--seed", "0", "--method", "random", "--generations", "400", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    process.stderr.readline()
    return process


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_saves_and_says_how_to_go_on(run, tmp_path, number):
    """A cluster's SIGTERM or a closed terminal would otherwise cost everything since the last checkpoint."""
    process = started(tmp_path, "--save", "checkpoints")
    process.send_signal(number)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert stderr.endswith("saved; continue with: flexicase evolve --save checkpoints --resume\n")
    assert (tmp_path / "checkpoints" / "run.checkpoint").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_saves_and_the_resumed_run_ends_as_usual(run, tmp_path):
    process = started(tmp_path)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    folder = "mirror-image-random-seed-0"
    assert stderr.endswith(f"saved; continue with: flexicase evolve --save {folder} --resume\n")
    resumed = json.loads(run("evolve", "--save", tmp_path / folder, "--resume", "--json").stdout)
    straight = json.loads(run(*process.args[3:], "--json").stdout)
    for outcome in (resumed, straight):
        for record in outcome["records"]:
            for name in [name for name in record if name.startswith("seconds")]:
                del record[name]
    assert resumed == straight


def test_cases_from_a_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sums.csv").write_text("input1,input2,output1\n" + "".join(f"{i},{i * i},{i + i * i}\n" for i in range(20)))
    options = ("--population", 50, "--generations", 1, "--seed", 1, "--save", "saved")
    result = run("evolve", "sums.csv", *options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("sums, lexicase, seed 1: ")
    if "not solved" in result.stdout:
        assert result.stdout.splitlines()[-1].startswith("(")  # the best program all the same
    for name, reason in [("none.csv", "No such file"), ("empty.csv", "empty")]:
        Path("empty.csv").write_text("")
        refused = run("evolve", name)
        assert refused.exit_code == 2
        assert name in refused.stderr, reason
        assert refused.stderr.count("\n") == 1


def test_programs_to_start_with_from_a_file(run, tmp_path):
    file = tmp_path / "programs.txt"
    file.write_text("; found by hand\n\n(in1 in2 vector_integer_reverse vector_integer_eq)\n")
    done = run("evolve", "mirror-image", *SMALL, "--initial", file)
    assert "vector_integer_eq" in done.stdout
    assert "0 generations" in done.stdout
    file.write_bytes(b"\xff\xfe")
    assert "must be UTF-8 text" in run("evolve", "mirror-image", *SMALL, "--initial", file).stderr


def test_a_file_of_programs_without_end_is_refused(run):
    """It filled the memory."""
    done = run("evolve", "mirror-image", *SMALL, "--initial", "/dev/zero")
    assert (done.exit_code, "--initial: /dev/zero: must have at most 67,108,864 bytes" in done.stderr) == (2, True)


@pytest.mark.slow
def test_a_run_with_initial_programs_that_reached_its_time_limit_is_resumed_as_it_says(run, tmp_path):
    """The recorded digest of the programs was taken for the programs."""
    file = tmp_path / "programs.txt"
    file.write_text("(in1)\n")
    start = ("evolve", "mirror-image", *SMALL, "--initial", file, "--json")
    assert run(*start, "--time-limit", 0, "--save", tmp_path / "saved").exit_code == 0
    resumed = json.loads(run("evolve", "--save", tmp_path / "saved", "--resume", "--json").stdout)
    whole = json.loads(run(*start).stdout)
    assert (resumed["generation"], resumed["best"]) == (2, whole["best"])
