"""Temporary folders that do not pile up: what an owner who was killed leaves behind, the next one removes."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from flexicase._files import FileLock, LockedError

PREFIX = "flexicase-run-"
LOCK = "owner"


class ScratchFolder:
    """A temporary folder of this machine, locked for as long as its owner lives.

    Folders whose owners have died without removing them are removed first.

    Attributes:
        path: Where it is.

    Example:
        >>> from flexicase.experiments.scratch import ScratchFolder
        >>> scratch = ScratchFolder()
        >>> _ = (scratch.path / "notes").write_text("for a while")
        >>> scratch.remove()
        >>> scratch.path.exists()
        False
    """

    def __init__(self) -> None:
        """Remove what the dead have left, and make a folder."""
        _remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        unseen = self.path / f"{LOCK}.new"
        self._lock = FileLock(unseen, str(self.path))
        self._lock.acquire()
        os.rename(unseen, self.path / LOCK)  # others see the lock only when it is held

    def remove(self) -> None:
        """Remove it and all that is in it; twice does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def _remove_abandoned() -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        try:
            with FileLock(lock, str(lock.parent)):
                shutil.rmtree(lock.parent, ignore_errors=True)
        except (LockedError, OSError):  # in use, gone meanwhile, or somebody else's
            continue
