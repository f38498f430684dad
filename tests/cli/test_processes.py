"""The command as a process of its own: pipes, signals, terminals, start-up."""

import os
import signal
import subprocess
import sys
import time

import pytest

FLEXICASE = [sys.executable, "-m", "flexicase"]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="POSIX pipes and signals")]


def test_standard_input_to_standard_output():
    done = subprocess.run([*FLEXICASE, "select", "-", "-n", "3"], input=b"0;1\n5;5\n", capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"0\n0\n0\n", b"")


def test_empty_standard_input():
    done = subprocess.run([*FLEXICASE, "select", "-"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"flexicase: error: standard input: the file is empty\n")


@pytest.mark.parametrize(("command", "code"), [("methods", 0), ("doctor", 0), ("status", 1), ("report x", 1)])
def test_the_core_works_without_the_report_extra(command, code):
    script = "import sys; sys.modules |= dict.fromkeys(['jinja2', 'matplotlib', 'pyarrow', 'scipy'])\n"
    script += f"sys.argv = ['flexicase', *{command.split()}]\nfrom flexicase.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    message = "flexicase: error: studies need pyarrow: pip install 'flexicase[report]'\n"
    assert (done.returncode, done.stderr) == (code, message if code else "")


def heed_ctrl_c():
    """Background jobs of a shell ignore it, and so would what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def start():
    """Start the command with pipes; whatever happens, it is gone when the test ends."""
    started = []

    def call(*args):
        process = subprocess.Popen(
            [*FLEXICASE, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=heed_ctrl_c,  # noqa: PLW1509
        )
        started.append(process)
        return process

    yield call
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


def test_a_reader_that_goes_away_ends_the_program_in_silence(start, errors_csv):
    process = start("select", str(errors_csv), "-n", "300000")
    assert process.stdout.readline().strip().isdigit()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0


def test_ctrl_c_is_quiet_and_exits_130(start):
    process = start("select", "-")
    process.stdin.write(b"0,1\n" * 100_000)  # more than a pipe holds: returns once the command reads …
    process.stdin.flush()
    time.sleep(0.3)  # … and now waits for more
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert process.stderr.read() == b""


def test_counts_are_an_aligned_table_on_a_terminal(errors_csv):
    import pty

    ours, theirs = pty.openpty()
    subprocess.run([*FLEXICASE, "select", str(errors_csv), "--counts", "-n", "2"], stdout=theirs, check=True)
    os.close(theirs)
    lines = os.read(ours, 10_000).decode().splitlines()
    os.close(ours)
    assert lines[0] == "index  evaluations  evaluations_distinct  cases_used  ended"
    assert len(lines) == 4


def test_a_terminal_without_unicode_is_no_reason_to_fail():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*FLEXICASE, "problems", "show", "wallis-pi"], env=environment, capture_output=True, check=True
    )
    assert b"\\u2026" in done.stdout


def test_starting_up_imports_nothing_heavy():
    code = (
        "import sys, flexicase.cli\n"
        "print(sorted({'matplotlib', 'pyarrow', 'scipy', 'torch', 'ray', 'rich'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def shell(command, **options):
    """Run a shell command in which ``flexicase`` is the command."""
    script = f'flexicase() {{ "{sys.executable}" -m flexicase "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("flexicase select - <&-", "standard input: closed"),
        ("flexicase select {errors} >&-", "standard output: closed"),
        ("flexicase select {errors} -n 5 > /dev/full", "standard output: No space left on device"),
        ("flexicase select {errors} -n 200000 --counts > /dev/full", "standard output: No space left on device"),
        ("flexicase select - < /dev/zero", "standard input: not a text, NumPy or Parquet file (it holds a zero byte)"),
        ("flexicase select /dev/zero", "/dev/zero: not a text, NumPy or Parquet file (it holds a zero byte)"),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_closed_and_endless_streams_are_one_line_and_exit_code_1(command, message, errors_csv):
    done = shell(command.format(errors=errors_csv))
    assert (done.returncode, done.stderr, done.stdout) == (1, f"flexicase: error: {message}\n", "")


def test_closed_standard_error_changes_nothing(errors_csv):
    assert shell(f"flexicase select {errors_csv} -n 3 --seed 1 2>&-").stdout.count("\n") == 3
    assert shell(f"flexicase select {errors_csv}.none 2>&-").returncode == 1


def test_head_ends_a_long_output_in_silence(errors_csv):
    done = shell(f"set -o pipefail; flexicase select {errors_csv} -n 300000 | head -1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("start", [["-m", "flexicase"], ["-c", "from flexicase.__main__ import main; main()"]])
def test_ctrl_c_while_starting_up_is_quiet_and_exits_130(start, tmp_path):
    """The first thing that is slow is to import NumPy: one that sends Ctrl-C stands in for it."""
    (tmp_path / "numpy.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    done = subprocess.run(
        [sys.executable, *start, "methods"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=heed_ctrl_c,
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, b"", b"")
