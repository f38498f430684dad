"""Data sets: digits, CIFAR-10 in all its forms, damaged files, and augmentation."""

from __future__ import annotations

import hashlib
import io
import pickle
import tarfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch.nn import functional

import flexicase.torch as ft
from flexicase.torch import _cifar as cifar
from flexicase.torch.data import Images


def test_digits_are_normalised_and_split_without_overlap():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    digits = ft.data.load("digits")
    inputs, labels = digits.train.batch(torch.arange(len(digits.train)))
    assert inputs.shape == (1297, 1, 8, 8)
    assert abs(float(inputs.mean())) < 1e-5
    assert abs(float(inputs.std()) - 1) < 1e-3
    assert set(labels.tolist()) == set(range(10))
    rows = [tuple(image.flatten().tolist()) for image in digits.test.batch(torch.arange(500))[0]]
    train = {tuple(image.flatten().tolist()) for image in inputs}
    assert sum(row in train for row in rows) == 0
    assert len(ft.data.load("digits", train_cases=100, test_cases=50).train) == 100


def test_large_sets_are_normalised_when_read():
    pixels = np.random.default_rng(1).integers(0, 256, (6, 3, 4, 4), dtype=np.uint8)
    small = Images(pixels, np.arange(6), mean=[0.5, 0.4, 0.3], std=[0.2, 0.3, 0.4])
    large = Images(pixels, np.arange(6), mean=[0.5, 0.4, 0.3], std=[0.2, 0.3, 0.4])
    large._pixels, large._is_normal = torch.from_numpy(pixels), False
    assert torch.equal(small.batch(torch.tensor([4, 1]))[0], large.batch(torch.tensor([4, 1]))[0])
    assert float(small[0][0][1, 0, 0]) == pytest.approx((pixels[0, 1, 0, 0] / 255 - 0.4) / 0.3, rel=1e-5)


def test_what_to_download_is_said(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"download cifar-10-python.tar.gz \(163 MB\) from https://www.cs.toronto"
    ):
        ft.data.load("cifar10", tmp_path)
    with pytest.raises(ValueError, match=r"cifar_dir must be the folder with CIFAR-10, got None"):
        ft.data.load("cifar10")


def test_unknown_names_and_too_many_cases_are_refused():
    with pytest.raises(ValueError, match=r"dataset must be one of 'digits', 'cifar10', got 'mnist'"):
        ft.data.load("mnist")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    with pytest.raises(ValueError, match=r"test_cases must be at most 500, got 501"):
        ft.data.load("digits", test_cases=501)


