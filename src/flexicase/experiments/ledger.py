"""The ledger: one SQLite file that says of every run what has become of it."""

from __future__ import annotations

import errno
import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias

from flexicase._provenance import Provenance
from flexicase.experiments._database import DamagedLedgerError, check_sound, connect, naming_damage, seal, transaction
from flexicase.experiments.jobs import Progress, RunSpec, Scalar
from flexicase.experiments.spec import StudySpec, diff_specs, plan

State: TypeAlias = Literal["planned", "running", "done", "failed", "quarantined"]
STATES: tuple[State, ...] = ("planned", "running", "done", "failed", "quarantined")
ROWS = "rows"  # folder of the rows, beside the ledger
FORMAT = 3

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
    started REAL, heartbeat REAL, finished REAL, seconds REAL NOT NULL DEFAULT 0,
    step INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '',
    version TEXT, machine TEXT, command TEXT,
    failure TEXT, checksum TEXT, digest TEXT, summary TEXT,
    seal TEXT NOT NULL DEFAULT '',
    CHECK (state != 'done' OR (checksum IS NOT NULL AND digest IS NOT NULL AND summary IS NOT NULL))
) WITHOUT ROWID;
"""


class ChangedSpecError(ValueError):
    """A study of this name exists, and it is another one; the message says what differs."""


@dataclass(frozen=True)
class RunResult:
    """What is recorded when a run is done.

    Attributes:
        checksum: Of the file with its rows.
        digest: Of those rows that must be the same when the run is made again.
        summary: Facts about the whole run.
    """

    checksum: str
    digest: str
    summary: dict[str, Scalar]


@dataclass(frozen=True)
class LedgerEntry:
    """A run as the ledger has it.

    Attributes:
        task: The run.
        state: What has become of it.
        attempts: Attempts that came to an end by themselves, well or badly.
        started: When the last attempt began, in seconds since 1970.
        heartbeat: When it last gave a sign of life.
        finished: When it was done.
        seconds: Time spent on it, over all attempts.
        progress: How far it is.
        provenance: What made the last attempt.
        failure: Why the last attempt failed.
        result: What it gave.
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


