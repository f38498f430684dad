"""``flexicase train``: a network trained by gradient lexicase selection."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flexicase._checkpoint import require_free
from flexicase._checks import did_you_mean
from flexicase.cli._output import StatusLine, check_picture, emit_json, terminations_as_interrupts, write_stdout

if TYPE_CHECKING:
    from flexicase.torch import GradientLexicase, TrainingRecord

CHOICES = {
    "data": ("digits", "cifar10", "fake"),
    "arch": ("digits", "small", "vgg11", "vgg13", "vgg16", "vgg19"),
    "selection": ("lexicase", "fast"),
    "bias": ("num_nonzeros", "num_zeros", "split"),
    "default": ("max", "min"),
    "optimizer_state": ("reset", "inherit"),
    "on_all_fail": ("keep", "stop"),
}


def train(
    *,
    data: Annotated[str, typer.Option(help="digits, cifar10 or fake.")] = "digits",
    directory: Annotated[Path | None, typer.Option(help="Folder with CIFAR-10, as downloaded.")] = None,
    arch: Annotated[
        str | None, typer.Option(help="digits, small, vgg11, vgg13, vgg16 or vgg19; by default what suits the data.")
    ] = None,
    selection: Annotated[str, typer.Option(help="lexicase: uniform order of the cases; fast: weighted.")] = "fast",
    bias: Annotated[str, typer.Option(help="num_nonzeros, num_zeros or split; for fast.")] = "num_nonzeros",
    default: Annotated[str, typer.Option(help="Weight of cases not looked at yet: max or min; for fast.")] = "max",
    generations: Annotated[int, typer.Option(min=1, help="Passes over the training cases.")] = 50,
    population: Annotated[int, typer.Option(min=1, help="Candidates.")] = 4,
    batch_size: Annotated[int, typer.Option(min=1, help="Cases per training step.")] = 64,
    lr: Annotated[float, typer.Option(help="Learning rate at the start; it falls in half a cosine wave.")] = 0.1,
    cases: Annotated[int | None, typer.Option(min=1, help="Training cases to use; all by default.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same training.")] = 0,
    optimizer_state: Annotated[str, typer.Option(help="reset or inherit, from generation to generation.")] = "reset",
    on_all_fail: Annotated[str, typer.Option(help="What an all-wrong case does: keep or stop.")] = "keep",
    augment: Annotated[bool, typer.Option(help="Shift (and mirror) training images at random.")] = True,
    eval_every: Annotated[int, typer.Option(min=1, help="Generations between tests.")] = 10,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, mps.")] = "cpu",
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; one is best for small networks.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Folder for checkpoints; without --resume it must not hold any yet.")
    ] = None,
    save_every: Annotated[float | None, typer.Option(min=0, help="Seconds between checkpoints; 30 by default.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in --save.")] = False,
    allow_changed: Annotated[
        list[str] | None,
        typer.Option(help="With --resume: what may differ from the checkpoint, such as train_set or transform."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a picture of the training.")] = None,
    tensorboard: Annotated[Path | None, typer.Option(help="Folder for TensorBoard, if it is installed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Train a network on images by gradient lexicase selection.

    Ctrl-C, SIGTERM and SIGHUP save a checkpoint if there is --save, and the same command with --resume goes on from it.

    Under torchrun the candidates are spread over its processes: torchrun --nproc-per-node 2 -m flexicase train …
    gives the same outcome; with --save and --resume, torchrun --max-restarts goes on when a process dies.
    """
    chosen = {"data": data, "selection": selection, "bias": bias, "default": default}
    chosen |= {"optimizer_state": optimizer_state, "on_all_fail": on_all_fail}
    chosen |= {} if arch is None else {"arch": arch}
    _check(chosen)
    _check_folders(data, directory, save, resume)
    if plot is not None:
        check_picture(plot)
    from flexicase.torch import GradientLexicase
    from flexicase.torch import data as data_sets
    from flexicase.torch._state import check_names
    from flexicase.torch._training import check_device, sgd

    _refuse(check_device, device, "--device")
    _refuse(check_names, allow_changed or (), "--allow-changed")
    if not 0 < lr < float("inf"):
        raise typer.BadParameter(f"must be above 0, got {lr:g}", param_hint="--lr")
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    found = data_sets.load(data, directory, train=cases)
    fast = {"bias": bias, "default": default} if selection == "fast" else {}
    search = GradientLexicase(
        lambda: network(arch or ("vgg16" if data == "cifar10" else "digits"), found),
        found.train,
        population,
        selection,  # type: ignore[arg-type]
        optimizer=lambda parameters: sgd(parameters, lr),
        batch_size=batch_size,
        seed=seed,
        optimizer_state=optimizer_state,  # type: ignore[arg-type]
        on_all_fail=on_all_fail,  # type: ignore[arg-type]
        transform=found.transform if augment else None,
        test_set=found.test,
        eval_every=eval_every,
        device=device,
        distributed="auto",
        **fast,  # type: ignore[arg-type]
    )
    tells = search.rank == 0
    writer = _writer(tensorboard) if tensorboard is not None and tells else None
    settings: dict[str, Any] = {
        "save": save,
        "save_every": save_every,
        "resume": resume,
        "allow_changed": allow_changed or (),
    }
    _fit(search, generations, writer, quiet=as_json or not tells, **settings)
    if tells:
        _finish(search, plot, {**chosen, "seed": seed} if as_json else None)


