"""Every Python snippet of the README and the guides runs, top to bottom, as a reader would paste it."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^(?P<indent> *)```python(?P<mark>[^\n]*)\n(?P<body>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)


class Snippet(NamedTuple):
    """A fenced block of Python and the line it starts on."""

    code: str
    line: int


def snippets(page: str) -> list[Snippet]:
    """The fenced Python blocks of a page, without those marked ``notest``."""
    found = []
    for match in FENCE.finditer(page):
        if "notest" in match["mark"]:
            continue
        code = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
        found.append(Snippet(code, page.count("\n", 0, match.start("body")) + 1))
    return found


def run(snippet: Snippet, path: Path, namespace: dict[str, Any]) -> None:
    """Run a snippet, as a session if it has prompts, with line numbers that point into the page."""
    if ">>>" in snippet.code:
        test = doctest.DocTestParser().get_doctest(snippet.code, namespace, path.name, str(path), snippet.line - 1)
        namespace.update(test.globs)
        test.globs = namespace
        doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
    else:
        exec(compile("\n" * (snippet.line - 1) + snippet.code, str(path), "exec"), namespace)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_snippets_of_a_page_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    if path.name == "torch.md":
        pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")
        pytest.importorskip("sklearn", reason="scikit-learn is not installed (the torch extra)")
    if path.name == "scaling.md":
        pytest.importorskip("ray", reason="Ray is not installed (the cluster extra)")
    namespace: dict[str, Any] = {"__name__": "snippet"}
    for snippet in snippets(path.read_text(encoding="utf-8")):
        run(snippet, path, namespace)


def test_a_wrong_snippet_is_noticed(tmp_path: Path) -> None:
    """Guards the two ways of running: a check that cannot fail would hide every stale snippet."""
    page = "```python\nx = 1\n```\n\n```python notest\nraise SystemExit\n```\n\n```python\n>>> x + 1\n3\n```\n"
    first, second = snippets(page)
    assert (first.line, second.line) == (2, 10)
    namespace: dict[str, Any] = {}
    run(first, tmp_path, namespace)
    with pytest.raises(doctest.DocTestFailure):
        run(second, tmp_path, namespace)
    with pytest.raises(NameError):
        run(first._replace(code="y"), tmp_path, namespace)
