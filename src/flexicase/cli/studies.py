"""``flexicase run``, ``status``, ``export``, ``import`` and ``rerun``: studies of many runs."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
import time
from contextlib import AbstractContextManager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexicase._checks import did_you_mean
from flexicase.cli._output import FAILED, aligned, emit_json, explain, terminations_as_interrupts, write_stdout
from flexicase.experiments._tables import MANIFEST, locate

if TYPE_CHECKING:
    from flexicase.experiments import Study, StudyOptions, StudySpec
    from flexicase.experiments.executors import ExecutorFactory
    from flexicase.experiments.export import ExportSummary
    from flexicase.experiments.ledger import LedgerEntry
    from flexicase.experiments.rerun import RerunComparison
    from flexicase.experiments.study import StudyStatus


Studies = Annotated[Path, typer.Option("--studies", help="Folder of all studies.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Runs at a time; by default one per processor.")]
Nice = Annotated[int, typer.Option(min=0, max=19, help="Lower the priority of the runs by this much.")]
Cluster = Annotated[
    str | None, typer.Option(help="Where: ray, ray://HOST:PORT or slurm (flexicase[cluster]); by default this machine.")
]
ClusterOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster-option",
        metavar="KEY=VALUE",
        help="For Ray's actors (num_gpus=1) or Slurm's jobs (slurm_partition=long); may be repeated.",
    ),
]
MaxAttempts = Annotated[int, typer.Option(min=1, help="How often a run may fail before it is quarantined.")]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Import the study's own kind of runs (module:Class), which runs its code.")
]
DEFAULT_STUDIES = Path("studies")
STATUS_COLUMNS = ("problem", "method", "variant", "successes", "done", "planned")


def run(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="The study.")],
    *,
    workers: Workers = None,
    nice: Nice = 0,
    max_attempts: MaxAttempts = 3,
    hang_timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds without a sign of life after which a run is ended.")
    ] = None,
    retry_quarantined: Annotated[
        bool, typer.Option("--retry-quarantined", help="Give quarantined runs another chance.")
    ] = False,
    cluster: Cluster = None,
    cluster_option: ClusterOptions = None,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Run a study, or go on with it.

    Finished runs are kept, interrupted ones go on from where they were. Ctrl-C, SIGTERM and SIGHUP stop it; the same
    command continues.
    """
    from flexicase.experiments import StudyOptions, load_spec

    with terminations_as_interrupts():
        loaded = load_spec(spec, allow_code=True)
        with place_for(cluster, cluster_option) as place:
            options = StudyOptions(workers or place.workers, max_attempts, nice, hang_timeout, retry_quarantined)
            code = run_with_display(loaded, options, studies, place, quiet=as_json)
    folder = studies / loaded.name
    if as_json:
        emit_json({"study": loaded.name, "folder": str(folder), **_as_dict(_view(folder))})
    elif code <= FAILED:
        write_stdout(f"{successes(folder)}\nstudy: {folder} (flexicase export {loaded.name} writes the results)\n")
    raise typer.Exit(code)


def place_for(cluster: str | None, settings: list[str] | None) -> AbstractContextManager[ExecutorFactory]:
    """Where runs are made, from the command line's words."""
    from flexicase.experiments.executors import open_cluster

    options: dict[str, Any] = {}
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals:
            raise typer.BadParameter(f"expected KEY=VALUE, got {setting!r}", param_hint="--cluster-option")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value
    return open_cluster(cluster, options)


def run_with_display(
    spec: StudySpec, options: StudyOptions, root: Path, place: ExecutorFactory, *, quiet: bool = False
) -> int:
    """Run a study with a display; gives the exit code, 128 and the signal if it was stopped."""
    from flexicase._files import LockedError
    from flexicase.cli._study_display import monitor_for
    from flexicase.experiments import run_study

    with monitor_for(options.workers, quiet=quiet) as monitor:
        try:
            with redirect_stdout(sys.stderr):  # Ray prints of its own accord when it loses somebody
                ending = run_study(root, spec, options, monitor, place.executor)
        except LockedError as error:
            raise OSError(f"{error}: one process at a time runs a study") from error
    if ending == "interrupted":
        write_stdout("stopped; the same command goes on from here\n")
        return 128 + (monitor.stop_signal or signal.SIGINT)
    if ending == "incomplete":
        write_stdout("some runs were quarantined; 'flexicase status' tells why, --retry-quarantined tries them again\n")
        return FAILED
    return 0


