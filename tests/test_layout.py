"""The map in CONTRIBUTING is true, every public name is defined once, and `make` sets up what it says."""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import flexicase
import set_up
from flexicase.cli import app

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "flexicase"
ROW = re.compile(r"^\| [^|]+ \| `(\w+)` \| `([\w./]+)` \|$", re.M)
#: Packages whose `__all__` is the public API, beside that of `flexicase` itself.
ADAPTERS = ("deap", "geneticengine", "gepa", "leap_ec", "pygad", "pymoo")
PACKAGES = (
    *(f"adapters.{name}" for name in ADAPTERS),
    "data",
    "evaluation",
    "experiments",
    "gp",
    "plot",
    "problems",
    "push",
    "report",
    "torch",
)


@cache
def defined(path: Path) -> set[str]:
    """The names that a module defines at its top level, imports left out."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return names


def concepts() -> list[tuple[str, str]]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return ROW.findall(text.partition("<!-- concepts -->")[2].partition("<!-- /concepts -->")[0])


def public_names() -> dict[str, set[str]]:
    """The public names of each package."""
    found = {"flexicase": set(flexicase.__all__)}
    for name in PACKAGES:
        module = importlib.import_module(f"flexicase.{name}")
        found[name] = set(getattr(module, "__all__", ()))
    return found


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py"))


def test_the_map_names_at_least_25_concepts_and_where_they_are_defined() -> None:
    assert len(concepts()) >= 25
    for name, path in concepts():
        assert name in defined(ROOT / path), f"{path} does not define {name}"


def test_a_public_name_is_defined_in_one_module() -> None:
    for package, names in public_names().items():
        folder = SOURCE if package == "flexicase" else SOURCE / package.split(".")[0]
        commands = SOURCE / "cli"
        for name in names - {"__version__"}:
            where = [path for path in folder.rglob("*.py") if name in defined(path) and commands not in path.parents]
            assert len(where) <= 1, f"{package}.{name} is defined in {where}"


def test_a_module_without_a_public_name_has_an_underscore() -> None:
    public = set().union(*public_names().values())
    commands = SOURCE / "cli"
    hidden = [
        path.relative_to(SOURCE)
        for path in modules()
        if not path.name.startswith("_") and path.parent != commands and path.parent.name not in ("psb1", "psb2")
        if path.stem not in public and not defined(path) & public
    ]
    assert hidden == []


def test_modules_are_of_readable_size() -> None:
    assert [path.name for path in modules() if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []
    folders = {path.parent for path in modules()} - {SOURCE / "problems" / "psb1", SOURCE / "problems" / "psb2"}
    assert [folder.name for folder in folders if len(list(folder.glob("*.py"))) > 21] == []


def test_make_calls_commands_with_options_that_exist() -> None:
    commands = re.findall(r"flexicase ((?:reproduce|demo)\b[^\n]*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        done = CliRunner().invoke(app, [*command.split(), "--help"])  # an unknown option comes before --help
        assert done.exit_code == 0, done.output


def test_set_up_shows_what_is_built() -> None:
    core = "[12/61] Building CXX object CMakeFiles/flexicase_core.dir/native/push/float.cpp.o"
    assert set_up.built_file(core) == "Building 12/61 native/push/float.cpp"
    assert set_up.built_file("[61/61] Linking CXX shared module _native.so") == "Linking 61/61 _native.so"
    assert set_up.built_file("-- Configuring done") is None


def test_set_up_installs_for_the_demo_no_torch_and_no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    wanted = set_up.names(set_up.requirements(set_up.EXTRAS["package"])).split(", ")
    assert {"numpy", "typer", "rich", "matplotlib", "pyarrow"} <= set(wanted)
    assert not {"torch", "ray", "pytest"} & set(wanted)
    assert {"torch", "ray", "pytest"} <= set(set_up.names(set_up.requirements(set_up.EXTRAS["complete"])).split(", "))


@pytest.mark.parametrize(
    ("choice", "served", "left_out"),
    [("", [], False), ("", ["nvidia-cudnn"], True), ("cuda", ["nvidia-cudnn"], False), ("none", [], True)],
)
def test_the_cuda_build_of_torch_is_installed_only_if_asked_for(
    choice: str, served: list[str], left_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("TORCH", choice)
    monkeypatch.setattr(set_up, "cuda_packages", lambda: iter(served))
    message = set_up.without_torch()
    assert (message is not None) == left_out
    if served and left_out:
        assert message is not None
        assert "TORCH=cuda" in message
        assert "torch==" in message


def test_cuda_packages_are_recognised_in_the_report_of_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    def pip_writes_a_report(command: list[str], *_: object) -> str:
        entries = [{"metadata": {"name": name}} for name in ("torch", "nvidia-cublas", "sympy", "triton")]
        Path(command[command.index("--report") + 1]).write_text(json.dumps({"install": entries}), encoding="utf-8")
        assert "--dry-run" in command  # nothing may be installed by asking
        return ""

    monkeypatch.setattr(set_up, "run", pip_writes_a_report)
    assert list(set_up.cuda_packages()) == ["nvidia-cublas", "triton"]


def test_set_up_that_fails_shows_the_output() -> None:
    with pytest.raises(set_up.CommandError, match=r"testing failed:\nbroken"):
        set_up.run([sys.executable, "-c", "print('broken'); raise SystemExit(3)"], "testing")


@pytest.mark.slow
def test_set_up_is_never_silent_for_long(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(set_up, "SECONDS_OF_SILENCE", 0.2)
    set_up.run([sys.executable, "-c", "import time; time.sleep(1)"], "sleeping")
    assert capsys.readouterr().out.count("  sleeping (") >= 2


def test_the_version_is_the_same_everywhere() -> None:
    """The package defines it; the build reads it from there."""
    assert f"\nversion: {flexicase.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert "\nversion =" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[tool", 1)[0]
