"""The instruction reference is made from the table: every instruction once, with what the table says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from flexicase.push import instruction_table
from flexicase.push.instructions import descriptions

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def reference() -> ModuleType:
    """The extension that makes it."""
    spec = importlib.util.spec_from_file_location("instruction_reference", DOCS / "instruction_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_instruction_has_one_row(reference: ModuleType) -> None:
    rows = [line.strip("| ").split(" | ") for line in reference.tables().splitlines() if line.startswith("| `")]
    assert sorted(row[0].strip("`") for row in rows) == sorted(descriptions())
    table = instruction_table()
    for name, _, _, description, blocks, lists in rows:
        instruction = table[name.strip("`")]
        assert description == instruction.description
        assert lists == (", ".join(instruction.instruction_sets) or "–")
        assert blocks == str(instruction.blocks or "–")


def test_stacks_have_tables_of_their_own(reference: ModuleType) -> None:
    sections = reference.tables().split("## ")[1:]
    assert [section.partition("\n")[0] for section in sections[:4]] == ["exec", "code", "integer", "float"]
    strings = next(section for section in sections if section.startswith("vector_string\n"))
    assert "| `vector_string_nth` | `vector_string`, `integer` | `string` |" in strings
    assert "| `integer_rand` |" in next(section for section in sections if section.startswith("Random"))


def test_the_page_has_a_place_for_it(reference: ModuleType) -> None:
    page = (DOCS / "instructions.md").read_text(encoding="utf-8")
    source = [page]
    reference._insert(None, "instructions", source)
    assert reference.MARK not in source[0]
    assert "| `integer_add` | 2 `integer` | `integer` | Adds y and x. | – | 2019, 2021, 2023, psb2 |" in source[0]
    with pytest.raises(ValueError, match="must hold the line"):
        reference._insert(None, "instructions", ["nothing"])
