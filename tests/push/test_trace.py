"""Traces agree with runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexicase.push import Limits, run, trace
from flexicase.push.conformance import records
from flexicase.push.golden import difference, genome_of, value_of

GOLDEN = Path(__file__).parent / "golden" / "broad-programs.jsonl.gz"


def test_the_last_step_of_a_trace_is_the_state_of_the_run() -> None:
    limits = Limits(steps=60)
    for record in list(records(GOLDEN))[:40]:
        program = genome_of(record["genome"]).translate()
        inputs = [value_of(item) for item in record["runs"][0]["inputs"]]
        expected = run(program, inputs, limits)
        found = trace(program, inputs, limits)
        assert found.termination == expected.termination
        assert len(found.steps) == expected.steps
        assert difference(expected.stacks, found.steps[-1].state.stacks) == ""


@pytest.mark.parametrize(("program", "status"), [("(in1)", "missing_input"), ("(nonsense)", "unknown_instruction")])
def test_a_program_in_error_ends_its_trace(program: str, status: str) -> None:
    assert trace(program).termination == status


def test_the_text_shows_tags_and_output() -> None:
    text = str(trace('(5 tag_integer_3 "a" print_string)'))
    assert "tag: 3=5" in text
    assert 'output: "a"' in text