class Ledger:
    r"""A study's ledger. Any process may read it, at any time; one may write, the holder of the study's lock.

    Args:
        path: The SQLite file.
        read_only: Refuse every change.

    Raises:
        FileNotFoundError: There is none; `Ledger.create` makes one.
        DamagedLedgerError: The file is damaged.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from flexicase.experiments import parse_spec
        >>> from flexicase.experiments.ledger import Ledger
        >>> spec = parse_spec('name = "t"\nproblems = ["mirror-image"]\nmethods = ["lexicase"]\nseeds = 3')
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Ledger.create(Path(folder) / "ledger.sqlite", spec) as ledger:
        ...         ledger.counts()["planned"]
        3
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open it."""
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, "No such ledger", str(path))
        self.path = path
        self._connection = connect(path, read_only=read_only)
        try:
            with naming_damage(path):
                check_sound(self._connection)
                self._check_format()
                self._check_seals()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path: Path, spec: StudySpec) -> Ledger:
        """A new ledger with every run of the study planned; on the disk completely or not at all."""
        tasks = plan(spec)
        connection = connect(path)
        try:
            connection.execute("BEGIN IMMEDIATE")
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            study = (FORMAT, spec.name, json.dumps(spec.content()), spec.text)
            sealed = seal([*study, *(task.id for task in tasks)])
            connection.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?)", (*study, sealed))
            connection.executemany(
                "INSERT INTO runs (id, position, kind, problem, method, variant, seed, settings) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (t.id, position, t.kind, t.problem, t.method, t.variant, t.seed, json.dumps(t.settings))
                    for position, t in enumerate(tasks)
                ],
            )
            seals = [(seal(tuple(row)[:-1]), row["id"]) for row in connection.execute("SELECT * FROM runs")]
            connection.executemany("UPDATE runs SET seal = ? WHERE id = ?", seals)
            connection.execute("COMMIT")
        finally:
            connection.close()
        return cls(path)

    @classmethod
    def open_or_create(cls, path: Path, spec: StudySpec) -> Ledger:
        """The study's ledger, made if there is none yet.

        Raises:
            ChangedSpecError: It is that of another study.
            DamagedLedgerError: It is damaged, or was lost: there are rows of finished runs.
        """
        try:
            ledger = cls(path)
        except FileNotFoundError:
            rows = path.parent / ROWS
            if next(rows.glob("*.parquet"), None) is not None:
                reason = f"missing or empty, although {rows} has rows of finished runs"
                raise DamagedLedgerError(path, reason) from None
            return cls.create(path, spec)
        try:
            ledger.check_same(spec)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def __enter__(self) -> Ledger:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    @property
    def text(self) -> str:
        """The TOML text of the study."""
        (text,) = self._connection.execute("SELECT text FROM study").fetchone()
        return str(text)

    def check_same(self, spec: StudySpec) -> None:
        """Raise `ChangedSpecError` if this is the ledger of another study."""
        (content,) = self._connection.execute("SELECT content FROM study").fetchone()
        changes = diff_specs(json.loads(content), json.loads(json.dumps(spec.content())))
        if changes:
            raise ChangedSpecError(
                f"study {spec.name!r} has been started with other contents: {'; '.join(changes)} "
                "(give the changed study another name)"
            )
        planned = [replace(task, settings=json.loads(json.dumps(task.settings))) for task in plan(spec)]
        if [entry.task for entry in self.entries()] != planned:
            raise DamagedLedgerError(self.path, "its runs are not those of the study")

    def entries(self, *states: State) -> list[LedgerEntry]:
        """Runs in the order of the plan, all or those in certain states."""
        wanted = states or STATES
        marks = ", ".join("?" * len(wanted))
        found = self._connection.execute(f"SELECT * FROM runs WHERE state IN ({marks}) ORDER BY position", wanted)
        return [_entry(self._verified(row)) for row in found]

    def entry(self, run_id: str) -> LedgerEntry:
        """One run.

        Raises:
            KeyError: There is none of this id.
        """
        return _entry(self._row(run_id))

    def next_task(self) -> RunSpec | None:
        """The next run to be made: the planned ones first, then those that failed and may be tried again."""
        for state in ("planned", "failed"):
            row = self._connection.execute(
                "SELECT * FROM runs WHERE state = ? ORDER BY attempts, position LIMIT 1", (state,)
            ).fetchone()
            if row is not None:
                return _entry(self._verified(row)).task
        return None

    def counts(self) -> dict[State, int]:
        """How many runs are in each state."""
        found = dict(self._connection.execute("SELECT state, count(*) FROM runs GROUP BY state").fetchall())
        return {state: found.get(state, 0) for state in STATES}

    def start(self, run_id: str, provenance: Provenance) -> None:
        """An attempt begins."""
        now = time.time()
        with transaction(self._connection):
            self._update(
                run_id,
                "state = 'running', started = ?, heartbeat = ?, version = ?, machine = ?, command = ?",
                (now, now, provenance.version, provenance.machine, provenance.command),
            )

    def record_heartbeats(self, signs: Mapping[str, Progress]) -> None:
        """Signs of life of running runs."""
        now = time.time()
        with transaction(self._connection):
            for run_id, progress in signs.items():
                self._update(run_id, "heartbeat = ?, step = ?, steps = ?, note = ?", (now, *progress))

    def finish(self, run_id: str, result: RunResult, progress: Progress, provenance: Provenance) -> None:
        """A run is done: when this returns, that is on the disk."""
        now = time.time()
        with transaction(self._connection):
            self._update(
                run_id,
                "state = 'done', attempts = attempts + 1, finished = ?, seconds = seconds + ? - started, "
                "failure = NULL, step = ?, steps = ?, note = '', version = ?, machine = ?, command = ?, "
                "checksum = ?, digest = ?, summary = ?",
                (
                    *(now, now, *progress[:2], provenance.version, provenance.machine, provenance.command),
                    *(result.checksum, result.digest, json.dumps(result.summary)),
                ),
            )

    def fail(self, run_id: str, failure: str, limit: int) -> State:
        """An attempt has failed; after ``limit`` of them the run is quarantined.

        Returns:
            The run's new state.
        """
        with transaction(self._connection):
            self._update(
                run_id,
                "state = CASE WHEN attempts + 1 >= ? THEN 'quarantined' ELSE 'failed' END, "
                "attempts = attempts + 1, seconds = seconds + ? - started, failure = ?",
                (limit, time.time(), failure),
            )
        return self.entry(run_id).state

    def requeue(self, *states: State) -> int:
        """Put all runs in certain states back into the plan; what stopped them does not count as an attempt.

        Returns:
            How many there were.
        """
        with transaction(self._connection):
            found = self.entries(*states)
            for entry in found:
                self._update(
                    entry.task.id,
                    "seconds = seconds + CASE state WHEN 'running' THEN heartbeat - started ELSE 0 END, "
                    "attempts = CASE state WHEN 'quarantined' THEN 0 ELSE attempts END, state = 'planned'",
                )
        return len(found)

    def reset_run(self, run_id: str, reason: str) -> None:
        """What a finished run left is lost: plan it again."""
        with transaction(self._connection):
            self._update(
                run_id,
                "state = 'planned', attempts = 0, seconds = 0, step = 0, finished = NULL, failure = ?, "
                "checksum = NULL, digest = NULL, summary = NULL",
                (reason,),
            )

    def import_run(self, entry: LedgerEntry) -> None:
        """Record a run that was done elsewhere."""
        if entry.result is None:
            raise ValueError(f"run {entry.task.id} has no result to import")
        made_by = entry.provenance or Provenance("", "", "")
        with transaction(self._connection):
            self._update(
                entry.task.id,
                "state = 'done', attempts = ?, started = ?, finished = ?, seconds = ?, step = ?, steps = ?, "
                "version = ?, machine = ?, command = ?, failure = NULL, checksum = ?, digest = ?, summary = ?",
                (
                    *(entry.attempts, entry.started, entry.finished, entry.seconds, *entry.progress[:2]),
                    *(made_by.version, made_by.machine, made_by.command),
                    *(entry.result.checksum, entry.result.digest, json.dumps(entry.result.summary)),
                ),
            )

    def _check_format(self) -> None:
        tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if not tables:  # its creator was killed before the commit
            raise FileNotFoundError(errno.ENOENT, "No such ledger", str(self.path))
        if not {"study", "runs"} <= tables:
            raise DamagedLedgerError(self.path, "a table is missing")
        formats = [found for (found,) in self._connection.execute("SELECT format FROM study")]
        if len(formats) != 1:
            raise DamagedLedgerError(self.path, f"expected one study, got {len(formats)}")
        if formats[0] != FORMAT:
            raise ValueError(f"{self.path}: expected ledger format {FORMAT}, got {formats[0]}: made by another version")

    def _check_seals(self) -> None:
        *study, sealed = self._connection.execute("SELECT * FROM study").fetchone()
        if seal([*study, *(entry.task.id for entry in self.entries())]) != sealed:
            raise DamagedLedgerError(self.path, "the entry of the study was changed, or runs were removed")

    def _verified(self, row: sqlite3.Row) -> sqlite3.Row:
        *values, sealed = row
        if seal(values) != sealed:
            raise DamagedLedgerError(self.path, f"the entry of run {row['id']} was changed")
        return row

    def _row(self, run_id: str) -> sqlite3.Row:
        row: sqlite3.Row | None = self._connection.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            raise KeyError(run_id)
        return self._verified(row)

    def _update(self, run_id: str, assignments: str, values: tuple[Any, ...] = ()) -> None:
        self._row(run_id)  # what was damaged must not be sealed as if it were true
        self._connection.execute(f"UPDATE runs SET {assignments} WHERE id = ?", (*values, run_id))
        *changed, _ = self._connection.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
        self._connection.execute("UPDATE runs SET seal = ? WHERE id = ?", (seal(changed), run_id))


def _entry(row: sqlite3.Row) -> LedgerEntry:
    done = row["state"] == "done"
    return LedgerEntry(
        task=RunSpec(
            id=row["id"],
            kind=row["kind"],
            problem=row["problem"],
            method=row["method"],
            variant=row["variant"],
            seed=row["seed"],
            settings=json.loads(row["settings"]),
        ),
        state=row["state"],
        attempts=row["attempts"],
        started=row["started"],
        heartbeat=row["heartbeat"],
        finished=row["finished"],
        seconds=row["seconds"],
        progress=Progress(row["step"], row["steps"], row["note"]),
        provenance=None if row["version"] is None else Provenance(row["version"], row["machine"], row["command"]),
        failure=row["failure"],
        result=RunResult(row["checksum"], row["digest"], json.loads(row["summary"])) if done else None,
    )
