"""``flexicase run``, ``status``, ``export``, ``import``, ``rerun`` and ``report``: studies of many runs."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
import time
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Exit, Option

from flexicase._checks import did_you_mean
from flexicase.cli._output import (
    FAILED,
    StatusLine,
    aligned,
    emit,
    emit_json,
    explain,
    misuse_of,
    terminations_as_interrupts,
    write_stdout,
)

if TYPE_CHECKING:
    from flexicase.experiments import Progress, Study, StudyOptions, StudySpec
    from flexicase.experiments.executors import ExecutorFactory
    from flexicase.experiments.export import ExportSummary
    from flexicase.experiments.ledger import LedgerEntry
    from flexicase.experiments.study import StudyStatus


Studies = Annotated[Path, Option("--studies", help="Folder of all studies.")]
AsJson = Annotated[bool, Option("--json", help="Print one JSON value.")]
Workers = Annotated[int | None, Option(min=1, help="Runs at a time; by default one per processor.")]
Nice = Annotated[int, Option(min=0, max=19, help="Added to the niceness of the runs.")]
Cluster = Annotated[
    str | None, Option(help="ray, ray://HOST:PORT or slurm (needs flexicase[cluster]); by default this machine.")
]
ClusterOptions = Annotated[
    list[str] | None,
    Option(
        "--cluster-option",
        metavar="KEY=VALUE",
        help="Option of Ray's actors (num_gpus=1) or Slurm's jobs (slurm_partition=long); may be repeated.",
    ),
]
MaxAttempts = Annotated[int, Option(min=1, help="Failures after which a run is quarantined.")]
AllowCode = Annotated[
    bool, Option("--allow-code", help="Import the class that the study's kind names, which runs its code.")
]
DEFAULT_STUDIES = Path("studies")


def run(
    spec: Annotated[Path, Argument(metavar="SPEC.toml", help="The study file.")],
    *,
    workers: Workers = None,
    max_attempts: MaxAttempts = 3,
    nice: Nice = 0,
    hang_timeout: Annotated[
        float | None, Option(min=0.1, help="Seconds without progress after which a run is killed.")
    ] = None,
    retry_quarantined: Annotated[bool, Option("--retry-quarantined", help="Try quarantined runs again.")] = False,
    cluster: Cluster = None,
    cluster_option: ClusterOptions = None,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Run a study, or continue it.

    Finished runs are kept; interrupted runs continue from their last checkpoint. Ctrl-C, SIGTERM and SIGHUP stop the
    study; the same command continues it.
    """
    from flexicase.experiments import Study, StudyOptions, load_spec

    with terminations_as_interrupts():
        loaded = load_spec(spec, allow_code=True)
        with executor_for(cluster, cluster_option) as factory:
            options = StudyOptions(workers or factory.workers, max_attempts, nice, hang_timeout, retry_quarantined)
            code = run_with_display(loaded, options, studies, factory, quiet=as_json)
    study = Study(studies / loaded.name)
    if as_json:
        emit_json({"study": loaded.name, "folder": str(study.folder), **asdict(_status(study))})
    elif code <= FAILED:
        text = f"study: {study.folder} (flexicase export {loaded.name} writes the results)"
        write_stdout(f"{success_table(study)}\n{text}\n")
    raise Exit(code)


def executor_for(cluster: str | None, settings: list[str] | None) -> AbstractContextManager[ExecutorFactory]:
    """Where to make runs, from the options of the command line."""
    from flexicase.experiments import open_cluster

    options: dict[str, Any] = {}
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals:
            raise BadParameter(f"expected KEY=VALUE, got {setting!r}", param_hint="--cluster-option")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value
    return open_cluster(cluster, options)


