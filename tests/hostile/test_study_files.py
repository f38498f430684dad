"""Whatever a study file holds, reading it gives a study or a `SpecError`, and runs no code."""

from __future__ import annotations

import random
import sys

import pytest

pytest.importorskip("pydantic")

from flexicase.experiments import SpecError, load_spec, parse_spec
from flexicase.experiments.spec import plan
from tests.hostile.values import EFFORT

GOOD = """name = "tiny"
description = "a study"
kind = "gp"
problems = ["mirror-image", "digits"]
methods = ["lexicase", "random"]
seeds = 2

[settings]
population = 20
generations = 2

[variants.small]
population = 10

[variants.large]
population = 30
"""
KEYS = ("name", "description", "kind", "problems", "methods", "seeds", "settings", "variants", "population", "other")
KINDS = (
    "",
    ":",
    "a:",
    ":b",
    "os:system",
    "os:abort",
    "os.path:join",
    "sys:exit",
    "a:b:c",
    "..:x",
    ".:",
    "gp:",
    "GP",
    " gp",
    "image:",
    "no such",
    "a" * 5000,
    "gp\\u0000",
    "builtins:input",
    "this:x",
    "flexicase:select",
    "\\u202e",
    "-",
    "../x:y",
)
DEEP = 10_000
VALUES = (
    *("7", "-1", "0", "1.5", "nan", "inf", "-inf", "true", "[]", "{}", '""', '"x"', "[1, 2]", '["a", "a"]', "[[1]]"),
    *("1979-05-27T07:32:00Z", "07:32:00", "9" * 4000, "9" * 5000, "0x" + "f" * 6000, "9223372036854775807", "1e400"),
    *("9223372036854775808", "100000", "100001", "[" * DEEP + "]" * DEEP, "[" * 150 + "]" * 150, "{a = 1}"),
    *("{a=" * 150 + "1" + "}" * 150, '["' + "x" * 100_000 + '"]', "[" + "1," * 5_000 + "]", '"\\u0000"', '"\\ud800"'),
    *('"\U0001f600"', '"../.."', '"/etc"', "'''\n'''", '["mirror-image"]', '["lexicase"]', '[""]', '[" "]', "[nan]"),
    *("[0x" + "f" * 6000 + "]", '{"" = {}}', "{a.b.c = 1}"),
)
#: The values that are right for a key.
VALID = {
    "name": ('"x"',),
    "description": ('""', '"x"', '"\\u0000"', '"\U0001f600"', '"../.."', '"/etc"', "'''\n'''"),
    "problems": ('["mirror-image"]',),
    "methods": ('["lexicase"]',),
    "seeds": ("7", "[1, 2]"),
    "settings": ("{}",),
    "variants": ("{}",),
    "population": ("7", "100000", "100001"),
}
BYTES = (
    b"",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf" + GOOD.encode(),
    GOOD.encode("utf-16"),
    b"\x89PNG\r\n",
    b"\r" * 10,
    b"=" * 1000,
)


def mutated(draw: random.Random) -> str:
    """The good file after one to three changes."""
    lines = GOOD.splitlines()
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(len(lines))
        key = lines[place].partition(" = ")[0]
        match draw.randrange(8):
            case 0 | 1:
                lines[place] = f"{key} = {draw.choice(VALUES)}"
            case 2:
                lines[place] = f"{draw.choice(KEYS)} = {draw.choice(VALUES)}"
            case 3:
                lines[place] = f'kind = "{draw.choice(KINDS)}"'
            case 4:
                lines.insert(place, lines[place])  # a duplicate key or table
            case 5:
                del lines[place:]
            case 6:
                lines[place] = f"[{'a.' * draw.choice((1, 100, 1000))}b]"
            case _:
                text = "\n".join(lines)
                cut = draw.randrange(len(text) + 1)
                noise = draw.choice(("", "\0", '"', "[", "\x7f", "\u2028", "=", "]]", "\\", "'''", "\t", "#", "\r"))
                lines = (text[:cut] + noise + text[cut + draw.randrange(5) :]).splitlines()
        lines = lines or [""]
    return "\n".join(lines)


def read(text: str, **options: bool) -> str:
    """What becomes of a study file: ``"study"``, or the message."""
    try:
        plan(parse_spec(text, **options))
    except SpecError as error:
        message = str(error)
    else:
        return "study"
    assert len(message) < 1500
    return message


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_mutated_study_files_are_read_or_refused(seed: int) -> None:
    before = set(sys.modules)
    draw = random.Random(seed)
    outcomes = {read(mutated(draw)) for _ in range(100 * EFFORT)}
    assert len(outcomes) > 20
    assert not {"this", "antigravity"} & (set(sys.modules) - before)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_every_key_refuses_every_odd_value(key: str) -> None:
    lines = [line for line in GOOD.splitlines() if not line.startswith(f"{key} =")]
    head = lines[: lines.index("")]
    places = {
        "study": lambda line: [line, *(head if key in ("settings", "variants") else lines)],
        "variant": lambda line: [*lines, line],  # the last one
        "settings": lambda line: [*head, "[settings]", line],
    }
    accepted = {
        place: {value for value in VALUES if read("\n".join(text(f"{key} = {value}"))) == "study"}
        for place, text in places.items()
    }
    right = set(VALID.get(key, ()))
    if key == "population":
        assert accepted == {"study": set(), "variant": right, "settings": right}
    else:
        assert accepted == {"study": right, "variant": set(), "settings": set()}


@pytest.mark.parametrize("value", [2**63, 9**4000, -(2**63) - 1], ids=["2**63", "9**4000", "-2**63 - 1"])
@pytest.mark.parametrize("key", ["population", "generations", "n_selections", "simplification_steps"])
def test_integers_of_more_than_64_bits_are_refused_by_key(key: str, value: int) -> None:
    """Not by the run, which would fail after the study has started."""
    head = 'name = "t"\nproblems = ["mirror-image"]\nseeds = 1\n'
    for place in (
        f'methods = ["lexicase"]\n[settings]\n{key} = {value}',
        f'methods = ["lexicase"]\n[variants.huge]\n{key} = {value}',
        f'[[methods]]\nmethod = "lexicase"\n{key} = {value}',
    ):
        message = read(head + place)
        assert f" {key}: should be" in message
        assert f"got {str(value)[:10]}" in message
    image = (
        head.replace("mirror-image", "digits") + 'kind = "image"\nmethods = ["lexicase"]\n[settings]\narch = "digits"\n'
    )
    assert " batch_size: should be" in read(f"{image}generations = 1\nbatch_size = {value}")


@pytest.mark.parametrize("kind", KINDS)
def test_odd_kinds_are_refused(kind: str) -> None:
    assert "kind" in read(GOOD.replace('"gp"', f'"{kind}"'))


@pytest.mark.parametrize(
    "kind", ["", ":", "a:", ":b", "os:getcwd", "sys:exit", "os.path:join", "a:b:c", "..:x", "builtins:int"]
)
def test_odd_kinds_are_refused_even_if_code_is_allowed(kind: str) -> None:
    assert "kind" in read(GOOD.replace('"gp"', f'"{kind}"'), allow_code=True)


def test_files_that_are_no_text_and_no_files_are_refused(tmp_path) -> None:
    for place, content in enumerate(BYTES):
        path = tmp_path / f"{place}.toml"
        path.write_bytes(content)
        with pytest.raises(SpecError, match=path.name):
            load_spec(path)
    for path in (tmp_path, tmp_path / "no.toml", tmp_path / "0.toml" / "x", "a\0b", "x" * 5000):
        with pytest.raises((OSError, SpecError)):
            load_spec(path)
