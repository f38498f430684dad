"""A missing package must be named together with what brings it, not as a bare import error."""

import subprocess
import sys

import pytest

from flexicase.extras import require


def test_what_is_there_is_no_reason_to_complain():
    require("this needs", "numpy", "json")


def test_every_missing_package_is_named():
    with pytest.raises(ImportError, match=r"^this needs no_such_one and no_other: pip install 'flexicase\[torch\]'$"):
        require("this needs", "no_such_one", "numpy", "no_other", extra="torch")


@pytest.mark.parametrize(
    ("package", "command", "who"),
    [
        ("pyarrow", ["status"], "studies need"),
        ("matplotlib", ["evolve", "simple-regression", "--generations", "0", "--plot", "x.png"], "pictures need"),
    ],
)
def test_commands_say_what_to_install(package, command, who, tmp_path):
    code = f"import sys; sys.modules[{package!r}] = None; sys.argv = ['flexicase', *{command!r}]\n"
    code += "from flexicase.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert f"{who} {package}: pip install 'flexicase[report]'" in done.stderr