def status(
    name: Annotated[str | None, typer.Argument(metavar="[STUDY]", help="A study; all of them if left out.")] = None,
    *,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Show how studies stand.

    A study that cannot be read is named with the reason; the exit code is then 1.
    """
    from flexicase.experiments.study import studies_in

    found: list[tuple[dict[str, Any], str]] = []
    code = 0
    for study in [find_study(studies, name)] if name else studies_in(studies):
        try:
            found.append(_described(study, in_full=bool(name)))
        except (OSError, ValueError, sqlite3.Error) as error:
            if name:
                raise
            code = FAILED
            reason = explain(error)[0].removeprefix("flexicase: ")
            found.append(({"study": study.folder.name, "error": str(error)}, f"{study.folder.name}: {reason}\n"))
    if as_json:
        emit_json([value for value, _ in found])
    else:
        write_stdout("".join(text for _, text in found) or f"no studies in {studies}\n")
    raise typer.Exit(code)


def _described(study: Study, *, in_full: bool) -> tuple[dict[str, Any], str]:
    """How a study stands, for machines and for people."""
    from flexicase.cli._study_display import headline

    name, view, unfinished = study.folder.name, _view(study.folder), _unfinished(study)
    text = f"{name}: {headline(view)}\n"
    if in_full:
        text += f"\n{successes(study.folder)}"
        text += "".join(f"{run['id']} {run['state']}: {run['news']}\n" for run in unfinished)
    return {"study": name, **_as_dict(view), "unfinished": unfinished}, text


def export(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="The study.")],
    *,
    out: Annotated[Path | None, typer.Option(help="Folder for the files; by default 'results' in the study's.")] = None,
    style: Annotated[str, typer.Option("--format", help="parquet or csv (compressed).")] = "parquet",
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Write a study's results to a few files, also while it runs.

    runs and rows hold what depends on the study alone; times, machines and versions are in files of their own.
    """
    exported = write_results(find_study(studies, name), out, style)
    if as_json:
        files = {path.name: path.stat().st_size for path in exported.files}
        emit_json({"folder": str(exported.folder), "done": exported.done, "runs": exported.planned, "files": files})
    else:
        write_stdout(
            f"{exported.done} of {exported.planned} runs, {exported.rows:,} rows, {exported.bytes / 1e6:.2f} MB: "
            f"{exported.folder}\n"
        )


def write_results(study: Study, out: Path | None = None, style: str = "parquet") -> ExportSummary:
    """Export a study to a folder, by default the one called ``results`` inside its own."""
    from flexicase.experiments import export_study
    from flexicase.experiments._tables import FORMATS

    if style not in FORMATS:
        raise typer.BadParameter(f"expected parquet or csv, got {style!r}", param_hint="--format")
    return export_study(study, out or study.folder / "results", style)


def import_(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="An export.")],
    *,
    allow_code: AllowCode = False,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Take over the finished runs of an export, to go on with the study here."""
    from flexicase._files import LockedError
    from flexicase.experiments import import_study

    try:
        study, new = import_study(folder, studies, allow_code=allow_code)
    except LockedError as error:
        raise OSError(f"{error}: stop it first") from error
    view = _view(study.folder)
    if as_json:
        emit_json({"study": study.folder.name, "new": new, **_as_dict(view)})
    else:
        done = f"{new} new runs, {view.counts['done']} of {view.total} done"
        write_stdout(f"{done}; to go on: flexicase run {folder / 'study.toml'} --studies {studies}\n")


def rerun(
    ids: Annotated[list[str], typer.Argument(metavar="RUN_ID...", help="Ids of finished runs, or how they start.")],
    *,
    allow_code: AllowCode = False,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Make finished runs again from their ids and compare every row with what is stored.

    Exit code 1 if anything but times differs.
    """
    from flexicase.experiments._database import DamagedLedgerError
    from flexicase.experiments._outcomes import one_line
    from flexicase.experiments.rerun import find_run

    try:
        found = [find_run(studies, run_id) for run_id in ids]
    except DamagedLedgerError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="RUN_ID") from None
    comparisons = []
    for study, entry in found:
        name = one_line(f"{entry.task.id} ({entry.task.problem}, {entry.task.method}, seed {entry.task.seed})")
        quiet = as_json or not sys.stderr.isatty()
        with terminations_as_interrupts():
            comparison = _rerun_with_status(study, entry, name, quiet=quiet, allow_code=allow_code)
        comparisons.append(comparison)
        if not as_json:
            verdict = "identical" if comparison.identical else "DIFFERENT: " + "; ".join(comparison.differences)
            write_stdout(f"{name}: {comparison.rows} rows × {len(comparison.columns)} columns {verdict}\n")
    if as_json:
        emit_json([{"run": c.run_id, "identical": c.identical, "differences": c.differences} for c in comparisons])
    raise typer.Exit(0 if all(c.identical for c in comparisons) else FAILED)


