"""Tables as text and as Markdown, and fragments of pages that scripts fill in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def text_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of equal width."""
    lines = [list(headers), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headers))]
    lines.insert(1, ["-" * w for w in widths])
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def markdown_table(headers: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """A table with figures to the right of ``names`` columns of names.

    >>> print(markdown_table(("method", "order", "parents"), [("lexicase", "uniform", "7")], names=2))
    | method | order | parents |
    | --- | --- | --: |
    | lexicase | uniform | 7 |
    """
    rule = ["---"] * names + ["--:"] * (len(headers) - names)
    return "\n".join("| " + " | ".join(line) + " |" for line in (headers, rule, *rows))


def replace_fragment(text: str, fragment: str, name: str = "benchmark") -> str:
    r"""Put a fragment between ``<!-- name:begin -->`` and ``<!-- name:end -->``.

    Raises:
        ValueError: The text lacks these marks, or has them in the wrong order.

    Example:
        >>> replace_fragment("x <!-- benchmark:begin -->old<!-- benchmark:end --> y", "new")
        'x <!-- benchmark:begin -->\nnew\n<!-- benchmark:end --> y'
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the text must have the marks {begin} and then {end}, and does not")
    return f"{head}{begin}\n{fragment}\n{end}{tail}"
