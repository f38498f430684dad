"""Files that are there completely or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

TEMPORARY = ".partial"


def write_atomically(path: Path, content: bytes, *, keep: Path | None = None) -> None:
    """Write a file so that, whatever happens, it holds either the old content or all of the new.

    Args:
        path: The file.
        content: What it shall hold.
        keep: Where the old content stays, beside the new; in between, the old content may be only there.

    Raises:
        OSError: It could not be written; nothing is left behind but what was there before.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if keep is not None and path.exists():
            os.replace(path, keep)
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C as well
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def remove_partial_files(folder: Path, name: str = "") -> None:
    """Remove what processes that were killed while writing have left, of all files or one."""
    for path in folder.glob(f"{name}*{TEMPORARY}"):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names of a folder's files are on the disk."""
    if os.name == "nt":
        return  # folders cannot be opened there
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
