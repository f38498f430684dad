"""The SQLite file of a ledger: commits are durable, damage is detected and reported."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

LOCK_TIMEOUT_SECONDS = 30.0
MAX_COPIES = 20
SEAL_BYTES = 8
#: Operational errors that SQLite raises for a damaged file; all others have a cause outside the file.
DAMAGE_MESSAGES = ("no such ", "unsupported file format", "malformed ", "near ")


class DamagedLedgerError(ValueError):
    """The ledger is damaged; the message names the file and says how to continue."""

    def __init__(self, path: Path, reason: object) -> None:
        super().__init__(
            f"{path} is damaged ({reason}); to continue, move the folder {path.parent} away, import the study's last "
            "export and run the study again"
        )


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open or make a file whose commits are on disk when they return, and which can be read while it is written."""
    if read_only and not os.access(path.parent, os.W_OK):
        connection = _connect_to_copy(path)  # SQLite writes beside the file even to read it
    else:
        connection = sqlite3.connect(path, timeout=LOCK_TIMEOUT_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda content: content.decode(errors="surrogateescape")  # no seal fits damaged text
    with close_on_error(connection), report_damage(path):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA query_only = {int(read_only)}")
    return connection


def _connect_to_copy(path: Path) -> sqlite3.Connection:
    """Copy a file and its write-ahead log to memory."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        for _ in range(MAX_COPIES):
            before = _file_versions(path)
            for source in before:
                shutil.copyfile(source, copy.with_name(source.name))
            if _file_versions(path) == before:
                break
            time.sleep(0.01)  # a process that may write there has changed it meanwhile
        memory = sqlite3.connect(":memory:", isolation_level=None)
        with close_on_error(memory), closing(sqlite3.connect(copy)) as connection, report_damage(path):
            connection.backup(memory)
    return memory


def _file_versions(path: Path) -> dict[Path, tuple[int, int]]:
    files = [file for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
    return {file: (file.stat().st_size, file.stat().st_mtime_ns) for file in files}


def seal(values: Iterable[Any]) -> str:
    """A checksum of a row's values, because SQLite does not notice a changed byte inside a value."""
    return hashlib.blake2b(ascii(tuple(values)).encode(), digest_size=SEAL_BYTES).hexdigest()


@contextmanager
def close_on_error(resource: Any) -> Iterator[None]:
    try:
        yield
    except BaseException:
        resource.close()
        raise


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def report_damage(path: Path) -> Iterator[None]:
    """Raise `DamagedLedgerError` for every error of SQLite that only a damaged file explains."""
    try:
        yield
    except (sqlite3.DatabaseError, IndexError, UnicodeDecodeError) as error:  # IndexError: a column was renamed
        if isinstance(error, sqlite3.OperationalError) and not str(error).startswith(DAMAGE_MESSAGES):
            raise  # a full disk or a lock
        raise DamagedLedgerError(path, error) from error
