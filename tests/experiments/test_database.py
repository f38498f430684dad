"""Of a damaged file nothing must be read as if it were true, and nothing written to it."""

import sqlite3

import pytest

from flexicase.experiments import DamagedLedgerError, Ledger, parse_spec
from flexicase.experiments.database import connect, transaction

from .walk import study_text


def _garbage(path):
    path.write_bytes(b"this is not a database" * 100)


def _cut_off(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _overwritten(path):
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [_garbage, _cut_off, _overwritten])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_damaged_ledger_is_named_before_anything_is_read_from_it(damage, read_only, tmp_path):
    path = tmp_path / "walks" / "ledger.sqlite"
    path.parent.mkdir()
    Ledger.create(path, parse_spec(study_text(seeds=50), allow_code=True)).close()
    damage(path)
    with pytest.raises(DamagedLedgerError, match="move the folder") as caught:
        Ledger(path, read_only=read_only)
    assert str(path) in str(caught.value)


def test_a_full_disk_or_a_lock_is_not_taken_for_damage(tmp_path):
    """Who is told that a sound file is damaged may throw it away."""
    with pytest.raises(sqlite3.OperationalError):
        connect(tmp_path)  # a folder: it cannot be opened


def test_a_transaction_that_fails_leaves_nothing(tmp_path):
    connection = connect(tmp_path / "a.sqlite")
    connection.execute("CREATE TABLE t (x)")

    def half_done():
        with transaction(connection):
            connection.execute("INSERT INTO t VALUES (1)")
            connection.execute("INSERT INTO missing VALUES (1)")

    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        half_done()
    with transaction(connection):
        connection.execute("INSERT INTO t VALUES (2)")
    assert [tuple(row) for row in connection.execute("SELECT x FROM t")] == [(2,)]
    connection.close()
