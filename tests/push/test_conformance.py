"""The engine agrees with the records of another Push system."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conformance import check, main, records
from flexicase.push import instruction_table

SAMPLE = Path(__file__).parent / "golden"
NAMES = ["core-steps", "broad-steps", "core-programs", "broad-programs", "translate", "errors"]


def whole_set() -> Path | None:
    """The folder of all golden records, if this machine has it."""
    shared = Path(os.environ.get("FLEXICASE_SHARED", Path(__file__).parents[3] / "shared"))
    folder = shared / "data" / "push-golden"
    return folder if folder.is_dir() else None


def mismatches(folder: Path, name: str) -> list[str]:
    """What the engine does otherwise than the records of a file."""
    found = ((record["id"], check(record, folder)) for record in records(folder / f"{name}.jsonl.gz"))
    return [f"{identity}: {problem}" for identity, problem in found if problem]


@pytest.mark.parametrize("name", NAMES)
def test_engine_agrees_with_the_sample(name: str) -> None:
    assert mismatches(SAMPLE, name) == []


@pytest.mark.parametrize("name", NAMES)
def test_engine_agrees_with_the_whole_set(name: str) -> None:
    folder = whole_set()
    if folder is None:
        pytest.skip("the whole set of golden records is not on this machine (FLEXICASE_SHARED)")
    assert mismatches(folder, name) == []


def test_sample_exercises_every_instruction() -> None:
    """An instruction without a record could change unnoticed."""
    files = (SAMPLE / f"{name}.jsonl.gz" for name in ("core-steps", "broad-steps"))
    seen = {record.get("instruction") for path in files for record in records(path)}
    latest = {row.name for row in instruction_table().values() if "L" in row.profiles}
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
