"""Records: the numbers of one generation, as plain values or as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

#: Fields with this prefix hold times, which differ when a run is repeated; no other field may.
TIMING = "seconds"
RecordType = TypeVar("RecordType", bound="Record")


@dataclass(frozen=True, kw_only=True)
class Record:
    """One generation of a run: the fields that gp and torch share.

    Fields are numbers or flags; None stands for a number that the method does not count. Times do not take part in
    comparisons.

    Attributes:
        generation: Number of the generation, from 0.
        events: Selection events.
        evaluations: The paper's measure, summed over all events.
        pairs: (individual, error) pairs computed.

    Example:
        >>> from flexicase.records import Record
        >>> Record.to_columns([Record(generation=0), Record(generation=1, evaluations=7)])["evaluations"]
        masked_array(data=[--, 7],
                     mask=[ True, False],
               fill_value=999999)
    """

    generation: int
    events: int = 0
    evaluations: int | None = None
    pairs: int = 0

    @property
    def seconds(self) -> float:
        """Time of the whole generation."""
        return float(sum(getattr(self, name) for name in _types(type(self)) if name.startswith(TIMING)))

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: int(value) if isinstance(value, IntEnum) else value for name, value in values}

    @classmethod
    def from_dict(cls: type[RecordType], values: dict[str, Any]) -> RecordType:
        """Reverse `as_dict`.

        Raises:
            TypeError: A field is missing, unknown or not a number.
            ValueError: A number is not a value of its field's enumeration.
        """
        types = _types(cls)
        found: dict[str, Any] = {}
        for name, value in values.items():
            kind, optional = types.get(name, (float, True))
            expected = {float: int | float, bool: bool}.get(kind, int)
            wrong = isinstance(value, bool) != (kind is bool) or not isinstance(value, expected)
            if wrong and not (optional and value is None):
                wanted = {float: "a number", bool: "True or False"}.get(kind, "an integer")
                raise TypeError(f"{name} must be {wanted}, got {value!r:.80}")
            found[name] = kind(value) if issubclass(kind, IntEnum) else value
        return cls(**found)

    @classmethod
    def to_columns(cls, records: Sequence[Record]) -> dict[str, NDArray[Any]]:
        """One array for each field, (n_records,): int64, float64 or bool, masked where a record has None."""
        columns: dict[str, NDArray[Any]] = {}
        for name, (kind, _) in _types(cls).items():
            values = [getattr(record, name) for record in records]
            dtype = {float: "f8", bool: "?"}.get(kind, "i8")
            filled = np.array([0 if value is None else value for value in values], dtype)
            missing = [value is None for value in values]
            columns[name] = np.ma.array(filled, mask=missing) if any(missing) else filled
        return columns


def _types(cls: Any) -> dict[str, tuple[Any, bool]]:
    """The type of each field that is a number or a flag, and whether it may be None."""
    hints = get_type_hints(cls)
    found = {}
    for field in fields(cls):
        hint = hints[field.name]
        optional = isinstance(hint, UnionType)  # a type | None
        kind = get_args(hint)[0] if optional else hint
        if isinstance(kind, type):
            found[field.name] = kind, optional
    return found
