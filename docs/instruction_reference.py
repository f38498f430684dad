"""Sphinx extension that builds the instruction reference from the instruction table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from flexicase.push import Instruction, instruction_table
from flexicase.push.instructions import STACKS, descriptions

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: The line of the page that the tables replace.
MARK = "<!-- instruction tables -->"
_PAGE = "instructions"
_TITLES = {
    "print": "Printing",
    "tag": "Tags by number",
    "random": "Random values",
    "parentheses": "Parentheses of genomes",
    "file": "Reading a text",
    "output": "Output slots",
}
_HEAD = "| name | takes | gives | what it does | blocks | lists |\n|---|---|---|---|---|---|"


def _section(row: Instruction) -> str:
    for special in ("tag", "random", "parentheses"):
        if special in row.stacks:
            return special
    return next((stack for stack in reversed(STACKS) if row.name.startswith(stack + "_")), row.name.partition("_")[0])


def _items(stacks: tuple[str, ...]) -> str:
    return ", ".join(f"`{stack}`" if n == 1 else f"{n} `{stack}`" for stack, n in Counter(stacks).items()) or "–"


def _line(row: Instruction) -> str:
    blocks, lists = row.blocks or "–", ", ".join(row.instruction_sets) or "–"
    cells = f"`{row.name}` | {_items(row.takes)} | {_items(row.gives)} | {row.description} | {blocks} | {lists}"
    return f"| {cells} |"


def tables() -> str:
    """A Markdown table of each stack's native instructions, with a heading above it."""
    sections: dict[str, list[Instruction]] = {name: [] for name in (*STACKS, *_TITLES)}
    for name in descriptions():
        row = instruction_table()[name]
        sections[_section(row)].append(row)
    parts = []
    for name, rows in sections.items():
        lines = (_line(row) for row in sorted(rows, key=lambda row: row.name))
        parts.append("\n".join([f"## {_TITLES.get(name, name)}", "", _HEAD, *lines]))
    return "\n\n".join(parts)


def _insert(_: Sphinx, page: str, source: list[str]) -> None:
    if page == _PAGE:
        if MARK not in source[0]:
            raise ValueError(f"{page}.md must hold the line {MARK}")
        source[0] = source[0].replace(MARK, tables())


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True}
