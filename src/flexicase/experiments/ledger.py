"""The ledger: one SQLite file with the state of every run. Commits are durable, damage is detected and reported."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from flexicase._provenance import Provenance
from flexicase.experiments.jobs import Progress, RunSpec, Scalar
from flexicase.experiments.spec import StudySpec, diff_specs, plan

State: TypeAlias = Literal["planned", "running", "done", "failed", "quarantined"]
STATES: tuple[State, ...] = get_args(State)
ROWS = "rows"  # folder of the rows, beside the ledger
FORMAT = 4
RUN_FIELDS = ("id", "kind", "problem", "method", "variant", "seed")
TIME_FIELDS = ("attempts", "started", "finished", "seconds", "processor_seconds")
MAX_COPIES = 20
#: Operational errors that SQLite raises for a damaged file; all others have a cause outside the file.
DAMAGE_MESSAGES = ("no such ", "unsupported file format", "malformed ", "near ")

SCHEMA = """
CREATE TABLE study (
    format INTEGER NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL, text TEXT NOT NULL, seal TEXT NOT NULL
);
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    position INTEGER NOT NULL UNIQUE,
    kind TEXT NOT NULL, problem TEXT NOT NULL, method TEXT NOT NULL, variant TEXT NOT NULL,
    seed INTEGER NOT NULL, settings TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'planned'
        CHECK (state IN ('planned', 'running', 'done', 'failed', 'quarantined')),
    attempts INTEGER NOT NULL DEFAULT 0,
    started REAL, heartbeat REAL, finished REAL, seconds REAL NOT NULL DEFAULT 0, processor_seconds REAL,
    step INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '',
    version TEXT, machine TEXT, command TEXT,
    failure TEXT, checksum TEXT, digest TEXT, summary TEXT,
    seal TEXT NOT NULL DEFAULT '',
    CHECK (state != 'done' OR (checksum IS NOT NULL AND digest IS NOT NULL AND summary IS NOT NULL))
) WITHOUT ROWID;
"""


class DamagedLedgerError(ValueError):
    """The ledger is damaged; the message names the file and says how to continue."""

    def __init__(self, path: Path, reason: object) -> None:
        super().__init__(
            f"{path} is damaged ({reason}); to continue, move the folder {path.parent} away, import the study's last "
            "export and run the study again"
        )


class ChangedSpecError(ValueError):
    """A different study of this name exists; the message lists the differences."""


@dataclass(frozen=True)
class RunResult:
    """What a finished run leaves: the checksum of its file, the digest of what a rerun must reproduce, its summary."""

    checksum: str
    digest: str
    summary: dict[str, Scalar]


@dataclass(frozen=True)
class LedgerEntry:
    """The ledger's entry for one run.

    Attributes:
        attempts: Attempts that finished or failed; interrupted ones are not counted.
        started: Start of the last attempt, in seconds since 1970.
        seconds: Elapsed time over all attempts.
        processor_seconds: Processor time over all attempts; None if it was not recorded.
    """

    task: RunSpec
    state: State
    attempts: int
    started: float | None
    heartbeat: float | None
    finished: float | None
    seconds: float
    progress: Progress
    provenance: Provenance | None
    failure: str | None
    result: RunResult | None
    processor_seconds: float | None = None

    def seconds_until(self, now: float | None) -> float:
        """Elapsed time over all attempts, if the present one ends ``now``."""
        return self.seconds + (now - self.started if now and self.started else 0.0)


class Ledger(AbstractContextManager["Ledger"]):
    r"""A study's ledger, with its TOML ``text``. Any process may read it; only the holder of its lock may write.

    Raises:
        FileNotFoundError: There is none; `Ledger.create` makes one.
        DamagedLedgerError: The file is damaged.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from flexicase.experiments import Ledger, parse_spec
        >>> spec = parse_spec('name = "t"\nproblems = ["mirror-image"]\nmethods = ["lexicase"]\nseeds = 3')
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Ledger.create(Path(folder) / "ledger.sqlite", spec) as ledger:
        ...         ledger.counts()["planned"]
        3
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, "No such ledger", str(path))
        self.path = path
        self._connection = connect(path, read_only=read_only)
        with _close_on_error(self), _report_damage(path):
            self._check()

    @classmethod
    def create(cls, path: Path, spec: StudySpec) -> Ledger:
        """Make a ledger in which every run of the study is planned, all or nothing."""
        tasks = plan(spec)
        with closing(connect(path)) as connection, _transaction(connection):
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            study = (FORMAT, spec.name, json.dumps(spec.content()), spec.text)
            sealed = seal([*study, *(task.id for task in tasks)])
            connection.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?)", (*study, sealed))
            for position, task in enumerate(tasks):
                connection.execute(
                    "INSERT INTO runs (position, id, kind, problem, method, variant, seed, settings) "
                    "VALUES (:position, :id, :kind, :problem, :method, :variant, :seed, :settings)",
                    {**asdict(task), "position": position, "settings": json.dumps(task.settings)},
                )
                _seal_run(connection, task.id)
        return cls(path)

    @classmethod
    def open_or_create(cls, path: Path, spec: StudySpec) -> Ledger:
        """Open the study's ledger, or make it unless there are rows of finished runs; refuse that of another study."""
        try:
            ledger = cls(path)
        except FileNotFoundError:
            rows = path.parent / ROWS
            if any(rows.glob("*.parquet")):
                reason = f"missing or empty, although {rows} has rows of finished runs"
                raise DamagedLedgerError(path, reason) from None
            return cls.create(path, spec)
        with _close_on_error(ledger):
            ledger.check_same(spec)
        return ledger

    def close(self) -> None:
        self._connection.close()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def check_same(self, spec: StudySpec) -> None:
        """Raise `ChangedSpecError` if this is the ledger of another study."""
        changes = diff_specs(json.loads(self._content), spec.content())
        if changes:
            raise ChangedSpecError(
                f"study {spec.name!r} was started with different contents: {'; '.join(changes)} "
                "(give the changed study another name)"
            )
        if [entry.task for entry in self.entries()] != plan(spec):
            raise DamagedLedgerError(self.path, "its runs are not those of the study")

    def entries(self, *states: State) -> list[LedgerEntry]:
        """Entries in the order of the plan, in the given states or in all."""
        wanted = states or STATES
        return self._select(f"WHERE state IN ({', '.join('?' * len(wanted))}) ORDER BY position", *wanted)

    def entry(self, run_id: str) -> LedgerEntry:
        """The entry of a run; KeyError if there is none."""
        found = self._select("WHERE id = ?", run_id)
        if not found:
            raise KeyError(run_id)
        return found[0]

    def next_task(self) -> RunSpec | None:
        """The next run to make: planned runs first, then failed ones."""
        found = self._select(
            "WHERE state IN ('planned', 'failed') ORDER BY state = 'failed', attempts, position LIMIT 1"
        )
        return found[0].task if found else None

    def counts(self) -> dict[State, int]:
        """The number of runs in each state."""
        found = dict(self._connection.execute("SELECT state, count(*) FROM runs GROUP BY state").fetchall())
        return {state: found.get(state, 0) for state in STATES}

    def start(self, run_id: str, provenance: Provenance) -> None:
        """Record the start of an attempt."""
        now = time.time()
        with _transaction(self._connection):
            self._update(run_id, state="running", started=now, heartbeat=now, **asdict(provenance))

    def record_heartbeats(self, progress: Mapping[str, Progress]) -> None:
        """Record the progress of running runs, by id."""
        now = time.time()
        with _transaction(self._connection):
            for run_id, latest in progress.items():
                self._update(run_id, heartbeat=now, **latest._asdict())

    def finish(
        self,
        run_id: str,
        result: RunResult,
        progress: Progress,
        provenance: Provenance,
        processor_seconds: float | None = None,
    ) -> None:
        """Record a finished run; it is on disk when this returns."""
        entry, now = self.entry(run_id), time.time()
        self.import_run(
            replace(
                entry,
                attempts=entry.attempts + 1,
                finished=now,
                seconds=entry.seconds_until(now),
                processor_seconds=processor_seconds,
                progress=progress,
                provenance=provenance,
                result=result,
            )
        )

    def import_run(self, entry: LedgerEntry) -> None:
        """Record a finished run, which may be of another ledger."""
        if entry.result is None:
            raise ValueError(f"run {entry.task.id} has no result to import")
        with _transaction(self._connection):
            self._update(
                entry.task.id,
                state="done",
                failure=None,
                **{name: getattr(entry, name) for name in TIME_FIELDS},
                **entry.progress._replace(note="")._asdict(),
                **asdict(entry.provenance or Provenance("", "", "")),
                **{**asdict(entry.result), "summary": json.dumps(entry.result.summary)},
            )

    def fail(self, run_id: str, failure: str, limit: int) -> State:
        """Record a failed attempt; after ``limit`` of them the run is quarantined. Returns the new state."""
        with _transaction(self._connection):
            entry = self.entry(run_id)
            attempts = entry.attempts + 1
            state: State = "quarantined" if attempts >= limit else "failed"
            seconds = entry.seconds_until(time.time())
            self._update(run_id, state=state, attempts=attempts, seconds=seconds, failure=failure)
        return state

    def requeue(self, *states: State) -> int:
        """Plan the runs in certain states again, without counting an attempt. Returns their number."""
        with _transaction(self._connection):
            found = self.entries(*states)
            for entry in found:
                seconds = entry.seconds_until(entry.heartbeat) if entry.state == "running" else entry.seconds
                attempts = 0 if entry.state == "quarantined" else entry.attempts
                self._update(entry.task.id, state="planned", attempts=attempts, seconds=seconds)
        return len(found)

    def reset_run(self, run_id: str, reason: str) -> None:
        """Plan a finished run again because its rows are lost."""
        lost = dict.fromkeys(("finished", "processor_seconds", "checksum", "digest", "summary"))
        with _transaction(self._connection):
            self._update(run_id, state="planned", attempts=0, seconds=0, step=0, failure=reason, **lost)

    def _check(self) -> None:
        (found,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()
        if not tables:  # its creator was killed before the commit
            raise FileNotFoundError(errno.ENOENT, "No such ledger", str(self.path))
        studies = self._connection.execute("SELECT * FROM study").fetchall()
        if len(studies) != 1:
            raise DamagedLedgerError(self.path, f"expected one study, got {len(studies)}")
        *study, sealed = studies[0]
        if study[0] != FORMAT:
            raise ValueError(f"{self.path}: expected ledger format {FORMAT}, got {study[0]}: made by another version")
        if seal([*study, *(entry.task.id for entry in self.entries())]) != sealed:
            raise DamagedLedgerError(self.path, "the entry of the study was changed, or runs were removed")
        self._content, self.text = study[2:]

    def _select(self, condition: str, *values: str) -> list[LedgerEntry]:
        entries = []
        for row in self._connection.execute(f"SELECT * FROM runs {condition}", values):
            *content, sealed = row
            if seal(content) != sealed:
                raise DamagedLedgerError(self.path, f"the entry of run {row['id']} was changed")
            entries.append(_entry(row))
        return entries

    def _update(self, run_id: str, **values: Any) -> None:
        self.entry(run_id)  # a damaged entry must not get a new seal
        assignments = ", ".join(f"{name} = ?" for name in values)
        self._connection.execute(f"UPDATE runs SET {assignments} WHERE id = ?", (*values.values(), run_id))
        _seal_run(self._connection, run_id)


def _entry(row: sqlite3.Row) -> LedgerEntry:
    done, made = row["state"] == "done", row["version"] is not None
    return LedgerEntry(
        task=RunSpec(**{name: row[name] for name in RUN_FIELDS}, settings=json.loads(row["settings"])),
        progress=Progress(row["step"], row["steps"], row["note"]),
        provenance=Provenance(row["version"], row["machine"], row["command"]) if made else None,
        result=RunResult(row["checksum"], row["digest"], json.loads(row["summary"])) if done else None,
        **{name: row[name] for name in ("state", "heartbeat", "failure", *TIME_FIELDS)},
    )


def _seal_run(connection: sqlite3.Connection, run_id: str) -> None:
    *content, _ = connection.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
    connection.execute("UPDATE runs SET seal = ? WHERE id = ?", (seal(content), run_id))


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open or make a file whose commits are on disk when they return, and which can be read while it is written."""
    if read_only and not os.access(path.parent, os.W_OK):
        connection = _connect_to_copy(path)  # SQLite writes beside the file even to read it
    else:
        connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda content: content.decode(errors="surrogateescape")  # no seal fits damaged text
    with _close_on_error(connection), _report_damage(path):
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
        with _close_on_error(memory), closing(sqlite3.connect(copy)) as connection, _report_damage(path):
            connection.backup(memory)
    return memory


def _file_versions(path: Path) -> dict[Path, tuple[int, int]]:
    files = [file for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
    return {file: (file.stat().st_size, file.stat().st_mtime_ns) for file in files}


def seal(values: Iterable[Any]) -> str:
    """A checksum of a row's values, because SQLite does not notice a changed byte inside a value."""
    return hashlib.blake2b(ascii(tuple(values)).encode(), digest_size=8).hexdigest()


@contextmanager
def _close_on_error(resource: Any) -> Iterator[None]:
    try:
        yield
    except BaseException:
        resource.close()
        raise


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    with connection:  # commits, or rolls back
        connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def _report_damage(path: Path) -> Iterator[None]:
    """Raise `DamagedLedgerError` for every error of SQLite that only a damaged file explains."""
    try:
        yield
    except (sqlite3.DatabaseError, IndexError, UnicodeDecodeError) as error:  # IndexError: a column was renamed
        if isinstance(error, sqlite3.OperationalError) and not str(error).startswith(DAMAGE_MESSAGES):
            raise  # a full disk or a lock
        raise DamagedLedgerError(path, error) from error
