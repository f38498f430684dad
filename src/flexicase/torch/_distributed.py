"""How the processes of a ``torchrun`` job meet, also when it has started them anew, and notice that one is gone."""

from __future__ import annotations

import atexit
import io
import os
import re
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import nn

from flexicase.rng import Key, Seed, key_from_seed
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.torch._evaluation import CandidateErrors, RankErrors
from flexicase.torch._fingerprint import as_bytes, checksum
from flexicase.torch._training import TrainingError, load_unsaved_buffers, parameters_of, unsaved_buffers, unsaved_names

TIMEOUT = timedelta(minutes=30)
SECONDS_BETWEEN_LOOKS = 0.02


class RankLostError(ConnectionError):
    """Another rank has died, or has not answered in time.

    Example:
        >>> from flexicase.torch._distributed import RankLostError
        >>> issubclass(RankLostError, ConnectionError)
        True
    """


@contextmanager
def detect_lost_rank() -> Generator[None, None, None]:
    """Turn what PyTorch raises when a rank is gone into `RankLostError`."""
    try:
        yield
    except RuntimeError as error:
        reason = re.sub(r"^\[[^]]*\] ", "", str(error)).split(". ")[0].split("\n")[0]  # not where in PyTorch's sources
        raise RankLostError(f"contact with another rank was lost: {reason}") from error


def init_process_group(backend: str) -> None:
    """Initialise ``torch.distributed`` from what ``torchrun`` has put into the environment; left when Python ends.

    Args:
        backend: ``"gloo"`` or ``"nccl"``.
    """
    from torch.distributed import PrefixStore  # type: ignore[attr-defined]
    from torch.distributed.rendezvous import rendezvous

    with detect_lost_rank():
        store, rank, world_size = next(rendezvous("env://", timeout=TIMEOUT))
        own = PrefixStore(agree_on_prefix(PrefixStore("flexicase", store), rank, world_size), store)
        dist.init_process_group(backend, store=own, rank=rank, world_size=world_size, timeout=TIMEOUT)
    atexit.register(_leave)


def agree_on_prefix(store: Any, rank: int, world_size: int, timeout: timedelta = TIMEOUT) -> str:
    """A name that all ranks of this start of the job know, and none of an earlier start.

    The store outlives the ranks, so that after a restart it still holds what those of the last start have left. Every
    rank says hello with a word of its own; rank 0 welcomes these words and gives the name; who finds its own word in
    the welcome confirms the name.

    Args:
        store: A store of ``torch.distributed``, where all ranks of all starts read and write.
        rank: This rank.
        world_size: How many there are.
        timeout: How long to wait for the others.

    Raises:
        RankLostError: Not all came.

    Example:
        >>> import torch.distributed as dist
        >>> from flexicase.torch._distributed import agree_on_prefix
        >>> len(agree_on_prefix(dist.HashStore(), rank=0, world_size=1))
        32
    """
    own, until = uuid.uuid4().hex, time.monotonic() + timeout.total_seconds()
    hellos = [f"hello {other}" for other in range(1, world_size)]
    store.set(f"hello {rank}", own)
    while time.monotonic() < until:
        if rank == 0 and store.check(hellos):
            store.set("welcome", " ".join([own, *(store.get(hello).decode() for hello in hellos)]))
            if store.check([f"{own} {other}" for other in range(1, world_size)]):
                return own
        elif rank and store.check(["welcome"]):
            name, *welcome = store.get("welcome").decode().split()
            if own in welcome:
                store.set(f"{name} {rank}", "confirmed")
                return name
        time.sleep(SECONDS_BETWEEN_LOOKS)
    raise RankLostError(f"not all of the {world_size} ranks came within {timeout.total_seconds():.0f} s")


def _leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


Result = TypeVar("Result")
Distributed: TypeAlias = bool | Literal["auto"]


class RankFailedError(RuntimeError):
    """Work has failed on another rank; the message says on which, and why.

    Example:
        >>> from flexicase.torch._distributed import RankFailedError
        >>> str(RankFailedError("rank 1: ValueError: no such case"))
        'rank 1: ValueError: no such case'
    """


