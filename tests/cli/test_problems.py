"""``flexicase problems``."""

import json

import pytest

from flexicase import problems

MIRROR = "(in1 in2 vector_integer_reverse vector_integer_eq)"


@pytest.mark.parametrize("command", [["problems"], ["problems", "show"], ["problems", "score"]])
def test_help_has_an_example_and_json(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Example:\n    flexicase problems" in result.stdout
    assert "--json" in result.stdout


def test_the_list_has_every_problem(run):
    lines = run("problems").stdout.splitlines()[2:]
    assert [line.split()[0] for line in lines] == problems.names()
    listed = json.loads(run("problems", "--json").stdout)
    assert [entry["problem"] for entry in listed] == problems.names()
    assert listed[0] == {
        "problem": "mirror-image",
        "train": 100,
        "test": 1000,
        "errors": 1,
        "genes": 110,
        "title": "Mirror Image",
    }


def test_the_list_of_a_suite(run):
    listed = json.loads(run("problems", "--suite", "psb2", "--json").stdout)
    assert [entry["problem"] for entry in listed] == problems.names("psb2")
    refused = run("problems", "--suite", "psb3")
    assert refused.exit_code == 2
    assert "suite must be one of 'psb1', 'psb2', got 'psb3'" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", problems.names())
def test_every_problem_can_be_shown(run, name):
    result = run("problems", "show", name)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(problems.load(name).title + ": ")
    facts = json.loads(run("problems", "show", name, "--json").stdout)
    assert facts["description"] == problems.load(name).description
    assert len(facts["cases"]) == 5
    assert all(case["inputs"] for case in facts["cases"])


def test_a_solution_exits_0(run, tmp_path):
    path = tmp_path / "mirror.push"
    path.write_text(f"; a solution\n{MIRROR}\n")
    result = run("problems", "score", "mirror-image", "--program", path)
    assert result.exit_code == 0
    assert result.stdout == "23 fixed and 300 random cases of Mirror Image: total error 0, 0 failing\n"
    piped = run("problems", "score", "mirror-image", "--program", "-", "--random-cases", 10, "--json", input=MIRROR)
    assert piped.exit_code == 0
    assert json.loads(piped.stdout) == {
        "problem": "mirror-image",
        "passed": True,
        "total_error": 0.0,
        "fixed_cases": 23,
        "random_cases": 10,
        "seed": 0,
        "points": 5,
        "failing": [],
    }


def test_a_wrong_program_exits_1_and_shows_some_cases(run):
    result = run("problems", "score", "smallest", "--program", "-", input="(in1 print_integer)")
    assert result.exit_code == 1
    assert "failing\n\ncase  errors  inputs" in result.stdout
    assert "2       1  0  4  -99  -33" in result.stdout
    assert '"-99"     "0"' in result.stdout
    assert "… and" in result.stdout
    found = json.loads(run("problems", "score", "smallest", "--program", "-", "--json", input="()").stdout)
    assert found["failing"][0] == {"case": 0, "inputs": [0] * 4, "expected": "0", "got": "", "errors": [1.0]}
    assert len(found["failing"]) == 305


def test_other_seeds_give_other_cases(run):
    def score(seed):
        return run("problems", "score", "smallest", "--program", "-", "--seed", seed, "--json", input="()").stdout

    assert score(1) == score(1) != score(2)


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        (["score", "mirror-imag", "--program", "-"], "()", "did you mean 'mirror-image'?"),
        (["show", "nothing"], "", "unknown problem name 'nothing'"),
        (["score", "mirror-image"], "", "missing option '--program'"),
        (["score", "mirror-image", "--program", "nowhere.push"], "", "nowhere.push: No such file"),
        (["score", "mirror-image", "--program", "-"], "(in1", "standard input: text: 1 '(' not closed"),
        (["score", "mirror-image", "--program", "-"], b"\xff\xfe", "standard input: 'utf-8' codec"),
        (["score", "mirror-image", "--program", "-"], "(in9)", "reads in9"),
        (["score", "mirror-image", "--program", "-"], "(exec_dupe)", "did you mean 'exec_dup'?"),
        (["score", "median", "--program", "-", "--random-cases", "0"], "()", "n_random_cases must be at least 1"),
        (["score", "median", "--program", "-", "--random-cases", "-3"], "()", "--random-cases"),
        (["listt"], "", "no such command 'listt'"),
    ],
)
def test_wrong_calls_exit_2_with_one_line(run, arguments, given, message):
    result = run("problems", *arguments, input=given)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("flexicase: error: ")
    assert result.stderr.count("\n") == 1
