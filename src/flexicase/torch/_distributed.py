"""The processes of a ``torchrun`` job: meeting, sharing results, and detecting a lost rank."""

from __future__ import annotations

import atexit
import io
import os
import re
import time
import uuid
import zlib
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
from flexicase.torch._evaluation import CandidateErrors, zero_one_error
from flexicase.torch._fingerprint import as_bytes
from flexicase.torch._networks import load_unsaved_buffers, parameters_of, unsaved_buffers, unsaved_names
from flexicase.torch._training import TrainingError

TIMEOUT = timedelta(minutes=30)
POLL_SECONDS = 0.02


class RankLostError(ConnectionError):
    """Another rank has exited, or has not answered in time."""


@contextmanager
def detect_lost_rank() -> Generator[None, None, None]:
    """Raise `RankLostError` where PyTorch raises the error of a lost connection."""
    try:
        yield
    except RuntimeError as error:
        reason = re.sub(r"^\[[^]]*\] ", "", str(error)).split(". ")[0].split("\n")[0]  # not where in PyTorch's sources
        raise RankLostError(f"contact with another rank was lost: {reason}") from error


def init_process_group(backend: str) -> None:
    """Initialise ``torch.distributed`` from the environment that ``torchrun`` sets, until Python exits."""
    from torch.distributed import PrefixStore  # type: ignore[attr-defined]
    from torch.distributed.rendezvous import rendezvous

    with detect_lost_rank():
        store, rank, world_size = next(rendezvous("env://", timeout=TIMEOUT))
        own = PrefixStore(agree_on_prefix(PrefixStore("flexicase", store), rank, world_size), store)
        dist.init_process_group(backend, store=own, rank=rank, world_size=world_size, timeout=TIMEOUT)
    atexit.register(_leave)


def agree_on_prefix(store: Any, rank: int, world_size: int, timeout: timedelta = TIMEOUT) -> str:
    """A prefix for keys in the store that all ranks of this start of the job know, and none of an earlier start.

    The store outlives the ranks: after a restart it still has the keys of the ranks before, with which
    ``init_process_group`` fails or hangs. ``TORCHELASTIC_RESTART_COUNT`` cannot be the prefix, because the agents of a
    job on several machines count restarts differently. So every rank writes a word of its own; rank 0 publishes all
    words, of which its own is the prefix; a rank that finds its word among them confirms.

    >>> len(agree_on_prefix(dist.HashStore(), rank=0, world_size=1))
    32
    """
    own, deadline = uuid.uuid4().hex, time.monotonic() + timeout.total_seconds()
    others = [f"word {other}" for other in range(1, world_size)]
    store.set(f"word {rank}", own)
    while time.monotonic() < deadline:
        if rank == 0 and store.check(others):
            store.set("words", " ".join([own, *(store.get(other).decode() for other in others)]))
            if store.check([f"{own} {other}" for other in range(1, world_size)]):
                return own
        elif rank and store.check(["words"]):
            prefix, *words = store.get("words").decode().split()
            if own in words:
                store.set(f"{prefix} {rank}", "confirmed")
                return prefix
        time.sleep(POLL_SECONDS)
    raise RankLostError(f"not all of the {world_size} ranks arrived within {timeout.total_seconds():.0f} s")


def _leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


Result = TypeVar("Result")
Distributed: TypeAlias = bool | Literal["auto"]


class RankFailedError(RuntimeError):
    """Work has failed on another rank; the message gives the rank and the reason."""


