"""State of a run between two generations, and its checkpoints."""

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
DIGEST_BYTES = 32
#: Settings that every checkpoint has.
REQUIRED_SETTINGS = ("problem", "method", "seed", "variation")


@dataclass(frozen=True)
class EvolutionState:
    """The state of a run between two generations.

    Attributes:
        generation: The next generation.
        population: Its individuals.
        inherited: Errors of its individuals that are known already.
        selection: State of the selection method.
        records: Records of the generations before it.
    """

    generation: int
    population: Population
    inherited: InheritedErrors
    selection: dict[str, Any] | None
    records: tuple[GenerationRecord, ...]


class CheckpointWriter:
    """Writes checkpoints of a run to a folder and keeps the last two.

    Args:
        folder: The folder, created when a checkpoint is saved.
        settings: Settings of the run as plain values; a checkpoint of another run is refused.

    >>> import tempfile
    >>> CheckpointWriter(Path(tempfile.mkdtemp()), {"seed": 1}).load() is None
    True
    """

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self.settings = json.loads(json.dumps(settings))

    def save(self, state: EvolutionState) -> None:
        """Write a checkpoint; if that fails, the previous one stays."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = _to_bytes(state, self.settings)
        write_atomically(self.folder / NEWEST, content, keep=self.folder / PREVIOUS)

    def load(self) -> EvolutionState | None:
        """Read the newest valid checkpoint; None if there is no checkpoint.

        Raises:
            CheckpointError: There are checkpoints, but none is valid.
            ValueError: The checkpoint is of a run with other settings.
        """
        found = read(self.folder)
        if found is None:
            return None
        settings, state = found
        check_settings(f"the checkpoint in {self.folder}", self.settings, settings)
        return state


def read(folder: Path) -> tuple[dict[str, Any], EvolutionState] | None:
    """The settings and the state of the newest valid checkpoint in a folder; None if there is none.

    Raises:
        CheckpointError: There are checkpoints, but none is valid.
    """
    return load_newest(folder, (NEWEST, PREVIOUS), _from_bytes)


def describe(folder: Path) -> str | None:
    """Describe the newest valid checkpoint in a folder; None if there is none.

    Raises:
        CheckpointError: There are checkpoints, but none is valid.
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
        "selection": state.selection,
        "population": len(population),
        "inherited": state.inherited.errors.shape,
    }
    text = json.dumps(header).encode()
    body = struct.pack("<Q", len(text)) + text + population
    body += state.inherited.individuals.astype("<i8").tobytes() + state.inherited.errors.astype("<f8").tobytes()
    return MAGIC + hashlib.sha256(body).digest() + body


def _from_bytes(data: bytes) -> tuple[dict[str, Any], EvolutionState]:
    if not data.startswith(MAGIC):
        raise CheckpointError("not a checkpoint of this version")
    start = len(MAGIC) + DIGEST_BYTES
    body = data[start:]
    if len(data) < start + 8 or hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
        raise CheckpointError("the file is damaged or truncated")
    try:
        return _parse(body)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error) as error:
        raise CheckpointError(f"invalid checkpoint ({error!r:.100})") from error


def _parse(body: bytes) -> tuple[dict[str, Any], EvolutionState]:
    """Read a body with a valid checksum, which may still come from anywhere."""
    (length,) = struct.unpack_from("<Q", body)
    header = json.loads(body[8 : 8 + length])
    settings, records = header["settings"], tuple(map(_record, header["records"]))
    if not isinstance(settings, dict) or not all(name in settings for name in REQUIRED_SETTINGS):
        raise ValueError("settings are missing")
    if header["generation"] != len(records) or [record.generation for record in records] != list(range(len(records))):
        raise ValueError("there must be one record for each generation")
    counts = [header["population"], *header["inherited"]]
    size, copies, n_errors = (check_count(count, "count") for count in counts)
    at = 8 + length
    if at + size + 8 * copies * (1 + n_errors) != len(body):
        raise ValueError("the parts do not have the lengths in the header")
    population = Population.from_bytes(body[at : at + size])
    at += size
    inherited = InheritedErrors(
        np.frombuffer(body, "<i8", copies, at).astype(np.int64),
        np.frombuffer(body, "<f8", copies * n_errors, at + 8 * copies).reshape(copies, n_errors).astype(np.float64),
    )
    return settings, EvolutionState(len(records), population, inherited, header["selection"], records)


def _record(values: dict[str, Any]) -> GenerationRecord:
    record = GenerationRecord.from_dict(values)
    if not all(value is None or isinstance(value, int | float) for value in (*record[:-1], *record.seconds)):
        raise TypeError("records must hold numbers")
    return record
