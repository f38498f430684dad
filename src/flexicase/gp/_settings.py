"""Settings of a run, made from the arguments of `evolve` and checked before the run starts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from flexicase._checks import (
    MAX_COUNT,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_text,
    check_threads,
    did_you_mean,
    shown,
)
from flexicase._provenance import usable_cores
from flexicase.gp.records import GenerationRecord
from flexicase.gp.sampling import CaseSampling, Check, PhylogenyInformed
from flexicase.problems import Problem, load
from flexicase.problems.settings import MAX_POINTS, MAX_POPULATION, Variation
from flexicase.push.genome import Genome
from flexicase.push.instructions import InstructionSetName, check_instruction_set
from flexicase.push.program import Program, check_type
from flexicase.rng import Seed, key_from_seed
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method
from flexicase.selection.sampling import Cohorts, DownSample, DownSampleKind, InformedDownSample
from flexicase.selection.weights import DefaultWeight

#: Smallest and largest value of each count.
COUNTS = {
    "population": (1, MAX_POPULATION),
    "generations": (0, MAX_COUNT),
    "budget": (0, MAX_COUNT),
    "n_selections": (1, MAX_POPULATION),
    "steps": (1, MAX_COUNT),
    "simplification_steps": (0, MAX_COUNT),
}

#: Defaults of a whole run.
Profile: TypeAlias = Literal["psb1", "psb2", "propeller"]


def _umad(rate: float, max_points: int, max_initial_genome: int) -> Variation:
    return Variation(
        operators={"uniform_addition_and_deletion": 1.0},
        addition_and_deletion_rate=rate,
        max_points=max_points,
        max_initial_genome=max_initial_genome,
    )


_PSB2 = {
    **{"population": 1000, "generations": 300, "steps": 2000, "points": 2000},
    "variation": _umad(0.09, max_points=2000, max_initial_genome=250),
}
#: The arguments of `evolve` that a profile stands for; ``points`` limits the code that a program builds while it runs.
PROFILES: dict[Profile, dict[str, Any]] = {
    "psb1": {},  # the problems of that suite have its settings
    "psb2": _PSB2,
    "propeller": {
        **_PSB2,
        "variation": _umad(0.1, max_points=MAX_POINTS, max_initial_genome=249),
        "sampling": InformedDownSample(0.1, 0.01, every=100),
        "check": "first",
    },
}


@dataclass(frozen=True, kw_only=True)
class EvolveSettings:
    """Settings of a run; `evolve` has an argument of the same name for each."""

    problem: Problem
    method: str | Method
    population: int
    generations: int | None
    seed: int
    partial: bool
    default_weight: DefaultWeight
    sampling: CaseSampling | None
    check: Check
    budget: int | None
    profile: Profile | None
    record_samples: bool
    n_selections: int | None
    variation: Variation
    simplification_steps: int
    instruction_set: InstructionSetName
    steps: int
    initial: tuple[Genome, ...]
    time_limit: float
    threads: int

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> EvolveSettings:
        """Check the arguments of `evolve`, and replace None by what the profile or the problem says."""
        given = {f.name: arguments[f.name] for f in fields(cls)}
        problem = load(given["problem"]) if isinstance(given["problem"], str) else given["problem"]
        if not isinstance(problem, Problem):
            raise TypeError(f"problem must be the name of a problem or a Problem, got {shown(problem)}")
        for name, (minimum, maximum) in COUNTS.items():
            if given[name] is not None:
                given[name] = check_count(given[name], name, minimum, maximum)
        own = problem.settings
        defaults: dict[str, Any] = {"sampling": None, "check": "all", **vars(own)}
        if given["profile"] is not None:
            check_choice(given["profile"], "profile", get_args(Profile))
            defaults |= PROFILES[given["profile"]]
        for name in ("population", "variation", "steps", "instruction_set", "sampling", "check"):
            if given[name] is None:
                given[name] = defaults[name]
        given["sampling"] = check_case_sampling(given["sampling"])
        check_choice(given["check"], "check", get_args(Check))
        if given["generations"] is None and given["budget"] is None:
            if given["sampling"] is None:
                given["generations"] = defaults["generations"]
            else:
                n_cases = sum(source.n_train for source in problem.sources)
                given["budget"] = min(defaults["generations"] * given["population"] * n_cases, MAX_COUNT)
        resolve_method(given["method"])
        check_choice(given["default_weight"], "default_weight", get_args(DefaultWeight))
        check_type(given["variation"], "variation", Variation)
        check_instruction_set(given["instruction_set"])
        points = defaults.get("points", own.variation.max_points)
        settings = replace(own, steps=given["steps"], variation=replace(own.variation, max_points=points))
        given["problem"] = problem if settings == own else replace(problem, settings=settings)
        given["seed"] = _seed_number(given["seed"])
        given |= {name: check_flag(given[name], name) for name in ("partial", "record_samples")}
        given["initial"] = check_initial(given["initial"], given["population"], given["variation"].max_points)
        limit = math.inf if given["time_limit"] is None else check_number(given["time_limit"], "time_limit")
        if not limit >= 0:
            raise ValueError(f"time_limit must not be negative, got {shown(limit)}")
        given["time_limit"] = limit
        given["threads"] = usable_cores() if given["threads"] is None else check_threads(given["threads"])
        if given["partial"] and given["sampling"] is not None:
            raise ValueError("sampling must be None with partial=True, which chooses the cases itself")
        used = [set(pipeline) for pipeline, share in given["variation"].operators.items() if share > 0]
        if given["generations"] is None and all(operators == {"reproduction"} for operators in used):
            raise ValueError("generations must be given if variation only copies, got None: copies spend no budget")
        return cls(**given)

    @property
    def error_threshold(self) -> float:
        """Largest total error of a solution."""
        return self.problem.settings.error_threshold

    def generations_left(self, record: GenerationRecord) -> int:
        """How many generations can follow at most; with a budget, if they cost what the generations so far did."""
        left = [] if self.generations is None else [self.generations - record.generation]
        if self.budget is not None:
            unspent, mean = self.budget - record.executions_so_far, record.executions_so_far / (record.generation + 1)
            left.append(1 + math.ceil(unspent / max(mean, 1.0)))
        return max(min(*left, MAX_COUNT - record.generation), 0)

    @property
    def method_name(self) -> str:
        """The name of the method, for people."""
        name = self.method if isinstance(self.method, str) else stable_repr(self.method)
        sample = "" if self.sampling is None else f" on {format_sampling(self.sampling)}"
        return f"{'partial ' if self.partial else ''}{name}{sample}"

    def as_dict(self) -> dict[str, Any]:
        """All settings that the result depends on, as plain values."""
        recorded = (f.name for f in fields(self) if f.name not in ("initial", "time_limit", "threads"))
        return {name: getattr(self, name) for name in recorded} | {
            "problem": self.problem.name,
            "method": self.method if isinstance(self.method, str) else stable_repr(self.method),
            "sampling": format_sampling(self.sampling),
            "variation": self.variation.as_dict(),
            "error_threshold": self.error_threshold,
        }


def check_initial(initial: Any, population: int, max_points: int) -> tuple[Genome, ...]:
    """Genomes to start with, also if they are given as programs or their text."""
    if initial is None:
        return ()
    if isinstance(initial, str) or not isinstance(initial, Iterable):
        raise TypeError(f"initial must be a sequence of genomes or programs, got {shown(initial)}")
    genomes = []
    for i, item in enumerate(initial):
        if i == population:
            raise ValueError(
                f"initial must have at most {population} individuals, the size of the population, got more"
            )
        try:
            given = item if isinstance(item, Genome | Program) else Program(check_text(item, "program"))
            genome = given if isinstance(given, Genome) else Genome.from_program(given)
        except (TypeError, ValueError) as error:
            raise type(error)(f"initial[{i}]: {error}") from None
        if genome.translate(MAX_COUNT).points > max_points:
            raise ValueError(f"initial[{i}] must have at most {max_points} points, the limit of the variation")
        genomes.append(genome)
    return tuple(genomes)


def stable_repr(value: object) -> str:
    """The representation of an object without memory addresses, so that it is the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _seed_number(seed: Seed) -> int:
    """The seed as an integer that can be recorded; a 128-bit one is drawn from other kinds of seeds."""
    key = key_from_seed(seed)
    is_integer = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    return int(seed) if is_integer else key.k0 << 64 | key.k1  # type: ignore[arg-type]


