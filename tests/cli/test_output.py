"""Tables line up."""

import os
import signal

import pytest
import typer
from typer.testing import CliRunner

from flexicase.cli._output import CliGroup, aligned, explain, terminations_as_interrupts
from flexicase.cli.select import tab_separated


def test_numbers_go_right_and_words_left():
    table = aligned(("name", "n"), [("a", 1), ("bcdef", "1,234.5")])
    assert table == "name         n\n-----  -------\na            1\nbcdef  1,234.5\n"


def test_no_rows_and_no_header():
    assert aligned(("a", "b"), []) == "a  b\n-  -\n"
    assert aligned(None, [("x", "1.2.3"), ("yy", "4")]) == "x   1.2.3\nyy  4\n"


def test_tab_separated():
    assert tab_separated(("a", "b"), [(1, "x")]) == "a\tb\n1\tx\n"


@pytest.mark.parametrize(
    ("error", "line", "code"),
    [
        (ValueError("bad\n  thing"), "bad thing", 1),
        (ImportError("needs x"), "needs x", 1),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "a.csv: No such file or directory", 1),
        (OSError(28, "No space left on device"), "No space left on device", 1),
        (MemoryError(), "not enough memory", 1),
        (KeyError("k"), "unexpected KeyError: 'k' (FLEXICASE_TRACEBACK=1 shows where)", 1),
        (typer.BadParameter("It is wrong."), "invalid value: It is wrong", 2),
    ],
)
def test_explain(error, line, code):
    assert explain(error) == (f"flexicase: error: {line}", code)


def test_unexpected_errors_show_no_traceback_unless_asked(run, errors_csv, monkeypatch):
    def explode(*args, **options):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("flexicase.cli.select.read_errors", explode)
    result = run("select", errors_csv)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("flexicase: error: unexpected ZeroDivisionError: boom")
    with pytest.raises(ZeroDivisionError):
        run("select", errors_csv, env={"FLEXICASE_TRACEBACK": "1"}, catch_exceptions=False)


def test_interrupt_is_quiet_and_exits_130(run, errors_csv, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("flexicase.cli.select.read_errors", interrupt)
    result = run("select", errors_csv)
    assert (result.exit_code, result.output) == (130, "")


def test_a_group_without_a_command_shows_its_help_and_exits_2():
    app = typer.Typer(cls=CliGroup, rich_markup_mode=None)
    inner = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    inner.command("one")(lambda: None)
    inner.command("two")(lambda: None)
    app.add_typer(inner, name="inner")
    app.command("other")(lambda: None)
    result = CliRunner().invoke(app, ["inner"], prog_name="flexicase")
    assert result.exit_code == 2
    assert "Usage: flexicase inner" in result.output
    assert "error" not in result.output


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_second_signal_does_not_disturb_the_saving_after_the_first():
    """Closing a terminal sends SIGHUP, and often SIGTERM right after it."""
    saved = []
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGHUP, signal.SIGTERM)}

    @terminations_as_interrupts()
    def work():
        try:
            os.kill(os.getpid(), signal.SIGHUP)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            saved.append(True)

    try:
        with pytest.raises(typer.Exit) as left:
            work()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert (left.value.exit_code, saved) == (129, [True])


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_signal_that_nohup_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminations_as_interrupts():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