class Python2Pickler(pickle._Pickler):
    """Writes text and bytes as the strings of Python 2, as in the original files."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def save_string(self, value):
        content = value.encode() if isinstance(value, str) else value
        self.write(pickle.BINSTRING + len(content).to_bytes(4, "little") + content)

    dispatch[bytes] = dispatch[str] = save_string


def pickled(content):
    file = io.BytesIO()
    Python2Pickler(file, protocol=2).dump(content)
    return file.getvalue().replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


@pytest.fixture
def synthetic(monkeypatch):
    """Six batches of five images in both formats, file name to content, taken for the originals by the loader."""
    rng = np.random.default_rng(1)
    files = {}
    for name in cifar.BATCHES:
        labels = rng.integers(10, size=5)
        pixels = rng.integers(0, 256, (5, cifar.PIXELS), dtype=np.uint8)
        files[name] = pickled({"batch_label": name, "labels": labels.tolist(), "data": pixels, "filenames": ["a"] * 5})
        files[f"{name}.bin"] = b"".join(bytes([label, *row]) for label, row in zip(labels, pixels, strict=True))
        monkeypatch.setitem(cifar.PICKLES, name, hashlib.md5(files[name]).hexdigest())
        monkeypatch.setitem(cifar.RECORDS, name, hashlib.md5(files[f"{name}.bin"]).hexdigest())
    return files


@pytest.mark.parametrize("suffix", ["", ".bin"])
@pytest.mark.parametrize("place", ["files", "folder", "archive"])
def test_every_form_of_cifar10_holds_the_same_images(tmp_path, synthetic, place, suffix):
    kind = "bin" if suffix else "py"
    folder = tmp_path / f"cifar-10-batches-{kind}" if place == "folder" else tmp_path
    folder.mkdir(exist_ok=True)
    names = [f"{name}{suffix}" for name in cifar.BATCHES]
    if place == "archive":
        with tarfile.open(tmp_path / f"cifar-10-{'binary' if suffix else 'python'}.tar.gz", "w:gz") as archive:
            for name in names:
                member = tarfile.TarInfo(f"cifar-10-batches-{kind}/{name}")
                member.size = len(synthetic[name])
                archive.addfile(member, io.BytesIO(synthetic[name]))
    else:
        for name in names:
            (folder / name).write_bytes(synthetic[name])
    for name, batch in zip(cifar.BATCHES, cifar.read_cifar10(tmp_path), strict=True):
        records = np.frombuffer(synthetic[f"{name}.bin"], np.uint8).reshape(5, 1 + 3 * 32 * 32)
        np.testing.assert_array_equal(batch.labels, records[:, 0])
        np.testing.assert_array_equal(batch.images, records[:, 1:].reshape(5, 3, 32, 32))
    data = ft.data.load("cifar10", tmp_path, train_cases=12)
    assert (len(data.train), len(data.test)) == (12, 5)
    assert data.test.batch(torch.arange(5))[1].tolist() == batch.labels.tolist()


def test_records_of_another_batch_are_refused(tmp_path, synthetic):
    (tmp_path / "data_batch_1.bin").write_bytes(synthetic["data_batch_2.bin"])
    with pytest.raises(ValueError, match=r"data_batch_1 in .* is not that of CIFAR-10"):
        cifar.read_cifar10(tmp_path)


HOSTILE = b"cos\nmkdir\n(S'made'\ntR."


@pytest.mark.parametrize("name", ["data_batch_1", "data_batch_1.bin"])
def test_a_file_that_is_not_the_original_is_refused_before_it_is_read(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(HOSTILE)
    with pytest.raises(ValueError, match=r"data_batch_1 .*MD5"):
        cifar.read_cifar10(tmp_path)
    assert not Path("made").exists()


def test_reading_a_pickle_runs_no_code_from_it(tmp_path, monkeypatch):
    """Not even from a file with the right MD5."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(cifar.PICKLES, "data_batch_1", hashlib.md5(HOSTILE).hexdigest())
    (tmp_path / "data_batch_1").write_bytes(HOSTILE)
    with pytest.raises(pickle.UnpicklingError, match=r"os\.mkdir must not be in a file of CIFAR-10"):
        cifar.read_cifar10(tmp_path)
    assert not Path("made").exists()


def test_a_damaged_archive_is_refused(tmp_path):
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(b"\x1f\x8b garbage")
    with pytest.raises(ValueError, match=r"cifar-10-python.tar.gz is damaged or cut short"):
        cifar.read_cifar10(tmp_path)
    with tarfile.open(tmp_path / "cifar-10-python.tar.gz", "w:gz"):
        pass
    with pytest.raises(ValueError, match=r"must hold data_batch_1, .*but has no data_batch_1"):
        cifar.read_cifar10(tmp_path)


@pytest.mark.parametrize(("padding", "flip"), [(4, 0.5), (1, 0.0), (0, 1.0), (2, 1.0)])
def test_crops_of_padded_images(padding, flip):
    images = torch.randn(40, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    fill = [-1.0, 2.0, 0.5]
    out = ft.PadCropFlip(padding, flip, fill)(images, torch.Generator().manual_seed(2))
    places, mirrored = set(), 0
    for image, found in zip(images, out, strict=True):
        padded = torch.stack([functional.pad(c, (padding,) * 4, value=v) for c, v in zip(image, fill, strict=True)])
        matches = [
            (top, left, flipped)
            for top in range(2 * padding + 1)
            for left in range(2 * padding + 1)
            for flipped in (False, True)
            if torch.equal(_crop(padded, top, left, flipped), found)
        ]
        assert matches
        places.add(matches[0][:2])
        mirrored += matches[0][2]
    assert len(places) > min(20, (2 * padding + 1) ** 2 // 2)
    assert mirrored == {0.0: 0, 1.0: 40}.get(flip, mirrored)
    assert flip in (0.0, 1.0) or 8 < mirrored < 32


def _crop(padded, top, left, flipped):
    crop = padded[:, top : top + 8, left : left + 8]
    return crop.flip(-1) if flipped else crop


def test_the_same_draws_give_the_same_images():
    images = torch.randn(5, 1, 8, 8)
    augment = ft.PadCropFlip()
    one, two = (augment(images, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one, two)
