"""A missing package must be named together with what brings it, not as a bare import error."""

import subprocess
import sys

import pytest

from flexicase._checks import require_package


def test_every_missing_package_is_named():
    with pytest.raises(ImportError, match=r"^this needs no_such_one and no_other: pip install 'flexicase\[torch\]'$"):
        require_package("this needs", "no_such_one", "numpy", "no_other", extra="torch")


@pytest.mark.parametrize(("package", "cluster"), [("ray", "ray"), ("submitit", "slurm")])
def test_clusters_say_what_to_install(package, cluster, tmp_path):
    pytest.importorskip("pydantic", reason="studies are not installed (the report extra)")
    spec = 'name = "t"\nproblems = ["digits"]\nmethods = ["lexicase"]\nseeds = 1\n'
    (tmp_path / "study.toml").write_text(spec, encoding="utf-8")
    code = f"import sys; sys.modules[{package!r}] = None\n"
    code += f"sys.argv = ['flexicase', 'run', 'study.toml', '--cluster', {cluster!r}]\n"
    code += "from flexicase.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert f"{package}: pip install 'flexicase[cluster]'" in done.stderr
    assert not (tmp_path / "studies").exists()


def test_evaluation_on_ray_says_what_to_install():
    code = "import sys; sys.modules['ray'] = None\n"
    code += "from flexicase.evaluation import RayEvaluator; RayEvaluator(lambda i, c: [[0]])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: RayEvaluator needs ray: pip install 'flexicase[cluster]'" in done.stderr


@pytest.mark.parametrize("package", ["ray", "submitit", "torch"])
def test_nothing_of_a_cluster_is_imported_unless_it_is_used(package):
    code = "import sys, flexicase, flexicase.evaluation, flexicase.cli\n"
    code += f"assert {package!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("package", "command", "who", "code"),
    [
        ("pyarrow", ["status"], "studies need", 1),
        ("matplotlib", ["evolve", "simple-regression", "--generations", "0", "--plot", "x.png"], "pictures need", 2),
    ],
)
def test_commands_say_what_to_install(package, command, who, code, tmp_path):
    script = f"import sys; sys.modules[{package!r}] = None; sys.argv = ['flexicase', *{command!r}]\n"
    script += "from flexicase.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == code
    assert f"{who} {package}: pip install 'flexicase[report]'" in done.stderr
