"""The benchmark of partial evaluation runs, and what it reports is what it is called."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "fast_lexicase.py"
pytestmark = pytest.mark.slow


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_quick_run_reports_shares_costs_and_a_figure(tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "shares.png"
    done = run(
        "--quick", "--individuals", "60", "--repeat", "1", "--parts", "share,overhead", "--json", "--plot", figure
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for row in found["share"]:
        shares = list(row["share"].values())
        assert shares == sorted(shares)
        assert 0 < shares[0] <= shares[-1] <= 1
    assert {row["cases"] for row in found["share"]} == {100, 1000}
    regimes = {(row["events"], row["n"], row["lookahead"]) for row in found["overhead"]}
    assert regimes == {(e, n, a) for e, n in (("long", 1), ("short", 1), ("short", 100)) for a in ("auto", 1)}
    for row in found["overhead"]:
        assert row["pool"] <= 64
        assert row["us_per_case"] <= row["most"]
        assert row["visited"] == 2000 if row["events"] == "long" else row["visited"] < 10
        assert row["calls"] <= row["visited"]
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_look_ahead_makes_fewer_calls_for_the_same_selection():
    done = run("--quick", "--individuals", "40", "--parts", "wall", "--json")
    assert done.returncode == 0, done.stderr
    wall = json.loads(done.stdout)["wall"]
    for row in wall["look_ahead"]:
        assert row["auto"]["calls"] <= row["one"]["calls"]
        assert row["auto"]["pairs"] >= row["one"]["pairs"]
        assert row["fixed"]["calls"] <= row["one"]["calls"]
    assert [row["n"] for row in wall["against_full"]] == [1, 10, 100, 40]


def test_unknown_parts_are_refused():
    done = run("--parts", "speed")
    assert done.returncode == 2
    assert "--parts must name share, wall, overhead or deap" in done.stderr