_CLASSES: dict[str, type[DownSample | Cohorts | InformedDownSample]] = {
    **dict.fromkeys(("down", *get_args(DownSampleKind)[1:]), DownSample),
    "cohorts": Cohorts,
    "informed": InformedDownSample,
}
_PHYLOGENY = "phylogeny+"


def parse_sampling(text: str) -> CaseSampling | None:
    """Read a sampling that is written as ``name:size,setting=value``; None for ``none``.

    Names are ``down``, ``static``, ``disjoint``, ``rolling``, ``informed`` and ``cohorts``; ``phylogeny+`` before one
    of them adds estimates by ancestors. A size with a decimal point is a fraction of the cases.

    >>> parse_sampling("informed:0.1,every=100").every
    100
    >>> parse_sampling("phylogeny+cohorts:5,depth=8")
    PhylogenyInformed(sample=Cohorts(n_cohorts=5), depth=8)
    """
    if text == "none":
        return None
    first, *rest = text.removeprefix(_PHYLOGENY).split(",")
    name, colon, size = first.partition(":")
    if name not in _CLASSES:
        raise ValueError(f"sampling has the unknown name {shown(name)}{did_you_mean(name, _CLASSES)}")
    kind = _CLASSES[name]
    names = [f.name for f in fields(kind) if f.name != "kind"]
    known = names + ["depth"] * text.startswith(_PHYLOGENY)
    settings: dict[str, Any] = {names[0]: _value(size)} if colon else {}
    for entry in rest:
        setting, equals, value = entry.partition("=")
        if setting not in known or setting in settings or not equals:
            raise ValueError(f"sampling has the unknown or repeated setting {shown(entry)}; known: {', '.join(known)}")
        settings[setting] = _value(value)
    estimates = {"depth": settings.pop("depth")} if "depth" in settings else {}
    if kind is DownSample and name != "down":
        settings["kind"] = name
    sample = kind(**settings)
    return PhylogenyInformed(sample, **estimates) if text.startswith(_PHYLOGENY) else sample


