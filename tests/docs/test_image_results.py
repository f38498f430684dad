"""The page on the image studies says what the results say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed (the report extra)")

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def image_results():
    spec = importlib.util.spec_from_file_location("image_results", DOCS / "image_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_results(image_results):
    """Not so? Run ``python docs/image_results.py``."""
    page = image_results.PAGE.read_text(encoding="utf-8")
    assert len(image_results.BLOCK.findall(page)) >= 3
    assert image_results.filled(page) == page


def test_a_stale_table_is_noticed(image_results):
    page = image_results.PAGE.read_text(encoding="utf-8")
    assert image_results.filled(page.replace("| Gradient Lexicase |", "| Plain |", 1)) == page


def test_a_study_without_results_has_no_section(image_results, monkeypatch, tmp_path):
    """Until the study of the end of training has runs, the page must not announce it."""
    page = image_results.PAGE.read_text(encoding="utf-8")
    assert "<!-- cifar-tail section -->" in page
    monkeypatch.setattr(image_results, "DOCS", tmp_path / "docs")
    assert image_results.section("cifar-tail") == ""
