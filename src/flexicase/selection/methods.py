"""Names of methods: the paper's five first, then the rest of the family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexicase._checks import check_text, did_you_mean, shown
from flexicase.selection.baselines import BatchTournament, FitnessProportionate, RandomSelection, Tournament
from flexicase.selection.dalex import DALex
from flexicase.selection.epsilon import MadEpsilon
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.orders import Ranked, Weighted
from flexicase.selection.plexicase import Plexicase
from flexicase.selection.sampling import Cohorts, DownSample, InformedDownSample
from flexicase.selection.weights import BIASES

if TYPE_CHECKING:
    from flexicase.selection.protocol import Method

PAPER_METHODS = ("lexicase", "weighted-num-nonzeros", "ranked-num-nonzeros", "weighted-num-zeros", "ranked-num-zeros")

_METHODS: dict[str, Method] = {}


def register(name: str, method: Method) -> None:
    """Give a method a name that `select` understands.

    Example:
        >>> import flexicase as fx
        >>> fx.register("my-lexicase", fx.Lexicase(slippage=0.01))
        >>> "my-lexicase" in fx.methods()
        True
    """
    check_text(name, "name")
    _check_method(method)
    if name in _METHODS:
        raise ValueError(f"name must be a new one, but a method {shown(name)} is already registered")
    _METHODS[name] = method


def methods() -> list[str]:
    """Names of all methods, the paper's five first.

    Example:
        >>> import flexicase as fx
        >>> fx.methods()[:3]
        ['lexicase', 'weighted-num-nonzeros', 'ranked-num-nonzeros']
    """
    return list(_METHODS)


def resolve_method(method: str | Method) -> Method:
    """A method from its name, or as it is."""
    if isinstance(method, str):
        found = _METHODS.get(method) or _METHODS.get(method.lower().replace("_", "-"))
        if found is None:
            raise ValueError(f"unknown method {shown(method)}{did_you_mean(method[:80], _METHODS)}")
        return found
    _check_method(method)
    return method


def _check_method(method: Any) -> None:
    if isinstance(method, type) or not all(callable(getattr(method, name, None)) for name in ("prepare", "describe")):
        raise TypeError(
            f"method must be a name or an object with prepare() and describe(), such as Lexicase(), got {shown(method)}"
        )


def _register_all() -> None:
    register("lexicase", Lexicase())
    for bias in ("num_nonzeros", "num_zeros", *(b for b in BIASES if b not in ("num_nonzeros", "num_zeros"))):
        register(f"weighted-{bias.replace('_', '-')}", Lexicase(order=Weighted(bias)))
        register(f"ranked-{bias.replace('_', '-')}", Lexicase(order=Ranked(bias)))
    register("epsilon-lexicase", Lexicase(epsilon=MadEpsilon("semi-dynamic")))
    register("epsilon-lexicase-static", Lexicase(epsilon=MadEpsilon("static")))
    register("epsilon-lexicase-dynamic", Lexicase(epsilon=MadEpsilon("dynamic")))
    register("batch-lexicase", Lexicase(batch_size=10))
    register("randomly-truncated-lexicase", Lexicase(max_cases="random"))
    register("down-sampled-lexicase", Lexicase(sampling=DownSample(0.1)))
    register("informed-down-sampled-lexicase", Lexicase(sampling=InformedDownSample(0.1)))
    register("cohort-lexicase", Lexicase(sampling=Cohorts(10)))
    register("plexicase", Plexicase())
    register("dalex", DALex())
    register("tournament", Tournament())
    register("batch-tournament", BatchTournament())
    register("fitness-proportionate", FitnessProportionate())
    register("random", RandomSelection())


_register_all()