def run_with_display(
    spec: StudySpec, options: StudyOptions, studies: Path, factory: ExecutorFactory, *, quiet: bool = False
) -> int:
    """Run a study with a display. Returns the exit code: 128 + signal if it was stopped."""
    from flexicase._files import LockedError
    from flexicase.cli._study_display import monitor_for
    from flexicase.experiments import run_study

    with monitor_for(options.workers, quiet=quiet) as monitor:
        try:
            with redirect_stdout(sys.stderr):  # Ray prints when it loses a machine
                ending = run_study(studies, spec, options, monitor, factory.executor)
        except LockedError as error:
            raise OSError(f"{error}: only one process may run a study") from error
    if ending == "interrupted":
        write_stdout("stopped; the same command continues the study\n")
        return 128 + (monitor.stop_signal or signal.SIGINT)
    if ending == "incomplete":
        write_stdout("some runs were quarantined; 'flexicase status' says why, --retry-quarantined tries them again\n")
        return FAILED
    return 0


def status(
    name: Annotated[str | None, Argument(metavar="[STUDY]", help="A study; by default all.")] = None,
    *,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Show the progress of studies.

    A study that cannot be read is listed with the reason, and the exit code is 1.
    """
    from flexicase.experiments.study import studies_in

    found: list[tuple[dict[str, Any], str]] = []
    code = 0
    for study in [find_study(studies, name)] if name else studies_in(studies):
        try:
            found.append(_describe(study, in_full=bool(name)))
        except (OSError, ValueError, sqlite3.Error) as error:
            if name:
                raise
            code = FAILED
            reason = explain(error)[0].removeprefix("flexicase: ")
            found.append(({"study": study.folder.name, "error": str(error)}, f"{study.folder.name}: {reason}\n"))
    text = "".join(text for _, text in found) or f"no studies in {studies}\n"
    emit(as_json, [value for value, _ in found], text)
    raise Exit(code)


def _describe(study: Study, *, in_full: bool) -> tuple[dict[str, Any], str]:
    """The status of a study, for JSON and as text."""
    from flexicase.cli._study_display import headline

    name, status = study.folder.name, _status(study)
    unfinished = [
        {"id": entry.task.id, "state": entry.state, "attempts": entry.attempts, "message": _message(entry)}
        for entry in study.entries()
        if entry.state in ("running", "failed", "quarantined")
    ]
    text = f"{name}: {headline(status)}\n"
    if in_full:
        text += f"\n{success_table(study)}"
        text += "".join(f"{run['id']} {run['state']}: {run['message']}\n" for run in unfinished)
    return {"study": name, **asdict(status), "unfinished": unfinished}, text


def export(
    name: Annotated[str, Argument(metavar="STUDY", help="The study.")],
    *,
    out: Annotated[Path | None, Option(help="Folder for the files; by default 'results' in the study's.")] = None,
    format: Annotated[str, Option(help="parquet or csv (compressed).")] = "parquet",  # noqa: A002
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Write a study's results to a few files, also while it runs.

    Files called runs and rows depend on the study alone; times, machines and versions are in other files.
    """
    exported = write_results(find_study(studies, name), out, format)
    folder, done, planned = exported.folder, exported.done, exported.planned
    files = {path.name: path.stat().st_size for path in exported.files}
    text = f"{done} of {planned} runs, {exported.rows:,} rows, {exported.bytes / 1e6:.2f} MB: {folder}\n"
    emit(as_json, {"folder": str(folder), "done": done, "runs": planned, "files": files}, text)


def write_results(study: Study, out: Path | None = None, format: str = "parquet") -> ExportSummary:  # noqa: A002
    """Export a study to a folder, by default ``results`` inside its own."""
    from flexicase.experiments import export_study
    from flexicase.experiments._tables import FORMATS

    if format not in FORMATS:
        raise BadParameter(f"expected parquet or csv, got {format!r}", param_hint="--format")
    return export_study(study, out or study.folder / "results", format)


def import_(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="An export.")],
    *,
    allow_code: AllowCode = False,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Import the finished runs of an export, to continue the study here."""
    from flexicase._files import LockedError
    from flexicase.experiments import import_study

    try:
        study, new = import_study(folder, studies, allow_code=allow_code)
    except LockedError as error:
        raise OSError(f"{error}: stop it first") from error
    status = _status(study)
    done = f"{new} new runs, {status.counts['done']} of {status.total} done"
    text = f"{done}; to continue: flexicase run {folder / 'study.toml'} --studies {studies}\n"
    emit(as_json, {"study": study.folder.name, "new": new, **asdict(status)}, text)


def rerun(
    ids: Annotated[list[str], Argument(metavar="RUN_ID...", help="Ids of finished runs, or their first digits.")],
    *,
    allow_code: AllowCode = False,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Repeat finished runs from their ids and compare every row with the stored ones.

    The exit code is 1 if anything but times differs.
    """
    from flexicase.experiments import find_run
    from flexicase.experiments import rerun as repeat
    from flexicase.experiments.jobs import one_line

    with misuse_of("RUN_ID"):
        found = [find_run(studies, run_id) for run_id in ids]
    comparisons = []
    for study, entry in found:
        name = one_line(f"{entry.task.id} ({entry.task.problem}, {entry.task.method}, seed {entry.task.seed})")
        with terminations_as_interrupts(), StatusLine(as_json or not sys.stderr.isatty()) as line:

            def show(progress: Progress, name: str = name, line: StatusLine = line) -> None:
                line.show(f"{name}: step {progress.step} of {progress.steps}")

            comparison = repeat(study, entry, show, allow_code=allow_code)
        comparisons.append(comparison)
        if not as_json:
            verdict = "identical" if comparison.identical else "DIFFERENT: " + "; ".join(comparison.differences)
            write_stdout(f"{name}: {comparison.rows} rows × {len(comparison.columns)} columns {verdict}\n")
    if as_json:
        emit_json([{"run": c.run_id, "identical": c.identical, "differences": c.differences} for c in comparisons])
    raise Exit(0 if all(c.identical for c in comparisons) else FAILED)


