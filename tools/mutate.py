"""Change the package at random places and see whether the tests notice: ``python tools/mutate.py --count 30 --seed 1``.

Each mutant changes one operator, comparison, number or condition of a function under ``src/flexicase``. The tests that
mirror the module run first, the whole suite only for a mutant that survives them. Mutants run in a copy of the sources,
in which the whole suite must pass without a mutant.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flexicase import _native

ROOT = Path(__file__).resolve().parents[1]
COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
COMPARISONS |= {ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}
OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*", ast.Pow: "*"}
SECONDS = 3600
#: The finder of an editable installation would import the original instead of the copy.
SITE = "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__]\n"


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes:
        path: The module, relative to the root.
        line: Where.
        start: First character to replace, counted from the start of the file.
        end: Character after the last one.
        text: What to put there.
    """

    path: Path
    line: int
    start: int
    end: int
    text: str


def mutants(path: Path) -> list[Mutant]:
    """Every mutant of a module."""
    source = path.read_text(encoding="utf-8")
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row.encode()))
    data = source.encode()
    found: list[Mutant] = []

    def place(row: int, column: int) -> int:
        return starts[row - 1] + column

    def add(node: ast.expr, start: int, end: int, text: str) -> None:
        found.append(Mutant(path.relative_to(ROOT), node.lineno, start, end, text))

    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
                left, right = node.left, node.comparators[0]
                start = place(left.end_lineno or 0, left.end_col_offset or 0)
                end = place(right.lineno, right.col_offset)
                if b"(" not in data[start:end] and b")" not in data[start:end]:
                    add(node, start, end, f" {COMPARISONS[type(node.ops[0])]} ")
            elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
                start = place(node.left.end_lineno or 0, node.left.end_col_offset or 0)
                end = place(node.right.lineno, node.right.col_offset)
                if b"(" not in data[start:end] and b")" not in data[start:end]:
                    add(node, start, end, f" {OPERATORS[type(node.op)]} ")
            elif isinstance(node, ast.Constant) and isinstance(node.value, int):
                start, end = place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0)
                text = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
                add(node, start, end, text)
            elif isinstance(node, ast.If | ast.While | ast.IfExp):
                test = node.test
                start, end = place(test.lineno, test.col_offset), place(test.end_lineno or 0, test.end_col_offset or 0)
                add(test, start, end, f"not ({data[start:end].decode()})")
    return found


def tests_of(module: Path) -> list[str]:
    """The tests that mirror a module: its own file, else its folder's file, else the folder."""
    parts = module.relative_to("src/flexicase").with_suffix("").parts
    folder = Path("tests", *parts[:-1])
    for path in (folder / f"test_{parts[-1].lstrip('_')}.py", folder.with_name(f"test_{folder.name}.py"), folder):
        if path != Path("tests") and (ROOT / path).exists():
            return [str(path)]
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").glob("test_*.py"))


def copy_sources(folder: str) -> Path:
    """Copy the sources, with the native code that was built of them."""
    copy = Path(folder) / "flexicase"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "build", "_build", "__pycache__"))
    (copy / "build").symlink_to(ROOT / "build")
    shutil.copy(_native.__file__, copy / "src" / "flexicase")
    (copy / "sitecustomize.py").write_text(SITE)
    return copy


@cache
def check_suite() -> None:
    """Stop if the whole suite fails without a mutant: it would seem to catch everything."""
    with tempfile.TemporaryDirectory() as folder:
        if notices(copy_sources(folder), ["tests"]):
            raise SystemExit("the whole suite fails without a mutant")


def notices(copy: Path, tests: list[str]) -> bool:
    """Whether any of the tests fails in the copy."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "-p", "no:cacheprovider", *tests]
    path = os.pathsep.join([str(copy / "src"), str(copy)])
    try:
        done = subprocess.run(
            command, cwd=copy, env={**os.environ, "PYTHONPATH": path}, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode == 5:
        raise SystemExit(f"no tests: {' '.join(command)}")
    return done.returncode != 0


def main() -> None:
    """Try the mutants and print which survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--own-only", action="store_true", help="do not run the whole suite for survivors")
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    options = parser.parse_args()
    every = [m for path in sorted((ROOT / "src" / "flexicase").rglob("*.py")) for m in mutants(path)]
    chosen = random.Random(options.seed).sample(every, options.count)
    survivors = 0
    for number, mutant in enumerate(chosen, 1):
        data = (ROOT / mutant.path).read_bytes()
        changed = data[: mutant.start] + mutant.text.encode() + data[mutant.end :]
        row = changed.decode().splitlines()[mutant.line - 1].strip()
        print(f"{number:2} {mutant.path}:{mutant.line}: {row}", end="", flush=True)
        if options.list:
            print()
            continue
        with tempfile.TemporaryDirectory() as folder:
            copy = copy_sources(folder)
            (copy / mutant.path).write_bytes(changed)
            noticed = "own tests" if notices(copy, tests_of(mutant.path)) else ""
            if not noticed and not options.own_only:
                check_suite()
                noticed = "whole suite" if notices(copy, ["tests"]) else ""
        survivors += not noticed
        print(f"  -> {'caught by the ' + noticed if noticed else 'SURVIVED'}", flush=True)
    if not options.list:
        print(f"{options.count - survivors} of {options.count} caught")


if __name__ == "__main__":
    main()
