"""One process at a time: a lock that its owner's death releases, and that says who holds it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Any


class LockedError(RuntimeError):
    """Somebody else is at work there; the message says who."""


class FileLock:
    """A lock file, held by the operating system's lock on it.

    The system releases it when the owner ends, however that happens, so what a dead owner left in the file is never in
    the way. `previous` tells of an owner who did not let go by itself.

    Args:
        path: The lock file; made if need be.
        what: What is locked, for messages.
        patience: Seconds to wait for the lock.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from flexicase.experiments.lock import FileLock, LockedError
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with FileLock(Path(folder) / "lock", "the study"):
        ...         try:
        ...             FileLock(Path(folder) / "lock", "the study").acquire()
        ...         except LockedError as error:
        ...             print(error)
        the study is locked by process ... on ... since ...
    """

    def __init__(self, path: Path, what: str, patience: float = 0.0) -> None:
        """Remember; nothing is locked yet."""
        self.path, self.what, self.patience = path, what, patience
        self.previous: dict[str, Any] | None = None
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            LockedError: Somebody else has it.
        """
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._wait_for(handle)
            self.previous = _owner(handle)
            _write(handle, {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()})
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def release(self) -> None:
        """Let go."""
        if self._handle is not None:
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> FileLock:
        """Take the lock."""
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go."""
        self.release()

    def _wait_for(self, handle: int) -> None:
        deadline = time.monotonic() + self.patience
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockedError(f"{self.what} is locked by {describe(_owner(handle))}") from None
                time.sleep(0.05)
            else:
                return


def describe(owner: dict[str, Any] | None) -> str:
    """An owner in words."""
    if owner is None:
        return "another process"
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(owner["since"]))
    return f"process {owner['pid']} on {owner['host']} since {since}"


def _owner(handle: int) -> dict[str, Any] | None:
    try:
        owner: dict[str, Any] = json.loads(os.pread(handle, 1000, 0))
        return {"pid": owner["pid"], "host": owner["host"], "since": float(owner["since"])}
    except (ValueError, KeyError, TypeError):
        return None


def _write(handle: int, owner: dict[str, Any]) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(owner).encode(), 0)
