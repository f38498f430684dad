"""The study file: problems × methods × variants × seeds in TOML, and the runs that follow from it."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, ValidationInfo, field_validator

from flexicase._checks import MAX_COUNT, did_you_mean, shown
from flexicase.experiments.jobs import RunSpec, load_job
from flexicase.problems import Suite, names

MAX_NAME = 200
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
BASE_VARIANT = "base"
FILE_NAME = r"^[a-z0-9][a-z0-9._-]*$"
MAX_RUNS = 100_000
MAX_MESSAGES = 5
ID_DIGITS = 16


class SpecError(ValueError):
    """A study file is not valid; the message names the key and the reason."""


class StudySpec(BaseModel):
    """A study.

    Attributes:
        name: Its name and the name of its folder.
        description: A line for readers; changing it does not change the study.
        kind: The kind of runs: a known name (``"gp"``), or ``"package.module:Class"`` of your own job.
        problems: Names of problems; those of the suite if left out.
        suite: A benchmark suite, ``"psb1"`` or ``"psb2"``, instead of ``problems``.
        exclude: Problems of the suite that are not run.
        methods: Names of selection methods, or tables with ``method`` and settings of that method's runs.
        seeds: The seeds, or their number, counted from 0.
        settings: Settings of every run, with the defaults of the kind.
        variants: For each variant by name, the settings that differ from ``settings``.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str = Field(pattern=FILE_NAME, max_length=MAX_NAME)
    description: str = ""
    kind: str = Field(default="gp", max_length=MAX_NAME)
    suite: Suite | None = None
    exclude: list[Name] = []
    problems: list[Name] = Field(default=[], validate_default=True)
    methods: Annotated[list[Name | dict[str, Any]], Field(min_length=1)]
    seeds: Annotated[list[Seed], Field(min_length=1)]
    settings: dict[str, Any] = {}
    variants: dict[Annotated[str, Field(pattern=FILE_NAME, max_length=MAX_NAME)], dict[str, Any]] = {}
    _text: str = PrivateAttr(default="")

    @property
    def text(self) -> str:
        """The TOML text of the study."""
        return self._text

    @field_validator("exclude")
    @classmethod
    def _in_suite(cls, exclude: list[str], info: ValidationInfo) -> list[str]:
        known = names(info.data["suite"]) if info.data.get("suite") else []
        for name in exclude:
            if name not in known:
                raise ValueError(f"should be problems of the suite{did_you_mean(name, known) if known else ''}")
        return exclude

    @field_validator("problems")
    @classmethod
    def _of_suite(cls, problems: list[str], info: ValidationInfo) -> list[str]:
        suite, exclude = info.data.get("suite"), info.data.get("exclude", [])
        found = [name for name in names(suite) if name not in exclude] if suite else problems
        if "suite" in info.data and (not found or (suite and problems)):
            raise ValueError("should be a list of problems, or left out for the problems of a suite")
        return found

    @field_validator("seeds", mode="before")
    @classmethod
    def _count_of_seeds(cls, seeds: Any) -> Any:
        if not isinstance(seeds, int) or isinstance(seeds, bool):
            return seeds
        if not 1 <= seeds <= MAX_RUNS:
            raise ValueError(f"should be at least 1 and at most {MAX_RUNS}")
        return list(range(seeds))

    @field_validator("methods")
    @classmethod
    def _with_names(cls, methods: list[Any]) -> list[Any]:
        for entry in methods:
            name = entry.get("method") if isinstance(entry, dict) else entry
            if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME:
                raise ValueError("a table must have a 'method', the name of the method")
        return methods

    @field_validator("problems", "exclude", "methods", "seeds")
    @classmethod
    def _without_repetition(cls, values: list[Any]) -> list[Any]:
        for value, times in Counter(map(repr, values)).items():
            if times > 1:
                raise ValueError(f"duplicate value {value:.80}")
        return values

    def method_settings(self) -> list[tuple[str, dict[str, Any]]]:
        """The names and the settings of the entries of ``methods``."""
        entries = ({"method": entry} if isinstance(entry, str) else dict(entry) for entry in self.methods)
        return [(entry.pop("method"), entry) for entry in entries]

    def settings_of(self, variant: str) -> dict[str, Any]:
        """The settings of a variant's runs, without those of their method."""
        return {**self.settings, **self.variants.get(variant, {})}

    def variant_names(self) -> list[str]:
        """The names of the variants; ``["base"]`` if the study has none."""
        return list(self.variants) or [BASE_VARIANT]

    def content(self) -> dict[str, Any]:
        """Everything that decides the runs: two studies are the same if this is equal."""
        return self.model_dump(exclude={"description", "suite", "exclude"})


