"""The benchmark of selection on real populations runs, and compares the same events."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "gp_selection.py"
pytestmark = pytest.mark.slow
QUICK = (
    "--problems",
    "simple-regression",
    "--generations",
    "0",
    "1",
    "--seeds",
    "1",
    "--events",
    "250",
    "--repeats",
    "1",
)


def run(*arguments):
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_method_selects_from_every_population(tmp_path):
    text = run(*QUICK, "--json")
    rows = json.loads(text)["rows"]
    assert len(rows) == 2 * 5
    assert {row["generation"] for row in rows} == {0, 1}
    assert all(row["figures"]["loop"] > row["figures"]["native"] > 0 for row in rows)
    (tmp_path / "before.json").write_text(text)
    table = run("--read", tmp_path / "before.json", "--markdown").splitlines()
    assert len(table) == 2 + 2
    assert table[2].startswith("| simple-regression | 0 | 1 | ")
