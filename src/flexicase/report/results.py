"""The results of a study, as exported: one line per run, one row per generation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from flexicase.exported import IDENTITY, NOT_COUNTED, SPEC, parse_toml, read_runs
from flexicase.tables import locate


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        id: Its id.
        problem: The problem.
        method: The selection method.
        variant: Which variant of the study it belongs to; empty if there is one only.
        seed: Its seed.
        facts: What is known of the whole run, such as ``success``.
        columns: Its rows: one (generations,) array for each column, times included; without what it did not count.
        made_by: Version, machine and command that made it.
    """

    id: str
    problem: str
    method: str
    variant: str
    seed: int
    facts: dict[str, Any]
    columns: dict[str, NDArray[Any]]
    made_by: dict[str, Any]

    @property
    def success(self) -> bool:
        """Whether the run reached its goal."""
        return bool(self.facts["success"])

    @property
    def generations(self) -> int:
        """Its rows: generations that were evaluated."""
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class Results:
    """The finished runs of a study.

    Attributes:
        name: The study's name.
        spec: Its TOML text.
        settings: The settings that it gives.
        planned: How many runs it has, finished or not.
        runs: The finished ones, in the order of the plan.
    """

    name: str
    spec: str
    settings: dict[str, Any]
    planned: int
    runs: tuple[Run, ...]

    @property
    def kind(self) -> str:
        """What its runs are: ``"gp"``, ``"image"``, or the place of a class of one's own."""
        return str(parse_toml(self.spec).get("kind", "gp"))

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems, in the order of the plan."""
        return tuple(dict.fromkeys(run.problem for run in self.runs))

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants, in the order of the plan."""
        return tuple(dict.fromkeys(run.variant for run in self.runs))

    def settings_of(self, variant: str) -> dict[str, Any]:
        """The settings of a variant's runs, as far as the study gives them."""
        return {**self.settings, **parse_toml(self.spec).get("variants", {}).get(variant, {})}

    def methods(self, problem: str) -> tuple[str, ...]:
        """The methods used on a problem, in the order of the plan."""
        return tuple(dict.fromkeys(run.method for run in self.runs if run.problem == problem))

    def origin(self) -> dict[str, str]:
        """What made the runs: all versions, machines and commands."""

        def distinct(key: str) -> str:
            return ", ".join(sorted({str(run.made_by.get(key) or "unknown") for run in self.runs}))

        return {"versions": distinct("version"), "machines": distinct("machine"), "commands": distinct("command")}

    def of(self, problem: str, method: str) -> list[Run]:
        """The runs of a method on a problem."""
        return [run for run in self.runs if run.problem == problem and run.method == method]


def read_results(folder: Path) -> Results:
    """Read what ``flexicase export`` wrote.

    Args:
        folder: The export.

    Raises:
        FileNotFoundError: There is none.
        ValueError: A file is damaged, or it holds no finished run.
    """
    exported = read_runs(folder)
    if not exported.rows:
        raise ValueError(f"{folder}: no run of this study is finished yet")
    try:
        spec = locate(folder, SPEC).read_text(encoding="utf-8")
        content = parse_toml(spec)
    except ValueError as error:
        raise ValueError(f"{folder / SPEC} cannot be read: {error}") from error
    name, settings, variants = (
        content.get("name", folder.name),
        content.get("settings", {}),
        content.get("variants", {}),
    )
    if not isinstance(name, str):
        raise ValueError(f"{folder / SPEC}: name must be a string, got {name!r:.80}")
    for key, value in (("settings", settings), ("variants", variants), *_items(variants)):
        if not isinstance(value, dict):
            raise ValueError(f"{folder / SPEC}: {key} must be a table, got {value!r:.80}")
    runs = tuple(
        _run(line, exported.rows[line["id"]], exported.circumstances[line["id"]])
        for line in exported.lines
        if line["id"] in exported.rows
    )
    results = Results(name, spec, settings, len(exported.lines), runs)
    return _variants_apart(_only_counted(results) if results.kind == "gp" else results)


def _items(variants: Any) -> list[tuple[str, Any]]:
    items = variants.items() if isinstance(variants, dict) else ()
    return [(f"variants.{name}", value) for name, value in items]


def _only_counted(results: Results) -> Results:
    """The study, each run without the columns of what its method does not count."""

    def counted(values: NDArray[Any]) -> bool:
        return values.dtype.kind != "i" or not bool((values == NOT_COUNTED).any())

    runs = (
        replace(run, columns={name: values for name, values in run.columns.items() if counted(values)})
        for run in results.runs
    )
    return replace(results, runs=tuple(runs))


def _variants_apart(results: Results) -> Results:
    """Methods are compared under the same settings: each variant is a problem of its own.

    Only where variants evaluate partially they are what is compared.
    """
    variants = parse_toml(results.spec).get("variants", {})
    if not variants or any(results.settings_of(name).get("partial") for name in variants):
        return results
    runs = (replace(run, problem=f"{run.problem}-{run.variant}", variant="") for run in results.runs)
    return replace(results, runs=tuple(runs))


def _run(line: dict[str, Any], columns: dict[str, NDArray[Any]], made_by: dict[str, Any]) -> Run:
    keys = ("id", "problem", "method", "variant", "seed")
    facts = {key: value for key, value in line.items() if key not in IDENTITY}
    identity: dict[str, Any] = {key: line[key] for key in keys}
    return Run(**identity, facts=facts, columns=columns, made_by=made_by)