class SingleProcess:
    """All candidates in this process."""

    rank = 0
    world_size = 1
    save_every = 30.0

    def key(self, seed: Seed) -> Key:
        """The key of a seed; without a seed, a random one."""
        return key_from_seed(seed)

    def device(self, device: str | torch.device) -> str | torch.device:
        """The device that this rank uses."""
        return device

    def map_candidates(self, n: int, work: Callable[[int], Result]) -> list[Result]:
        """The results of some work for each of ``n`` candidates, done on the rank that owns the candidate.

        If it fails, all ranks raise: `TrainingError` if training has diverged, else `RankFailedError` on other ranks.
        """
        return [work(candidate) for candidate in range(n)]

    def evaluator(self, evaluate: CandidateErrors) -> CandidateErrors | RankErrors:
        """An evaluator of all candidates, from one of this rank's candidates."""
        return evaluate

    def broadcast_parent(
        self, candidate: int, model: nn.Module, optimizer: dict[str, Any] | None
    ) -> dict[str, Any] | None:
        """Copy a candidate from its rank to ``model`` on all ranks; return the state of its optimiser there."""
        return optimizer

    def on_rank_zero(self, work: Callable[[], Result]) -> Result:
        """The result of some work, done on rank 0 alone; tensors come back on the CPU."""
        return work()

    def check_same_on_all_ranks(self, settings: Callable[[], dict[str, Any]]) -> None:
        """Refuse to continue if settings differ between ranks; ``settings`` is called only if there are other ranks."""


