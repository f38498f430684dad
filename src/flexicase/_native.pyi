from typing import Any

from numpy import float64, int64, uint8
from numpy.typing import NDArray

def isa() -> str: ...

class Matrix:
    def __init__(self, errors: NDArray[Any]) -> None: ...
    def bad_entry(self) -> tuple[int, int] | None: ...
    def memory(self) -> int: ...
    def zeros(self) -> NDArray[int64]: ...
    def groups(self) -> NDArray[int64]: ...

class Kernel:
    def __init__(
        self,
        matrix: Matrix,
        weights: NDArray[float64] | None,
        ranked: bool,
        tolerance: int,
        epsilon: NDArray[float64] | None,
        batch: int,
        depth: int,
        random_depth: bool,
        slippage: float,
    ) -> None: ...
    def draw(
        self,
        k0: int,
        k1: int,
        first_event: int,
        event_step: int,
        threads: int,
        block: NDArray[int64],
        ended: NDArray[uint8],
    ) -> None: ...

def batch_sums(errors: NDArray[Any], cases: NDArray[int64], starts: NDArray[int64], sums: NDArray[float64]) -> None: ...
def elite_shares(errors: NDArray[Any], kinds: NDArray[int64], shares: NDArray[float64]) -> None: ...
def draw_tournaments(
    scores: NDArray[float64],
    size: int,
    k0: int,
    k1: int,
    first_event: int,
    event_step: int,
    threads: int,
    indices: NDArray[int64],
) -> None: ...
def draw_wheel(
    wheel: NDArray[float64],
    k0: int,
    k1: int,
    first_event: int,
    event_step: int,
    threads: int,
    indices: NDArray[int64],
) -> None: ...
def draw_aggregates(
    columns: NDArray[float64],
    std: float,
    k0: int,
    k1: int,
    first_event: int,
    event_step: int,
    threads: int,
    indices: NDArray[int64],
) -> None: ...
def farthest_first(solved: NDArray[uint8], state: int, chosen: NDArray[int64]) -> None: ...
def probabilities(kernel: Kernel, max_states: int) -> tuple[NDArray[float64] | None, int, float]: ...
def first_nan(errors: NDArray[float64]) -> int: ...

class PairStore:
    def __init__(self, individuals: int, cases: int, most_bytes: int) -> None: ...
    @property
    def pairs(self) -> int: ...
    @property
    def refused(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def is_matrix(self) -> bool: ...
    def lookup(self, individuals: NDArray[int64], cases: NDArray[int64], transposed: NDArray[float64]) -> None: ...
    def store(self, individuals: NDArray[int64], cases: NDArray[int64], errors: NDArray[float64]) -> None: ...
    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...

class FastRun:
    def __init__(
        self,
        store: PairStore,
        weights: NDArray[float64],
        order: int,
        bias: int,
        w_min: float,
        w_max: float,
        epsilon: NDArray[float64] | None,
        mad: bool,
        lookahead: int,
        most_pairs: int,
        k0: int,
        k1: int,
        first_event: int,
        counts: NDArray[int64],
        ended: NDArray[uint8],
    ) -> None: ...
    def advance(self) -> bool: ...
    def request(self) -> tuple[NDArray[int64], NDArray[int64]]: ...
    def give(self, errors: NDArray[float64]) -> None: ...
