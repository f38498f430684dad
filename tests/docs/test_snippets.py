"""Every snippet of the README and the guides runs, as a reader would paste it; every internal link leads somewhere."""

from __future__ import annotations

import doctest
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import flexicase

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


def test_the_cpp_snippet_compiles_and_runs(tmp_path: Path) -> None:
    library = ROOT / "build" / "venv" / "libflexicase_core.a"
    assert library.exists(), "run make venv, which builds the library"
    (code,) = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "docs" / "cpp.md").read_text(encoding="utf-8"), re.M | re.S)
    source, program = tmp_path / "snippet.cpp", tmp_path / "snippet"
    source.write_text(code, encoding="utf-8")
    options = ["-std=c++20", f"-I{ROOT / 'native' / 'include'}", "-pthread", "-o", str(program)]
    subprocess.run(["c++", *options, str(source), str(library)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    first, second, third = map(int, done.stdout.split())
    assert third == 0
    assert 600 < first < 730
    assert first + second == 1000


LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)")
LINKING = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "native" / "select" / "README.md"]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    titles = re.findall(r"^#+ +(.+?) *$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path) -> list[str]:
    """Links of a page to files or headings that do not exist."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        found = page.parent / name if name else page
        if not found.exists() or (anchor and anchor not in anchors(found)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", LINKING, ids=lambda path: str(path.relative_to(ROOT)))
def test_internal_links_and_anchors_exist(page: Path) -> None:
    assert broken_links(page) == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One, two\n[b](b.md) [c](#one-two) [d](#three) [e](a.md#one-two) [f](https://x)")
    assert broken_links(tmp_path / "a.md") == ["b.md", "#three"]


def test_every_public_name_is_in_the_api_reference() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    listed = re.findall(r"^\.\. auto(?:function|class|exception):: (\w+)$", pages, re.MULTILINE)
    assert sorted(listed) == sorted(flexicase.__all__)
