"""Error matrices to test with: small ones for exact probabilities, and random ones of every kind and layout."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Errors = np.ndarray
Rng = np.random.Generator


def small_matrices() -> dict[str, Errors]:
    """At most six cases each, so that all orders can be enumerated."""
    rng = np.random.default_rng(20220712)
    ties = rng.integers(0, 3, (8, 5))
    duplicates = rng.integers(0, 3, (4, 5))[[0, 1, 1, 2, 3, 3, 3, 0]]
    constant = rng.integers(0, 3, (6, 5))
    constant[:, 1], constant[:, 3] = 0, 2
    return {
        "ties": ties,
        "duplicates": duplicates,
        "constant-columns": constant,
        "six-cases": rng.integers(0, 4, (9, 6)),
        "mostly-solved": (rng.random((7, 5)) < 0.35).astype(np.uint8),
        "eighths": rng.integers(0, 40, (7, 5)) / 8.0,
        "trade-offs": np.array([[0, 2, 2], [2, 0, 2], [2, 2, 0], [1, 1, 1], [0, 3, 3]]),
        "one-row": rng.integers(0, 3, (1, 4)),
        "one-case": np.array([[2], [0], [1], [0], [0]]),
        "all-equal": np.ones((5, 4), dtype=np.int64),
        "two-rows": np.array([[0, 1, 2, 0.5], [1, 0, 1, 0.5]]),
        "no-cases": np.empty((4, 0)),
    }


def _integers(dtype: type, low: int, high: int) -> Callable[[Rng, int, int], Errors]:
    return lambda rng, n, m: rng.integers(low, high, (n, m), dtype=dtype, endpoint=True)


def _penalties(rng: Rng, n: int, m: int) -> Errors:
    errors = rng.integers(0, 30, (n, m)).astype(np.float64)
    errors[rng.random((n, m)) < 0.2] = 1e6
    return errors


def _infinite(rng: Rng, n: int, m: int) -> Errors:
    errors = np.round(rng.random((n, m)) * 8)
    errors[rng.random((n, m)) < 0.3] = np.inf
    errors[:, : m // 10] = np.inf
    return errors


def _nearly_bytes(rng: Rng, n: int, m: int) -> Errors:
    """Bytes, and in a few places one number that a careless conversion would take for one."""
    errors = rng.integers(0, 256, (n, m)).astype(np.float64)
    impostors = np.array([-1.0, 256.0, 0.5, 254.5, 2.0**31, -(2.0**31), 2.0**32, -(2.0**32), -(2.0**51), 2.0**52])
    errors[rng.random((n, m)) < 0.05] = rng.choice(impostors)
    return errors


def _signed_zeros(rng: Rng, n: int, m: int) -> Errors:
    return rng.choice(np.array([0.0, -0.0, 1.0, -1.0]), (n, m))


def _subnormal(rng: Rng, n: int, m: int) -> Errors:
    return rng.choice(np.array([5e-324, 1e-323, 2.5e-320, 0.0, 2.3e-308]), (n, m))


def _few_kinds(rng: Rng, n: int, m: int) -> Errors:
    return rng.integers(0, 5, (max(1, n // 6), m))[rng.integers(0, max(1, n // 6), n)]


def _constant_columns(rng: Rng, n: int, m: int) -> Errors:
    errors = rng.integers(0, 3, (n, m), dtype=np.int16)
    errors[:, rng.random(m) < 0.7] = 1
    return errors


def _hard_binary(rng: Rng, n: int, m: int) -> Errors:
    return rng.random((n, m)) < rng.random(m)


def _two_left(rng: Rng, n: int, m: int) -> Errors:
    """Two rows ahead of all others nearly everywhere, alike but for a few cases."""
    errors = rng.integers(3, 9, (n, m), dtype=np.int32)
    errors[:2] = 2
    errors[0, rng.random(m) < 0.02] = 1
    return errors


KINDS: dict[str, Callable[[Rng, int, int], Errors]] = {
    "int8": _integers(np.int8, -128, 127),
    "int8-few": _integers(np.int8, -2, 2),
    "int16": _integers(np.int16, -3, 400),
    "int32": _integers(np.int32, 0, 12),
    "int32-wide": _integers(np.int32, -(2**31), 2**31 - 1),
    "int64": _integers(np.int64, 0, 6),
    "int64-huge": _integers(np.int64, 2**53, 2**53 + 6),
    "int64-extremes": lambda rng, n, m: rng.choice(np.array([-(2**63), 2**63 - 1, 0, -1]), (n, m)),
    "uint8": _integers(np.uint8, 0, 255),
    "uint8-few": _integers(np.uint8, 0, 3),
    "uint16": _integers(np.uint16, 0, 65535),
    "uint32": _integers(np.uint32, 2**31 - 2, 2**31 + 2),
    "uint64-huge": _integers(np.uint64, 2**64 - 5, 2**64 - 1),
    "bool": _hard_binary,
    "float16": lambda rng, n, m: rng.integers(0, 9, (n, m)).astype(np.float16),
    "float32": lambda rng, n, m: rng.random((n, m), dtype=np.float32),
    "float32-few": lambda rng, n, m: rng.integers(0, 300, (n, m)).astype(np.float32) / 10,
    "float64": lambda rng, n, m: rng.standard_normal((n, m)),
    "float64-rounded": lambda rng, n, m: np.round(rng.exponential(size=(n, m)), 1),
    "float64-overflowing": lambda rng, n, m: rng.choice(np.array([1.7e308, 1e308, 9e307, 0.0]), (n, m)),
    "nearly-bytes": _nearly_bytes,
    "penalties": _penalties,
    "infinite": _infinite,
    "signed-zeros": _signed_zeros,
    "subnormal": _subnormal,
    "few-kinds": _few_kinds,
    "constant-columns": _constant_columns,
    "two-left": _two_left,
}


def _negative(errors: Errors) -> Errors:
    return errors[::-1, ::-1].copy()[::-1, ::-1]


def _sliced(errors: Errors) -> Errors:
    n, m = errors.shape
    wide = np.zeros((2 * n + 1, 3 * m + 2), dtype=errors.dtype)
    wide[1::2, 2::3] = errors
    return wide[1::2, 2::3]


def _read_only(errors: Errors) -> Errors:
    copy = errors.copy()
    copy.flags.writeable = False
    return copy


def _unaligned(errors: Errors) -> Errors:
    packed = np.zeros(errors.shape, dtype=[("pad", "u1"), ("error", errors.dtype)])
    packed["error"] = errors
    return packed["error"]


def _swapped(errors: Errors) -> Errors:
    return errors.astype(errors.dtype.newbyteorder())


LAYOUTS: dict[str, Callable[[Errors], Errors]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "negative-strides": _negative,
    "sliced": _sliced,
    "read-only": _read_only,
    "unaligned": _unaligned,
    "byte-swapped": _swapped,
}