def format_sampling(sampling: CaseSampling | None) -> str | None:
    """The text that `parse_sampling` reads, with every setting that is not the default.

    >>> format_sampling(DownSample(0.1, "static"))
    'static:0.1'
    """
    if sampling is None:
        return None
    if isinstance(sampling, PhylogenyInformed):
        return f"{_PHYLOGENY}{format_sampling(sampling.sample)},depth={sampling.depth}"
    name = next(name for name, kind in _CLASSES.items() if kind is type(sampling))
    if isinstance(sampling, DownSample) and sampling.kind != "random":
        name = sampling.kind
    first, *rest = (f for f in fields(sampling) if f.name != "kind")
    changed = [(f.name, getattr(sampling, f.name)) for f in rest if getattr(sampling, f.name) != f.default]
    return ",".join([f"{name}:{getattr(sampling, first.name)!r}", *(f"{key}={value}" for key, value in changed)])


def check_case_sampling(sampling: Any) -> CaseSampling | None:
    """A sampling of cases, also in its text form, or None."""
    if isinstance(sampling, str):
        return parse_sampling(sampling)
    if sampling is not None and not isinstance(sampling, CaseSampling):
        raise TypeError(
            "sampling must be DownSample, InformedDownSample, Cohorts, PhylogenyInformed, text such as 'down:0.1', "
            f"or None, got {shown(sampling)}"
        )
    if getattr(getattr(sampling, "sample", sampling), "per", "generation") == "event":
        raise ValueError(
            f'sampling must have per="generation" in a run, got {shown(sampling)}; '
            "a method may draw a sample per event, method=Lexicase(sampling=…)"
        )
    return sampling


def _value(text: str) -> float | int | str:
    """An integer, a fraction, or a word."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text
