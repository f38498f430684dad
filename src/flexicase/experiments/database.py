"""An SQLite file in which everything that was committed stays, and whose damage is named."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_SECONDS = 30.0


class DamagedLedgerError(ValueError):
    """The ledger is not what was written; the message names it and says how to go on.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from flexicase.experiments import DamagedLedgerError, Ledger
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


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, or make it: readers do not wait for the writer, and a commit is on the disk when it returns.

    Raises:
        DamagedLedgerError: It is no database.
    """
    connection = sqlite3.connect(path, timeout=PATIENCE_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        with _naming_damage(path):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def check_sound(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `DamagedLedgerError` if a part of the file is missing or overwritten."""
    with _naming_damage(path):
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise DamagedLedgerError(path, found)


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
def _naming_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError:  # a full disk, a lock: the file is not to blame
        raise
    except sqlite3.DatabaseError as error:
        raise DamagedLedgerError(path, error) from error
