"""Folders of checkpoints: one that is in use is refused, and so is one that cannot be written to."""

from __future__ import annotations

import os

import pytest

from flexicase._checkpoint import CheckpointError, prepare_folder, require_free


@pytest.mark.parametrize("name", ["run.checkpoint", "training.checkpoint", "run.checkpoint.previous"])
def test_a_folder_with_a_checkpoint_is_refused(tmp_path, name):
    """A new run would overwrite the checkpoints of the run that is there."""
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(ValueError, match=rf"{name}; pass resume=True to continue it, or choose another folder"):
        require_free(tmp_path)
    with pytest.raises(ValueError, match="holds a checkpoint of generation 7; say please"):
        require_free(tmp_path, lambda _: "generation 7", remedy="say please")


def test_a_damaged_checkpoint_is_not_overwritten_either(tmp_path):
    (tmp_path / "run.checkpoint").write_bytes(b"x")

    def damaged(_):
        raise CheckpointError("damaged")

    with pytest.raises(ValueError, match=r"a checkpoint that cannot be read \(run.checkpoint\)"):
        require_free(tmp_path, damaged)


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