def load_spec(path: str | Path, *, allow_code: bool = False) -> StudySpec:
    """Read and check a study file.

    Args:
        path: A TOML file.
        allow_code: Import the class that the study's ``kind`` names, which runs its code.

    Raises:
        OSError: The file cannot be read.
        SpecError: It is not a valid study.

    Example:
        >>> from flexicase.experiments import load_spec, preset_path
        >>> load_spec(preset_path("gp", "paper")).settings["population"]
        1000
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from error
    except ValueError as error:
        raise SpecError(f"path must be the name of a file, got {str(path)!r:.80}: {error}") from error
    return parse_spec(text, str(path), allow_code=allow_code)


def parse_spec(text: str, name: str = "study", *, allow_code: bool = False) -> StudySpec:
    r"""Check a study and complete its settings with the defaults of its kind.

    Args:
        text: The study as TOML.
        name: Its name in messages.
        allow_code: Import the class that the study's ``kind`` names, which runs its code.

    Raises:
        SpecError: It is not a valid study.

    Example:
        >>> from flexicase.experiments import parse_spec
        >>> parse_spec('name = "t"\nproblems = ["digits"]\nmethods = ["lexicase"]\nseeds = 2\nkinds = "gp"')
        Traceback (most recent call last):
        ...
        flexicase.experiments.spec.SpecError: study: unknown key 'kinds'; did you mean 'kind'?
    """
    spec = read_spec(text, name)
    try:
        job = load_job(spec.kind, allow_code=allow_code)
    except ValueError as error:
        raise SpecError(f"{name}: kind: {error}") from error
    settings = _checked_settings(job.settings, spec.settings, f"{name}: settings")
    variants = {}
    for variant, changes in spec.variants.items():
        full = _checked_settings(job.settings, {**spec.settings, **changes}, f"{name}: variants.{variant}")
        variants[variant] = {key: value for key, value in full.items() if settings.get(key) != value}
    runs = len(spec.problems) * len(spec.methods) * len(spec.seeds) * len(spec.variant_names())
    if runs > MAX_RUNS:
        raise SpecError(f"{name}: expected at most {MAX_RUNS} runs, got {runs}")
    for method, own in spec.method_settings():
        for variant in spec.variant_names():
            _checked_settings(job.settings, {**spec.settings_of(variant), **own}, f"{name}: methods: {method}")
        for problem in spec.problems:
            try:
                job.check(problem, method)
            except (ValueError, TypeError) as error:
                raise SpecError(f"{name}: {error}") from error
    return spec.model_copy(update={"settings": settings, "variants": variants})


def read_spec(text: str, name: str = "study") -> StudySpec:
    """Read a study as it is written, without checking problems, methods and settings."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise SpecError(f"{name}: not valid TOML: {reason:.300}") from error
    try:
        spec = StudySpec.model_validate(raw)
    except ValidationError as error:
        raise SpecError(f"{name}: {'; '.join(_messages(error, StudySpec))}") from error
    spec._text = text
    return spec


def _checked_settings(model: type[BaseModel], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    try:
        complete = model.model_validate(given, strict=True).model_dump(exclude_none=True)
        settings: dict[str, Any] = json.loads(json.dumps(complete, allow_nan=False))  # as the ledger returns them
    except ValidationError as error:
        raise SpecError(f"{where}: {'; '.join(_messages(error, model))}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise SpecError(f"{where}: values must fit into JSON: {error}") from error
    for key, value in _flat(settings):
        if isinstance(value, int) and abs(value) > MAX_COUNT:
            raise SpecError(f"{where}: {key}: should be an integer of at most 64 bits, got {shown(value)}")
    return settings


def _messages(error: ValidationError, model: type[BaseModel]) -> Iterator[str]:
    """A message for each of the first errors: the key, the expected value, the one found."""
    details = error.errors(include_url=False, include_context=False)
    for detail in details[:MAX_MESSAGES]:
        key = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            yield f"unknown key {key!r:.80}{did_you_mean(str(detail['loc'][-1]), model.model_fields)}"
        elif detail["type"] == "missing":
            yield f"{key!r} is missing"
        else:
            message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
            yield f"{key}: {message[:1].lower()}{message[1:]}, got {shown(detail['input'])}"
    if len(details) > MAX_MESSAGES:
        yield f"and {len(details) - MAX_MESSAGES} more"


def diff_specs(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Differences of two studies' contents, one line per key: ``"settings.population: 1000 -> 500"``."""
    flat_before, flat_after = dict(_flat(before)), dict(_flat(after))
    return [
        f"{key}: {flat_before.get(key, 'nothing')} -> {flat_after.get(key, 'nothing')}"
        for key in flat_before | flat_after
        if flat_before.get(key) != flat_after.get(key)
    ]


def _flat(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def plan(spec: StudySpec) -> list[RunSpec]:
    r"""List all runs of a study, seed by seed, so that the first results cover all problems and methods evenly.

    >>> spec = parse_spec('name = "t"\nproblems = ["mirror-image"]\nmethods = ["lexicase", "random"]\nseeds = 2')
    >>> [(task.seed, task.method) for task in plan(spec)]
    [(0, 'lexicase'), (0, 'random'), (1, 'lexicase'), (1, 'random')]
    """
    tasks = [
        RunSpec(
            id=run_id(spec.kind, problem, method, seed, settings := {**spec.settings_of(variant), **own}),
            kind=spec.kind,
            problem=problem,
            method=method,
            variant=_variant_name(variant, own),
            seed=seed,
            settings=settings,
        )
        for seed in spec.seeds
        for problem in spec.problems
        for method, own in spec.method_settings()
        for variant in spec.variant_names()
    ]
    seen: dict[str, RunSpec] = {}
    for task in tasks:
        twin = seen.setdefault(task.id, task)
        if twin is not task:
            raise SpecError(f"variants {twin.variant!r} and {task.variant!r} of {task.method} have the same settings")
    return tasks


def _variant_name(variant: str, own: Mapping[str, Any]) -> str:
    """The name of a variant followed by the settings of the method, such as ``"default_weight=max"``."""
    words = [f"{key}={value}" for key, value in own.items()]
    return " ".join(words if variant == BASE_VARIANT and words else [variant, *words])


def split_variant(variant: str) -> tuple[str, str]:
    """Split the variant of a run into the study's variant and the settings of the method, as text."""
    words = variant.split(" ")
    named = [word for word in words if "=" not in word]
    return " ".join(named) or BASE_VARIANT, " ".join(word for word in words if "=" in word)


def run_id(kind: str, problem: str, method: str, seed: int, settings: dict[str, Any]) -> str:
    """The id of a run: a hash of everything that its outcome depends on, except the version of flexicase."""
    content = {"kind": kind, "problem": problem, "method": method, "seed": seed, "settings": settings}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:ID_DIGITS]