def _rerun_with_status(
    study: Study, entry: LedgerEntry, name: str, *, quiet: bool, allow_code: bool
) -> RerunComparison:
    """The comparison with a repeated run, which is followed while it goes on."""
    from flexicase.cli._output import StatusLine
    from flexicase.experiments.rerun import rerun as make_again

    with StatusLine(quiet) as line:
        return make_again(
            study, entry, lambda now: line.show(f"{name}: step {now.step} of {now.steps}"), allow_code=allow_code
        )


def find_study(root: Path, name: str) -> Study:
    """A study by its name."""
    from flexicase.experiments.study import studies_in

    known = {study.folder.name: study for study in studies_in(root)}
    if name not in known:
        hint = did_you_mean(name, known) if known else f"; there are none in {root}"
        raise typer.BadParameter(f"unknown study {name!r}{hint}", param_hint="STUDY")
    return known[name]


def _entries(folder: Path) -> list[LedgerEntry]:
    from flexicase.experiments import Study
    from flexicase.experiments.ledger import Ledger

    with Ledger(Study(folder).ledger, read_only=True) as ledger:
        return ledger.entries()


def _view(folder: Path) -> StudyStatus:
    from flexicase.experiments.study import study_status

    entries = _entries(folder)
    return study_status(entries, max(1, sum(entry.state == "running" for entry in entries)))


def _unfinished(study: Study) -> list[dict[str, Any]]:
    """The runs that are going on or have failed, and the last that is known of each."""
    return [
        {"id": entry.task.id, "state": entry.state, "attempts": entry.attempts, "news": _news(entry)}
        for entry in _entries(study.folder)
        if entry.state in ("running", "failed", "quarantined")
    ]


def _news(entry: LedgerEntry) -> str:
    from flexicase.cli._study_display import duration
    from flexicase.experiments._outcomes import one_line

    if entry.state != "running" or entry.heartbeat is None:
        return one_line(f"{entry.attempts} attempts; {entry.failure}")
    task, progress = entry.task, entry.progress
    ago = duration(time.time() - entry.heartbeat)
    where = f"{task.problem}, {task.method}, seed {task.seed}, step {progress.step} of {progress.steps or '?'}"
    return one_line(f"{where}; last sign of life {ago} ago")


def _as_dict(view: StudyStatus) -> dict[str, Any]:
    scores = [{column: getattr(score, column) for column in STATUS_COLUMNS} for score in view.scores]
    return {"counts": view.counts, "scores": scores, "seconds_left": view.seconds_left}


def successes(folder: Path) -> str:
    """A table of how a study's runs have gone."""
    from flexicase.experiments._outcomes import one_line

    scores = _view(folder).scores
    cells = [tuple(one_line(getattr(score, column)) for column in STATUS_COLUMNS) for score in scores]
    return aligned(STATUS_COLUMNS, cells)


def report(
    source: Annotated[str, typer.Argument(metavar="STUDY", help="A study, or the folder of an export.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report; by default 'report' beside the results.")
    ] = None,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Write a study's tables, tests and figures: one page that needs no network, and PNG, SVG and CSV beside it.

    Works on what is finished, also while the study runs.
    """
    from flexicase.report.write import check_folder, write_report

    export = Path(source)
    study = None if locate(export, MANIFEST).exists() else find_study(studies, source)
    folder = out or (export.parent if study is None else study.folder) / "report"
    check_folder(folder)
    if study is not None:
        export = write_results(study).folder
    written = write_report(export, folder)
    if as_json:
        emit_json({"page": str(written.page), "files": [str(path) for path in written.files]})
    else:
        write_stdout(f"report: {written.page}\n")
