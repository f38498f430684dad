"""An SQLite file in which everything that was committed stays, and whose damage is named."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 30.0
COPIES = 20
SEAL_BYTES = 8
SIGNS_OF_DAMAGE = ("no such ", "unsupported file format", "malformed ", "near ")


class DamagedLedgerError(ValueError):
    """The ledger is not what was written; the message names it and says how to go on.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from flexicase.experiments._database import DamagedLedgerError
        >>> from flexicase.experiments.ledger import Ledger
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "ledger.sqlite"
        ...     _ = path.write_text("no database, whatever it is" * 100)
        ...     try:
        ...         Ledger(path)
        ...     except DamagedLedgerError as error:
        ...         print(str(error).partition("; ")[0].removeprefix(folder))
        /ledger.sqlite is damaged (file is not a database)
    """

    def __init__(self, path: Path, reason: object) -> None:
        """Say which file, and why."""
        super().__init__(
            f"{path} is damaged ({reason}); to go on, move the folder {path.parent} away, import the study's last "
            "export and run the study again"
        )


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open the file, or make it: readers do not wait for the writer, and a commit is on the disk when it returns.

    Args:
        path: The file.
        read_only: Refuse every change. The file may then be where nothing can be written.

    Raises:
        DamagedLedgerError: It is no database.
    """
    if read_only and not os.access(path.parent, os.W_OK):
        connection = _connect_to_copy(path)  # SQLite itself would write beside it
    else:
        connection = sqlite3.connect(path, timeout=PATIENCE_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.text_factory = _text
    try:
        with naming_damage(path):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA query_only = {int(read_only)}")
    except BaseException:
        connection.close()
        raise
    return connection


def seal(values: Iterable[Any]) -> str:
    """A checksum of values of a row, kept beside them: SQLite does not notice a changed byte inside a value.

    Example:
        >>> from flexicase.experiments._database import seal
        >>> seal(["a", 1, None]) == seal(["a", 1.0, None])
        False
    """
    return hashlib.blake2b(ascii(tuple(values)).encode(), digest_size=SEAL_BYTES).hexdigest()


def _text(content: bytes) -> str:
    """Text as it was written; where it was damaged, something else that no seal fits."""
    return content.decode(errors="surrogateescape")


def _connect_to_copy(path: Path) -> sqlite3.Connection:
    """The content of a file and its write-ahead log, in memory."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        for _ in range(COPIES):
            before = _stamps(path)
            for source in before:
                shutil.copyfile(source, copy.with_name(source.name))
            if _stamps(path) == before:
                break
            time.sleep(0.01)  # written to meanwhile, by a process that sees it elsewhere
        memory = sqlite3.connect(":memory:", isolation_level=None)
        source_connection = sqlite3.connect(copy)
        try:
            with naming_damage(path):
                source_connection.backup(memory)
        except BaseException:
            memory.close()
            raise
        finally:
            source_connection.close()
    return memory


def _stamps(path: Path) -> dict[Path, tuple[int, int]]:
    files = [file for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
    return {file: (file.stat().st_size, file.stat().st_mtime_ns) for file in files}


def check_sound(connection: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` if a part of the file is missing or overwritten."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done inside, all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Raise `DamagedLedgerError` where SQLite says in other words that the file is damaged."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if not str(error).startswith(SIGNS_OF_DAMAGE):
            raise  # a full disk, a lock: the file is not to blame
        raise DamagedLedgerError(path, error) from error
    except (sqlite3.DatabaseError, IndexError, UnicodeDecodeError) as error:  # names in it were changed
        raise DamagedLedgerError(path, error) from error
