"""Names of methods."""

from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from flexicase.selection import methods as registry

ERRORS = np.random.default_rng(1).integers(0, 3, (12, 8))


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a test register names without leaving them behind."""
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))


def test_the_papers_five_methods_come_first() -> None:
    assert fx.methods()[0] == "lexicase"
    assert set(fx.methods()[:5]) == set(registry.PAPER_METHODS)


def test_every_named_method_selects() -> None:
    for name in fx.methods():
        indices = fx.select(ERRORS, 5, name, seed=1).indices
        assert ((indices >= 0) & (indices < 12)).all(), name


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("weighted-num-nonzeros", fx.Lexicase(order=fx.Weighted("num_nonzeros"))),
        ("ranked-num-nonzeros", fx.Lexicase(order=fx.Ranked("num_nonzeros"))),
        ("weighted-num-zeros", fx.Lexicase(order=fx.Weighted("num_zeros"))),
        ("ranked-num-zeros", fx.Lexicase(order=fx.Ranked("num_zeros"))),
        ("ranked-variance-inverse", fx.Lexicase(order=fx.Ranked("variance_inverse"))),
        ("epsilon-lexicase", fx.Lexicase(epsilon="mad")),
        ("epsilon-lexicase-static", fx.Lexicase(epsilon="mad-static")),
        ("epsilon-lexicase-dynamic", fx.Lexicase(epsilon="mad-dynamic")),
        ("batch-lexicase", fx.Lexicase(batch_size=10)),
        ("randomly-truncated-lexicase", fx.Lexicase(max_cases="random")),
        ("down-sampled-lexicase", fx.Lexicase(sampling=fx.DownSample(0.1))),
    ],
)
def test_a_name_stands_for_its_combination(name: str, method: fx.Lexicase) -> None:
    by_name, by_object = fx.select(ERRORS, 60, name, seed=3), fx.select(ERRORS, 60, method, seed=3)
    assert np.array_equal(by_name.indices, by_object.indices)
    assert np.array_equal(by_name.evaluations, by_object.evaluations)


def test_case_and_underscores_do_not_matter() -> None:
    a = fx.select(ERRORS, 20, "Ranked_Num_Zeros", seed=1).indices
    assert (a == fx.select(ERRORS, 20, "ranked-num-zeros", seed=1).indices).all()


def test_an_unknown_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"^unknown method 'lexicas'; did you mean 'lexicase'\?$"):
        fx.select(ERRORS, 1, "lexicas")
    with pytest.raises(ValueError, match=r"^unknown method 'rankd_num_zeros'; did you mean 'ranked-num-zeros'\?$"):
        fx.select(ERRORS, 1, "rankd_num_zeros")
    with pytest.raises(ValueError, match=r"^unknown method '?qqq'?; known: lexicase, "):
        fx.select(ERRORS, 1, "qqq")


@pytest.mark.parametrize("method", [3, None, fx.Lexicase, ["lexicase"], fx.Uniform()])
def test_what_is_no_method_is_refused(method: object) -> None:
    with pytest.raises(TypeError, match=r"^method must be a name or an object with prepare\(\) and describe\(\)"):
        fx.select(ERRORS, 1, method)


@pytest.mark.usefixtures("registered")
def test_a_name_can_be_given_once() -> None:
    fx.register("mine", fx.Lexicase(slippage=0.5))
    assert fx.methods()[-1] == "mine"
    assert len(fx.select(ERRORS, 3, "mine")) == 3
    with pytest.raises(ValueError, match=r"^name must be a new one, but a method 'mine' is already registered$"):
        fx.register("mine", fx.Lexicase())


@pytest.mark.usefixtures("registered")
def test_only_methods_can_be_given_a_name() -> None:
    with pytest.raises(TypeError, match=r"^method must be a name or an object with prepare"):
        fx.register("three", 3)
    with pytest.raises(TypeError, match=r"^name must be a string, got 3$"):
        fx.register(3, fx.Lexicase())
    assert "three" not in fx.methods()