class SingleProcess:
    """All candidates in this process: nothing to be told to anybody.

    Example:
        >>> from flexicase.torch._distributed import SingleProcess
        >>> SingleProcess().each(3, lambda candidate: candidate / 2)
        [0.0, 0.5, 1.0]
    """

    rank = 0
    world_size = 1
    seconds_between_saves = 30.0

    def key(self, seed: Seed) -> Key:
        """The random bits that a seed stands for."""
        return key_from_seed(seed)

    def device(self, device: str | torch.device) -> str | torch.device:
        """Which device this rank uses, if so much was asked for."""
        return device

    def each(self, candidates: int, work: Callable[[int], Result]) -> list[Result]:
        """The results of some work for each candidate, done where it lives."""
        return [work(candidate) for candidate in range(candidates)]

    def evaluator(self, evaluate: CandidateErrors) -> CandidateErrors | RankErrors:
        """What gives the errors of all candidates, where ``evaluate`` gives those of this rank's."""
        return evaluate

    def adopt(self, candidate: int, model: nn.Module, optimizer: dict[str, Any] | None) -> dict[str, Any] | None:
        """Give the state of a candidate to all ranks.

        Args:
            candidate: Which one.
            model: Its network here, overwritten with what its rank has.
            optimizer: State of its optimiser here, if it matters.

        Returns:
            State of its optimiser as its rank has it.
        """
        return optimizer

    def from_first(self, work: Callable[[], Result]) -> Result:
        """The result of some work, done on rank 0; tensors come back on the CPU."""
        return work()

    def agree(self, facts: Callable[[], dict[str, Any]]) -> None:
        """Refuse to go on if the ranks do not have the same facts.

        Args:
            facts: Finds them; not called where there is nobody to agree with.

        Raises:
            ValueError: They differ; the message says in what.
        """


