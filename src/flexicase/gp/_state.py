"""The state of a run between two generations, and its parts in a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flexicase._checkpoint import Parts, read_newest
from flexicase._checks import check_count
from flexicase.gp.parents import InheritedErrors
from flexicase.gp.records import GenerationRecord
from flexicase.gp.variation import Population

#: Settings that every checkpoint has.
REQUIRED_SETTINGS = ("problem", "method", "seed", "variation")


@dataclass(frozen=True)
class EvolutionState:
    """The state of a run before its next generation, whose individuals are ``population``."""

    generation: int
    population: Population
    inherited: InheritedErrors
    selection: dict[str, Any] | None
    records: tuple[GenerationRecord, ...]


def dump(state: EvolutionState) -> Parts:
    """The plain values and the bytes of a state, for a checkpoint."""
    population, inherited = state.population.to_bytes(), state.inherited
    values = {
        "records": [record.as_dict() for record in state.records],
        "selection": state.selection,
        "population": len(population),
        "inherited": inherited.errors.shape,
        "ages": None if inherited.ages is None else inherited.ages.shape[1],
    }
    known = inherited.individuals.astype("<i8").tobytes() + inherited.errors.astype("<f8").tobytes()
    return values, population + known + (b"" if inherited.ages is None else inherited.ages.tobytes())


def load(header: dict[str, Any], body: bytes) -> EvolutionState:
    """Read a state that `dump` wrote; the checksum is valid, but the file may come from anywhere."""
    settings, records = header["settings"], tuple(map(GenerationRecord.from_dict, header["records"]))
    if not all(name in settings for name in REQUIRED_SETTINGS):
        raise ValueError("settings are missing")
    if header["generation"] != len(records) or [record.generation for record in records] != list(range(len(records))):
        raise ValueError("there must be one record for each generation")
    counts = [header["population"], *header["inherited"]]
    size, copies, n_errors = (check_count(count, "count") for count in counts)
    n_ages = None if header["ages"] is None else check_count(header["ages"], "ages")
    end = size + 8 * copies * (1 + n_errors)
    if end + copies * (n_ages or 0) != len(body):
        raise ValueError("the parts do not have the lengths in the header")
    inherited = InheritedErrors(
        np.frombuffer(body, "<i8", copies, size).astype(np.int64),
        np.frombuffer(body, "<f8", copies * n_errors, size + 8 * copies).reshape(copies, n_errors).astype(np.float64),
        None if n_ages is None else np.frombuffer(body, np.uint8, copies * n_ages, end).reshape(copies, n_ages),
    )
    return EvolutionState(len(records), Population.from_bytes(body[:size]), inherited, header["selection"], records)


def recorded_initial(folder: Path) -> dict[str, Any]:
    """The digest of the initial individuals, as ``initial``, in the newest checkpoint in a folder; empty if none."""
    found = read(folder) if folder.is_dir() else None
    return {"initial": found[0]["initial"]} if found is not None and "initial" in found[0] else {}


def read(folder: Path) -> tuple[dict[str, Any], EvolutionState] | None:
    """The settings and the state of the newest valid checkpoint in a folder; None if there is no checkpoint."""
    found = read_newest(folder, load)
    return None if found is None else (found[0]["settings"], found[1])