class RankGroup(SingleProcess):
    """The processes of a job started by ``torchrun``; candidate k belongs to rank k mod world size.

    Needs an initialised ``torch.distributed``; opens a gloo channel on the CPU, whatever the backend of the job is.

    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> RankGroup().map_candidates(3, lambda candidate: candidate / 2)
    [0.0, 0.5, 1.0]
    >>> dist.destroy_process_group()
    """

    save_every = 0.0

    def __init__(self, timeout: timedelta = TIMEOUT) -> None:
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()
        with detect_lost_rank():
            self._channel = dist.new_group(backend="gloo", timeout=timeout)

    def key(self, seed: Seed) -> Key:
        own = key_from_seed(seed)
        first = self.on_rank_zero(lambda: tuple(own))
        return Key(*first) if seed is None else own

    def device(self, device: str | torch.device) -> str | torch.device:
        """The device that this rank uses: one GPU per rank of a machine, unless a GPU was given."""
        found = torch.device(device)
        if found.type != "cuda" or found.index is not None:
            return device
        own = torch.device("cuda", int(os.environ.get("LOCAL_RANK", self.rank)))
        if own.index < torch.cuda.device_count():
            torch.cuda.set_device(own)
        return own

    def owner(self, candidate: int) -> int:
        """The rank that owns a candidate."""
        return candidate % self.world_size

    def map_candidates(self, n: int, work: Callable[[int], Result]) -> list[Result]:
        done: dict[int, Result] = {}
        failure: Exception | None = None
        at = self.rank
        try:
            for at in range(self.rank, n, self.world_size):
                done[at] = work(at)
        except Exception as error:
            failure = error
        self.raise_first_failure(failure, at)
        together = {which: result for results in self._gather(done) for which, result in results.items()}
        return [together[which] for which in range(n)]

    def evaluator(self, evaluate: CandidateErrors) -> RankErrors:
        return RankErrors(evaluate, self)

    def broadcast_parent(
        self, candidate: int, model: nn.Module, optimizer: dict[str, Any] | None
    ) -> dict[str, Any] | None:
        owner, tensors = self.owner(candidate), list(parameters_of(model).values())
        content = torch.cat([as_bytes(value) for value in tensors])
        by_nccl = content.device.type == "cuda"
        content = content if by_nccl else content.cpu()
        with detect_lost_rank():
            dist.broadcast(content, owner, None if by_nccl else self._channel)
        if owner != self.rank:
            parts = content.split([value.numel() * value.element_size() for value in tensors])
            for value, part in zip(tensors, parts, strict=True):
                value.copy_(part.clone().view(value.dtype).view(value.shape))
        if unsaved_names(model):
            load_unsaved_buffers(model, self._broadcast(unsaved_buffers(model), owner))
        return None if optimizer is None else self._broadcast(optimizer, owner)

    def on_rank_zero(self, work: Callable[[], Result]) -> Result:
        result: Result | None = None
        failure: Exception | None = None
        if self.rank == 0:
            try:
                result = work()
            except Exception as error:
                failure = error
        self.raise_first_failure(failure, self.rank)
        return self._broadcast(result, 0)

    def check_same_on_all_ranks(self, settings: Callable[[], dict[str, Any]]) -> None:
        gathered = self._gather(settings())
        for rank, theirs in enumerate(gathered):
            for name, value in gathered[0].items():
                if theirs.get(name) != value:
                    raise ValueError(
                        f"all ranks must have the same settings: rank 0 has {name}={value!r:.80}, "
                        f"rank {rank} has {name}={theirs.get(name)!r:.80}"
                    )

    def gather_bytes(self, content: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
        """The (n,) bytes of each rank; ``n`` must be the same on all ranks."""
        sent = torch.from_numpy(content)
        found = [torch.empty_like(sent) for _ in range(self.world_size)]
        with detect_lost_rank():
            dist.all_gather(found, sent, self._channel)
        return [part.numpy() for part in found]

    def raise_first_failure(self, failure: Exception | None, at: int) -> None:
        """Raise the failure of the first candidate or rank, ``at``, that has one; all ranks call this at once."""
        own = None if failure is None else (at, type(failure).__name__, str(failure))
        failures = [found for found in self._gather(own) if found is not None]
        if failures:
            first, kind, message = min(failures)
            if failure is not None and first == at:
                raise failure
            if kind == TrainingError.__name__:
                raise TrainingError(message)
            raise RankFailedError(f"rank {self.owner(first)}: {kind}: {message}")

    def _gather(self, value: Any) -> list[Any]:
        found: list[Any] = [None] * self.world_size
        with detect_lost_rank():
            dist.all_gather_object(found, value, self._channel)
        return found

    def _broadcast(self, value: Any, source: int) -> Any:
        """Send a value of one rank to all ranks; it must be of types that ``torch.load(weights_only=True)`` reads."""
        content = io.BytesIO()
        if self.rank == source:
            torch.save(value, content)
        sent = [content.getvalue()]
        with detect_lost_rank():
            dist.broadcast_object_list(sent, source, self._channel, device=torch.device("cpu"))
        return value if self.rank == source else torch.load(io.BytesIO(sent[0]), map_location="cpu", weights_only=True)


class RankErrors:
    """Errors of candidates on several ranks: an evaluator that all ranks call with the same blocks.

    Zero-one errors are sent as bits, others as float64.
    """

    def __init__(self, evaluate: CandidateErrors, ranks: RankGroup) -> None:
        self.calls = 0
        self._evaluate = evaluate
        self._ranks = ranks
        self._as_bits = evaluate.error_fn is zero_one_error

    def __call__(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[Any]:
        owners = individuals % self._ranks.world_size
        shape = (int(np.bincount(owners).max()), len(cases))
        errors, failure = np.zeros(shape), None
        mine, before = individuals[owners == self._ranks.rank], self._evaluate.calls
        try:
            if len(mine):
                errors[: len(mine)] = self._evaluate(mine, cases)
        except Exception as error:
            failure = error
        requested = zlib.crc32(cases.tobytes(), zlib.crc32(individuals.tobytes()))
        header = np.array([failure is not None, requested, self._evaluate.calls - before], np.int64)
        gathered = self._ranks.gather_bytes(np.concatenate([header.view(np.uint8), self._packed(errors)]))
        headers = np.array([part[: header.nbytes].view(np.int64) for part in gathered])
        if headers[:, 0].any():
            self._ranks.raise_first_failure(failure, self._ranks.rank)
        if (headers[:, 1] != requested).any():
            raise RuntimeError("ranks out of sync: they requested different cases")
        self.calls += int(headers[:, 2].sum())
        found = np.empty((len(individuals), len(cases)))
        for rank, part in enumerate(gathered):
            here = owners == rank
            found[here] = self._unpacked(part[header.nbytes :], shape)[: here.sum()]
        return found

    def _packed(self, errors: NDArray[np.float64]) -> NDArray[np.uint8]:
        return np.packbits(errors != 0) if self._as_bits else errors.reshape(-1).view(np.uint8)

    def _unpacked(self, content: NDArray[np.uint8], shape: tuple[int, int]) -> NDArray[Any]:
        if self._as_bits:
            return np.unpackbits(content, count=shape[0] * shape[1]).reshape(shape)
        return content.view(np.float64).reshape(shape)


def under_torchrun() -> bool:
    """Whether this process is one of several that ``torchrun`` started."""
    return "RANK" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def join(distributed: Distributed, population: int, device: str | torch.device) -> SingleProcess:
    """The ranks of this job; ``"auto"`` joins one if `under_torchrun`."""
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
