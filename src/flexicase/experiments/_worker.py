"""The process of one run: reads its task from standard input, tells on standard output how it goes.

Messages are lines of JSON. Standard input stays open for as long as the coordinator lives; when it ends, so does the
worker, wherever it is, and with it every process that it has started: everything that it leaves behind is written all
or nothing.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, NoReturn

from flexicase._files import FileLock
from flexicase._provenance import machine, version
from flexicase.experiments._outcomes import check_outcome, check_progress, one_line
from flexicase.experiments._tables import rows_digest, write_rows
from flexicase.experiments.jobs import Progress, RunSpec, load_job
from flexicase.experiments.ledger import RunResult
from flexicase.experiments.study import Study

FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
EXIT_ORPHANED = 3
PREDECESSOR_SECONDS = 60.0


def make_run(study: Study, task: RunSpec, messages: IO[str]) -> None:
    """Make a run, write its rows, and tell about it.

    Args:
        study: Where rows and saves go.
        task: The run.
        messages: Takes the messages.
    """
    save = study.save(task.id)
    save.mkdir(parents=True, exist_ok=True)

    def report(progress: Progress) -> None:
        _tell(messages, {"progress": check_progress(progress)._asdict()})

    with FileLock(save / "lock", f"run {task.id}", PREDECESSOR_SECONDS):  # a predecessor may be about to end
        outcome = load_job(task.kind, allow_code=True).run(task, save, report)
        rows, summary = check_outcome(outcome)
        result = RunResult(write_rows(study.rows(task.id), rows), rows_digest(rows), summary)
    _tell(messages, {"result": asdict(result), "version": version(), "machine": machine()})


def _tell(messages: IO[str], message: dict[str, Any]) -> None:
    messages.write(json.dumps(message) + "\n")
    messages.flush()


def _end_with(lifeline: IO[bytes]) -> None:
    lifeline.read()
    _end_group()


def _end_group() -> NoReturn:
    """End this process and those that it has started."""
    if os.getpgrp() == os.getpid():  # as `LocalExecutor` starts it
        os.killpg(0, signal.SIGKILL)
    os._exit(EXIT_ORPHANED)


def main() -> NoReturn:
    """Make the run that standard input describes, and exit."""
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a job prints goes to its log
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with, args=(sys.stdin.buffer,), daemon=True).start()
    if order["nice"]:
        os.nice(order["nice"])
    code = 0
    try:
        make_run(Study(Path(order["folder"])), RunSpec(**order["task"]), messages)
    except BaseException as error:  # a job may also exit
        traceback.print_exc()
        full = isinstance(error, OSError) and error.errno in FULL_DISK
        failure = f"{type(error).__name__}: {one_line(error)}"
        try:
            _tell(messages, {"failure": failure, "full_disk": full})
        except BrokenPipeError:  # the coordinator has ended
            _end_group()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # without waiting for the thread that watches standard input
