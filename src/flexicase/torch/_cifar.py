"""CIFAR-10 from a folder with the official archives or their content.

A pickle is read only if its MD5 is the official one, by an unpickler that creates nothing but arrays.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SIDE = 32
PIXELS = 3 * SIDE * SIDE

#: MD5 of the files of the Python version.
PICKLES = {
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}
#: MD5 of the files of the binary version: for each image the label, then the pixels.
RECORDS = {
    "data_batch_1": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
BATCHES = tuple(RECORDS)  # the last one is for testing
#: Names that the pickles may use, in the modules of the NumPy that wrote them.
PICKLED_NAMES: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


class Batch(NamedTuple):
    """(n, 3, 32, 32) uint8 images and (n,) int64 labels."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]


def read_cifar10(directory: str | Path) -> list[Batch]:
    """Read the batches of CIFAR-10 from a folder with an official archive or its content; other files are refused."""
    folder = Path(directory)
    read = _reader(folder)
    return [_batch(name, read(name), folder) for name in BATCHES]


def _reader(folder: Path) -> Callable[[str], bytes]:
    """A function from the name of a batch to its records."""
    for inner in (folder, folder / "cifar-10-batches-py", folder / "cifar-10-batches-bin"):
        if (inner / "data_batch_1").is_file():
            return lambda name: _records_of_pickle(name, (inner / name).read_bytes())
        if (inner / "data_batch_1.bin").is_file():
            return lambda name: (inner / f"{name}.bin").read_bytes()
    if (archive := folder / "cifar-10-python.tar.gz").is_file():
        found = _members(archive, BATCHES)
        return lambda name: _records_of_pickle(name, found[name])
    if (archive := folder / "cifar-10-binary.tar.gz").is_file():
        unpacked = _members(archive, tuple(f"{name}.bin" for name in BATCHES))
        return lambda name: unpacked[f"{name}.bin"]
    raise FileNotFoundError(
        f"no CIFAR-10 in {folder}: download cifar-10-python.tar.gz (163 MB) from "
        "https://www.cs.toronto.edu/~kriz/cifar.html into that folder; there is no need to unpack it"
    )


def _members(archive: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    found = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.rpartition("/")[2]
                if name in names and (file := tar.extractfile(member)) is not None:
                    found[name] = file.read()
    except (tarfile.TarError, OSError, EOFError) as error:
        raise ValueError(f"{archive} is damaged or cut short: {error}") from error
    for name in names:
        if name not in found:
            raise ValueError(f"{archive} must hold {', '.join(names)}, but has no {name}")
    return found


def _records_of_pickle(name: str, content: bytes) -> bytes:
    if hashlib.md5(content, usedforsecurity=False).hexdigest() != PICKLES[name]:
        raise ValueError(f"{name} is not the original file of CIFAR-10: its MD5 is not {PICKLES[name]}")
    batch = _ArrayUnpickler(io.BytesIO(content), encoding="bytes").load()
    return np.column_stack([np.array(batch[b"labels"], np.uint8), batch[b"data"]]).tobytes()


class _ArrayUnpickler(pickle.Unpickler):
    """Reads plain values and NumPy arrays; any other name in the file is an error, and is not imported."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in PICKLED_NAMES:
            raise pickle.UnpicklingError(f"{module}.{name} must not be in a file of CIFAR-10")
        return PICKLED_NAMES[module, name]


def _batch(name: str, records: bytes, folder: Path) -> Batch:
    if hashlib.md5(records, usedforsecurity=False).hexdigest() != RECORDS[name]:
        raise ValueError(f"{name} in {folder} is not that of CIFAR-10: the MD5 of its records is not {RECORDS[name]}")
    rows = np.frombuffer(records, np.uint8).reshape(-1, PIXELS + 1)
    return Batch(rows[:, 1:].reshape(-1, 3, SIDE, SIDE), rows[:, 0].astype(np.int64))
