import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from flexicase._provenance import Provenance
from flexicase.experiments import Progress, parse_spec
from flexicase.experiments.ledger import ChangedSpecError, Ledger, RunResult

from .walk import study_text

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
    with pytest.raises(ValueError, match="expected ledger format 3, got 99"):
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
