"""Data sets: digits, CIFAR-10 in all its forms, and what is said when it is not there."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch

import flexicase.torch as ft
from flexicase.torch import _cifar as cifar
from flexicase.torch.data import Images

SHEETS = Path(__file__).resolve().parents[3] / "shared" / "data" / "cifar-10"
needs_cifar = pytest.mark.skipif(not SHEETS.is_dir(), reason="CIFAR-10 is not beside the project")


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
    assert len(ft.data.load("digits", train=100, test=50).train) == 100


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
    with pytest.raises(ValueError, match=r"directory must name the folder with CIFAR-10, got None"):
        ft.data.load("cifar10")


def test_unknown_names_and_too_many_cases_are_refused():
    with pytest.raises(ValueError, match=r"name must be one of 'digits', 'cifar10', 'fake', got 'mnist'"):
        ft.data.load("mnist")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    with pytest.raises(ValueError, match=r"test must be at most 500, got 501"):
        ft.data.load("digits", test=501)


@pytest.mark.parametrize("name", ["data_batch_1", "data_batch_1.bin"])
def test_a_file_that_is_not_the_original_is_refused_before_it_is_read(tmp_path, name):
    (tmp_path / name).write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    with pytest.raises(ValueError, match=r"data_batch_1 .*MD5"):
        cifar.read_cifar10(tmp_path, ("data_batch_1",))


def test_a_damaged_archive_is_refused(tmp_path):
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(b"\x1f\x8b garbage")
    with pytest.raises(ValueError, match=r"cifar-10-python.tar.gz is damaged or cut short"):
        cifar.read_cifar10(tmp_path)
    with tarfile.open(tmp_path / "cifar-10-python.tar.gz", "w:gz"):
        pass
    with pytest.raises(ValueError, match=r"must hold data_batch_1, .*but has no data_batch_1"):
        cifar.read_cifar10(tmp_path)


@needs_cifar
def test_sheets_and_binary_files_hold_the_same_images(tmp_path):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    (sheet,) = cifar.read_cifar10(SHEETS, ("test_batch",))
    assert sheet.images.shape == (10_000, 3, 32, 32)
    assert np.bincount(sheet.labels).tolist() == [1000] * 10
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    records = np.column_stack([sheet.labels.astype(np.uint8), sheet.images.reshape(10_000, -1)])
    (folder / "test_batch.bin").write_bytes(records.tobytes())
    (folder / "data_batch_1.bin").write_bytes(b"")
    (binary,) = cifar.read_cifar10(tmp_path, ("test_batch",))
    np.testing.assert_array_equal(binary.images, sheet.images)
    (folder / "test_batch.bin").write_bytes(records[::-1].tobytes())
    with pytest.raises(ValueError, match=r"test_batch in .* is not that of CIFAR-10"):
        cifar.read_cifar10(tmp_path, ("test_batch",))
