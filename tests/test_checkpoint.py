"""Folders of checkpoints: one that is in use is refused, and so is one that cannot be written to."""

from __future__ import annotations

import os
import warnings

import pytest

from flexicase._checkpoint import (
    NEWEST,
    PREVIOUS,
    CheckpointError,
    CheckpointWriter,
    pack,
    prepare_folder,
    require_free,
)


@pytest.mark.parametrize("name", ["run.checkpoint", "training.checkpoint", "run.checkpoint.previous"])
def test_a_folder_with_a_checkpoint_is_refused(tmp_path, name):
    """A new run would overwrite the checkpoints of the run that is there, whole or damaged."""
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(ValueError, match=rf"{name}\)?; say please, or choose another folder"):
        require_free(tmp_path, remedy="say please")
    (tmp_path / name).write_bytes(pack({"settings": {}, "generation": 7}, b""))
    if name.startswith("run"):
        with pytest.raises(ValueError, match="holds a checkpoint of generation 7; pass resume=True to continue it"):
            require_free(tmp_path)


def writer(folder, seed=1, every=30.0):
    """Saves the number of generations, which its list counts."""
    count = [0]
    return CheckpointWriter(
        folder, {"seed": seed}, lambda: ({"n": count[0]}, b"x"), lambda h, _: h["n"], every=every
    ), count


def test_the_last_two_checkpoints_are_kept_and_the_newest_whole_one_is_read(tmp_path):
    saver, count = writer(tmp_path)
    assert saver.open(resume=True) is None
    for n in (1, 2, 3):
        count[0] = n
        saver.save(n)
    assert writer(tmp_path)[0].open(resume=True) == 3
    (tmp_path / NEWEST).write_bytes(b"damaged")
    after, count = writer(tmp_path)
    assert after.open(resume=True) == 2
    count[0] = 9
    after.save(9)  # the damaged one does not become the previous one
    (tmp_path / NEWEST).unlink()
    assert writer(tmp_path)[0].open(resume=True) == 2
    (tmp_path / PREVIOUS).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"run.checkpoint.previous: the file is damaged, cut short"):
        writer(tmp_path)[0].open(resume=True)


def test_a_generation_is_saved_once_and_when_it_is_due(tmp_path):
    saver, count = writer(tmp_path, every=1000.0)
    saver.save_if_due(1)
    assert not (tmp_path / NEWEST).exists()
    saver.save(1)
    count[0] = 5
    saver.save(1)
    assert writer(tmp_path)[0].open(resume=True) == 0
    eager, count = writer(tmp_path, every=0.0)
    eager.open(resume=True)
    count[0] = 5
    eager.save_if_due(1)  # what was read needs no saving
    assert writer(tmp_path)[0].open(resume=True) == 0
    eager.save_if_due(2)
    assert writer(tmp_path)[0].open(resume=True) == 5


@pytest.mark.parametrize(("every", "saved"), [(1000.0, True), (float("inf"), False)])
def test_the_end_is_saved_unless_checkpoints_are_for_interruptions(tmp_path, every, saved):
    writer(tmp_path, every=every)[0].finish(1)
    assert (tmp_path / NEWEST).exists() == saved


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    writer(tmp_path)[0].save(1)
    with pytest.raises(ValueError, match="seed=1, this run has seed=2"):
        writer(tmp_path, seed=2)[0].open(resume=True)
    with pytest.raises(ValueError, match="pass resume=True"):
        writer(tmp_path)[0].open(resume=False)
    assert writer(tmp_path)[0].open(resume=False, is_own=True) is None


def test_a_failure_to_write_costs_one_warning(tmp_path):
    (tmp_path / "file").write_text("")
    saver, _ = writer(tmp_path / "file")
    with pytest.warns(RuntimeWarning, match="no checkpoint was written"):
        saver.save(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saver.save(2)


def test_without_a_folder_nothing_is_saved():
    saver, _ = writer(None, every=0.0)
    assert saver.open(resume=False) is None
    saver.save(1)


def test_folders_without_a_checkpoint_are_free(tmp_path):
    """Neither other files nor what a killed process left while writing is a checkpoint."""
    (tmp_path / "notes.txt").write_bytes(b"x")
    (tmp_path / "run.checkpoint.123.partial").write_bytes(b"x")
    require_free(tmp_path)
    require_free(tmp_path / "missing")
    prepare_folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_missing_folder_is_made_with_its_parents(tmp_path):
    prepare_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def unusable(folder, how):
    """A path at which no checkpoint can be written, for root as well."""
    if how == "a file":
        (folder / "x").write_text("")
        return folder / "x"
    if how == "in a file":
        (folder / "x").write_text("")
        return folder / "x" / "y"
    if how == "too long":
        return folder / ("x" * 300)
    return {"no such device": "/proc/none", "not writable": "/proc/self"}[how]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="Linux")
@pytest.mark.parametrize("how", ["a file", "in a file", "too long", "no such device", "not writable"])
def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, how):
    path = unusable(tmp_path, how)
    with pytest.raises(OSError, match="save must be a folder that can be written to") as caught:
        prepare_folder(type(tmp_path)(path))
    assert caught.value.filename == str(path)
