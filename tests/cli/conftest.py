import pytest
from typer.testing import CliRunner

from flexicase.cli import app


@pytest.fixture
def run():
    """Call the command line in this process; gives stdout, stderr and exit_code."""

    def call(*args, **options):
        return CliRunner().invoke(app, [str(arg) for arg in args], prog_name="flexicase", **options)

    return call


@pytest.fixture
def errors_csv(tmp_path):
    path = tmp_path / "errors.csv"
    path.write_text("a,b,c\n0,1,2\n1,0,2\n2,2,0\n1,1,1\n")
    return path