class RankGroup(SingleProcess):
    """The processes of a job started by ``torchrun``; needs that ``torch.distributed`` is initialised.

    Args:
        timeout: How long to wait for a rank that is slower than this one.

    Example:
        >>> import torch.distributed as dist
        >>> from flexicase.torch._distributed import RankGroup
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> RankGroup().each(3, lambda candidate: candidate / 2)
        [0.0, 0.5, 1.0]
        >>> dist.destroy_process_group()
    """

    seconds_between_saves = 0.0

    def __init__(self, timeout: timedelta = TIMEOUT) -> None:
        """Open a channel of our own on the CPU, whatever the job's backend is."""
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()
        with detect_lost_rank():
            self._channel = dist.new_group(backend="gloo", timeout=timeout)

    def key(self, seed: Seed) -> Key:
        """The random bits that a seed stands for; without one, those of rank 0."""
        own = key_from_seed(seed)
        first = self.from_first(lambda: tuple(own))
        return Key(*first) if seed is None else own

    def device(self, device: str | torch.device) -> str | torch.device:
        """One GPU per rank of a machine, unless a certain one was asked for."""
        found = torch.device(device)
        if found.type != "cuda" or found.index is not None:
            return device
        own = torch.device("cuda", int(os.environ.get("LOCAL_RANK", self.rank)))
        if own.index < torch.cuda.device_count():
            torch.cuda.set_device(own)
        return own

    def owner(self, candidate: int) -> int:
        """The rank where a candidate lives."""
        return candidate % self.world_size

    def each(self, candidates: int, work: Callable[[int], Result]) -> list[Result]:
        """The results of some work for each candidate, done where it lives.

        Raises:
            TrainingError: A candidate's training has diverged: the first such candidate's, on all ranks.
            RankFailedError: The work has failed for a candidate on another rank.
        """
        done: dict[int, Result] = {}
        failure: Exception | None = None
        at = self.rank
        try:
            for at in range(self.rank, candidates, self.world_size):
                done[at] = work(at)
        except Exception as error:
            failure = error
        told = self._gather((done, at, None if failure is None else _described(failure)))
        failures = [(at, what) for _, at, what in told if what is not None]
        if failures:
            first, what = min(failures)
            if failure is not None and first == at:
                raise failure
            raise self._as_told(self.owner(first), what)
        together = {which: result for results, *_ in told for which, result in results.items()}
        return [together[which] for which in range(candidates)]

    def evaluator(self, evaluate: CandidateErrors) -> RankErrors:
        """Each block is computed by the ranks where its candidates live, and told to all."""
        return RankErrors(evaluate, self)

    def adopt(self, candidate: int, model: nn.Module, optimizer: dict[str, Any] | None) -> dict[str, Any] | None:
        """Give the state of a candidate to all ranks; see `SingleProcess.adopt`."""
        tensors = list(parameters_of(model).values())
        content = torch.cat([as_bytes(value) for value in tensors])
        by_nccl = content.device.type == "cuda"
        content = content if by_nccl else content.cpu()
        with detect_lost_rank():
            dist.broadcast(content, self.owner(candidate), None if by_nccl else self._channel)
        if self.owner(candidate) != self.rank:
            parts = content.split([value.numel() * value.element_size() for value in tensors])
            for value, part in zip(tensors, parts, strict=True):
                value.copy_(part.clone().view(value.dtype).view(value.shape))
        if unsaved_names(model):
            load_unsaved_buffers(model, self._tell(unsaved_buffers(model), self.owner(candidate)))
        return None if optimizer is None else self._tell(optimizer, self.owner(candidate))

    def from_first(self, work: Callable[[], Result]) -> Result:
        """The result of some work, done on rank 0; tensors come back on the CPU.

        Raises:
            RankFailedError: It has failed there.
        """
        result: Result | None = None
        failure: Exception | None = None
        if self.rank == 0:
            try:
                result = work()
            except Exception as error:
                failure = error
        what = self._tell(None if failure is None else _described(failure), 0)
        if failure is not None:
            raise failure
        if what is not None:
            raise self._as_told(0, what)
        return self._tell(result, 0)

    def agree(self, facts: Callable[[], dict[str, Any]]) -> None:
        """Refuse to go on if the ranks do not have the same facts; see `SingleProcess.agree`."""
        told = self._gather(facts())
        for rank, theirs in enumerate(told):
            for name, value in told[0].items():
                if theirs.get(name) != value:
                    raise ValueError(
                        f"all ranks must be started alike: rank 0 has {name}={value!r:.80}, "
                        f"rank {rank} has {name}={theirs.get(name)!r:.80}"
                    )

    def gather_bytes(self, content: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
        """What each rank has, as many bytes on each.

        Args:
            content: (bytes,) what this rank has.
        """
        sent = torch.from_numpy(content)
        found = [torch.empty_like(sent) for _ in range(self.world_size)]
        with detect_lost_rank():
            dist.all_gather(found, sent, self._channel)
        return [part.numpy() for part in found]

    def failures(self, failure: Exception | None) -> Exception:
        """The failure of the first rank that has one, as an exception to raise here; asked of all ranks at once."""
        told = self._gather(None if failure is None else _described(failure))
        rank, what = next((rank, what) for rank, what in enumerate(told) if what is not None)
        return failure if failure is not None and rank == self.rank else self._as_told(rank, what)

    def _as_told(self, rank: int, what: tuple[str, str]) -> Exception:
        kind, message = what
        return (
            TrainingError(message)
            if kind == TrainingError.__name__
            else RankFailedError(f"rank {rank}: {kind}: {message}")
        )

    def _gather(self, value: Any) -> list[Any]:
        found: list[Any] = [None] * self.world_size
        with detect_lost_rank():
            dist.all_gather_object(found, value, self._channel)
        return found

    def _tell(self, value: Any, source: int) -> Any:
        """A value that one rank has, on all; only what ``torch.load`` reads without trust."""
        content = io.BytesIO()
        if self.rank == source:
            torch.save(value, content)
        told = [content.getvalue()]
        with detect_lost_rank():
            dist.broadcast_object_list(told, source, self._channel, device=torch.device("cpu"))
        return value if self.rank == source else torch.load(io.BytesIO(told[0]), map_location="cpu", weights_only=True)


def under_torchrun() -> bool:
    """Whether this process is one of several that ``torchrun`` started.

    Example:
        >>> from flexicase.torch._distributed import under_torchrun
        >>> under_torchrun()
        False
    """
    return "RANK" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def join(distributed: Distributed, population: int, device: str | torch.device) -> SingleProcess:
    """The ranks of this job.

    Args:
        distributed: Whether there are several; ``"auto"``: if `under_torchrun`.
        population: Candidates; at least one per rank.
        device: What the networks will be on, which decides between gloo and NCCL.

    Raises:
        ImportError: This PyTorch comes without ``torch.distributed``.
        ValueError: There is no job to join, or there are more ranks than candidates.

    Example:
        >>> from flexicase.torch._distributed import join
        >>> join("auto", population=4, device="cpu").world_size
        1
    """
    if distributed not in (True, False, "auto"):
        raise ValueError(f"distributed must be True, False or 'auto', got {distributed!r}")
    if not (under_torchrun() if distributed == "auto" else distributed):
        return SingleProcess()
    if not dist.is_available():
        raise ImportError("distributed training needs torch.distributed, which this build of PyTorch does not have")
    if not dist.is_initialized():
        if "RANK" not in os.environ:
            raise ValueError(
                "distributed=True needs several processes: start this with torchrun --nproc-per-node N, or call "
                "torch.distributed.init_process_group first"
            )
        init_process_group("nccl" if torch.device(device).type == "cuda" and torch.cuda.is_available() else "gloo")
    ranks = dist.get_world_size()
    if ranks > population:
        raise ValueError(
            f"population must be at least the number of ranks, got {population} candidates on {ranks} ranks"
        )
    return RankGroup()


def facts(selector: FastLexicase, key: Key, model: nn.Module) -> dict[str, Any]:
    """What the ranks must have in common to make the same decisions, beside the settings of training."""
    return {
        **selector.state_dict()["settings"],
        "lookahead": selector.lookahead,
        "key": tuple(key),
        "checksum of the first network": checksum([*parameters_of(model).values(), *unsaved_buffers(model).values()]),
    }


def _described(failure: Exception) -> tuple[str, str]:
    return type(failure).__name__, str(failure)
