"""``flexicase train``."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")

SMALL = ["--data", "fake", "--generations", "3", "--threads", "1", "--batch-size", "16", "--eval-every", "2"]


def child(*arguments, **streams):
    code = "import sys; from flexicase.cli import main; sys.argv[0] = 'flexicase'; main()"
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], text=True, **streams)


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
        (["--lr", "0"], "must be above 0, got 0"),
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
    stopped = child(*(a for a in arguments if a != "--json"), stderr=subprocess.PIPE)
    stopped.stderr.readline()
    stopped.send_signal(signal.SIGINT)
    _, told = stopped.communicate(timeout=60)
    assert stopped.returncode == 130
    assert f"saved in {tmp_path}; the same command with --resume goes on" in told
    from flexicase.torch._checkpoint import load

    reached = len(load(tmp_path)["records"])
    assert 1 <= reached < 400
    short = [str(reached + 2) if a == "400" else a for a in arguments]
    resumed = json.loads(run(*short, "--resume").stdout)
    assert resumed["generations"] == reached + 2


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_kill_9_in_the_middle_of_a_generation_and_resume_end_the_same(run, tmp_path):
    settings = ["train", "--data", "fake", "--cases", "1500", "--batch-size", "8", "--generations", "4"]
    settings += ["--eval-every", "1", "--threads", "1"]
    saving = [*settings, "--save-every", "0", "--save"]
    killed = child(*saving, tmp_path / "killed", stderr=subprocess.PIPE)
    line = killed.stderr.readline()
    assert line.startswith("generation 1: ")
    time.sleep(0.4 * float(line.rsplit(", ", 1)[1].removesuffix(" s\n")))
    killed.send_signal(signal.SIGKILL)
    _, rest = killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    from flexicase.torch._checkpoint import load

    done = 1 + rest.count("generation")
    assert len(load(tmp_path / "killed")["records"]) == done < 4  # the next one was under way
    resumed = json.loads(run(*saving, tmp_path / "killed", "--resume", "--json").stdout)
    whole = json.loads(run(*saving, tmp_path / "whole", "--json").stdout)
    assert without_times(resumed) == without_times(whole)
    one, two = (load(tmp_path / name) for name in ("killed", "whole"))
    assert all(torch.equal(one["parent"][name], value) for name, value in two["parent"].items())
    assert torch.equal(one["selector"]["weights"], two["selector"]["weights"])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_signals_that_end_a_program_save_like_ctrl_c(run, tmp_path, name):
    """systemd, Slurm and closed terminals: all generations since the last checkpoint were lost."""
    number = getattr(signal, name)
    arguments = [
        "train",
        "--data",
        "fake",
        "--cases",
        "40",
        "--generations",
        "400",
        "--threads",
        "1",
        "--save",
        tmp_path,
    ]
    stopped = child(*arguments, stderr=subprocess.PIPE)
    stopped.stderr.readline()
    stopped.send_signal(number)
    _, told = stopped.communicate(timeout=60)
    assert stopped.returncode == 128 + number
    assert f"saved in {tmp_path}; the same command with --resume goes on" in told
    from flexicase.torch._checkpoint import load

    reached = len(load(tmp_path)["records"])
    assert 1 <= reached < 400
    short = [str(reached + 1) if a == "400" else a for a in arguments]
    assert json.loads(run(*short, "--resume", "--json").stdout)["generations"] == reached + 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing/training.png", "missing/training.png cannot be written (No such file or directory)"),
        ("training.xyz", "must end in one of "),
        ("folder.png", "folder.png cannot be written (Is a directory)"),
    ],
)
def test_a_picture_that_cannot_be_written_is_noticed_before_training(run, tmp_path, name, message):
    """The training was made, and lost."""
    pytest.importorskip("matplotlib")
    (tmp_path / "folder.png").mkdir()
    done = run("train", *SMALL, "--plot", tmp_path / name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--plot" in done.stderr
    assert message in done.stderr
    assert "generation 1" not in done.stderr


def test_without_matplotlib_the_picture_is_refused_before_training(run, tmp_path, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else found(name))
    done = run("train", *SMALL, "--plot", tmp_path / "training.png")
    assert done.exit_code == 2
    assert "pictures need matplotlib: pip install 'flexicase[report]'" in done.stderr
    assert "generation 1" not in done.stderr


def test_a_folder_with_a_checkpoint_needs_resume(run, tmp_path):
    """A forgotten --resume cost a whole training."""
    assert run("train", *SMALL, "--save", tmp_path).exit_code == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = run("train", *SMALL, "--save", tmp_path, "--seed", "5")
    assert done.exit_code == 2
    assert "holds a checkpoint of a training of 3 generations; --resume continues it" in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_used_is_noticed_before_training(run, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("train", *SMALL, "--save", tmp_path / "file")
    assert done.exit_code == 1
    assert "save must be a folder that can be written to" in done.stderr
    assert "generation 1" not in done.stderr


def test_a_disk_that_fills_up_costs_a_warning_and_not_the_training(run, tmp_path, monkeypatch):
    from flexicase.torch import _checkpoint as checkpoint

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_atomically", full)
    done = run("train", *SMALL, "--save", tmp_path, "--save-every", "0")
    assert done.exit_code == 0
    assert done.stderr.count("flexicase: warning: no checkpoint was written") == 1
    assert "No space left on device" in done.stderr
    assert done.stdout.startswith("3 generations")


def test_what_has_changed_since_the_checkpoint_is_refused_or_allowed(run, tmp_path):
    assert run("train", *SMALL, "--save", tmp_path).exit_code == 0
    longer = ["5" if a == "3" else a for a in SMALL]
    arguments = ["train", *longer, "--save", tmp_path, "--resume", "--population", "4"]
    other = [a if a != "fake" else "digits" for a in arguments]
    done = run(*other, "--cases", "256")
    assert done.exit_code == 1
    assert "run with train_set=" in done.stderr
    assert "allow_changed=['train_set'] continues anyway" in done.stderr
    done = run(*other, "--cases", "256", "--allow-changed", "train_set", "--allow-changed", "transform", "--json")
    assert json.loads(done.stdout)["generations"] == 5
    done = run(*arguments, "--allow-changed", "population")
    assert done.exit_code == 2
    assert "--allow-changed" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_stopped_before_the_first_generation_nothing_is_said_to_be_saved(run, tmp_path, monkeypatch):
    from flexicase.torch._training import Trainer

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "train", stop)
    done = run("train", *SMALL, "--save", tmp_path)
    assert done.exit_code == 130
    assert "stopped before the first generation was done; nothing is saved" in done.stderr
    assert list(tmp_path.iterdir()) == []


def without_times(found):
    records = [{k: v for k, v in record.items() if not k.startswith("seconds")} for record in found.pop("records")]
    return {k: v for k, v in found.items() if not k.startswith("seconds")}, records


def test_divergence_ends_with_code_1_and_names_the_candidate(run):
    done = run("train", *SMALL, "--lr", "1e30")
    assert done.exit_code == 1
    assert "the loss of candidate 0 in generation " in done.stderr
    assert "a lower learning rate may help" in done.stderr


def test_tensorboard_gets_the_records(run, tmp_path):
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    records = json.loads(run("train", *SMALL, "--json", "--tensorboard", tmp_path).stdout)["records"]
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    for name in ("loss", "lr", "evaluations", "cases", "forward_passes"):
        values = [(event.step, event.value) for event in found.Scalars(name)]
        assert values == [(record["generation"], pytest.approx(record[name])) for record in records]
    tested = [record["generation"] for record in records if record["accuracy"] is not None]
    assert [event.step for event in found.Scalars("accuracy")] == tested == [1, 2]


def test_without_tensorboard_the_option_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    done = run("train", *SMALL, "--tensorboard", tmp_path)
    assert done.exit_code == 1
    assert "--tensorboard needs TensorBoard: pip install tensorboard" in done.stderr
