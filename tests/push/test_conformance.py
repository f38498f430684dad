"""The engine agrees with the records of Clojush."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance import check, main
from conformance_values import records
from flexicase.push import instruction_table

RECORDS = Path(__file__).parent / "clojush"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("core-steps", 3678),
        ("broad-steps", 7024),
        pytest.param("core-programs", 2207, marks=pytest.mark.slow),
        ("broad-programs", 1798),
        ("translate", 2191),
        ("errors", 436),
    ],
)
def test_engine_agrees_with_clojush(name: str, size: int) -> None:
    found = [(record["id"], check(record, RECORDS / "errors")) for record in records(RECORDS / f"{name}.jsonl.gz")]
    assert len(found) == size
    assert [f"{identity}: {problem}" for identity, problem in found if problem] == []


def test_records_exercise_every_instruction() -> None:
    """An instruction without a record could change unnoticed."""
    files = (RECORDS / f"{name}.jsonl.gz" for name in ("core-steps", "broad-steps"))
    seen = {record.get("instruction") for path in files for record in records(path)}
    latest = {row.name for row in instruction_table().values() if "2023" in row.instruction_sets}
    assert latest <= seen


def test_main_reports_a_record_that_disagrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A replay that cannot fail would prove nothing."""
    record = {
        "id": "wrong",
        "kind": "step",
        "instruction": "integer_inc",
        "max_points": 1200,
        "before": {"integer": [{"int": 1}]},
        "after": {"integer": [{"int": 3}]},
    }
    right = {**record, "after": {"integer": [{"int": 2}]}}
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps(right) + "\n", encoding="utf-8")
    assert main([str(path)]) == 1
    out = capsys.readouterr().out
    assert out.endswith("1 passed, 1 failed\n")
    assert "wrong integer_inc: integer: expected [3], found [2]" in out


def test_main_without_files_is_an_error() -> None:
    assert main([]) == 2
