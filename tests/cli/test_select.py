"""``flexicase select`` gives what `flexicase.select` gives, and says what is wrong with a file."""

import inspect
import json
import os

import numpy as np
import pytest

import flexicase as fx
from flexicase.cli import select as commands
from flexicase.selection import methods as registry
from flexicase.selection.protocol import Selection
from tests.cli.test_error_files import BROKEN

ERRORS = [[0, 1, 2], [1, 0, 2], [2, 2, 0], [1, 1, 1]]


def test_options_have_the_names_and_defaults_of_the_python_arguments():
    function, command = (inspect.signature(f).parameters for f in (fx.select, commands.select))
    assert set(function) - set(command) == {"backend"}
    assert set(command) - set(function) == {"counts", "as_json", "epsilon", "header"}
    shared = [name for name in function if name in command and name != "errors"]
    assert [name for name in command if name in shared] == shared
    assert [command[name].default for name in shared] == [function[name].default for name in shared]


def test_prints_one_index_per_line(run, errors_csv):
    result = run("select", errors_csv, "-n", 20, "--method", "ranked-num-nonzeros", "--seed", 7)
    assert result.exit_code == 0
    assert result.stderr == ""
    expected = fx.select(ERRORS, 20, "ranked-num-nonzeros", seed=7).indices
    assert [int(line) for line in result.stdout.splitlines()] == expected.tolist()


def test_npy_and_standard_input_and_threads_make_no_difference(run, errors_csv, tmp_path):
    np.save(tmp_path / "errors.npy", np.array(ERRORS))
    arguments = ("-n", 30, "--seed", 1)
    expected = run("select", errors_csv, *arguments).stdout
    assert expected.count("\n") == 30
    assert run("select", tmp_path / "errors.npy", *arguments, "--threads", 2).stdout == expected
    assert run("select", "-", *arguments, input=errors_csv.read_bytes()).stdout == expected


def test_json_holds_indices_counts_method_seed_and_version(run, errors_csv):
    result = run("select", errors_csv, "-n", 5, "--json", "--seed", 3, "--method", "weighted-num-zeros")
    value = json.loads(result.stdout)
    expected = fx.select(ERRORS, 5, "weighted-num-zeros", seed=3)
    assert value["indices"] == expected.indices.tolist()
    assert value["counts"]["evaluations"] == expected.evaluations.tolist()
    assert value["counts"]["cases_used"] == expected.cases_used.tolist()
    assert set(value["counts"]["ended"]) <= {"one left", "cases exhausted"}
    assert (value["method"], value["seed"], value["version"]) == ("weighted-num-zeros", 3, fx.__version__)


def test_a_seed_left_out_is_drawn_and_reported(run, errors_csv):
    first = json.loads(run("select", errors_csv, "-n", 40, "--json").stdout)
    second = json.loads(run("select", errors_csv, "-n", 40, "--json").stdout)
    assert first["seed"] != second["seed"]
    assert fx.select(ERRORS, 40, seed=first["seed"]).indices.tolist() == first["indices"]


def test_counts_are_tab_separated_when_piped(run, errors_csv):
    result = run("select", errors_csv, "-n", 6, "--counts", "--seed", 2)
    header, *rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert header == ["index", "evaluations", "evaluations_distinct", "cases_used", "ended"]
    expected = fx.select(ERRORS, 6, seed=2)
    assert [int(row[0]) for row in rows] == expected.indices.tolist()
    assert [int(row[1]) for row in rows] == expected.evaluations.tolist()


def test_epsilon_reaches_the_filter(run, tmp_path):
    """With an epsilon as wide as the errors every individual survives, so all get chosen."""
    np.savetxt(tmp_path / "e.csv", np.arange(8.0).reshape(8, 1), delimiter=",")
    chosen = run("select", tmp_path / "e.csv", "-n", 200, "--epsilon", 100, "--seed", 1).stdout.split()
    assert len(set(chosen)) == 8
    assert set(run("select", tmp_path / "e.csv", "-n", 200, "--seed", 1).stdout.split()) == {"0"}
    by_mad = run("select", tmp_path / "e.csv", "-n", 200, "--epsilon", "mad", "--seed", 1).stdout.split()
    assert set(by_mad) == {"0", "1", "2"}


