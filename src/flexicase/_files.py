"""Atomic writes, and a file lock that names its owner and is released when the owner ends."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

TEMPORARY = ".partial"
OWNER_BYTES = 1000
MAX_SECONDS = 1e11  # the year 5138


def write_atomically(path: Path, content: bytes, *, backup: Path | None = None) -> None:
    """Replace the content of a file, all or nothing; keep the old content in ``backup``.

    If the process dies, the file may be missing and only the backup exist.
    """
    temporary = _temporary(path)
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if backup is not None and path.exists():
            os.replace(path, backup)
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C as well
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_quickly(path: Path, text: str) -> None:
    """Replace the content of a file as a whole, without waiting for the disk; do nothing if that fails."""
    with suppress(OSError):
        _temporary(path).write_text(text, encoding="utf-8")
        _temporary(path).replace(path)


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")


def remove_partial_files(folder: Path, name: str = "") -> None:
    """Remove the partly written files of killed processes; ``name``: only those of this file."""
    for path in folder.glob(f"{name}*{TEMPORARY}"):
        path.unlink(missing_ok=True)


def arrow_reader(content: bytes) -> Any:
    """A file of Arrow that holds a copy of the content, for Arrow to read from on its own threads.

    These threads may outlive the call. One that lets go of a Python object while the interpreter exits needs the
    interpreter's lock, and Python then ends the process with SIGABRT. So Arrow gets no Python object to hold.
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(content)
    return pa.BufferReader(sink.getvalue())


def is_full_disk(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def sync_folder(folder: Path) -> None:
    """Wait until the names of a folder's files are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class LockedError(RuntimeError):
    """Another process holds the lock; the message names it."""


class FileLock:
    """A lock file, held by the operating system's lock on it and on its folder.

    The system releases the lock when its owner ends, also by a kill. Then `previous` describes that owner. Messages
    call what is locked ``what``; ``timeout`` is in seconds.
    """

    def __init__(self, path: Path, what: str, timeout: float = 0.0) -> None:
        self.path, self.what, self.timeout = path, what, timeout
        self.previous: dict[str, Any] | None = None
        self._handles: list[int] = []

    def acquire(self) -> None:
        """Take the lock, or raise LockedError."""
        deadline = time.monotonic() + self.timeout
        while not self._try():
            if time.monotonic() >= deadline:
                raise LockedError(f"{self.what} is locked by {describe(_owner(self.path))}")
            time.sleep(0.05)
        self.previous = _owner(self.path)
        owner = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}
        os.ftruncate(self._handles[-1], 0)
        os.pwrite(self._handles[-1], json.dumps(owner).encode(), 0)

    def release(self) -> None:
        if self._handles:
            os.ftruncate(self._handles[-1], 0)
            for handle in self._handles:
                with suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_UN)
            self._close()

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def _try(self) -> bool:
        """Lock the file and, because the file may be deleted, its folder."""
        try:
            self._handles.append(os.open(self.path.parent, os.O_RDONLY))
            try:
                fcntl.flock(self._handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise
            except OSError:  # network file systems may lock only files
                pass
            while True:
                self._handles.append(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644))
                fcntl.flock(self._handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(self._handles[-1], self.path):
                    break
                os.close(self._handles.pop())
        except BlockingIOError:
            self._close()
            return False
        except BaseException:
            self._close()
            raise
        _HELD.add(self)
        return True

    def _close(self) -> None:
        _HELD.discard(self)
        while self._handles:
            os.close(self._handles.pop())


def _close_in_child() -> None:
    """Release the locks in a forked process, which would keep them after its parent's end."""
    for lock in list(_HELD):
        lock._close()


_HELD: set[FileLock] = set()
os.register_at_fork(after_in_child=_close_in_child)


def describe(owner: dict[str, Any] | None) -> str:
    """The owner of a lock in words."""
    if owner is None:
        return "another process"
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(owner["since"]))
    return f"process {owner['pid']} on {owner['host']} since {since}"


def _owner(path: Path) -> dict[str, Any] | None:
    """The owner in a lock file; None if the file holds nothing that makes sense."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(OWNER_BYTES))
        since = float(found["since"])
        owner = {"pid": int(found["pid"]), "host": str(found["host"]), "since": since}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return owner if 0 <= since < MAX_SECONDS else None


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
