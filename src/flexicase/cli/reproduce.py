"""``flexicase reproduce``: the paper's tables and figures, from the runs on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from flexicase.checks import nearest
from flexicase.cli.failures import INTERRUPTED
from flexicase.cli.output import emit, emit_json
from flexicase.cli.studies import DEFAULT_ROOT, AsJson, Attempts, Nice, Root, Workers, conduct, successes, write_results


def reproduce(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[TARGET]...", help="table2, fig1, fig2; all of them if left out.")
    ] = None,
    *,
    preset: Annotated[str, typer.Option(help="smoke: two minutes; laptop: ten; paper: the full study.")] = "smoke",
    workers: Workers = None,
    nice: Nice = 0,
    attempts: Attempts = 3,
    root: Root = DEFAULT_ROOT,
    as_json: AsJson = False,
) -> None:
    """Run the studies behind the paper's tables and figures.

    All targets come from the same runs: five methods on Mirror Image and Last Index of Zero. Ctrl-C stops it; the same
    command continues.
    """
    from flexicase.experiments import Options, load_spec, preset_path
    from flexicase.experiments.presets import PRESETS, TARGETS

    for target in targets or ():
        if target not in TARGETS:
            raise typer.BadParameter(f"unknown target {target!r}{nearest(target, TARGETS)}", param_hint="TARGET")
    if preset not in PRESETS:
        raise typer.BadParameter(f"unknown preset {preset!r}{nearest(preset, PRESETS)}", param_hint="--preset")
    options = Options(workers or os.cpu_count() or 1, attempts, nice)
    code = 0
    pages: dict[str, Path] = {}
    for study in dict.fromkeys(TARGETS[target] for target in targets or TARGETS):
        spec = load_spec(preset_path(study, preset))
        code = max(code, conduct(spec, options, root, quiet=as_json))
        if code == INTERRUPTED:
            break
        pages[spec.name] = publish(root / spec.name)
    if as_json:
        emit_json({name: str(page) for name, page in pages.items()})
    else:
        emit("".join(f"{successes(root / name)}\nreport: {page}\n" for name, page in pages.items()))
    raise typer.Exit(code)


def publish(folder: Path) -> Path:
    """Write the report of a study; gives the page."""
    from flexicase.experiments import Study
    from flexicase.report.write import write_report

    return write_report(write_results(Study(folder)).folder, folder / "report").page
