"""Checkpoints of runs: written in one piece, checked when read, the previous one kept."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flexicase._checkpoint import CheckpointError, check_settings, load_newest
from flexicase._checks import check_count
from flexicase._files import write_atomically
from flexicase.gp.parents import InheritedErrors
from flexicase.gp.population import Population
from flexicase.gp.records import GenerationRecord

MAGIC = b"flexicase run 1\n"
NEWEST, PREVIOUS = "run.checkpoint", "run.checkpoint.previous"
DIGEST = 32
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


class CheckpointWriter:
    """Keeps the last two checkpoints of a run in a folder.

    Args:
        folder: The folder; it is made when something is saved.
        settings: What the run is, as plain values; a checkpoint of anything else is refused.

    >>> import tempfile
    >>> CheckpointWriter(Path(tempfile.mkdtemp()), {"seed": 1}).load() is None
    True
    """

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        """Nothing is read or written yet."""
        self.folder = folder
        self.settings = json.loads(json.dumps(settings))

    def save(self, state: EvolutionState) -> None:
        """Write a checkpoint; whatever happens meanwhile, one that was there before stays."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = _to_bytes(state, self.settings)
        write_atomically(self.folder / NEWEST, content, keep=self.folder / PREVIOUS)

    def load(self) -> EvolutionState | None:
        """The newest checkpoint that is whole; None if there is none at all.

        Raises:
            CheckpointError: There are checkpoints, but none is whole.
            ValueError: The checkpoint is of a run with other settings.
        """
        found = read(self.folder)
        if found is None:
            return None
        settings, state = found
        check_settings(f"the checkpoint in {self.folder}", self.settings, settings)
        return state


def read(folder: Path) -> tuple[dict[str, Any], EvolutionState] | None:
    """The settings and the state of the newest whole checkpoint in a folder; None if there is none.

    Raises:
        CheckpointError: There are checkpoints, but none is whole.
    """
    return load_newest(folder, (NEWEST, PREVIOUS), _from_bytes)


def describe(folder: Path) -> str | None:
    """Say what the newest whole checkpoint in a folder is of; None if there is none.

    Raises:
        CheckpointError: There are checkpoints, but none is whole.
    """
    found = read(folder)
    if found is None:
        return None
    settings, state = found
    return f"generation {state.generation} of {settings['problem']}, {settings['method']}, seed {settings['seed']}"


def _to_bytes(state: EvolutionState, settings: dict[str, Any]) -> bytes:
    population = state.population.to_bytes()
    header = {
        "settings": settings,
        "generation": state.generation,
        "records": [record.as_dict() for record in state.records],
        "judge": state.judge,
        "population": len(population),
        "carried": state.carried.errors.shape,
    }
    text = json.dumps(header).encode()
    body = struct.pack("<Q", len(text)) + text + population
    body += state.carried.individuals.astype("<i8").tobytes() + state.carried.errors.astype("<f8").tobytes()
    return MAGIC + hashlib.sha256(body).digest() + body


def _from_bytes(data: bytes) -> tuple[dict[str, Any], EvolutionState]:
    if not data.startswith(MAGIC):
        raise CheckpointError("not a checkpoint of this version")
    start = len(MAGIC) + DIGEST
    body = data[start:]
    if len(data) < start + 8 or hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
        raise CheckpointError("the file is damaged or cut short")
    try:
        return _parse(body)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error) as error:
        raise CheckpointError(f"not the content of a checkpoint ({error!r:.100})") from error


def _parse(body: bytes) -> tuple[dict[str, Any], EvolutionState]:
    """Read a body whose checksum is right, which says nothing about its origin."""
    (length,) = struct.unpack_from("<Q", body)
    header = json.loads(body[8 : 8 + length])
    settings, records = header["settings"], tuple(map(_record, header["records"]))
    if not isinstance(settings, dict) or not all(name in settings for name in DESCRIBED):
        raise ValueError("settings are missing")
    if header["generation"] != len(records) or [record.generation for record in records] != list(range(len(records))):
        raise ValueError("there must be one record for each generation")
    counts = [header["population"], *header["carried"]]
    size, copies, n_errors = (check_count(count, "count") for count in counts)
    at = 8 + length
    if at + size + 8 * copies * (1 + n_errors) != len(body):
        raise ValueError("the parts do not have the lengths in the header")
    population = Population.from_bytes(body[at : at + size])
    at += size
    carried = InheritedErrors(
        np.frombuffer(body, "<i8", copies, at).astype(np.int64),
        np.frombuffer(body, "<f8", copies * n_errors, at + 8 * copies).reshape(copies, n_errors).astype(np.float64),
    )
    return settings, EvolutionState(len(records), population, carried, header["judge"], records)


def _record(values: dict[str, Any]) -> GenerationRecord:
    record = GenerationRecord.from_dict(values)
    if not all(value is None or isinstance(value, int | float) for value in (*record[:-1], *record.seconds)):
        raise TypeError("records must hold numbers")
    return record
