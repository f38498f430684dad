"""``flexicase reproduce``: the paper's tables and figures, from the runs on."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Exit, Option

from flexicase.cli._output import FAILED, check_known, emit_json, terminations_as_interrupts, write_stderr, write_stdout
from flexicase.cli.studies import (
    DEFAULT_STUDIES,
    AsJson,
    Cluster,
    ClusterOptions,
    MaxAttempts,
    Nice,
    Studies,
    Workers,
    executor_for,
    run_with_display,
    success_table,
    write_results,
)

REPORT = "report"


def reproduce(
    targets: Annotated[
        list[str] | None,
        Argument(
            metavar="[TARGET]...",
            help="table2, fig1, fig2: programs; fig3, fig4, table3: images; all of these if left out. beyond: partial "
            "evaluation.",
        ),
    ] = None,
    *,
    preset: Annotated[str, Option(help="smoke: 2 minutes; laptop: 20 minutes; paper: the full study.")] = "smoke",
    cifar_dir: Annotated[
        Path | None, Option(help="Folder with CIFAR-10, which the image study of paper needs.")
    ] = None,
    workers: Workers = None,
    nice: Nice = 0,
    max_attempts: MaxAttempts = 3,
    cluster: Cluster = None,
    cluster_option: ClusterOptions = None,
    studies: Studies = DEFAULT_STUDIES,
    as_json: AsJson = False,
) -> None:
    """Run the studies behind the paper's tables and figures.

    Targets come from two studies: genetic programming, five methods on Mirror Image and Last Index of Zero; and images,
    gradient lexicase and its fast variants (needs PyTorch). 'beyond' goes past the paper: programs run only on the
    cases that selection uses, with few and with many selections per generation. Ctrl-C stops it; the same command
    continues.
    """
    from flexicase.experiments import Study, StudyOptions, load_spec, preset_path
    from flexicase.experiments.presets import PAPER_TARGETS, PRESETS, TARGETS
    from flexicase.report.write import check_folder

    for target in targets or ():
        check_known(target, TARGETS, "TARGET", "target")
    check_known(preset, PRESETS, "--preset", "preset")
    wanted = dict.fromkeys(study for target in targets or PAPER_TARGETS for study in TARGETS[target])
    names = _available(wanted, preset, cifar_dir, bool(targets))
    specs = [load_spec(preset_path(study, preset)) for study in names]
    for spec in specs:
        check_folder(studies / spec.name / REPORT)
    code = 0
    pages: dict[str, Path] = {}
    with terminations_as_interrupts(), executor_for(cluster, cluster_option) as factory:
        options = StudyOptions(workers or factory.workers, max_attempts, nice)
        for spec in specs:
            code = max(code, run_with_display(spec, options, studies, factory, quiet=as_json))
            if code > FAILED:  # stopped
                break
            pages[spec.name] = publish(studies / spec.name)
    if as_json:
        emit_json({name: str(page) for name, page in pages.items()})
    else:
        write_stdout(
            "".join(f"{success_table(Study(studies / name))}\nreport: {page}\n" for name, page in pages.items())
        )
    raise Exit(code)


def _available(wanted: Iterable[str], preset: str, cifar_dir: Path | None, named: bool) -> list[str]:
    """The studies that can be made here; says why where one cannot."""
    from flexicase.experiments.image_job import DATA_VARIABLE

    if cifar_dir is not None:
        os.environ[DATA_VARIABLE] = str(cifar_dir.absolute())
    studies = list(wanted)
    if importlib.util.find_spec("torch") is None:
        problem = "the image study needs PyTorch: pip install 'flexicase[torch]'"
    elif preset == "paper" and DATA_VARIABLE not in os.environ:
        problem = "the paper's image study needs --cifar-dir, the folder with CIFAR-10"
    else:
        return studies
    if "image" not in studies:
        return studies
    if named:
        raise BadParameter(problem, param_hint="TARGET")
    write_stderr(f"left out: {problem}")
    return [study for study in studies if study != "image"]


def publish(folder: Path) -> Path:
    """Write the report of a study; gives the page."""
    from flexicase.experiments import Study
    from flexicase.report.write import write_report

    return write_report(write_results(Study(folder)).folder, folder / REPORT).page
