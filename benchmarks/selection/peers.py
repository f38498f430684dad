"""The other libraries that flexicase is compared with."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from flexicase._checks import did_you_mean


@dataclass(frozen=True, slots=True)
class Peer:
    """A library with lexicase selection.

    Attributes:
        key: Its name, also in `selection.runners.RUNNERS`, also that of its distribution.
        module: What to import.
        pinned: The version that the full comparison installs; empty for the plain NumPy loop.
        since: The first Python that this version supports.

    Example:
        >>> from selection.peers import PEERS
        >>> PEERS["deap"].requirement
        'deap==1.4.4'
    """

    key: str
    module: str
    pinned: str = ""
    since: tuple[int, int] = (3, 10)

    @property
    def requirement(self) -> str:
        """What to ask pip for."""
        return f"{self.key}=={self.pinned}"

    @property
    def supported(self) -> bool:
        """Whether the pinned version runs on this Python."""
        return sys.version_info >= self.since

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{self.key} {self.pinned}" if self.pinned else "NumPy loop"


PEERS = {
    p.key: p
    for p in (
        Peer("numpy", "numpy"),
        Peer("lexicase", "lexicase", "0.3.0"),
        Peer("deap", "deap", "1.4.4"),
        Peer("deap-er", "deap_er", "3.2.10", (3, 12)),
    )
}


def resolve_peers(keys: Iterable[str]) -> list[Peer]:
    """The peers with these names; none is fine.

    Raises:
        ValueError: A name is unknown.
    """
    chosen = [key.strip() for key in keys if key.strip()]
    for key in chosen:
        if key not in PEERS:
            raise ValueError(f"unknown peer {key!r}{did_you_mean(key, PEERS)}")
    return [PEERS[key] for key in dict.fromkeys(chosen)]
