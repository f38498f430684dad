import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fragments import replace_fragment
from selection import runners as runners_file
from selection.comparison import Entry, Row, compare, entries
from selection.costs import Cost, memory, second_thread, small_calls
from selection.peers import PEERS, resolve_peers
from selection.report import Report, engineering
from selection.runners import Bench, Timing, affordable
from selection.workloads import WORKLOADS, Workload, resolve_workloads

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "selection"
TINY = Workload("a", "tiny", 7, False, lambda: np.random.default_rng(0).integers(0, 2, (12, 5)).astype(np.float64))


class Clockwork:
    """Times nothing: every call of ``n`` selections takes ``n`` times a fixed time."""

    def __init__(self, per_second):
        self.per_second = per_second
        self.seeds = []

    def time(self, n, *, seed, seconds, limit, method="lexicase", counts=False, cases_major=False):
        self.seeds.append(seed)
        return Timing(n, n / (self.per_second * (0.4 if method.startswith("weighted") else 1.0)), 1.0, 1)


@pytest.mark.parametrize(("key", "shape", "distinct"), [("a", (1000, 100), 597), ("c", (5000, 1000), 3043)])
def test_discrete_workloads_keep_their_shape_and_duplicates(key, shape, distinct):
    errors = WORKLOADS[key].build()
    assert errors.shape == shape
    assert len({row.tobytes() for row in errors}) == distinct
    assert errors.flags.c_contiguous
    assert 0.1 < (errors > 1).mean() / (errors > 0).mean() < 0.3, "a fifth of the cases have counts"
    assert WORKLOADS[key].n == shape[0]


def test_continuous_workloads_have_no_ties():
    b, d = WORKLOADS["b"].build(), WORKLOADS["d"].build()
    assert (b.shape, d.shape) == ((1000, 100), (500, 10_000))
    assert len(np.unique(b)) == b.size
    assert d.min() >= 0
    assert len(np.unique(d[:, 0])) == 500
    assert WORKLOADS["d"].epsilon
    assert not WORKLOADS["b"].epsilon


def test_unknown_names_are_refused_with_a_hint():
    with pytest.raises(ValueError, match="unknown workload 'e'"):
        resolve_workloads(["a", "e"])
    with pytest.raises(ValueError, match="at least one of a, b, c, d"):
        resolve_workloads([""])
    with pytest.raises(ValueError, match="did you mean 'deap'"):
        resolve_peers(["daep"])
    assert [w.key for w in resolve_workloads([" c", "a", "c"])] == ["c", "a"]


@pytest.mark.parametrize("epsilon", [False, True])
@pytest.mark.parametrize("runner", ["flexicase", *PEERS])
def test_every_runner_selects_the_only_possible_parents(runner, epsilon):
    """A sign or an index mixed up in an adapter would choose the dominated rows."""
    if runner in PEERS:
        pytest.importorskip(PEERS[runner].module, reason=f"{runner} is not installed here")
    errors = np.array([[9.0, 9.0, 9.0], [0.0, 1.0, 1.0], [8.0, 9.0, 9.0], [1.0, 0.0, 0.0], [9.0, 8.0, 8.0]])
    call = runners_file.RUNNERS[runner](errors, epsilon)
    chosen = np.asarray(call(200, 3))
    assert chosen.shape == (200,)
    assert set(chosen.tolist()) == {1, 3}
    assert np.asarray(call(200, 3)).tolist() == chosen.tolist(), "the seed must be used"


def test_numpy_loop_has_the_distribution_of_flexicase():
    """The reference for scale must be the same method, epsilon included."""
    errors = np.random.default_rng(2).exponential(size=(6, 4))
    for epsilon in (False, True):
        counts = [
            np.bincount(runners_file.RUNNERS[runner](errors, epsilon)(4000, 1), minlength=6) / 4000
            for runner in ("numpy", "flexicase")
        ]
        assert abs(counts[0] - counts[1]).sum() / 2 < 0.05


