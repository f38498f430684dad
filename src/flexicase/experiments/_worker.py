"""The process of one run. It reads the run from standard input and writes messages, lines of JSON, to standard output.

Standard input stays open while the coordinator lives. When it closes, the worker kills itself and every process that it
started. All files are written atomically, so it can end at any time.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, NoReturn

from flexicase._files import FileLock, is_full_disk, write_quickly
from flexicase._provenance import machine, version
from flexicase.experiments._tables import rows_digest, write_rows
from flexicase.experiments.jobs import Progress, RunSpec, check_outcome, check_progress, load_job, one_line
from flexicase.experiments.ledger import RunResult
from flexicase.experiments.study import Study

EXIT_ORPHANED = 3
PREDECESSOR_SECONDS = 60.0
PROCESSOR_TIME = "processor_seconds"


def make_run(study: Study, task: RunSpec, messages: IO[str]) -> None:
    """Make a run, write its rows, and send its progress and its result."""
    save = study.save(task.id)
    save.mkdir(parents=True, exist_ok=True)
    with FileLock(save / "lock", f"run {task.id}", PREDECESSOR_SECONDS):  # a predecessor may be about to end
        earlier = 0.0  # processor time of earlier attempts
        with suppress(OSError, ValueError):
            earlier = float((save / PROCESSOR_TIME).read_text())

        def processor_seconds() -> float:
            return round(earlier + sum(os.times()[:4]), 2)

        def report(progress: Progress) -> None:
            _send(messages, {"progress": check_progress(progress)._asdict()})
            write_quickly(save / PROCESSOR_TIME, str(processor_seconds()))

        outcome = load_job(task.kind, allow_code=True).run(task, save, report)
        rows, summary = check_outcome(outcome)
        result = asdict(RunResult(write_rows(study.rows(task.id), rows), rows_digest(rows), summary))
    made_by = {"version": version(), "machine": machine(), "processor_seconds": processor_seconds()}
    _send(messages, {"result": result, **made_by})


def _send(messages: IO[str], message: dict[str, Any]) -> None:
    messages.write(json.dumps(message) + "\n")
    messages.flush()


def _exit_with(lifeline: IO[bytes]) -> None:
    lifeline.read()
    _exit_group()


def _exit_group() -> NoReturn:
    """End this process and those that it started."""
    if os.getpgrp() == os.getpid():  # as `LocalExecutor` starts it
        os.killpg(0, signal.SIGKILL)
    os._exit(EXIT_ORPHANED)


def main() -> NoReturn:
    """Make the run that standard input describes, and exit."""
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a job prints goes to its log
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_exit_with, args=(sys.stdin.buffer,), daemon=True).start()
    if request["nice"]:
        os.nice(request["nice"])
    code = 0
    try:
        make_run(Study(Path(request["folder"])), RunSpec(**request["task"]), messages)
    except BaseException as error:  # a job may also exit
        traceback.print_exc()
        reason = f"{type(error).__name__}: {one_line(error)}"
        try:
            _send(messages, {"reason": reason, "full_disk": is_full_disk(error)})
        except BrokenPipeError:  # the coordinator has ended
            _exit_group()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # without waiting for the thread that watches standard input
