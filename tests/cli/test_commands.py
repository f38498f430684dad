"""The other commands, and what holds for all of them."""

import functools
import json
import platform
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import flexicase as fx
from flexicase import _native
from flexicase.cli import app
from flexicase.data import example_errors
from flexicase.experiments import preset_path
from flexicase.selection.methods import PAPER_METHODS, resolve_method

ROOT = Path(__file__).resolve().parents[2]


def commands(group=None, path=()):
    """Every command of the command line: its words and the object."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


def examples(command):
    """The commands in the help of a command that a reader would paste."""
    return re.findall(r"(?<!\| )flexicase .*", command.epilog or "")


COMMANDS = dict(commands())


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example_and_json(run, words):
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert f"Example:\n    flexicase {' '.join(words)}" in result.stdout
    assert "--json" in result.stdout


@pytest.fixture(scope="module")
def copy_of_the_sources(tmp_path_factory):
    """A folder with the files that the examples name, and the committed study imported."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "results").symlink_to(ROOT / "results")
    np.savetxt(folder / "errors.csv", example_errors(), fmt="%d", delimiter=",")
    (folder / "solution.push").write_text("(in1 in2 vector_integer_reverse vector_integer_eq)")
    battery = json.loads(CliRunner().invoke(app, ["verify", "--battery"]).stdout)
    matrices = battery["matrices"].items()
    draws = {name: fx.select(m, 400, "ranked-num-zeros", seed=1).indices.tolist() for name, m in matrices}
    (folder / "draws.json").write_text(json.dumps(draws))
    (folder / "study.toml").write_text(
        'name = "small"\nkind = "gp"\nproblems = ["mirror-image"]\nmethods = ["lexicase"]\nseeds = 1\n'
        "[settings]\npopulation = 20\ngenerations = 1\n"
    )
    return folder


def fewer_runs(monkeypatch, folder):
    """The preset with one seed, one problem and short runs: its 20 processes take half a minute."""
    text = preset_path("gp", "smoke").read_text()
    for long, short in (
        ("seeds = 2", "seeds = 1"),
        ("population = 200", "population = 20"),
        ("generations = 10", "generations = 1"),
        (', "last-index-of-zero"]', "]"),
    ):
        assert text.count(long) == 1
        text = text.replace(long, short)
    (folder / "preset.toml").write_text(text)
    monkeypatch.setattr("flexicase.experiments.preset_path", lambda *_: folder / "preset.toml")


def no_figures_of_the_report(monkeypatch, folder):
    """The example of ``report`` draws the same ones."""
    monkeypatch.setattr("flexicase.report.write.draw_figures", lambda *_: [])


SHORTER = {("reproduce",): fewer_runs, ("demo",): no_figures_of_the_report}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_example_of_the_help_runs(run, words, copy_of_the_sources, monkeypatch):
    pytest.importorskip("pyarrow")
    if words == ("train",):
        pytest.importorskip("torch")
    monkeypatch.chdir(copy_of_the_sources)
    monkeypatch.setenv("MPLBACKEND", "agg")
    if words in SHORTER:
        SHORTER[words](monkeypatch, copy_of_the_sources)
    found = examples(COMMANDS[words])
    assert found
    if "gp-paper" in found[0] + "".join(words) or words == ("rerun",):
        folder = copy_of_the_sources / "studies" / "gp-paper"
        if words != ("import",) and not folder.exists():
            assert run("import", "results/gp-paper").exit_code == 0
        elif words == ("import",):
            shutil.rmtree(folder, ignore_errors=True)
    for example in found:
        done = run(*shlex.split(example)[1:])
        assert done.exit_code == 0, done.output


def test_version_and_bare_call(run):
    assert run("--version").stdout == f"flexicase {fx.__version__}\n"
    bare = run()
    assert bare.exit_code == 0
    assert all(command in bare.stdout for command in ("select", "methods", "demo", "doctor"))


