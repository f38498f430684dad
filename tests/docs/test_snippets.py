"""Every snippet of the README and the guides runs, as a reader would paste it; every internal link leads somewhere."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import flexicase
from flexicase.rng import Key

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


#: The pinned one of make venv.
CMAKE = str(Path(sys.executable).with_name("cmake"))


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Headers and library as CMake installs them. The library is that of make venv, so nothing is compiled again."""
    library = ROOT / "build" / "venv" / "libflexicase.a"
    assert library.exists(), "run make venv, which builds the library"
    build, prefix = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("prefix")
    subprocess.run([CMAKE, "-S", ROOT, "-B", build], check=True, capture_output=True)
    shutil.copy(library, build)
    subprocess.run([CMAKE, "--install", build, "--prefix", prefix], check=True, capture_output=True)
    return prefix


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_cpp_example_and_snippet_build_against_an_installed_library(
    compiler: str, prefix: Path, tmp_path: Path
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    page = (ROOT / "docs" / "cpp.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```cpp\n(.*?)^```", page, re.M | re.S)
    project = shutil.copytree(ROOT / "examples" / "cpp", tmp_path / "project")
    assert len((project / "main.cpp").read_text(encoding="utf-8").splitlines()) <= 60
    (project / "snippet.cpp").write_text(code, encoding="utf-8")
    with (project / "CMakeLists.txt").open("a", encoding="utf-8") as file:
        file.write("add_executable(snippet snippet.cpp)\ntarget_link_libraries(snippet PRIVATE flexicase::flexicase)\n")
    build = tmp_path / "build"
    settings = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_FLAGS=-Wall -Werror"]
    subprocess.run([CMAKE, "-S", project, "-B", build, *settings], check=True)
    subprocess.run([CMAKE, "--build", build, "-j", "2"], check=True)
    done = subprocess.run([build / "snippet"], capture_output=True, text=True, check=True)
    same = flexicase.select_indices([[0, 0, 9], [9, 9, 0], [3, 3, 3]], 1000, seed=Key(7, 0))
    assert [int(n) for n in done.stdout.split()] == [(same == i).sum() for i in range(3)]
    done = subprocess.run([build / "lexicase_example"], capture_output=True, text=True, check=True)
    assert [float(c) for c in done.stdout.split()] == pytest.approx([1, 0, -0.5, 0.25], abs=0.1)


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