def _fit(
    search: GradientLexicase, generations: int, writer: Any, *, quiet: bool, save: Path | None, **rest: Any
) -> None:
    """Train, and show how it goes."""
    from flexicase.torch._distributed import under_torchrun

    # torchrun ends its processes by SIGTERM when one dies, and there a checkpoint is written after every generation
    stopping = contextlib.nullcontext() if under_torchrun() else terminations_as_interrupts()
    with stopping, StatusLine(quiet=quiet) as line, warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = lambda message, *_: line.note(f"flexicase: warning: {message}")
        search.callbacks.append(lambda record: line.show(in_a_line(record), always=record.accuracy is not None))
        if writer is not None:
            search.callbacks.append(lambda record: _log(writer, record))
        try:
            search.fit(generations, save=save, **rest)
        except KeyboardInterrupt:
            if search.rank == 0:
                line.note(_how_to_go_on(search, save))
            raise
        finally:
            if writer is not None:
                writer.close()


def _finish(search: GradientLexicase, plot: Path | None, settings: dict[str, Any] | None) -> None:
    """Draw the picture and print the result, as one JSON object if there are settings for it."""
    picture = None
    try:
        if plot is not None:
            from flexicase.plot import training_picture

            training_picture(search.records).savefig(plot, dpi=150)
            picture = str(plot)
    finally:  # a picture that fails does not take the training with it
        if settings is not None:
            records = [record.as_dict() for record in search.records]
            emit_json({**settings, **summary(search), "records": records})
        else:
            write_stdout(report(search) + ("" if picture is None else f"picture: {picture}\n"))


def _how_to_go_on(search: GradientLexicase, save: Path | None) -> str:
    if save is None:
        return "stopped"
    if not search.generation:
        return "stopped before the first generation was done; nothing is saved"
    return f"saved in {save}; the same command with --resume goes on"


def _refuse(check: Callable[[Any], object], value: Any, option: str) -> None:
    """Say which option is at fault if a check fails."""
    try:
        check(value)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _check(chosen: dict[str, str]) -> None:
    """Refuse words that are not among the choices."""
    for option, value in chosen.items():
        if value not in CHOICES[option]:
            raise typer.BadParameter(
                f"unknown value {value!r}{did_you_mean(value, CHOICES[option])}",
                param_hint=f"--{option.replace('_', '-')}",
            )


def _check_folders(data: str, directory: Path | None, save: Path | None, resume: bool) -> None:
    """Refuse options that need a folder which is not given, or more than a folder."""
    if resume and save is None:
        raise typer.BadParameter("needs --save, the folder of the checkpoint", param_hint="--resume")
    if save is not None and not resume and int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")):
        raise typer.BadParameter(
            "needs --resume under torchrun --max-restarts, to go on from there", param_hint="--save"
        )
    if save is not None and not resume and os.environ.get("RANK", "0") == "0":
        from flexicase.torch._checkpoint import describe

        _refuse(lambda folder: require_free(folder, describe, remedy="--resume continues it"), save, "--save")
    if data == "cifar10" and directory is None:
        raise typer.BadParameter("--data cifar10 needs it: the folder with CIFAR-10", param_hint="--directory")


def network(arch: str, found: Any) -> Any:
    """A new network that suits a data set."""
    from flexicase.torch import vgg

    depth = int(arch[3:]) if arch.startswith("vgg") else arch
    return vgg(depth, channels=found.channels, size=found.size, classes=found.classes)


def in_a_line(record: TrainingRecord) -> str:
    """A generation in a line."""
    accuracy = "" if record.accuracy is None else f", accuracy {100 * record.accuracy:.2f} %"
    return (
        f"generation {record.generation + 1}: loss {record.loss:.4f}, {record.evaluations:,} evaluations "
        f"({record.ended}), {record.forward_passes:,} forward passes{accuracy}, {record.seconds:.2f} s"
    )


def summary(search: GradientLexicase) -> dict[str, Any]:
    """Facts about a training."""
    records = search.records
    return {
        "generations": len(records),
        "accuracy": records[-1].accuracy,
        "evaluations": sum(record.evaluations for record in records),
        "forward_passes": sum(record.forward_passes for record in records),
        "exhausted": sum(record.ended == "exhausted" for record in records),
        "seconds_train": sum(record.seconds_train for record in records),
        "seconds_select": sum(record.seconds_select for record in records),
    }


def report(search: GradientLexicase) -> str:
    """A training for people."""
    facts = summary(search)
    accuracy = "" if facts["accuracy"] is None else f": accuracy {100 * facts['accuracy']:.2f} % on the test cases"
    return (
        f"{facts['generations']} generations{accuracy}\n"
        f"{facts['evaluations']:,} evaluations, {facts['forward_passes']:,} forward passes, "
        f"{facts['exhausted']} selections ran out of cases\n"
        f"training {facts['seconds_train']:.1f} s, selection {facts['seconds_select']:.1f} s\n"
    )


def _writer(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ImportError("--tensorboard needs TensorBoard: pip install tensorboard") from error
    return SummaryWriter(str(folder))


def _log(writer: Any, record: TrainingRecord) -> None:
    for name in ("loss", "lr", "evaluations", "cases", "forward_passes", "accuracy", "seconds_train", "seconds_select"):
        value = getattr(record, name)
        if value is not None:
            writer.add_scalar(name, value, record.generation)
