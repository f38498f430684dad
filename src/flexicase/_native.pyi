from collections.abc import Callable
from typing import Any, TypeAlias

from numpy import float64, int64, uint8
from numpy.typing import NDArray

def isa() -> str: ...

class Matrix:
    def __init__(self, errors: NDArray[Any]) -> None: ...
    def inexact_entry(self) -> tuple[int, int] | None: ...
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
    def draw_distinct(
        self,
        k0: int,
        k1: int,
        first_event: int,
        event_step: int,
        taken: NDArray[uint8],
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
    def clear(self) -> None: ...
    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...

class FastRun:
    def __init__(
        self,
        n_cases: int,
        order: int,
        bias: int,
        w_min: float,
        epsilon: NDArray[float64] | None,
        mad: bool,
        solved: NDArray[float64] | None,
        maximize: bool,
        lookahead: int,
        least_block: int,
        most_pairs: int,
        depth: int,
        random_depth: bool,
    ) -> None: ...
    def select(
        self,
        store: PairStore,
        weights: NDArray[float64],
        version: int,
        w_max: float,
        k0: int,
        k1: int,
        first_event: int,
        counts: NDArray[int64],
        ended: NDArray[uint8],
        evaluate: Callable[[NDArray[int64], NDArray[int64]], Any],
        checked: Callable[[Any, NDArray[int64], NDArray[int64]], NDArray[float64]],
        failed: Callable[[Exception, NDArray[int64], NDArray[int64]], None],
    ) -> int: ...

_PushState: TypeAlias = tuple[dict[str, Any], str, int, Exception | None]
_PushFailures: TypeAlias = tuple[int, list[tuple[int, Exception]]]

class PushLimits:
    def __init__(
        self, steps: int, points: int, stack: int, memory: int, code: int, keep_nan: bool, seed: int
    ) -> None: ...

class PushCode:
    def to_python(self) -> Any: ...
    def to_bytes(self) -> bytes: ...
    def points(self) -> int: ...
    def text(self) -> str: ...

class PushGenome:
    def __len__(self) -> int: ...

def push_set_types(
    symbol: type, character: type, single: type, big: type, integers: type, floats: type, booleans: type
) -> None: ...
def push_code(value: Any, name: str = "code") -> PushCode: ...
def push_code_from_bytes(data: bytes) -> PushCode: ...
def push_genome(items: list[Any], close: list[int], silent: list[int]) -> PushGenome: ...
def push_translate(genome: PushGenome, max_points: int) -> PushCode: ...
def push_run(program: PushCode, state: dict[str, Any], limits: PushLimits) -> _PushState: ...
def push_run_on(program: PushCode, inputs: list[Any], limits: PushLimits) -> _PushState: ...
def push_execute(item: PushCode, state: dict[str, Any], limits: PushLimits) -> _PushState: ...
def push_trace(
    program: PushCode, inputs: list[Any], limits: PushLimits
) -> tuple[list[tuple[Any, _PushState]], str]: ...
def push_table() -> list[tuple[str, list[str], int, str]]: ...
def push_define(name: str, blocks: int, function: Any, takes: list[str], gives: list[str]) -> None: ...
def push_undefine(name: str) -> bool: ...
def push_is_taken(name: str) -> bool: ...

class PushCases:
    def __len__(self) -> int: ...

class PushQuestion:
    def __init__(
        self, stack: str, error: str, penalty: float, per_element: float, decimals: int, label: str
    ) -> None: ...

def push_cases(inputs: list[list[Any]], targets: list[list[Any]], has_output: bool = True) -> PushCases: ...
def push_check_kinds(questions: list[PushQuestion], cases: PushCases) -> None: ...
def push_errors(
    programs: list[PushCode],
    cases: PushCases,
    individuals: NDArray[int64],
    case_indices: NDArray[int64],
    limits: PushLimits,
    questions: list[PushQuestion],
    threads: int,
    out: NDArray[float64],
) -> tuple[int, _PushFailures]: ...
def push_errors_and_answers(
    programs: list[PushCode],
    cases: PushCases,
    individuals: NDArray[int64],
    case_indices: NDArray[int64],
    limits: PushLimits,
    questions: list[PushQuestion],
    out: NDArray[float64],
) -> tuple[int, list[Any], _PushFailures]: ...
def push_outputs(
    program: PushCode, cases: PushCases, stack: str, limits: PushLimits
) -> tuple[list[Any], _PushFailures]: ...

class GpGeneSource: ...
class GpVariation: ...

class GpPopulation:
    def __len__(self) -> int: ...
    def genes(self, index: int) -> list[tuple[Any, int, int]]: ...
    def sizes(self, out: NDArray[int64]) -> None: ...
    def to_bytes(self) -> bytes: ...

def gp_gene_source(
    entries: list[tuple[Any, ...]], close: list[float], close_marker: bool, silent_probability: float
) -> GpGeneSource: ...
def gp_variation(
    source: GpGeneSource,
    pipelines: list[list[str]],
    probabilities: list[float],
    rates: dict[str, list[float]],
    max_points: int,
    max_initial_genome: int,
    too_big: str,
    silent_marker: bool,
) -> GpVariation: ...
def gp_population(genomes: list[list[tuple[Any, int, int]]]) -> GpPopulation: ...
def gp_population_from_bytes(data: bytes) -> GpPopulation: ...
def gp_random_population(variation: GpVariation, size: int, k0: int, k1: int, threads: int) -> GpPopulation: ...
def gp_translate(population: GpPopulation, max_points: int, threads: int, sizes: NDArray[int64]) -> list[PushCode]: ...
def gp_plan(
    variation: GpVariation,
    parents: GpPopulation,
    k0: int,
    k1: int,
    pipelines: NDArray[int64],
    first: NDArray[int64],
) -> None: ...
def gp_breed(
    variation: GpVariation,
    population: GpPopulation,
    pipelines: NDArray[int64],
    first: NDArray[int64],
    parents: NDArray[int64],
    k0: int,
    k1: int,
    threads: int,
    used: NDArray[int64],
) -> GpPopulation: ...
def gp_smaller(program: PushCode, k0: int, k1: int, step: int) -> PushCode: ...
def gp_operators() -> list[str]: ...
def gp_rates() -> list[str]: ...
