"""Every exception becomes a line and an exit code."""

import pytest
import typer

from flexicase.cli.failures import explain


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
    assert explain(error) == (line, code)


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
