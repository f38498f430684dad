"""``flexicase train``: a network trained by gradient lexicase selection."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Option

from flexicase._checkpoint import require_free
from flexicase._checks import check_threads
from flexicase.cli._output import (
    AsJson,
    Resume,
    Save,
    StatusLine,
    check_known,
    check_picture,
    emit,
    misuse_of,
    terminations_as_interrupts,
    write_stderr,
)
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.protocol import Ended

if TYPE_CHECKING:
    from flexicase.torch import GradientLexicase, TrainingRecord


def train(
    *,
    dataset: Annotated[str, Option(help="digits or cifar10.")] = "digits",
    cifar_dir: Annotated[Path | None, Option(help="Folder with CIFAR-10, as downloaded.")] = None,
    train_cases: Annotated[int | None, Option(min=1, help="Training cases to use; all by default.")] = None,
    arch: Annotated[
        str | None,
        Option(help="Network: digits, small, vgg11, vgg13, vgg16 or vgg19. [default: digits, vgg16 for cifar10]"),
    ] = None,
    population: Annotated[int, Option(min=1, help="Number of candidates.")] = 4,
    method: Annotated[
        str, Option(help="Selection method, such as weighted-num-nonzeros; 'flexicase methods' lists them.")
    ] = "lexicase",
    default_weight: Annotated[str, Option(help="Weight of cases not visited yet: max or min.")] = "max",
    w_min: Annotated[float, Option(help="Smallest weight of a case.")] = 1.0,
    w_max: Annotated[float | None, Option(help="Largest weight of a case. [default: population + 1]")] = None,
    stop_on_all_fail: Annotated[
        bool, Option("--stop-on-all-fail", help="End a selection on a case that all candidates get wrong.")
    ] = False,
    generations: Annotated[int, Option(min=1, help="Passes over the training cases.")] = 50,
    batch_size: Annotated[int, Option(min=1, help="Cases per training step.")] = 64,
    lr: Annotated[float, Option(help="Initial learning rate; it follows half a cosine wave.")] = 0.1,
    optimizer_state: Annotated[str, Option(help="In each generation: reset, or inherit the parent's.")] = "reset",
    augment: Annotated[bool, Option(help="Shift (and mirror) training images at random.")] = True,
    seed: Annotated[int | None, Option(min=0, help="Same seed, same training. Random by default.")] = None,
    eval_every: Annotated[int, Option(min=1, help="Generations between tests.")] = 50,
    device: Annotated[str, Option(help="Device to use: cpu, cuda, mps.")] = "cpu",
    threads: Annotated[int | None, Option(min=1, help="Threads; 1 is best for small networks.")] = None,
    save: Save = None,
    save_every: Annotated[
        float | None, Option(min=0, help="Seconds between checkpoints. [default: 30]", show_default=False)
    ] = None,
    resume: Resume = False,
    allow_changed: Annotated[
        list[str] | None,
        Option(help="With --resume: a setting that may differ from the checkpoint's, such as train_set."),
    ] = None,
    plot: Annotated[Path | None, Option(help="File for a picture of the training.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train a network on images by gradient lexicase selection.

    Ctrl-C, SIGTERM and SIGHUP save a checkpoint if --save is given; the same command with --resume continues from it.

    Under torchrun the candidates are distributed over its processes: torchrun --nproc-per-node 2 -m flexicase train …
    gives the same result. With --save and --resume, torchrun --max-restarts continues when a process exits.
    """
    _check_folders(dataset, cifar_dir, save, resume)
    check_picture(plot)
    from flexicase.torch import GradientLexicase, vgg
    from flexicase.torch import data as data_sets
    from flexicase.torch._distributed import join
    from flexicase.torch._networks import check_device
    from flexicase.torch._state import check_names
    from flexicase.torch._training import sgd
    from flexicase.torch.models import LAYOUTS

    arch = arch or ("vgg16" if dataset == "cifar10" else "digits")
    chosen = {"dataset": dataset, "arch": arch, "method": method, "default_weight": default_weight}
    check_known(dataset, data_sets.NAMES, "--dataset")
    check_known(arch, LAYOUTS, "--arch")
    check_known(default_weight, ("max", "min"), "--default-weight")
    check_known(optimizer_state, ("reset", "inherit"), "--optimizer-state")
    with misuse_of("--method"):
        FastLexicase(1, method)
    with misuse_of("--device"):
        check_device(device)
    with misuse_of("--allow-changed"):
        check_names(allow_changed or ())
    if not 0 < lr < float("inf"):
        raise BadParameter(f"must be above 0, got {lr:g}", param_hint="--lr")
    if threads is not None:
        import torch

        torch.set_num_threads(check_threads(threads))
    found = data_sets.load(dataset, cifar_dir, train_cases=train_cases)
    ranks = join("auto", population, device)
    seed = ranks.on_rank_zero(lambda: _seed(save if resume else None)) if seed is None else seed
    search = GradientLexicase(
        lambda: vgg(arch, channels=found.channels, size=found.size, classes=found.classes),
        found.train,
        population,
        method,
        default_weight=default_weight,  # type: ignore[arg-type]
        w_min=w_min,
        w_max=w_max,
        stop_on_all_fail=stop_on_all_fail,
        optimizer=lambda parameters: sgd(parameters, lr),
        batch_size=batch_size,
        seed=seed,
        optimizer_state=optimizer_state,  # type: ignore[arg-type]
        transform=found.transform if augment else None,
        test_set=found.test,
        eval_every=eval_every,
        device=device,
        distributed="auto",
    )
    saving = {"save_every": save_every, "resume": resume, "allow_changed": allow_changed or ()}
    is_rank_zero = search.rank == 0
    _fit(search, generations, quiet=as_json or not is_rank_zero, save=save, **saving)
    if is_rank_zero:
        _finish(search, plot, {**chosen, "seed": seed}, as_json=as_json)


