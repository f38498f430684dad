"""``flexicase train``."""

import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")

FEW_CASES = ["--train-cases", "128", "--threads", "1", "--batch-size", "16", "--seed", "3"]
SMALL = [*FEW_CASES, "--generations", "3", "--eval-every", "2"]


def child(*arguments, **streams):
    code = "import sys; from flexicase.cli import main; sys.argv[0] = 'flexicase'; main()"
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], text=True, **streams)


def test_a_training_is_told_and_summed_up(run):
    done = run("train", *SMALL)
    assert done.exit_code == 0
    assert done.stdout.startswith("digits, lexicase, seed 3: 3 generations, accuracy ")
    assert " pairs computed, " in done.stdout
    assert "generation 2: loss " in done.stderr
    assert "accuracy" in done.stderr


def test_json_is_one_object_and_quiet(run):
    done = run("train", *SMALL, "--method", "weighted-split", "--default-weight", "min", "--json")
    found = json.loads(done.stdout)
    assert (found["method"], found["default_weight"], found["seed"]) == ("weighted-split", "min", 3)
    assert (found["generations"], len(found["records"])) == (3, 3)
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
        (["--dataset", "digit"], "unknown value 'digit'; did you mean 'digits'?"),
        (["--dataset", "fake"], "unknown value 'fake'"),
        (["--arch", "vgg12"], "unknown value 'vgg12'; did you mean 'vgg1"),
        (["--method", "weighted-num-nonzero"], "did you mean 'weighted-num-nonzeros'?"),
        (["--method", "tournament"], "method must be"),
        (["--default-weight", "mean"], "unknown value 'mean'"),
        (["--resume"], "needs --save, the folder of the checkpoint"),
        (["--dataset", "cifar10"], "must be given with --dataset cifar10"),
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
    done = run("train", "--dataset", "cifar10", "--cifar-dir", tmp_path)
    assert done.exit_code == 1
    assert "download cifar-10-python.tar.gz" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_ctrl_c_saves_and_resume_ends_the_same(run, tmp_path):
    arguments = ["train", *FEW_CASES, "--generations", "400", "--json", "--save", str(tmp_path)]
    stopped = child(*(a for a in arguments if a != "--json"), stderr=subprocess.PIPE)
    stopped.stderr.readline()
    stopped.send_signal(signal.SIGINT)
    _, told = stopped.communicate(timeout=60)
    assert stopped.returncode == 130
    assert f"saved in {tmp_path}; the same command with --resume continues" in told
    from flexicase.torch._state import read

    reached = len(read(tmp_path)["records"])
    assert 1 <= reached < 400
    short = [str(reached + 2) if a == "400" else a for a in arguments]
    resumed = json.loads(run(*short, "--resume").stdout)
    assert resumed["generations"] == reached + 2


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_kill_9_in_the_middle_of_a_generation_and_resume_end_the_same(run, tmp_path):
    settings = ["train", "--batch-size", "8", "--generations", "4", "--seed", "3"]
    settings += ["--eval-every", "1", "--threads", "1"]
    saving = [*settings, "--save-every", "0", "--save"]
    killed = child(*saving, tmp_path / "killed", stderr=subprocess.PIPE)
    line = killed.stderr.readline()
    assert line.startswith("generation 1: ")
    time.sleep(0.4 * float(line.rsplit(", ", 1)[1].removesuffix(" s\n")))
    killed.send_signal(signal.SIGKILL)
    _, rest = killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    from flexicase.torch._state import read

    done = 1 + rest.count("generation")
    assert len(read(tmp_path / "killed")["records"]) == done < 4  # the next one was under way
    resumed = json.loads(run(*saving, tmp_path / "killed", "--resume", "--json").stdout)
    whole = json.loads(run(*saving, tmp_path / "whole", "--json").stdout)
    assert without_times(resumed) == without_times(whole)
    one, two = (read(tmp_path / name) for name in ("killed", "whole"))
    assert all(torch.equal(one["parent"][name], value) for name, value in two["parent"].items())
    assert torch.equal(one["selector"]["weights"], two["selector"]["weights"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_signals_that_end_a_program_save_like_ctrl_c(run, tmp_path, number):
    """systemd, Slurm and closed terminals: all generations since the last checkpoint were lost."""
    arguments = ["train", "--train-cases", "40", "--generations", "400", "--threads", "1", "--save", tmp_path]
    stopped = child(*arguments, stderr=subprocess.PIPE)
    stopped.stderr.readline()
    stopped.send_signal(number)
    _, told = stopped.communicate(timeout=60)
    assert stopped.returncode == 128 + number
    assert f"saved in {tmp_path}; the same command with --resume continues" in told
    from flexicase.torch._state import read

    reached = len(read(tmp_path)["records"])
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
    assert "holds a checkpoint of generation 3; --resume continues it" in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_used_is_noticed_before_training(run, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("train", *SMALL, "--save", tmp_path / "file")
    assert done.exit_code == 1
    assert "save must be a folder that can be written to" in done.stderr
    assert "generation 1" not in done.stderr


def test_a_disk_that_fills_up_costs_a_warning_and_not_the_training(run, tmp_path, monkeypatch):
    from flexicase import _checkpoint as checkpoint

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_atomically", full)
    done = run("train", *SMALL, "--save", tmp_path, "--save-every", "0")
    assert done.exit_code == 0
    assert done.stderr.count("flexicase: warning: no checkpoint was written") == 1
    assert "No space left on device" in done.stderr
    assert ": 3 generations" in done.stdout


def test_what_has_changed_since_the_checkpoint_is_refused_or_allowed(run, tmp_path, monkeypatch):
    from flexicase.torch import data

    assert run("train", *SMALL, "--save", tmp_path).exit_code == 0
    longer = ["5" if a == "3" and b == "--generations" else a for b, a in zip(["", *SMALL], SMALL, strict=False)]
    arguments = ["train", *longer, "--save", tmp_path, "--resume"]
    done = run(*arguments, "--allow-changed", "population")
    assert done.exit_code == 2
    assert "--allow-changed" in done.stderr
    others = [batch._replace(images=16 - batch.images) for batch in data._digits()]
    monkeypatch.setattr(data, "_digits", lambda: others)  # as many other images
    done = run(*arguments)
    assert done.exit_code == 1
    assert "run with train_set=" in done.stderr
    assert "allow_changed=['train_set'] continues anyway" in done.stderr
    done = run(*arguments, "--allow-changed", "train_set", "--allow-changed", "transform", "--json")
    assert json.loads(done.stdout)["generations"] == 5


def test_options_have_the_names_and_defaults_of_the_python_arguments():
    import flexicase.torch as ft
    from flexicase.cli.train import train

    python = {}
    for function in (ft.data.load, ft.GradientLexicase, ft.GradientLexicase.fit):
        python |= {name: each.default for name, each in inspect.signature(function).parameters.items()}
    options = {name: each.default for name, each in inspect.signature(train).parameters.items()}
    own = {"arch", "lr", "augment", "threads", "plot", "as_json"}  # of networks, optimisers and the process
    needed = {"dataset", "generations"}  # without a default in Python
    assert options.keys() - own <= python.keys()
    assert {n: options[n] or None for n in options.keys() - own - needed} == {
        n: python[n] or None for n in options.keys() - own - needed
    }
    order = [name for name in inspect.signature(ft.GradientLexicase).parameters if name in options]
    assert order[:3] == ["population", "method", "default_weight"]
    assert [name for name in options if name in order[:6]] == order[:6]


def test_without_a_seed_one_is_drawn_printed_and_found_again(run, tmp_path):
    arguments = ["train", "--train-cases", "40", "--threads", "1", "--json"]
    first = json.loads(run(*arguments, "--generations", "2", "--save", tmp_path).stdout)
    resumed = json.loads(run(*arguments, "--generations", "3", "--save", tmp_path, "--resume").stdout)
    whole = json.loads(run(*arguments, "--generations", "2", "--seed", first["seed"]).stdout)
    assert resumed["seed"] == first["seed"]
    assert without_times(first) == without_times(whole)


def test_the_seed_0_is_found_again(run, tmp_path):
    arguments = ["train", "--train-cases", "40", "--threads", "1", "--json", "--save", tmp_path]
    assert json.loads(run(*arguments, "--generations", "1", "--seed", "0").stdout)["seed"] == 0
    assert json.loads(run(*arguments, "--generations", "2", "--resume").stdout)["seed"] == 0


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_stopped_before_the_first_generation_nothing_is_said_to_be_saved(run, tmp_path, monkeypatch):
    from flexicase.torch._training import Trainer

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "train", stop)
    done = run("train", *SMALL, "--save", tmp_path)
    assert done.exit_code == 130
    assert "stopped before the first generation was finished; nothing is saved" in done.stderr
    assert list(tmp_path.iterdir()) == []


def without_times(found):
    records = [{k: v for k, v in record.items() if not k.startswith("seconds")} for record in found.pop("records")]
    return {k: v for k, v in found.items() if not k.startswith("seconds")}, records


def test_divergence_ends_with_code_1_and_names_the_candidate(run):
    done = run("train", *SMALL, "--lr", "1e30")
    assert done.exit_code == 1
    assert "the loss of candidate 0 in generation " in done.stderr
    assert "a lower learning rate may help" in done.stderr
