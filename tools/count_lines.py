"""Counts the code, docstring and comment lines and the modules of each part: ``python tools/count_lines.py [ROOT]``.

A line that holds code counts as code, whatever else it holds. Blank lines are not counted, except in docstrings.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SUITES = ("problems/suite/", "problems/psb1/", "problems/psb2/")
CPP_SUFFIXES = (".cpp", ".hpp", ".inl")
IGNORED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# String literals first, so that no comment begins inside one.
CPP_TOKEN = re.compile(
    r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\''
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)|\S",
    re.DOTALL,
)


class Lines(NamedTuple):
    """Numbers of lines.

    Attributes:
        code: Lines with code.
        docstrings: Lines of docstrings.
        comments: Lines with a comment and no code.
    """

    code: int = 0
    docstrings: int = 0
    comments: int = 0


def count_python(source: str) -> Lines:
    r"""Count the lines of a Python module.

    >>> count_python("'A docstring.'\n\nx = 1  # code\n# a comment\n")
    Lines(code=1, docstrings=1, comments=1)
    """
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings |= _span(node.body[0].lineno, node.body[0].end_lineno)
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in IGNORED and token.start[0] not in docstrings:
            code |= _span(token.start[0], token.end[0])
    return Lines(len(code), len(docstrings), len(comments - code - docstrings))


def count_cpp(source: str) -> Lines:
    r"""Count the lines of a C++ file.

    >>> count_cpp('int x = 1\'000;  // code\n\n/* a\n   comment */\nauto s = "// code";\n')
    Lines(code=2, docstrings=0, comments=2)
    """
    code: set[int] = set()
    comments: set[int] = set()
    line, position = 1, 0
    for match in CPP_TOKEN.finditer(source):
        line += source.count("\n", position, match.start())
        position = match.start()
        (comments if match["comment"] else code).update(_span(line, line + match[0].count("\n")))
    return Lines(len(code), 0, len(comments - code))


def _span(first: int, last: int | None) -> set[int]:
    return set(range(first, (first if last is None else last) + 1))


def count(paths: Iterable[Path]) -> Lines:
    """Count the lines of Python and C++ files together."""
    counted = [
        (count_cpp if path.suffix in CPP_SUFFIXES else count_python)(path.read_text(encoding="utf-8")) for path in paths
    ]
    return Lines(*(sum(column) for column in zip(*counted, strict=True)))


def main(root: Path) -> None:
    """Print the table and the numbers of modules."""
    native = sorted(path for path in (root / "native").rglob("*") if path.suffix in CPP_SUFFIXES)
    parts = {"src": sorted((root / "src").rglob("*.py"))}
    parts["native"] = native
    parts["native without tests"] = [path for path in native if "tests" not in path.relative_to(root).parts]
    for folder in ("tests", "benchmarks", "tools"):
        parts[folder] = sorted((root / folder).rglob("*.py"))
    print(f"{'part':22}{'files':>7}{'code':>8}{'docstrings':>12}{'comments':>10}")
    for name, paths in parts.items():
        code, docstrings, comments = count(paths)
        print(f"{name:22}{len(paths):7}{code:8}{docstrings:12}{comments:10}")
    outside = sum(not any(suite in path.as_posix() for suite in SUITES) for path in parts["src"])
    print(f"{len(parts['src'])} modules in src, {outside} outside problem suites")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
