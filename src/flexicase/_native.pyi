from numpy import float64, int64, uint8
from numpy.typing import NDArray
from typing import Any

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
        indices: NDArray[int64],
        evaluations: NDArray[int64],
        evaluations_distinct: NDArray[int64],
        cases_used: NDArray[int64],
        ended: NDArray[uint8],
    ) -> None: ...

def probabilities(kernel: Kernel, max_states: int) -> tuple[NDArray[float64] | None, int, float]: ...