def report(
    source: Annotated[str, Argument(metavar="STUDY", help="A study, or the folder of an export.")],
    *,
    out: Annotated[Path | None, Option(help="Folder for the report; by default 'report' beside the results.")] = None,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Write a study's tables, tests and figures: one page that needs no network, and PNG, SVG and CSV files.

    The report covers the finished runs; the study may be running.
    """
    from flexicase.experiments._tables import MANIFEST, locate
    from flexicase.report.write import check_folder, write_report

    export = Path(source)
    study = None if locate(export, MANIFEST).exists() else find_study(studies, source)
    folder = out or (export.parent if study is None else study.folder) / "report"
    check_folder(folder)
    if study is not None:
        export = write_results(study).folder
    written = write_report(export, folder)
    values = {"page": str(written.page), "files": [str(path) for path in written.files]}
    emit(as_json, values, f"report: {written.page}\n")


def find_study(studies: Path, name: str) -> Study:
    """Find a study by its name."""
    from flexicase.experiments.study import studies_in

    known = {study.folder.name: study for study in studies_in(studies)}
    if name not in known:
        hint = did_you_mean(name, known) if known else f"; there are none in {studies}"
        raise BadParameter(f"unknown study {name!r}{hint}", param_hint="STUDY")
    return known[name]


def success_table(study: Study) -> str:
    """A table of successes by problem, method and variant."""
    from flexicase.experiments.jobs import one_line
    from flexicase.experiments.study import CellStatus

    header = [field.name for field in fields(CellStatus)]
    return aligned(header, [tuple(map(one_line, astuple(cell))) for cell in _status(study).cells])


def _status(study: Study) -> StudyStatus:
    from flexicase.experiments.study import study_status

    entries = study.entries()
    return study_status(entries, max(1, sum(entry.state == "running" for entry in entries)))


def _message(entry: LedgerEntry) -> str:
    from flexicase.cli._study_display import format_duration
    from flexicase.experiments.jobs import one_line

    if entry.state != "running" or entry.heartbeat is None:
        return one_line(f"{entry.attempts} attempts; {entry.failure}")
    task, progress = entry.task, entry.progress
    ago = format_duration(time.time() - entry.heartbeat)
    position = f"{task.problem}, {task.method}, seed {task.seed}, step {progress.step} of {progress.steps or '?'}"
    return one_line(f"{position}; last heartbeat {ago} ago")
