"""``flexicase report``: tables, figures and one page from a study's results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flexicase.cli.output import emit, emit_json
from flexicase.cli.studies import DEFAULT_ROOT, AsJson, Root, find_study, write_results
from flexicase.tables import MANIFEST, locate


def report(
    source: Annotated[str, typer.Argument(metavar="STUDY", help="A study, or the folder of an export.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report; by default 'report' beside the results.")
    ] = None,
    root: Root = DEFAULT_ROOT,
    as_json: AsJson = False,
) -> None:
    """Write a study's tables, tests and figures: one page that needs no network, and PNG, SVG and CSV beside it.

    Works on what is finished, also while the study runs.
    """
    from flexicase.report.write import check_folder, write_report

    export = Path(source)
    study = None if locate(export, MANIFEST).exists() else find_study(root, source)
    folder = out or (export.parent if study is None else study.folder) / "report"
    check_folder(folder)
    if study is not None:
        export = write_results(study).folder
    written = write_report(export, folder)
    if as_json:
        emit_json({"page": str(written.page), "files": [str(path) for path in written.files]})
    else:
        emit(f"report: {written.page}\n")