def test_nan_is_refused_with_its_place_or_counted_as_worst(run, tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("a,b\n0,1\n1,nan\n")
    refused = run("select", path)
    assert refused.exit_code == 1
    assert refused.stderr == (
        f"flexicase: error: {path}: individual 1, case 1 (counted from 0) is NaN; "
        "--nan worst counts it as the worst error\n"
    )
    assert run("select", path, "--nan", "worst").stdout == "0\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n", "a header but no individuals"),
        ("0,1\n2\n", "line 2, column 2: expected 2 columns"),
        ("0,1\n2,x\n", "line 2, column 2: expected a number, got 'x'"),
    ],
)
def test_bad_data_is_one_line_and_exit_code_1(run, tmp_path, content, message):
    path = tmp_path / "e.csv"
    path.write_text(content)
    result = run("select", path)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("flexicase: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_missing_unreadable_and_directory(run, errors_csv, tmp_path):
    missing = run("select", tmp_path / "nothing.csv")
    assert (missing.exit_code, missing.stderr) == (
        1,
        f"flexicase: error: {tmp_path / 'nothing.csv'}: No such file or directory\n",
    )
    directory = run("select", tmp_path)
    assert (directory.exit_code, directory.stderr) == (1, f"flexicase: error: {tmp_path}: Is a directory\n")
    errors_csv.chmod(0)
    if os.access(errors_csv, os.R_OK):
        pytest.skip("this user may read everything")
    unreadable = run("select", errors_csv)
    assert (unreadable.exit_code, unreadable.stderr) == (1, f"flexicase: error: {errors_csv}: Permission denied\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "lexicas"], "unknown method 'lexicas'; did you mean 'lexicase'?"),
        (["--metod", "x"], "--metod"),
        (["-n", "-1"], "'-n' / '--number'"),
        (["-n", "many"], "'-n' / '--number'"),
        (["--threads", "0"], "--threads"),
        (["--seed", "-5"], "--seed"),
        (["--epsilon", "-1"], "expected a number of at least 0 or one of mad, "),
        (["--epsilon", "nan"], "expected a number of at least 0 or one of mad, "),
        (["--epsilon", "wide"], "got 'wide'"),
        (["--nan", "wors"], "did you mean 'worst'?"),
        (["--header", "maybe"], "must be one of 'auto', 'yes', 'no'"),
        (["more.csv"], "more.csv"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(run, errors_csv, arguments, message):
    result = run("select", errors_csv, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("flexicase: error: ")
    assert message in result.stderr
    assert "flexicase select --help" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_wrong_method_is_found_before_the_file_is_read(run, tmp_path):
    assert run("select", tmp_path / "nothing.csv", "--method", "nope").exit_code == 2


class Blind:
    """A method that looks at no case: always the first individual."""

    def prepare(self, matrix, key, backend):
        return self

    def draw(self, key, events, counts, threads):
        return Selection(np.zeros(len(events), np.int64))

    def describe(self):
        return "always the first individual"


def test_methods_without_counts(run, errors_csv, monkeypatch):
    """Methods that look at no cases have no counts: null in JSON, a wrong call with --counts."""
    monkeypatch.setitem(registry._METHODS, "blind", Blind())
    assert run("select", errors_csv, "--method", "blind", "-n", 2).stdout == "0\n0\n"
    assert json.loads(run("select", errors_csv, "--method", "blind", "--json").stdout)["counts"] is None
    refused = run("select", errors_csv, "--method", "blind", "--counts")
    assert refused.exit_code == 2
    assert "uses all cases at once" in refused.stderr
    refused = run("select", errors_csv, "--method", "blind", "--epsilon", "mad")
    assert refused.exit_code == 2
    assert "is not a lexicase method" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_one_line_and_exit_code_1(run, tmp_path, kind):
    path = tmp_path / "errors.bin"
    path.write_bytes(BROKEN[kind])
    result = run("select", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"flexicase: error: {path}: not a readable ")
    assert result.stderr.count("\n") == 1
    assert "unexpected" not in result.stderr


def test_a_file_too_large_for_memory_is_one_line(run, errors_csv, monkeypatch):
    def refuse(*args, **options):
        raise MemoryError("x: the errors do not fit into memory")

    monkeypatch.setattr("flexicase.cli.select.read_errors", refuse)
    result = run("select", errors_csv)
    assert (result.exit_code, result.stderr) == (1, "flexicase: error: x: the errors do not fit into memory\n")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["-n", str(2**63)], "'-n' / '--number'"),
        (["-n", str(2**45)], "'-n' / '--number'"),
        (["--epsilon", "1e999x"], "--epsilon"),
    ],
)
def test_absurd_numbers_are_refused_by_name(run, errors_csv, arguments, option):
    result = run("select", errors_csv, *arguments)
    assert result.exit_code == 2
    assert option in result.stderr
    assert result.stderr.count("\n") == 1


def test_absurd_threads_and_seeds_are_accepted(run, errors_csv):
    """Threads beyond the most that are used make no difference, and a seed may be of any size."""
    result = run("select", errors_csv, "--threads", 2**40, "--seed", 10**60, "-n", 3)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 3)


def test_verify_tells_right_draws_from_wrong_ones(run, tmp_path):
    battery = json.loads(run("verify", "--battery").stdout)
    draws = {name: fx.select_indices(errors, 1000, seed=2).tolist() for name, errors in battery["matrices"].items()}
    file = tmp_path / "draws.json"
    file.write_text(json.dumps(draws), encoding="utf-8")
    done = run("verify", file)
    assert (done.exit_code, done.stdout[:7]) == (0, "passed:")
    assert json.loads(run("verify", file, "--json").stdout)["passed"] is True
    file.write_text(json.dumps(draws | {"all equal": [0] * 1000}), encoding="utf-8")
    done = run("verify", file)
    assert done.exit_code == 1
    assert "ties are not broken at random" in done.stdout
    assert json.loads(run("verify", file, "--json").stdout)["failures"][0]["matrix"] == "all equal"


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "[1", "[]", '{"ties": [1]}', "[" * 100_000, "\x00"])
def test_verify_refuses_what_is_not_a_record(run, tmp_path, content):
    file = tmp_path / "draws.json"
    file.write_text(content, encoding="utf-8")
    done = run("verify", file)
    assert done.exit_code == 1
    assert f"error: {file}: " in done.stderr
    assert run("verify").exit_code == 2
    assert run("verify", tmp_path / "none.json").exit_code == 1


def test_scores_are_maximized(run, tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("1,1,0\n0,1,1\n1,0,0\n", encoding="utf-8")
    given = ("-n", 30, "--seed", 1, "--method", "weighted-num-nonzeros", "--maximize")
    expected = fx.select([[0, 0, 1], [1, 0, 0], [0, 1, 1]], 30, "weighted-num-nonzeros", seed=1).indices
    assert run("select", file, *given, "--solved", 1).stdout.split() == [str(i) for i in expected]
    assert sorted(run("select", file, "-n", 3, "--maximize", "--no-replace").stdout.split()) == ["0", "1", "2"]
    failed = run("select", file, *given)
    assert failed.exit_code == 1
    assert "error: solved must be the score that solves a case" in failed.stderr
