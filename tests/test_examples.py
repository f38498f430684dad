"""The example scripts run and stay short."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(script, tmp_path):
    if "matplotlib" in script.read_text(encoding="utf-8"):
        pytest.importorskip("matplotlib")
    if script.stem.startswith("with_"):
        host = script.stem.removeprefix("with_")
        pytest.importorskip(host, reason=f"{host} is not installed; make test-adapters has it")
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 60
