"""Pictures of runs."""

from __future__ import annotations

import pytest

from flexicase.gp import evolve
from flexicase.plot import run_picture

pytest.importorskip("matplotlib")


def lines_of(figure):
    return {
        f"{ax.get_ylabel()}: {line.get_label()}": line.get_ydata().tolist()
        for ax in figure.axes
        for line in ax.get_lines()
    }


def test_lines_are_those_of_the_records():
    run = evolve("mirror-image", population=30, generations=3, seed=1, threads=1)
    lines = lines_of(run_picture(run))
    assert lines["total error: best"] == [record.best_error for record in run.records]
    assert lines["zero errors of the best (of 100): best"] == [record.solved_cases for record in run.records]
    assert lines["evaluations: selection, population pool"] == [record.evaluations for record in run.records[:-1]]
    assert lines["evaluations: evaluated pairs"] == [3000] * 4


def test_what_is_not_known_is_left_out():
    run = evolve("mirror-image", population=30, generations=1, seed=1, threads=1, partial=True)
    lines = lines_of(run_picture(run))
    assert "total error: best" in lines
    assert "total error: median" not in lines
    assert "distinct error vectors: all" not in lines


def test_a_run_of_one_generation_has_points():
    figure = run_picture(evolve("mirror-image", population=30, generations=0, seed=1, threads=1))
    assert figure.axes[0].get_lines()[0].get_marker() == "o"
    assert "not solved, generation 0" in figure.get_suptitle()
