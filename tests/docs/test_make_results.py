"""The pages of results hold what the exports hold, whatever stood there before."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from tests.report.conftest import write_known_export

PROJECT = Path(__file__).resolve().parents[2]
PAGE = "# Results\n\nWords.\n\n<!-- known:begin -->\nold numbers\n<!-- known:end -->\n\nMore words.\n"
LIST = "<!-- studies:begin -->\n<!-- studies:end -->\n"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    path = PROJECT / "docs" / "make_results.py"
    spec = importlib.util.spec_from_file_location("make_results", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one study; its figures are files, but not drawn, which takes a second each."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda _, path, **options: path.touch())
    write_known_export(tmp_path / "results" / "known")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "results.md").write_text(PAGE)
    (tmp_path / "docs" / "gp.md").write_text("# Genetic programming\n")
    (tmp_path / "results" / "README.md").write_text(LIST)
    return tmp_path


@pytest.mark.slow
def test_a_section_of_a_study_goes_where_its_marks_are(script: ModuleType, root: Path) -> None:
    (root / "docs" / "gp.md").write_text(PAGE.replace("known:", "known-successes:"))
    script.refresh(root)
    page = (root / "docs" / "gp.md").read_text()
    assert "48 of 54 runs so far" in page
    assert page.count("**Successful runs.**") == page.count("**") // 2 == 1
    assert "48 of 54 runs so far" in (root / "docs" / "results.md").read_text()


@pytest.mark.slow
def test_numbers_verdicts_and_figures_are_made_anew(script: ModuleType, root: Path) -> None:
    stale = root / "docs" / "images" / "results" / "known" / "stale.png"
    stale.parent.mkdir(parents=True)
    stale.touch()
    script.refresh(root)
    page = (root / "docs" / "results.md").read_text()
    script.refresh(root)
    assert (root / "docs" / "results.md").read_text() == page  # again, and nothing changes
    assert page.startswith("# Results\n\nWords.\n")
    assert page.endswith("More words.\n")
    assert "old numbers" not in page
    assert "48 of 54 runs so far; population 10, generations 6." in page
    first = page.index("*Mirror Image*"), page.index("*Last Index of Zero*")
    assert "| Lexicase | 6/8 | 0.41–0.93 |  |  |  |  |  |\n" in page[slice(*first)]
    assert "| Ranked – Num-Nonzeros | 0/8 | 0.00–0.32 | -75\N{NO-BREAK SPACE}(" in page[slice(*first)]
    assert "| No method solves significantly more runs than lexicase. | not testable here |" in page
    assert "images/results/known/evaluations-mirror-image-linear.png" in page
    assert sorted(path.name for path in stale.parent.iterdir()) == [
        "evaluations-last-index-of-zero-linear.png",
        "evaluations-mirror-image-linear.png",
    ]
    tables = root / "results" / "known" / "tables"
    assert (tables / "evaluations.csv").read_text().startswith("problem,method,count,generation,mean,low,high,active\n")
    assert (
        "| `known` | programs: Mirror Image, Last Index of Zero | 48 of 54 |"
        in (root / "results" / "README.md").read_text()
    )


@pytest.mark.slow
def test_a_study_without_a_place_on_the_page_is_named(script: ModuleType, root: Path) -> None:
    (root / "docs" / "results.md").write_text("# Results\n")
    with pytest.raises(ValueError, match="<!-- known:begin -->"):
        script.refresh(root)


@pytest.mark.slow
def test_every_study_of_the_project_has_its_place() -> None:
    folders = {path.parent.name for path in (PROJECT / "results").glob("*/manifest.json")}
    assert folders
    pages = [(PROJECT / "docs" / name).read_text(encoding="utf-8") for name in ("results.md", "image-results.md")]
    assert {f for f in folders if f"<!-- {f}:begin -->" in pages[0] or f"<!-- {f} " in pages[1]} == folders


@pytest.mark.slow
def test_the_page_of_what_the_idea_is_good_for_says_what_the_results_say(script: ModuleType, tmp_path: Path) -> None:
    """Not so? Run ``make results``."""
    page = PROJECT / "docs" / "good-for.md"
    (tmp_path / "docs").mkdir()
    stale = page.read_text(encoding="utf-8").replace("97–100 %", "50 %")
    (tmp_path / "docs" / "good-for.md").write_text(stale, encoding="utf-8")
    studies = [script.read_results(manifest.parent) for manifest in (PROJECT / "results").glob("*/manifest.json")]
    files = script.fill_page(studies, tmp_path)
    assert len(files) == 4
    assert (tmp_path / "docs" / "good-for.md").read_text(encoding="utf-8") == page.read_text(encoding="utf-8") != stale


@pytest.fixture
def image_results():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (the report extra)")
    spec = importlib.util.spec_from_file_location("image_results", PROJECT / "docs" / "image_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_results(image_results):
    """Not so? Run ``python docs/image_results.py``."""
    page = image_results.PAGE.read_text(encoding="utf-8")
    assert len(image_results.BLOCK.findall(page)) >= 3
    assert image_results.filled(page) == page


def test_a_stale_table_is_noticed(image_results):
    page = image_results.PAGE.read_text(encoding="utf-8")
    assert image_results.filled(page.replace("| Gradient Lexicase |", "| Plain |", 1)) == page
