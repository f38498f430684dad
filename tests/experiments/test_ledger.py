"""The ledger: states of runs; a damaged file is refused before anything is read from it or written to it."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from flexicase._provenance import Provenance
from flexicase.experiments import Progress, parse_spec
from flexicase.experiments.ledger import ChangedSpecError, DamagedLedgerError, Ledger, RunResult, _transaction, connect
from tests.processes import mounted

from ._helpers import study_text

HERE = Provenance("1.0", "a machine", "a command")
RESULT = RunResult("c", "d", {"success": True, "last": 0.5})


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "ledger.sqlite", parse_spec(study_text(seeds=2), allow_code=True)) as made:
        yield made


def test_a_run_from_plan_to_end(ledger):
    task = ledger.next_task()
    ledger.start(task.id, HERE)
    assert ledger.entry(task.id).state == "running"
    ledger.record_heartbeats({task.id: Progress(3, 5, "well")})
    assert ledger.entry(task.id).progress == Progress(3, 5, "well")
    ledger.finish(task.id, RESULT, Progress(5, 5), HERE)
    entry = ledger.entry(task.id)
    assert (entry.state, entry.attempts, entry.result, entry.provenance) == ("done", 1, RESULT, HERE)
    assert entry.seconds >= 0
    assert ledger.counts() == {"planned": 3, "running": 0, "done": 1, "failed": 0, "quarantined": 0}


def test_a_run_that_fails_is_tried_after_the_others_and_then_quarantined(ledger):
    first = ledger.next_task()
    ledger.start(first.id, HERE)
    assert ledger.fail(first.id, "it fell", limit=2) == "failed"
    order = []
    while (task := ledger.next_task()) is not None:
        order.append(task.id)
        ledger.start(task.id, HERE)
        if task.id == first.id:
            assert ledger.fail(task.id, "it fell again", limit=2) == "quarantined"
        else:
            ledger.finish(task.id, RESULT, Progress(5, 5), HERE)
    assert order[-1] == first.id
    assert len(order) == 4
    assert ledger.entry(first.id).failure == "it fell again"
    assert ledger.requeue("quarantined") == 1
    assert ledger.entry(first.id).attempts == 0


def test_interrupted_runs_go_back_into_the_plan_and_lose_no_attempt(ledger):
    task = ledger.next_task()
    ledger.start(task.id, HERE)
    assert ledger.requeue("running") == 1
    assert (ledger.entry(task.id).state, ledger.entry(task.id).attempts) == ("planned", 0)


def test_nothing_is_done_without_a_result(ledger):
    task = ledger.next_task()
    ledger.start(task.id, HERE)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        ledger.finish(task.id, RunResult(None, "d", {}), Progress(5, 5), HERE)
    assert ledger.entry(task.id).state == "running"
    with pytest.raises(KeyError):
        ledger.finish("no such run", RESULT, Progress(5, 5), HERE)


def test_readers_cannot_write_and_see_what_is_committed(ledger):
    with Ledger(ledger.path, read_only=True) as reader:
        ledger.start(ledger.next_task().id, HERE)
        assert reader.counts()["running"] == 1
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.requeue("running")


def test_another_study_of_the_same_name_is_refused_with_what_changed(ledger):
    same = parse_spec(
        study_text(seeds=2).replace('name = "walks"', 'name = "walks"\ndescription = "other words"'), allow_code=True
    )
    Ledger.open_or_create(ledger.path, same).close()
    with pytest.raises(ChangedSpecError, match=r"settings.length: 5 -> 6 \(give the changed study another name\)"):
        Ledger.open_or_create(ledger.path, parse_spec(study_text(seeds=2, length=6), allow_code=True))


def test_a_ledger_whose_creation_was_cut_off_is_created_again(tmp_path):
    sqlite3.connect(tmp_path / "ledger.sqlite").execute("PRAGMA journal_mode = WAL").connection.close()
    assert (tmp_path / "ledger.sqlite").exists()
    with pytest.raises(FileNotFoundError):
        Ledger(tmp_path / "ledger.sqlite")
    with Ledger.open_or_create(tmp_path / "ledger.sqlite", parse_spec(study_text(seeds=2), allow_code=True)) as made:
        assert made.counts()["planned"] == 4


def test_a_ledger_of_another_format_is_refused(ledger):
    sqlite3.connect(ledger.path, isolation_level=None).execute("UPDATE study SET format = 99")
    with pytest.raises(ValueError, match="expected ledger format 4, got 99"):
        Ledger(ledger.path)


WRITER = """
import sys
from pathlib import Path
from flexicase.experiments import Progress
from flexicase.experiments.ledger import Ledger, RunResult
from flexicase._provenance import Provenance
with Ledger(Path(sys.argv[1])) as ledger:
    ledger.requeue("running")
    print("ready", flush=True)
    while (task := ledger.next_task()) is not None:
        ledger.start(task.id, Provenance("1", "m", "c"))
        ledger.finish(task.id, RunResult("c", "d", {"padding": "x" * 3000}), Progress(1, 1), Provenance("1", "m", "c"))
        print(task.id, flush=True)
