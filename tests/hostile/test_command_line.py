"""Whatever the arguments and the standard streams are: one clear line, a documented exit code, no traceback."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flexicase.cli import app
from tests.hostile.values import EFFORT

pytestmark = pytest.mark.slow

N_CALLS = 40 * EFFORT
CODES = {0, 1, 2, 130}
COMMANDS = (
    *(
        ["report"],
        ["export"],
        ["import"],
        ["status"],
        ["rerun"],
        ["reproduce"],
        ["demo", "-n", "2"],
        ["doctor"],
        ["problems"],
    ),
    *(["problems", "show"], ["problems", "score"], ["methods"], ["select"], []),
)
OPTIONS = (
    *(
        "--out",
        "--studies",
        "--json",
        "--format",
        "--preset",
        "--program",
        "--fresh",
        "--seed",
        "--cifar-dir",
        "--cluster",
        "-n",
    ),
    *(
        "--workers",
        "--help",
        "--version",
        "--method",
        "--no-such",
        "-",
        "--",
        "--cluster-option",
        "--nice",
        "--allow-code",
    ),
)
ODD = (
    *(
        "",
        " ",
        "-",
        "--",
        "x",
        "a/b",
        "..",
        ".",
        "/",
        "~",
        "*",
        "\n",
        "\x1b[31m",
        "ä",
        "\udcff",
        "x" * 300,
        "x" * 5000,
        "-1",
    ),
    *(
        "0",
        "7",
        "1e400",
        "nan",
        "9" * 30,
        "true",
        "null",
        "[",
        "{}",
        "a=b",
        "=",
        "%s",
        "{0}",
        "mirror-image",
        "lexicase",
    ),
    *(
        "file",
        "folder",
        "file/x",
        "gone",
        "gone/x",
        "link",
        "secret",
        "/dev/null",
        "/dev/full",
        "/proc/self/mem",
        "csv",
    ),
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file, a folder, a broken link and a file that may not be read."""
    (tmp_path / "file").write_text("7\n")
    (tmp_path / "folder" / "x").mkdir(parents=True)
    (tmp_path / "link").symlink_to("link")
    (tmp_path / "secret").write_text("")
    (tmp_path / "secret").chmod(0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("flexicase.cli.demo.TIMING_SECONDS", 0.0)
    monkeypatch.setattr("flexicase.cli.demo.draw", lambda *_: [])
    monkeypatch.setattr("flexicase.cli.demo.evolve_program", lambda *_: ({}, ""))
    monkeypatch.setattr("flexicase.cli.demo.report_study", lambda *_: (None, ""))
    monkeypatch.setattr("flexicase.cli.reproduce.run_with_display", lambda *_, **__: 130)  # no study is run
    return tmp_path


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("place")
def test_odd_arguments_end_in_one_line(seed: int) -> None:
    draw = random.Random(seed)
    codes = set()
    for _ in range(N_CALLS):
        arguments = [*draw.choice(COMMANDS)]
        for _ in range(draw.randrange(4)):
            arguments += draw.choice(
                ([draw.choice(ODD)], [draw.choice(OPTIONS)], [draw.choice(OPTIONS), draw.choice(ODD)])
            )
        done = CliRunner().invoke(app, arguments, prog_name="flexicase", input="1,2\n")
        assert done.exception is None or isinstance(done.exception, SystemExit), arguments
        assert done.exit_code in CODES, arguments
        assert "Traceback" not in done.output, arguments
        assert "unexpected" not in done.stderr.replace("unexpected extra argument", ""), (arguments, done.stderr)
        errors = [line for line in done.stderr.splitlines() if line.startswith("flexicase: error: ")]
        assert len(errors) == (done.exit_code in {1, 2} and "Usage:" not in done.output) or done.exit_code == 1, (
            arguments
        )
        codes.add(done.exit_code)
    assert {0, 2} <= codes


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "study.toml", "--workers"],
        ["run", "study.toml", "--max-attempts"],
        ["run", "study.toml", "--hang-timeout"],
        ["evolve", "mirror-image", "--population"],
        ["evolve", "mirror-image", "--generations"],
        ["evolve", "mirror-image", "--threads"],
        ["train", "--generations", "1", "--train-cases", "8", "--threads"],
        ["train", "--generations"],
        ["select", "file", "--threads"],
    ],
    ids=" ".join,
)
def test_numbers_of_4000_digits_are_refused_by_name(arguments: list[str], place: Path) -> None:
    """Before anything is made; a number of workers used to end a study with an OverflowError."""
    (place / "study.toml").write_text(
        'name = "t"\nproblems = ["mirror-image"]\nmethods = ["random"]\nseeds = 1\n'
        "[settings]\npopulation = 2\ngenerations = 0\n"
    )
    done = CliRunner().invoke(app, [*arguments, "9" * 4000], prog_name="flexicase")
    assert done.exit_code in {1, 2}
    name = arguments[-1].removeprefix("--").replace("-", "_")
    assert f"{name} must be" in done.stderr
    assert not (place / "studies" / "t").exists()


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line of the shell, in which FX is the command."""
    code = f'FX() {{ "{sys.executable}" -m flexicase "$@"; }}\n{line}'
    return subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False, cwd=folder, timeout=60)


@pytest.mark.skipif(os.name == "nt", reason="POSIX streams")
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("FX doctor >&-", 1, "standard output: closed"),
        ("FX doctor >/dev/full", 1, "standard output: No space left on device"),
        ("FX --help >/dev/full", 1, "No space left on device"),
        ("FX status --json >&- 2>&-", 1, ""),
        ("FX doctor --json 2>&- <&- >/dev/null", 0, ""),
        ("FX problems score mirror-image --program - <&-", 2, "standard input: "),
        ("FX select - <&-", 1, "standard input: closed"),
        ("FX export x 2>/dev/full", 2, ""),
        ("FX report $'\\xff' --studies $'\\xfe'", 2, "unknown study"),
    ],
)
def test_closed_and_full_streams_end_in_one_line(line: str, code: int, message: str, tmp_path: Path) -> None:
    done = shell(line, tmp_path)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "unexpected" not in done.stderr
    assert done.stderr.count("\n") <= 1
