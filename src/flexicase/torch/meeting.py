"""How the processes of a ``torchrun`` job meet, also when it has started them anew, and notice that one is gone."""

from __future__ import annotations

import atexit
import re
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch.distributed as dist  # may be an empty shell, depending on how PyTorch was built

TIMEOUT = timedelta(minutes=30)
SECONDS_BETWEEN_LOOKS = 0.02


class RankLostError(ConnectionError):
    """Another rank has died, or has not answered in time.

    Example:
        >>> from flexicase.torch.meeting import RankLostError
        >>> issubclass(RankLostError, ConnectionError)
        True
    """


@contextmanager
def contact() -> Generator[None, None, None]:
    """Turn what PyTorch raises when a rank is gone into `RankLostError`."""
    try:
        yield
    except RuntimeError as error:
        reason = re.sub(r"^\[[^]]*\] ", "", str(error)).split(". ")[0].split("\n")[0]  # not where in PyTorch's sources
        raise RankLostError(f"contact with another rank was lost: {reason}") from error


def enter(backend: str) -> None:
    """Initialise ``torch.distributed`` from what ``torchrun`` has put into the environment; left when Python ends.

    Args:
        backend: ``"gloo"`` or ``"nccl"``.
    """
    from torch.distributed import PrefixStore  # type: ignore[attr-defined]
    from torch.distributed.rendezvous import rendezvous

    with contact():
        store, rank, world_size = next(rendezvous("env://", timeout=TIMEOUT))
        own = PrefixStore(common_name(PrefixStore("flexicase", store), rank, world_size), store)
        dist.init_process_group(backend, store=own, rank=rank, world_size=world_size, timeout=TIMEOUT)
    atexit.register(_leave)


def common_name(store: Any, rank: int, world_size: int, timeout: timedelta = TIMEOUT) -> str:
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
        >>> from flexicase.torch.meeting import common_name
        >>> len(common_name(dist.HashStore(), rank=0, world_size=1))
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
