"""Traces agree with runs."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from conformance import difference, genome_of, records, value_of
from flexicase.push import Limits, run, trace_program

RECORDS = Path(__file__).parent / "clojush" / "broad-programs.jsonl.gz"


def test_the_last_step_of_a_trace_is_the_state_of_the_run() -> None:
    limits = Limits(steps=60)
    for record in islice(records(RECORDS), 40):
        program = genome_of(record["genome"]).translate()
        inputs = [value_of(item) for item in record["runs"][0]["inputs"]]
        expected = run(program, inputs, limits)
        found = trace_program(program, inputs, limits)
        assert found.termination == expected.termination
        assert len(found.steps) == expected.steps
        assert difference(expected.stacks, found.steps[-1].state.stacks) == ""


@pytest.mark.parametrize(("program", "status"), [("(in1)", "missing_input"), ("(nonsense)", "unknown_instruction")])
def test_a_program_in_error_ends_its_trace(program: str, status: str) -> None:
    assert trace_program(program).termination == status


def test_the_text_shows_tags_and_output() -> None:
    text = str(trace_program('(5 tag_integer_3 "a" print_string)'))
    assert "tag: 3=5" in text
    assert 'output: "a"' in text


def test_the_table_has_a_line_per_step_and_a_column_per_stack(capsys: pytest.CaptureFixture[str]) -> None:
    trace_program("(1 2 integer_add true)").show()
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == ["step", "executed", "exec", "integer", "boolean"]
    assert ["4", "integer_add", "true", "3"] in lines
    assert ["5", "true", "3", "true"] in lines
    assert lines[-1] == ["5", "steps,", "normal"]


def test_markup_in_strings_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """An evolved string such as [bold] must not be taken for a command to the terminal."""
    trace_program('("[bold]x[/bold]")').show()
    assert "[bold]x[/bold]" in capsys.readouterr().out


def test_long_stacks_are_cut() -> None:
    step = trace_program("(" + " ".join(map(str, range(20))) + ")").steps[-1]
    assert step.shown()["integer"] == "19 18 17 16 15 14 …"
