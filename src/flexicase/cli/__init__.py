"""The command line: parses, calls, prints."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from flexicase import __version__
from flexicase.cli import demo, doctor, evolve, problems, reproduce, select, studies, train
from flexicase.cli._output import CliGroup, replace_closed_streams, write_stdout

app = typer.Typer(
    cls=CliGroup,
    name="flexicase",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog="\b\nExample:\n  flexicase select errors.csv -n 100 --method ranked-num-nonzeros --seed 7")(
    select.select
)
app.command(epilog="\b\nExample:\n  flexicase methods")(select.methods)
app.command(epilog="\b\nExample:\n  flexicase verify draws.json --method ranked-num-zeros")(select.verify)
app.command(epilog="\b\nExample:\n  flexicase evolve mirror-image --seed 7 --plot run.png")(evolve.evolve)
app.command(epilog="\b\nExample:\n  flexicase train --method weighted-split --seed 7 --plot training.png")(train.train)
app.command(epilog="\b\nExample:\n  flexicase demo --out out")(demo.demo)
app.command(epilog="\b\nExample:\n  flexicase reproduce table2 fig1 fig2 --preset smoke")(reproduce.reproduce)
app.command(epilog="\b\nExample:\n  flexicase run study.toml --workers 2 --nice 10")(studies.run)
app.command(epilog="\b\nExample:\n  flexicase status gp-paper")(studies.status)
app.command(epilog="\b\nExample:\n  flexicase export gp-paper --out results/gp-paper")(studies.export)
app.command("import", epilog="\b\nExample:\n  flexicase import results/gp-paper")(studies.import_)
app.command(epilog="\b\nExample:\n  flexicase rerun 1f0c9a2b 77ab3e51")(studies.rerun)
app.command(epilog="\b\nExample:\n  flexicase report results/gp-paper --out report")(studies.report)
app.command(epilog="\b\nExample:\n  flexicase doctor --json")(doctor.doctor)
app.add_typer(problems.app, name="problems")


@app.callback(invoke_without_command=True, epilog="\b\nExample:\n  flexicase demo")
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Lexicase selection at scale: parents from error matrices, exactly and fast."""
    if version:
        write_stdout(f"flexicase {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        write_stdout(context.get_help() + "\n")


def main() -> None:
    """Run the command line and exit: 0 fine, 1 the work failed, 2 called wrongly, 128 + signal interrupted."""
    replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without µ is no reason to fail
    app(prog_name="flexicase")
