"""States of training that were tampered with: refused in one clear sentence, and the training stays as it was."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")

import flexicase.torch as ft  # noqa: E402
from tests.hostile.values import EFFORT  # noqa: E402

SEED, MUTATIONS = 20, 300 * EFFORT


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Small networks are slower on several threads, and tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Counting(torch.nn.Linear):
    """A linear network with a buffer that is saved and one that is not."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(inputs), persistent=False)

    def forward(self, inputs):
        if self.training:
            self.calls += 1
            self.mean = 0.9 * self.mean + 0.1 * inputs.mean(0)
        return super().forward(inputs - self.mean)


def make_search(outputs: int = 3, *, n: int = 20, **changes: Any) -> ft.GradientLexicase:
    inputs = torch.linspace(-1, 1, 4 * n).reshape(n, 4)
    data = torch.utils.data.TensorDataset(inputs, torch.arange(n) % 3)
    settings = {"population": 2, "batch_size": 5, "seed": 3, "generations": 9, "optimizer_state": "inherit", **changes}
    return ft.GradientLexicase(lambda: Counting(4, outputs), data, **settings)


def same(one: Any, two: Any) -> bool:
    """Whether two states are equal to the last bit and type."""
    if type(one) is not type(two):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == two.dtype and one.shape == two.shape and one.numpy().tobytes() == two.numpy().tobytes()
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[name], two[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return one == two or (one != one and two != two)  # noqa: PLR0124 - NaN


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where there is something in a state, at any depth."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    return [path, *(place for name, inner in entries for place in places(inner, (*path, name)))]


def replaced(state: Any, path: tuple[Any, ...], change: Any) -> Any:
    """A copy of a state in which ``change`` was applied to the value in one place."""
    if not path:
        return change(state)
    entries = dict(state) if isinstance(state, dict) else list(state)
    entries[path[0]] = replaced(entries[path[0]], path[1:], change)
    return tuple(entries) if isinstance(state, tuple) else entries


class Opaque:
    """Nothing that a state can hold."""

    def __repr__(self) -> str:
        raise RuntimeError("no description")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


VALUES = [None, True, -1, 0, 1, 3, 2**31, 2**63, 2**64, 10**400, 1.5, -0.5, math.nan, math.inf, "", "12", "max", b"12"]
VALUES += [[], {}, (), [[[[[]]]]], {"a": {"b": {}}}, object(), Opaque(), 1j, {1: 2}, [1, 2, 3], (1.5, 2), (-1, 2**64)]
VALUES += [np.zeros(3), np.float64(2.0), np.int64(1), np.array("text"), ("12", "13"), {"state": {}, "param_groups": []}]
VALUES += [torch.zeros(()), torch.zeros(3), torch.zeros(20), torch.full((20,), math.nan, dtype=torch.float64)]
VALUES += [torch.zeros(0), torch.tensor(7), torch.eye(3).to_sparse(), torch.zeros(4, device="meta")]
TENSOR_CHANGES = [
    lambda value: torch.full_like(value, math.nan) if value.is_floating_point() else value.to(torch.float64) * math.nan,
    lambda value: value.reshape(*value.shape, 1),
    lambda value: value.flatten()[:-1],
    lambda value: value.to(torch.int16),
    lambda value: value.to(torch.complex64),
    lambda value: value.numpy(),
    lambda value: value.tolist(),
    lambda value: -value - 1.0,
    lambda value: value * 1e300,
    lambda value: value.to_sparse() if value.ndim else value.to("meta"),
]


def mutated(state: dict[str, Any], draws: random.Random) -> tuple[str, Any]:
    """One state that differs in one place, and a description of the difference."""
    path = draws.choice(places(state))
    kind = draws.choice(["replace", "replace", "drop", "add", "tensor"])
    change: Any = None
    if kind == "replace":
        value = draws.choice(VALUES)
        change, what = lambda _: value, f"a {type(value).__name__}"
    elif kind == "tensor":
        path = draws.choice([place for place in places(state) if isinstance(found(state, place), torch.Tensor)])
        number = draws.randrange(len(TENSOR_CHANGES))
        change, what = TENSOR_CHANGES[number], f"tensor change {number}"
    else:
        inner = [place for place in places(state) if isinstance(found(state, place), dict | list | tuple)]
        path = draws.choice([place for place in inner if found(state, place)])
        which, what = draws.randrange(len(found(state, path))), kind

        def change(value: Any) -> Any:
            if isinstance(value, dict):
                name = list(value)[which]
                return {**value, "extra": 1} if kind == "add" else {k: v for k, v in value.items() if k != name}
            longer = [*value, value[which]] if kind == "add" else [v for i, v in enumerate(value) if i != which]
            return type(value)(longer)

    return f"{'/'.join(map(str, path)) or 'all'}: {what}", replaced(state, path, change)


def found(state: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        state = state[name]
    return state


@pytest.fixture(scope="module")
def state():
    search = make_search()
    search.step(), search.step()
    return search.state_dict()


@pytest.fixture(scope="module")
def used():
    """A training of its own, one generation old, that refused states must leave alone."""
    search = make_search()
    search.step()
    return search


@pytest.mark.slow
def test_tampered_states_are_refused_in_one_sentence_and_change_nothing(state, used):
    """Raw errors, or a training that took over half of a state before it refused the rest."""
    draws, problems, refused = random.Random(SEED), [], 0
    before = copy.deepcopy(used.state_dict())
    for _ in range(MUTATIONS):
        what, bad = mutated(state, draws)
        try:
            used.load_state_dict(bad)
        except (ValueError, TypeError) as error:
            refused += 1
            entry = what.partition("/")[0].partition(":")[0]
            names = [*state["settings"], "settings", "extra"] if entry == "settings" else [entry]
            if entry != "all" and not any(name in str(error) for name in names):
                problems.append(f"{what}: the message does not name the entry: {error}")
            if "\n" in str(error) or len(str(error)) > 400:
                problems.append(f"{what}: not one sentence: {error}")
        except Exception as error:
            problems.append(f"{what}: {type(error).__name__}: {error}")
        else:
            problems += [f"{what}: accepted, then {problem}" for problem in problems_of(bad)]
            used.load_state_dict(before)
        if not same(used.state_dict(), before):
            problems.append(f"{what}: the training has changed")
            used.load_state_dict(before)
    assert not problems, "\n".join([f"{len(problems)} problems", *problems[:40]])
    assert refused > MUTATIONS * 0.7


def test_numbers_that_no_float_can_hold_are_refused(state, used):
    """An int of 400 digits in an optimiser's settings ended in OverflowError."""
    path = ("optimizer", "param_groups", 0, "weight_decay")
    with pytest.raises(ValueError, match="optimizer in the state: param_groups"):
        used.load_state_dict(replaced(state, path, lambda _: 10**400))


def problems_of(accepted: Any) -> list[str]:
    """What goes wrong in training from a state that was accepted: it may diverge, but nothing else."""
    search = make_search()
    try:
        search.load_state_dict(accepted)
        search.step()
    except ft.TrainingError:
        pass
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    return []


@pytest.mark.parametrize(
    "key", [(-1, 0), (2**64, 0), (1.5, 2), ("12", "13"), (True, 1), (1,), (1, 2, 3), None, 7, "ab"]
)
@pytest.mark.parametrize("where", [("key",), ("selector", "key")], ids=["run", "selector"])
def test_keys_that_are_no_pairs_of_64_bits(state, used, where, key):
    before = copy.deepcopy(used.state_dict())
    with pytest.raises((ValueError, TypeError), match="key"):
        used.load_state_dict(replaced(state, where, lambda _: key))
    assert same(used.state_dict(), before)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"outputs": 4}, "parent"),
        ({"n": 21}, "cases"),
        ({"seed": 4}, "seed"),
        ({"optimizer_state": "reset"}, "optimizer_state"),
        ({"method": "weighted-num-nonzeros"}, "selector"),
        ({"optimizer": torch.optim.Adam}, "optimizer"),
    ],
)
def test_states_of_other_trainings(used, other, message):
    stranger = make_search(**other)
    stranger.step()
    before = copy.deepcopy(used.state_dict())
    with pytest.raises(ValueError, match=message):
        used.load_state_dict(stranger.state_dict())
    assert same(used.state_dict(), before)


def test_an_untouched_state_is_accepted(state):
    search = make_search()
    search.load_state_dict(copy.deepcopy(state))
    assert same(search.state_dict(), state)
