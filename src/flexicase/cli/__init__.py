"""The command line: parses, calls, prints."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Annotated

from typer import Context, Exit, Option, Typer

from flexicase import __version__
from flexicase.cli import demo, doctor, evolve, problems, reproduce, select, studies, train
from flexicase.cli._output import CliGroup, replace_closed_streams, write_stdout

app = Typer(
    cls=CliGroup,
    name="flexicase",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
#: One example per command, in the order of the help; tests run them in a copy of the sources.
EXAMPLES: dict[Callable[..., None], str] = {
    demo.demo: "flexicase demo --out out",
    select.select: "flexicase select errors.csv -n 100 --method ranked-num-nonzeros --seed 7",
    select.methods: "flexicase methods",
    select.verify: "flexicase verify draws.json --method ranked-num-zeros",
    evolve.evolve: "flexicase evolve mirror-image --seed 0 --plot run.png",
    train.train: "flexicase train --method weighted-split --generations 3 --train-cases 400 --plot run.png",
    reproduce.reproduce: "flexicase reproduce table2 fig1 fig2 --preset smoke",
    studies.run: "flexicase run study.toml --workers 2 --nice 10",
    studies.import_: "flexicase import results/gp-paper",
    studies.status: "flexicase status gp-paper",
    studies.export: "flexicase export gp-paper --out exported",
    studies.rerun: "flexicase rerun 5f3db473",
    studies.report: "flexicase report results/gp-paper --out report",
    doctor.doctor: "flexicase doctor --json",
}
for function, example in EXAMPLES.items():
    app.command(example.split()[1], epilog=f"\b\nExample:\n  {example}")(function)
app.add_typer(problems.app, name="problems")

TRY_FIRST = """flexicase: lexicase selection at scale.

Try first:
  flexicase demo                             what it does, in a minute
  flexicase select errors.csv -n 100         parents from your own error matrix
  flexicase methods                          the names for --method
  flexicase evolve mirror-image --seed 0     evolve a program and watch
  flexicase problems                         the problems it can evolve programs for
  flexicase report results/gp-paper          the paper's study, run again, as a page
  flexicase doctor                           what is installed, and what is missing

flexicase --help lists every command; flexicase COMMAND --help has an example of each.
"""


@app.callback(invoke_without_command=True, epilog="\b\nExample:\n  flexicase demo")
def root(
    context: Context,
    version: Annotated[bool, Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Lexicase selection at scale: parents from error matrices, exactly and fast."""
    if version:
        write_stdout(f"flexicase {__version__}\n")
        raise Exit
    if context.invoked_subcommand is None:
        write_stdout(TRY_FIRST)


def main() -> None:
    """Run the command line and exit: 0 fine, 1 the work failed, 2 called wrongly, 128 + signal interrupted."""
    replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without µ is no reason to fail
    app(prog_name="flexicase")