def test_unknown_command_and_option(run):
    for arguments in (["selct"], ["--vresion"], ["doctor", "extra"]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("flexicase: error: ")
        assert result.stderr.count("\n") == 1
    assert "'select'" in run("selct").stderr


def test_methods_lists_every_name_once(run):
    lines = run("methods").stdout.splitlines()[2:]
    assert [line.split()[0] for line in lines] == fx.methods()
    assert all(len(line.split()) > 2 for line in lines)
    listed = json.loads(run("methods", "--json").stdout)
    assert [entry["name"] for entry in listed] == fx.methods()
    assert tuple(entry["name"] for entry in listed if entry["paper"]) == PAPER_METHODS


def test_descriptions_tell_methods_apart():
    descriptions = [resolve_method(name).describe() for name in fx.methods()]
    assert len(set(descriptions)) == len(descriptions)
    composed = fx.Lexicase(order=fx.Weighted([1, 2]), epsilon=0.5, max_cases=3, slippage=0.1, elitism=2)
    assert composed.describe() == (
        "cases by weighted shuffle, weight from a custom bias; fixed epsilon; at most 3 cases; slippage 0.1; "
        "the 2 best first"
    )


def test_doctor_reports_what_is_there(run):
    facts = json.loads(run("doctor", "--json").stdout)
    assert facts["flexicase"] == fx.__version__
    assert facts["python"] == platform.python_version()
    assert facts["numpy"] == np.__version__
    assert facts["instruction_set"] == _native.isa()
    assert facts["cores"] >= 1
    assert facts["extras"]["torch"]["extra"] == "torch"
    text = run("doctor").stdout
    assert facts["instruction_set"] in text
    assert all(package in text for package in facts["extras"])
    assert facts["features"]["selection, genetic programming, Push"] == {"ready": True, "needs": [], "missing": []}
    assert all(feature in text for feature in facts["features"])


def test_doctor_says_how_to_get_what_is_missing(run, monkeypatch):
    monkeypatch.setattr("flexicase.cli.doctor.installed", lambda package: None)
    assert "missing: pip install 'flexicase[cluster]'" in run("doctor").stdout
    ray = json.loads(run("doctor", "--json").stdout)["features"]["studies on Ray: run --cluster ray"]
    assert ray == {"ready": False, "needs": ["pydantic", "pyarrow", "ray"], "missing": ["pydantic", "pyarrow", "ray"]}


def test_doctor_knows_that_slurm_takes_more_than_a_package(run, monkeypatch):
    monkeypatch.setattr("flexicase.cli.doctor.installed", lambda package: "1.0")
    monkeypatch.setattr("flexicase.cli.doctor.shutil.which", lambda command: None)
    slurm = json.loads(run("doctor", "--json").stdout)["features"]["studies on Slurm: run --cluster slurm"]
    assert slurm["missing"] == ["the command sbatch", "the command srun"]


@pytest.fixture
def short_demo(monkeypatch):
    """The demo with a small run of genetic programming, few simulations and no study."""
    from flexicase import gp

    small = functools.partial(gp.evolve, population=20, generations=1)
    monkeypatch.setattr("flexicase.gp.evolve", small)
    monkeypatch.setattr("flexicase.cli.demo.CONTROLLERS", 20)
    monkeypatch.setattr("flexicase.cli.demo.STARTS", 50)
    monkeypatch.setattr("flexicase.cli.demo.STUDY", Path("no") / "study")


@pytest.mark.slow
def test_demo_shows_every_part_and_draws(run, tmp_path, short_demo):
    pytest.importorskip("matplotlib")
    result = run("demo", "--out", tmp_path / "a" / "b", "-n", 50, "--seed", 3)
    assert result.exit_code == 0, result.stderr
    rows = {line.split()[0]: line.split() for line in result.stdout.splitlines() if line.startswith(PAPER_METHODS)}
    assert tuple(rows) == PAPER_METHODS
    assert rows["lexicase"][2] == "1.00"
    mean = fx.select(example_errors(), 50, "ranked-num-zeros", seed=3).evaluations.mean()
    assert rows["ranked-num-zeros"][1] == f"{mean:,.0f}"
    for name in ("funnel.png", "weights.png"):
        path = tmp_path / "a" / "b" / name
        assert f"picture: {path}\n" in result.stdout
        assert path.read_bytes().startswith(b"\x89PNG")
    assert "run on [1, 2, 3] and [3, 2, 1], it answers: " in result.stdout
    assert "of 1,000 simulations" in result.stdout
    assert "they are in no/study of a copy of the sources" in result.stdout


@pytest.mark.slow
def test_demo_evolves_a_program_that_solves_the_problem_and_explains_it():
    """The seed of the demo must lead to a solution, and Fast Lexicase must save most simulations."""
    from flexicase.cli.demo import evolve_program, save_evaluations

    run, text = evolve_program(0, quiet=True)
    assert run["success"]
    assert "vector_integer_reverse  Turns" in text
    assert text.endswith("it answers: true\n")
    saved, _ = save_evaluations(0, quiet=True)
    assert saved["pairs"] < 0.05 * saved["all_pairs"]


@pytest.mark.slow
def test_demo_without_matplotlib_says_so(run, tmp_path, monkeypatch, short_demo):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    result = run("demo", "--out", tmp_path / "out", "-n", 10)
    assert result.exit_code == 0
    assert "no pictures: matplotlib is not installed (pip install 'flexicase[report]')" in result.stdout
    assert not (tmp_path / "out").exists()
    as_json = json.loads(run("demo", "--out", tmp_path / "out", "-n", 10, "--json").stdout)
    assert [entry["method"] for entry in as_json["methods"]] == list(PAPER_METHODS)
    assert as_json["pictures"] == []
    assert as_json["report"] is None


def test_demo_that_cannot_write_fails_clearly(run, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    result = run("demo", "--out", tmp_path / "file", "-n", 10)
    assert result.exit_code == 1
    assert result.stderr == f"flexicase: error: {tmp_path / 'file'}: File exists\n"