def test_bench_times_new_seeds_and_refuses_wrong_indices(monkeypatch):
    seeds = []

    def make(errors, epsilon, wrong=False):
        def call(n, seed):
            seeds.append(seed)
            return [len(errors) if wrong else 0] * n

        return call

    monkeypatch.setitem(runners_file.RUNNERS, "numpy", make)
    bench = Bench("numpy", np.zeros((3, 2)), epsilon=False)
    timing = bench.time(5, seed=10, seconds=1e-4, limit=1.0)
    assert timing.n == 5
    assert timing.calls == len(set(seeds) - {0}) > 1
    with pytest.raises(RuntimeError, match="expected 5 indices below 3"):
        bench.time(5, seed=10, seconds=0.0, limit=1.0, wrong=True)


@pytest.mark.parametrize(
    ("fixed", "each", "expected"),
    [(0.0, 1e-6, 1000), (0.0, 0.01, 400), (0.0, 9.0, 1), (1.0, 0.01, 300), (3.0, 1e-6, 1000), (2.5, 0.01, 150)],
)
def test_slow_runners_select_fewer(monkeypatch, fixed, each, expected):
    """Preparation must not be mistaken for time per selection, or a peer is made to look slow."""
    clock = [0.0]

    def call(n, seed):
        clock[0] += fixed + each * n
        return [0] * n

    monkeypatch.setattr(runners_file.time, "process_time", lambda: clock[0])
    assert affordable(call, 1000, 4.0) == pytest.approx(expected, rel=0.02)


def test_comparison_takes_turns_and_judges():
    ours, portable, slow, fast = Clockwork(2e6), Clockwork(1.6e6), Clockwork(100), Clockwork(5000)
    rows = compare(TINY, {"flexicase": ours, "portable": portable}, {"slow": slow, "fast": fast}, repeat=2)
    found = {(r.runner, r.entry): r for r in rows}
    plain = found["flexicase", Entry("lexicase")]
    assert (plain.best_peer, plain.goal, plain.holds) == ("fast", 3e6, False)
    assert plain.ratio == pytest.approx(400)
    assert found["flexicase", Entry("lexicase", counts=True)].holds
    assert found["portable", Entry("lexicase")].goal == 1.5e6
    assert found["portable", Entry("lexicase")].holds
    weighted = found["flexicase", Entry("weighted-num-zeros")]
    assert weighted.goal == pytest.approx(1e6)
    assert (weighted.holds, weighted.ratio) == (False, None)
    assert found["flexicase", Entry("ranked-num-zeros")].holds
    assert found["slow", Entry("lexicase")].goal is None
    assert len(set(slow.seeds)) == len(slow.seeds) == 2


def test_peers_are_compared_only_on_the_layout_they_were_given():
    d = Workload("d", "tiny", 7, True, TINY.build)
    rows = compare(d, {"flexicase": Clockwork(50e3)}, {"peer": Clockwork(1e3)}, repeat=1)
    assert [(r.entry.cases_major, r.ratio is not None) for r in rows[:4]] == [(False, True)] * 2 + [(True, False)] * 2
    assert [(r.goal, r.holds) for r in rows[:4:2]] == [(25e3, True), (60e3, False)]


def test_without_peers_there_is_no_ratio():
    rows = compare(TINY, {"flexicase": Clockwork(1e6)}, {}, repeat=1)
    assert {row.ratio for row in rows} == {None}


def test_entries_cover_orders_counts_and_layouts():
    assert len(entries(WORKLOADS["a"])) == len(entries(WORKLOADS["c"])) == 10
    assert entries(WORKLOADS["b"]) == [Entry("lexicase"), Entry("lexicase", counts=True)]
    assert {(e.counts, e.cases_major) for e in entries(WORKLOADS["d"])} == {(c, m) for c in (0, 1) for m in (0, 1)}


def test_costs_are_measured():
    errors = TINY.build()
    calls = small_calls(repeat=1, calls=3)
    assert [cost.goal for cost in calls] == [5.0, 30.0]
    assert all(cost.value > 0 for cost in calls)
    assert memory(TINY, errors).value * errors.size >= errors.size / 8, "a bit per entry at the very least"
    deviating = Workload("d", "tiny", 7, True, TINY.build)
    held = memory(deviating, errors)
    assert held is None or held.goal is None
    assert second_thread(TINY, errors, repeat=1, seconds=0.0).value > 0


