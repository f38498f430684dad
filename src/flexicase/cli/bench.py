"""``flexicase bench``: how fast selection is here, beside the peers that are installed."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from flexicase.benchmark import (
    PEERS,
    Bench,
    Report,
    compare,
    costs_of,
    resolve_workloads,
    small_calls,
)

app = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True)

NO_PEER = (
    "No peer is installed in this environment, so ratios are to a plain NumPy loop. "
    "For the full comparison install them (pip install {requirements}) or, in a clone of the "
    "repository, run: python benchmarks/selection.py"
)


@app.callback()
def bench() -> None:
    """Measure speed on this machine."""


@app.command()
def selection(
    workloads: Annotated[str, typer.Option(help="Letters of the workloads, separated by commas.")] = "a,b,c,d",
    repeat: Annotated[int, typer.Option(min=1, help="Rounds; the best counts.")] = 3,
    seconds: Annotated[float, typer.Option(min=0.0, help="Least processor seconds of a turn.")] = 0.2,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Time lexicase selection, and the peers that can be imported here.

    Example: flexicase bench selection --workloads a,b
    """
    try:
        chosen = resolve_workloads(workloads.split(","))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--workloads") from None
    present = [peer for peer in PEERS.values() if peer.importable]
    report = Report(skipped={p.label: "not installed here" for p in PEERS.values() if p not in present})
    for workload in chosen:
        if not (as_json or sys.stderr.isatty()):
            typer.echo(f"timing {workload.key}: {workload.title}", err=True)
        errors = workload.build()
        report.rows += compare(
            workload,
            {"flexicase": Bench("flexicase", errors, epsilon=workload.epsilon)},
            {peer.label: Bench(peer.key, errors, epsilon=workload.epsilon) for peer in present},
            repeat=repeat,
            seconds=seconds,
            report=_progress,
        )
        report.costs += costs_of(workload, errors, repeat=repeat, seconds=seconds)
    report.costs += small_calls(repeat=repeat)
    _progress("")
    if as_json:
        typer.echo(json.dumps(report.as_dict(), indent=2))
        return
    typer.echo(report.as_text())
    if all(not peer.pinned for peer in present):
        requirements = " ".join(peer.requirement for peer in PEERS.values() if peer.pinned and peer.supported)
        typer.echo(NO_PEER.format(requirements=requirements))


def _progress(message: str) -> None:
    if sys.stderr.isatty():
        typer.echo(f"\r\033[K{message}", nl=False, err=True)