def _seed(folder: Path | None) -> int | None:
    """The seed of the checkpoint in a folder; without one, a random seed."""
    from flexicase.torch._state import read

    state = None if folder is None else read(folder)
    if state is None:
        return secrets.randbits(48)
    settings = state.get("settings")
    seed = settings.get("seed") if isinstance(settings, dict) else None
    return seed if type(seed) is int and seed >= 0 else None


def _fit(search: GradientLexicase, generations: int, *, quiet: bool, save: Path | None, **rest: Any) -> None:
    from flexicase.torch._distributed import under_torchrun

    # torchrun ends its processes by SIGTERM when one exits, and there a checkpoint is written after every generation
    stopping = contextlib.nullcontext() if under_torchrun() else terminations_as_interrupts()
    line = StatusLine(quiet)
    with stopping, line.with_warnings():
        search.callbacks.append(lambda record: line.show(_in_a_line(record), always=record.accuracy is not None))
        try:
            search.fit(generations, save=save, **rest)
        except KeyboardInterrupt:
            if search.rank == 0:
                write_stderr(_how_to_continue(search, save))
            raise


def _finish(search: GradientLexicase, plot: Path | None, settings: dict[str, Any], *, as_json: bool) -> None:
    picture = ""
    try:
        if plot is not None:
            from flexicase.plot import training_picture

            training_picture(search.records).savefig(plot, dpi=150)
            picture = f"picture: {plot}\n"
    finally:  # a picture that fails does not lose the training
        found = {**settings, **_summary(search)}
        records = [record.as_dict() for record in search.records]
        emit(as_json, {**found, "records": records}, _report(found) + picture)


def _how_to_continue(search: GradientLexicase, save: Path | None) -> str:
    if save is None:
        return "stopped"
    if not search.generation:
        return "stopped before the first generation was finished; nothing is saved"
    return f"saved in {save}; the same command with --resume continues"


def _check_folders(dataset: str, cifar_dir: Path | None, save: Path | None, resume: bool) -> None:
    if resume and save is None:
        raise BadParameter("needs --save, the folder of the checkpoint", param_hint="--resume")
    if save is not None and not resume and int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")):
        raise BadParameter("needs --resume under torchrun --max-restarts", param_hint="--save")
    if save is not None and not resume and os.environ.get("RANK", "0") == "0":
        with misuse_of("--save"):
            require_free(save, remedy="--resume continues it")
    if dataset == "cifar10" and cifar_dir is None:
        raise BadParameter("must be given with --dataset cifar10", param_hint="--cifar-dir")


def _in_a_line(record: TrainingRecord) -> str:
    accuracy = "" if record.accuracy is None else f", accuracy {100 * record.accuracy:.2f} %"
    return (
        f"generation {record.generation + 1}: loss {record.loss:.4f}, {record.evaluations:,} evaluations "
        f"({record.ended.label}), {record.pairs:,} pairs{accuracy}, {record.seconds:.2f} s"
    )


def _summary(search: GradientLexicase) -> dict[str, Any]:
    records = search.records
    return {
        "generations": len(records),
        "accuracy": records[-1].accuracy,
        "evaluations": sum(record.evaluations for record in records),
        "pairs": sum(record.pairs for record in records),
        "cases_exhausted": sum(record.ended == Ended.CASES_EXHAUSTED for record in records),
        "seconds_train": sum(record.seconds_train for record in records),
        "seconds_select": sum(record.seconds_select for record in records),
    }


def _report(found: dict[str, Any]) -> str:
    accuracy = "" if found["accuracy"] is None else f", accuracy {100 * found['accuracy']:.2f} % on the test cases"
    return (
        f"{found['dataset']}, {found['method']}, seed {found['seed']}: {found['generations']} generations"
        f"{accuracy}\n"
        f"{found['evaluations']:,} evaluations, {found['pairs']:,} pairs computed, "
        f"{found['cases_exhausted']} selections exhausted the cases\n"
        f"training {found['seconds_train']:.1f} s, selection {found['seconds_select']:.1f} s\n"
    )