"""


@pytest.mark.slow
def test_what_was_acknowledged_survives_kill_9_in_the_middle_of_commits(tmp_path):
    """The writer is killed while its write-ahead log grows: inside a commit, more often than not."""
    path = tmp_path / "ledger.sqlite"
    Ledger.create(path, parse_spec(study_text(seeds=200), allow_code=True)).close()
    chance = random.Random(1)
    acknowledged = set()
    for _ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(chance.random() * 0.02)
        log = tmp_path / "ledger.sqlite-wal"
        before = log.stat()
        while (now := log.stat()).st_mtime_ns == before.st_mtime_ns and now.st_size == before.st_size:
            pass
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged |= {line.strip() for line in writer.stdout if line.endswith("\n")}
        writer.wait()
        writer.stdout.close()
        with Ledger(path) as ledger:
            done = {entry.task.id: entry for entry in ledger.entries("done")}
        assert acknowledged <= set(done)
        assert len(done) <= len(acknowledged) + 6
        assert all(entry.result.summary == {"padding": "x" * 3000} for entry in done.values())
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert json.loads(connection.execute("SELECT content FROM study").fetchone()[0])["name"] == "walks"
    connection.close()
    assert acknowledged


# Of a damaged file nothing must be read as if it were true, and nothing written to it.


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


VALUES = {
    "digest": b"digest-1",
    "checksum": b"checksum-1",
    "summary": b"summary-1",
    "failure": b"failure-1",
    "version": b"version-1",
    "settings": b'{"length": 5',
    "content of the study": b'"name": "walks"',
    "text of the study": b'methods = ["short", "long"]',
}


@pytest.fixture
def written(tmp_path):
    """A ledger with a finished and a failed run, closed; gives its path."""
    path = tmp_path / "walks" / "ledger.sqlite"
    path.parent.mkdir()
    with Ledger.create(path, parse_spec(study_text(seeds=2), allow_code=True)) as ledger:
        first, second = (entry.task.id for entry in ledger.entries()[:2])
        for run_id in (first, second):
            ledger.start(run_id, Provenance("version-1", "machine", "command"))
        result = RunResult("checksum-1", "digest-1", {"words": "summary-1"})
        ledger.finish(first, result, Progress(5, 5), Provenance("version-1", "machine", "command"))
        ledger.fail(second, "failure-1", limit=3)
    return path


@pytest.mark.parametrize("byte", [b"2", b"\xff"])
@pytest.mark.parametrize("value", VALUES)
def test_one_changed_byte_in_a_value_is_named(value, byte, written):
    """SQLite checks only the structure of its file: a changed digit was exported as a result."""
    content = written.read_bytes()
    where = content.rindex(VALUES[value]) + len(VALUES[value]) - 1
    written.write_bytes(content[:where] + byte + content[where + 1 :])
    with pytest.raises(DamagedLedgerError, match=r"run [0-9a-f]{16} was changed|the study was changed"):
        Ledger(written, read_only=True)


def test_random_changes_are_named_or_change_nothing(written):
    """One bit anywhere in the file: in a value, in the schema, in the header, or where nothing is."""
    chance, content = random.Random(4), written.read_bytes()
    with Ledger(written) as ledger:
        expected = ledger.entries(), ledger.text, ledger.counts()
    damaged = 0
    for _ in range(150):
        where = chance.randrange(len(content))
        written.write_bytes(content[:where] + bytes([content[where] ^ 1 << chance.randrange(8)]) + content[where + 1 :])
        try:
            with Ledger(written, read_only=True) as ledger:
                assert (ledger.entries(), ledger.text, ledger.counts()) == expected
        except DamagedLedgerError:
            damaged += 1
    assert damaged > 10


@pytest.mark.parametrize("change", ["DELETE FROM runs WHERE position = 3", "DELETE FROM study", "DROP TABLE runs"])
def test_lost_entries_are_noticed(change, written):
    connection = sqlite3.connect(written, isolation_level=None)
    connection.execute(change)
    connection.close()
    with pytest.raises(DamagedLedgerError):
        Ledger(written)


def test_an_entry_that_was_changed_meanwhile_is_not_sealed_as_if_it_were_true(written):
    with Ledger(written) as ledger:
        run_id = ledger.entries("planned")[0].task.id
        ledger._connection.execute("UPDATE runs SET seed = 77 WHERE id = ?", (run_id,))
        with pytest.raises(DamagedLedgerError, match=f"run {run_id} was changed"):
            ledger.start(run_id, Provenance("1", "m", "c"))


def test_a_ledger_with_other_runs_than_the_study_is_refused(written):
    """It may come from somebody else and name code of theirs as the kind of its runs."""
    spec = parse_spec(study_text(seeds=2), allow_code=True)
    with Ledger(written) as ledger:
        ledger._update(ledger.entries()[0].task.id, kind="os:abort")
    with pytest.raises(DamagedLedgerError, match="its runs are not those of the study"):
        Ledger.open_or_create(written, spec)


@pytest.fixture(params=["closed", "killed"])
def read_only_folder(request, written, tmp_path):
    """The ledger's folder on a read-only mount, after its writer has closed it or was killed."""
    if request.param == "killed":
        left = tmp_path / "left"
        with Ledger(written) as ledger:
            ledger.start(ledger.next_task().id, Provenance("1", "m", "c"))
            shutil.copytree(written.parent, left)
        shutil.rmtree(written.parent)
        (left / "ledger.sqlite-shm").unlink()
        left.rename(written.parent)
        assert (written.parent / "ledger.sqlite-wal").stat().st_size > 0
    options = ["--bind", str(written.parent)], ["-o", "remount,ro,bind"]
    with mounted(tmp_path / "mount", *options) as mount:
        yield mount, request.param


def test_a_ledger_on_a_read_only_file_system_can_be_read(read_only_folder):
    """`flexicase status` and `export` failed there; what is still in the write-ahead log counts."""
    folder, state = read_only_folder
    with Ledger(folder / "ledger.sqlite", read_only=True) as ledger:
        assert ledger.counts()["done"] == 1
        assert ledger.counts()["running"] == (1 if state == "killed" else 0)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            ledger.requeue("running", "planned")


def test_a_full_disk_or_a_lock_is_not_taken_for_damage(tmp_path):
    """Who is told that a sound file is damaged may throw it away."""
    with pytest.raises(sqlite3.OperationalError):
        connect(tmp_path)  # a folder: it cannot be opened


def test_a_transaction_that_fails_leaves_nothing(tmp_path):
    connection = connect(tmp_path / "a.sqlite")
    connection.execute("CREATE TABLE t (x)")

    def half_done():
        with _transaction(connection):
            connection.execute("INSERT INTO t VALUES (1)")
            connection.execute("INSERT INTO missing VALUES (1)")

    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        half_done()
    with _transaction(connection):
        connection.execute("INSERT INTO t VALUES (2)")
    assert [tuple(row) for row in connection.execute("SELECT x FROM t")] == [(2,)]
    connection.close()
