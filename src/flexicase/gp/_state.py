"""The state of a run between two generations, and its parts in a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flexicase._checkpoint import Parts, read_newest
from flexicase._checks import check_count
from flexicase.gp.parents import InheritedErrors
from flexicase.gp.population import Population
from flexicase.gp.records import GenerationRecord

#: Settings that every checkpoint has.
DESCRIBED = ("problem", "method", "seed", "variation")


@dataclass(frozen=True)
class EvolutionState:
    """A run between two generations: what the next one depends on.

    Attributes:
        generation: The generation that comes next.
        population: Its individuals.
        carried: Errors that are known already.
        judge: EvolutionState of the selection method.
        records: What happened before.
    """

    generation: int
    population: Population
    carried: InheritedErrors
    judge: dict[str, Any] | None
    records: tuple[GenerationRecord, ...]


def dump(state: EvolutionState) -> Parts:
    """The plain values and the bytes of a state, for a checkpoint."""
    population, carried = state.population.to_bytes(), state.carried
    values = {
        "records": [record.as_dict() for record in state.records],
        "judge": state.judge,
        "population": len(population),
        "carried": carried.errors.shape,
    }
    return values, population + carried.individuals.astype("<i8").tobytes() + carried.errors.astype("<f8").tobytes()


def load(header: dict[str, Any], body: bytes) -> EvolutionState:
    """The state that `dump` was called on; the checksum is right, which says nothing about its origin."""
    settings, records = header["settings"], tuple(map(GenerationRecord.from_dict, header["records"]))
    if not all(name in settings for name in DESCRIBED):
        raise ValueError("settings are missing")
    if header["generation"] != len(records) or [record.generation for record in records] != list(range(len(records))):
        raise ValueError("there must be one record for each generation")
    counts = [header["population"], *header["carried"]]
    size, copies, n_errors = (check_count(count, "count") for count in counts)
    if size + 8 * copies * (1 + n_errors) != len(body):
        raise ValueError("the parts do not have the lengths in the header")
    carried = InheritedErrors(
        np.frombuffer(body, "<i8", copies, size).astype(np.int64),
        np.frombuffer(body, "<f8", copies * n_errors, size + 8 * copies).reshape(copies, n_errors).astype(np.float64),
    )
    return EvolutionState(len(records), Population.from_bytes(body[:size]), carried, header["judge"], records)


def read(folder: Path) -> tuple[dict[str, Any], EvolutionState] | None:
    """The settings and the state of the newest whole checkpoint in a folder; None if there is none.

    Raises:
        CheckpointError: There are checkpoints, but none is whole.
    """
    found = read_newest(folder, load)
    return None if found is None else (found[0]["settings"], found[1])