def test_cost_goals_have_a_direction():
    assert Cost("x", 2.0, "s", 1.0).holds is False
    assert Cost("x", 2.0, "s", 1.0, at_most=False).holds is True
    assert Cost("x", 2.0, "s").holds is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(3_412_000, "3.41 M"), (999_900, "1.00 M"), (76.24, "76.2"), (4950, "4.95 k"), (539, "539"), (2.5e9, "2.50 G")],
)
def test_numbers_are_short(value, text):
    assert engineering(value) == text


def test_markdown_has_one_column_per_peer_and_replaces_only_the_fragment():
    timing = Timing(7, 7e-6, 1.0, 1)
    rows = [
        Row("a", "flexicase", Entry("lexicase"), timing, 3e6, "deap 1.4.4", 250.0),
        Row("a", "flexicase", Entry("lexicase", counts=True), timing),
        Row("a", "flexicase", Entry("ranked-num-zeros"), timing),
        Row("a", "deap 1.4.4", Entry("lexicase"), Timing(7, 7 / 4000, 1.0, 1)),
    ]
    report = Report(rows, [Cost("small", 3.0, "µs")])
    assert "250 × deap 1.4.4" in report.as_text()
    fragment = report.as_markdown()
    title = f"a: {WORKLOADS['a'].title}, n = 1000"
    assert f"| {title} | 1.00 M | 1.00 M | 4.00 k | 250 × |" in fragment.splitlines()
    assert "| ranked-num-zeros | 1.00 M |" in fragment
    text = "# t\n<!-- benchmark:begin -->\nold\n<!-- benchmark:end -->\nrest\n"
    assert replace_fragment(replace_fragment(text, "x"), "new") == text.replace("old", "new")
    with pytest.raises(ValueError, match="benchmark:begin"):
        replace_fragment("# t", "new")


def _run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_script_measures_in_processes_and_updates_the_readme(tmp_path):
    readme, out = tmp_path / "README.md", tmp_path / "results.json"
    readme.write_text("before\n<!-- benchmark:begin -->\n<!-- benchmark:end -->\nafter\n", encoding="utf-8")
    done = _run(
        *("--peers", "numpy", "--workloads", "b", "--repeat", "1", "--seconds", "0", "--isas", "base"),
        *("--out", str(out), "--markdown", "--update-docs", "--page", str(readme)),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    assert set(found) == {"environment", "rows", "costs", "skipped"}
    assert {"flexicase", "isa", "python", "numpy", "cpu", "load", "date"} <= set(found["environment"])
    assert {cost["unit"] for cost in found["costs"]} == {"bytes an entry", "µs a call"}
    rows = found["rows"]
    assert (rows[0]["workload"], rows[0]["goal"], rows[0]["n"]) == ("b", 20e6, 1000)
    assert rows[0]["selections_per_second"] == pytest.approx(rows[0]["n"] / rows[0]["seconds"])
    assert rows[0]["best_peer"] == "NumPy loop"
    assert rows[0]["ratio"] > 0
    assert [row["runner"] for row in rows] == ["flexicase"] * 2 + ["flexicase (base)"] * 2 + ["NumPy loop"]
    assert rows[2]["goal"] == rows[0]["goal"] / 2
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- benchmark:begin -->\n| selections per second |")
    assert text.endswith("<!-- benchmark:end -->\nafter\n")
    assert done.stdout.strip() in text


@pytest.mark.slow
@pytest.mark.parametrize(("option", "name"), [("peer", "nobody"), ("workload", "z")])
def test_script_refuses_what_it_does_not_know(option, name):
    done = _run(f"--{option}s", name)
    assert done.returncode == 2
    assert f"unknown {option} {name!r}" in done.stderr


def test_a_peers_process_does_not_need_flexicase(tmp_path):
    """A peer's environment has NumPy only; the runners' file must work there by itself."""
    np.save(tmp_path / "errors.npy", TINY.build())
    code = (
        "import runpy, sys; sys.modules['flexicase'] = None; "
        f"sys.argv[1:] = ['numpy', {str(tmp_path / 'errors.npy')!r}, 'std']; "
        f"runpy.run_path({runners_file.__file__!r}, run_name='__main__')"
    )
    request = json.dumps({"n": 7, "seed": 1, "seconds": 0.0, "limit": 1.0})
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=request + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 7
