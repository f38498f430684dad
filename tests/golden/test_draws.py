"""Recorded draws: a change of the random streams, or of what is made of them, must not go unnoticed."""

from __future__ import annotations

import json

from flexicase.rng import Key, Lane, Stream, case_keys, event_state, key_from_seed
from tests.golden.record import FILE, METHODS, SEEDS, draws, matrices


def test_draws_and_counts_are_as_recorded(backend: str) -> None:
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    found = draws(backend)
    assert len(recorded) == len(METHODS) * len(SEEDS) * len(matrices())
    assert found.keys() == recorded.keys()
    changed = [name for name in recorded if recorded[name] != found[name]]
    assert not changed, "python tests/golden/record.py records them anew, if that is meant"


def test_streams_are_as_recorded() -> None:
    """The first words, written down here so that a recording cannot move them along."""
    assert key_from_seed(0) == Key(0xE220A8397B1DCDAF, 0x397AB29740681D9)
    assert key_from_seed(2**64 + 5) == Key(0xE17B6D147DA182DA, 0xC3D13897558E2CA5)
    assert event_state(Key(1, 2), 3) == 0x4E011212BB1FB26D
    stream = Stream.of(Key(1, 2), 3, Lane.PICK)
    assert [stream.word(), stream.word()] == [0x14B0F1F3B476704F, 0x843C613E8A89DF23]
    assert case_keys(0x0123456789ABCDEF, 3).tolist() == [3166161658, 744129539, 1627537043]
