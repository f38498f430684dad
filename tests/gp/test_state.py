"""Checkpoints: nothing finished is lost, and a resumed run ends as an uninterrupted one."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

from flexicase import problems
from flexicase._checkpoint import MAGIC, NEWEST, PREVIOUS
from flexicase.gp import CheckpointError, Variation, evolve
from flexicase.gp._state import read
from tests.gp._helpers import MIXED, SAMPLERS, SMALL, fingerprint, small_run
from tests.processes import small_file_system

CHANGES = [{}, {"partial": True, "method": "weighted-num-nonzeros"}, {"n_selections": 4}, {"variation": MIXED}]


class Stopper:
    """Interrupts a run after a number of generations, as Ctrl-C would."""

    def __init__(self, generations):
        self.left = generations

    def __call__(self, record):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def interrupted(folder, after, **changes):
    with pytest.raises(KeyboardInterrupt):
        small_run(save=folder, callback=Stopper(after), **changes)


@pytest.mark.slow
@pytest.mark.parametrize("changes", CHANGES)
def test_a_resumed_run_ends_as_an_uninterrupted_one(tmp_path, changes):
    expected = fingerprint(small_run(**changes))
    for after in (1, 2, 4):
        folder = tmp_path / str(after)
        interrupted(folder, after, **changes)
        assert read(folder)[1].generation == after
        assert fingerprint(small_run(save=folder, resume=True, threads=2, **changes)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("sampling", SAMPLERS)
@pytest.mark.parametrize("changes", [{}, {"variation": MIXED, "problem": "grade"}])
def test_a_sampled_run_is_resumed_from_any_generation(tmp_path, sampling, changes):
    """Also between two refreshes of what informs the samples."""
    changes = {**changes, "sampling": sampling, "population": 30, "generations": 6}
    expected = fingerprint(small_run(**changes))
    for after in range(1, 6):
        folder = tmp_path / str(after)
        interrupted(folder, after, **changes)
        assert fingerprint(small_run(save=folder, resume=True, threads=2, **changes)) == expected


FORGED_INFORMATION = {
    "none": None,
    "a list": [],
    "text": {"generation": 0, "solved": ["xyz"]},
    "too short": {"generation": 0, "solved": ["00"]},
    "ragged": {"generation": 0, "solved": ["00" * 13, "00"]},
    "nobody": {"generation": 0, "solved": []},
    "no generation": {"generation": "x", "solved": ["00" * 13]},
}


@pytest.mark.slow
@pytest.mark.parametrize("state", FORGED_INFORMATION.values(), ids=FORGED_INFORMATION)
def test_forged_information_about_cases_is_a_checkpoint_error(tmp_path, state):
    changes = {"population": 10, "sampling": "informed:0.1,parent_rate=0.3"}
    interrupted(tmp_path, 2, **changes)
    forge(tmp_path, put("selection", state))
    with pytest.raises(CheckpointError):
        small_run(save=tmp_path, resume=True, **changes)


@pytest.mark.parametrize("ages", [None, 7, -1, 2**40, "x"])
def test_forged_ages_of_estimates_are_a_checkpoint_error(tmp_path, ages):
    changes = {"population": 4, "sampling": "phylogeny+down:0.2"}
    interrupted(tmp_path, 2, **changes)
    forge(tmp_path, put("ages", ages))
    with pytest.raises(CheckpointError):
        small_run(save=tmp_path, resume=True, **changes)


def test_a_run_can_be_interrupted_again_and_again(tmp_path):
    for _ in range(4):
        interrupted(tmp_path, 1, resume=True)
    assert fingerprint(small_run(save=tmp_path, resume=True)) == fingerprint(small_run())


def test_a_finished_run_is_resumed_to_the_same_end(tmp_path):
    run = small_run(save=tmp_path)
    assert fingerprint(small_run(save=tmp_path, resume=True)) == fingerprint(run)


def test_partial_evaluation_continues_with_its_weights(tmp_path):
    changes = {"partial": True, "default_weight": "min", "method": "ranked-num-zeros"}
    interrupted(tmp_path, 2, **changes)
    assert fingerprint(small_run(save=tmp_path, resume=True, **changes)) == fingerprint(small_run(**changes))


def test_without_a_checkpoint_the_run_starts_anew(tmp_path):
    assert fingerprint(small_run(save=tmp_path / "new", resume=True)) == fingerprint(small_run())


def test_with_infinite_patience_only_an_interruption_saves(tmp_path):
    small_run(save=tmp_path, save_every=float("inf"))
    assert list(tmp_path.iterdir()) == []


def two_checkpoints(folder):
    small_run(save=folder, save_every=0.0)
    assert (folder / NEWEST).exists()
    assert (folder / PREVIOUS).exists()


def damaged(data, how):
    if how == "flipped":
        place = int(np.random.default_rng(1).integers(len(data)))
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
    return {"cut": data[: len(data) // 2], "last byte missing": data[:-1], "empty": b"", "other": b"hello"}[how]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["flipped", "cut", "last byte missing", "empty", "other"])
def test_a_damaged_checkpoint_is_noticed_and_the_previous_one_used(tmp_path, how):
    two_checkpoints(tmp_path)
    newest = tmp_path / NEWEST
    generation = read(tmp_path)[1].generation
    newest.write_bytes(damaged(newest.read_bytes(), how))
    assert read(tmp_path)[1].generation <= generation
    assert fingerprint(small_run(save=tmp_path, resume=True)) == fingerprint(small_run())


def test_every_flipped_byte_is_noticed(tmp_path):
    small_run(save=tmp_path, population=2, generations=1)
    newest = tmp_path / NEWEST
    data = newest.read_bytes()
    for place in [*range(0, 200), *range(200, len(data), 37)]:
        newest.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        with pytest.raises(CheckpointError):
            read(tmp_path)


def forge(folder, change, body=lambda body: body):
    """Write a checkpoint with another header, or other bytes before it, and a checksum that fits."""
    path = folder / NEWEST
    data = path.read_bytes()[: -32 - len(MAGIC)]
    (length,) = struct.unpack("<Q", data[-8:])
    header = json.loads(data[-8 - length : -8])
    text = change(header)
    text = json.dumps(header if text is None else text).encode() if not isinstance(text, bytes) else text
    forged = body(data[: -8 - length]) + text + struct.pack("<Q", len(text))
    path.write_bytes(forged + hashlib.sha256(forged).digest() + MAGIC)
    (folder / PREVIOUS).unlink(missing_ok=True)


def put(*path_and_value):
    """A change of one entry of a header."""

    def change(header):
        *path, value = path_and_value
        for name in path[:-1]:
            header = header[name]
        header[path[-1]] = value

    return change


FORGED = {
    "no header": lambda header: b"",
    "not JSON": lambda header: b"{",
    "a list": lambda header: [],
    "deep": lambda header: b"[" * 100_000,
    "no settings": lambda header: {name: value for name, value in header.items() if name != "settings"},
    "settings of no run": put("settings", {}),
    "settings as a list": put("settings", []),
    "no generation": put("generation", None),
    "negative generation": put("generation", -1),
    "generation without records": put("generation", 7),
    "records of text": put("records", "ab"),
    "a record of nothing": put("records", [{}, {}]),
    "a record of texts": put("records", 0, "best_error", "small"),
    "seconds of nothing": put("records", 0, "seconds_vary", None),
    "huge population": put("population", 2**62),
    "negative population": put("population", -1),
    "huge inherited": put("inherited", [2**40, 2**20]),
    "negative inherited": put("inherited", [-1, 100]),
    "inherited of one number": put("inherited", 5),
    "inherited errors of other cases": put("inherited", [0, 7]),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_a_forged_header_is_a_checkpoint_error(tmp_path, change):
    """Neither another error, nor memory for what a header merely claims."""
    interrupted(tmp_path, 2, population=4)
    forge(tmp_path, change)
    with pytest.raises(CheckpointError):
        small_run(save=tmp_path, resume=True, population=4)


@pytest.mark.parametrize("length", [None, 0, 2**63, 2**64 - 1])
def test_bytes_that_do_not_fit_the_header_are_a_checkpoint_error(tmp_path, length):
    interrupted(tmp_path, 2, population=4)
    forge(tmp_path, lambda header: None, lambda body: body + b"x" if length is None else body)
    path = tmp_path / NEWEST
    if length is not None:
        forged = path.read_bytes()[: -8 - 32 - len(MAGIC)] + struct.pack("<Q", length)
        path.write_bytes(forged + hashlib.sha256(forged).digest() + MAGIC)
    with pytest.raises(CheckpointError):
        small_run(save=tmp_path, resume=True, population=4)


def test_another_population_than_the_settings_say_is_a_checkpoint_error(tmp_path):
    interrupted(tmp_path, 2, population=4)
    forge(tmp_path, put("settings", "population", 5))
    with pytest.raises(CheckpointError, match="population of 4, expected 5"):
        small_run(save=tmp_path, resume=True, population=5)


@pytest.mark.parametrize("places", [[4, 5], [1, 1], [2, 0], [-1, 1], [2**62, 1]])
def test_inherited_errors_of_individuals_that_do_not_exist_are_a_checkpoint_error(tmp_path, places):
    changes = {"population": 4, "variation": Variation(operators={"reproduction": 1.0})}
    interrupted(tmp_path, 2, **changes)

    def body(body):
        end = len(body) - 4 * 8 * 100  # the errors of four copies
        return body[: end - 4 * 8] + struct.pack("<4q", *places, 2, 3) + body[end:]

    forge(tmp_path, lambda header: None, body)
    with pytest.raises(CheckpointError, match="inherited"):
        small_run(save=tmp_path, resume=True, **changes)


@pytest.mark.slow
@pytest.mark.parametrize("selection", [None, {}, [], 5, {"settings": 3}, {"weights": "x"}])
def test_a_forged_state_of_the_selection_is_a_checkpoint_error(tmp_path, selection):
    changes = {"population": 4, "partial": True, "method": "weighted-num-nonzeros"}
    interrupted(tmp_path, 2, **changes)

    def change(header):
        header["selection"] = (
            {**header["selection"], **selection} if isinstance(selection, dict) and selection else selection
        )

    forge(tmp_path, change)
    with pytest.raises(CheckpointError):
        small_run(save=tmp_path, resume=True, **changes)


@pytest.mark.slow
def test_two_damaged_checkpoints_are_an_error_that_names_both(tmp_path):
    two_checkpoints(tmp_path)
    for name in (NEWEST, PREVIOUS):
        (tmp_path / name).write_bytes(MAGIC)
    with pytest.raises(CheckpointError, match=rf"{NEWEST}: .*damaged.*{PREVIOUS}: "):
        small_run(save=tmp_path, resume=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 6}, "seed=5, this run has seed=6"),
        ({"population": 61}, "population=60"),
        ({"method": "weighted-num-zeros"}, "method='lexicase'"),
        ({"problem": "last-index-of-zero"}, "problem='mirror-image'"),
        ({"variation": MIXED}, "variation="),
        ({"partial": True}, "partial=False"),
        ({"sampling": "down:0.1"}, "sampling=None, this run has sampling='down:0.1'"),
        ({"budget": 5}, "budget=None"),
        ({"check": "first"}, "check='all'"),
        ({"steps": 70}, "steps=600"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(tmp_path, changes, message):
    interrupted(tmp_path, 1)
    with pytest.raises(ValueError, match=message):
        small_run(save=tmp_path, resume=True, **changes)


def test_a_new_run_does_not_overwrite_the_checkpoint_of_another(tmp_path):
    """Two starts in one folder would leave nothing of the run that was there."""
    interrupted(tmp_path, 2)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    generations = []
    with pytest.raises(
        ValueError, match=r"holds a checkpoint of generation 2 of mirror-image, lexicase, seed 5; pass resume=True"
    ):
        small_run(save=tmp_path, callback=generations.append, seed=9)
    assert generations == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="Linux")
@pytest.mark.parametrize("path", ["file", "file/below", "/proc/none", "/proc/self"])
@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_that_cannot_be_used_is_refused_before_the_first_generation(tmp_path, path, resume):
    """Noticed at the first checkpoint, it would cost the run so far."""
    (tmp_path / "file").write_text("")
    generations = []
    with pytest.raises(OSError, match="save must be a folder that can be written to"):
        small_run(save=tmp_path / path, resume=resume, callback=generations.append)
    assert generations == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    yield from small_file_system(tmp_path / "disk", "64k")


def test_a_disk_that_fills_up_costs_checkpoints_but_not_the_run(small_disk):
    """The run goes on, says so once, and saves again as soon as there is space."""
    filler = small_disk / "filler"

    def fill_and_free(record):
        if record.generation == 1:
            space = os.statvfs(small_disk)
            filler.write_bytes(bytes(space.f_bavail * space.f_frsize))
        if record.generation == 3:
            filler.unlink()

    expected = fingerprint(small_run(population=8))
    save = small_disk / "run"
    with pytest.warns(RuntimeWarning, match="no checkpoint was written to .*No space left") as told:
        run = small_run(population=8, save=save, save_every=0.0, callback=fill_and_free)
    assert len(told) == 1
    assert fingerprint(run) == expected
    assert read(save)[1].generation == 4
    assert sorted(path.name for path in save.iterdir()) == [NEWEST, PREVIOUS]


def test_on_a_full_disk_the_finished_run_is_returned_and_ctrl_c_stays_ctrl_c(small_disk):
    def fill(record):
        space = os.statvfs(small_disk)
        (small_disk / "filler").write_bytes(bytes(space.f_bavail * space.f_frsize))
        if record.generation == stop_at:
            raise KeyboardInterrupt

    stop_at = None
    with pytest.warns(RuntimeWarning, match="No space left"):
        run = small_run(population=8, save=small_disk / "run", callback=fill)
    assert fingerprint(run) == fingerprint(small_run(population=8))
    stop_at = 2
    (small_disk / "filler").unlink()
    with pytest.warns(RuntimeWarning, match="No space left"), pytest.raises(KeyboardInterrupt):
        small_run(population=8, save=small_disk / "run", callback=fill)


def test_a_failure_while_writing_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    interrupted(tmp_path, 1)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.warns(RuntimeWarning, match="No space"):
        small_run(save=tmp_path, resume=True, save_every=0.0)
    monkeypatch.undo()
    assert read(tmp_path)[1].generation == 1


@pytest.mark.parametrize("error", [SystemExit(143), RuntimeError("of the callback")])
def test_whatever_ends_a_run_early_it_is_saved(tmp_path, error):
    """A signal handler that calls sys.exit, or a callback that fails, costs no generation."""

    def fail(record):
        if record.generation == 2:
            raise error

    with pytest.raises(type(error)):
        small_run(save=tmp_path, callback=fail)
    assert read(tmp_path)[1].generation == 3
    assert fingerprint(small_run(save=tmp_path, resume=True)) == fingerprint(small_run())


def two_biases():
    """The same function, as two processes would define it."""

    def bias(statistics):
        return 1.0 + statistics.nonzeros

    return bias


def test_a_method_with_a_function_is_resumed(tmp_path):
    """The place of a function in memory is not a setting."""
    import flexicase as fx

    methods = [fx.Lexicase(order=fx.Weighted(two_biases())) for _ in range(3)]
    interrupted(tmp_path, 2, method=methods[0])
    resumed = fingerprint(small_run(save=tmp_path, resume=True, method=methods[1]))
    assert resumed == fingerprint(small_run(method=methods[2]))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"measures": [problems.ErrorMeasure("integer", "mismatch")]}, "measures"),
        ({"stacks": ["exec", "integer"]}, "genes"),
        ({"settings": problems.ProblemSettings(steps=50)}, "steps"),
        ({"cases": [((n,), 2 * n) for n in range(8)]}, "cases"),
    ],
)
def test_another_problem_of_the_same_name_is_refused(tmp_path, change, name):
    def problem(cases=None, **parts):
        return problems.from_cases("own", cases or [((n,), 3 * n) for n in range(8)], **parts)

    interrupted(tmp_path, 1, problem=problem())
    with pytest.raises(ValueError, match=f"is of a run with {name}="):
        small_run(save=tmp_path, resume=True, problem=problem(**change))
    small_run(save=tmp_path, resume=True, problem=problem())


def test_a_run_with_an_instruction_in_python_is_resumed(tmp_path):
    from flexicase import push

    @push.instruction(name="integer_own_twice", takes=["integer"], gives=["integer"])
    def twice(n):
        return 2 * n

    cases = [((n,), 5 * n + 1) for n in range(8)]
    listed = problems.from_cases("own", cases)
    problem = dataclasses.replace(listed, extra_instructions=["integer_own_twice"] * 20)
    interrupted(tmp_path, 2, problem=problem)
    assert b"integer_own_twice" in (tmp_path / NEWEST).read_bytes()
    assert fingerprint(small_run(save=tmp_path, resume=True, problem=problem)) == fingerprint(
        small_run(problem=problem)
    )


SCRIPT = """
import sys
from flexicase.gp import evolve
evolve(
    "mirror-image", "random", population={population}, generations=10**6, seed={seed}, threads=1,
    simplification_steps={simplification_steps}, save=sys.argv[1], save_every=0.0, resume=True,
    callback=lambda record: print(record.generation, flush=True),
)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_kill_minus_nine_loses_nothing_that_was_saved(tmp_path):
    """Killed at arbitrary moments, most of them while a checkpoint is being written; both files stay readable."""
    settings = {**SMALL, "generations": 10**6, "method": "random"}
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT.format(**SMALL), tmp_path],
            stdout=subprocess.PIPE,
        )
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL
    state = read(tmp_path)[1]
    assert state.generation >= 3
    straight = []

    def stop(record):
        straight.append(record)
        if len(straight) == state.generation:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evolve("mirror-image", **settings, threads=1, callback=stop, save=tmp_path / "straight")
    assert list(state.records) == straight
    assert read(tmp_path / "straight")[1].population.to_bytes() == state.population.to_bytes()
