"""The README's Python runs when pasted, from top to bottom."""

import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.slow
def test_snippets_run_in_one_namespace_and_print_what_they_say(capsys):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(snippets) >= 4
    namespace: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), namespace)
    assert "[1] [13] [2]\n" in capsys.readouterr().out
    ten = namespace["fx"].select(namespace["ten"], 1, namespace["in_order"])
    np.testing.assert_array_equal(ten.evaluations_distinct, [5])


def test_files_that_the_readme_links_to_exist():
    links = re.findall(r"\]\(([\w/.-]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []


def test_benchmark_markers_stand_once_and_in_order():
    text = (README.parent / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert text.count("<!-- benchmark:begin -->") == text.count("<!-- benchmark:end -->") == 1
    assert text.index("<!-- benchmark:begin -->") < text.index("<!-- benchmark:end -->")


def test_what_is_said_of_the_papers_study_follows_from_its_runs():
    pytest.importorskip("scipy", reason="scipy is not installed (the report extra)")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (the report extra)")
    from flexicase.experiments.results import read_results
    from flexicase.report.claims import claims

    results = read_results(README.parent / "results" / "gp-paper")
    found = {claim.statement: claim.verdict for claim in claims(results)}
    agree = sum(verdict in ("agrees", "reproduced") for verdict in found.values())
    assert len(results.runs) == 500
    assert found["The success counts of the paper's table."] in ("agrees", "reproduced")
    text = " ".join(README.read_text(encoding="utf-8").split())
    assert f"{agree} of the paper's {len(found)} tested claims were reproduced" in text
