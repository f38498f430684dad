"""Argument checks: what passes, and what the messages say."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from flexicase import _checks as checks
from flexicase._checks import require_package


@pytest.mark.parametrize("value", [0, 3, np.int8(3), np.uint64(2**63 - 1)])
def test_integers_of_any_type_are_counts(value: object) -> None:
    count = checks.check_count(value, "n")
    assert type(count) is int
    assert count == value


@pytest.mark.parametrize("value", [True, np.bool_(False), 1.0, "1", None, [1], np.float64(2)])
def test_other_types_are_no_counts(value: object) -> None:
    with pytest.raises(TypeError, match=r"^n must be an integer, got "):
        checks.check_count(value, "n")


def test_a_count_below_its_minimum_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^threads must be at least 1, got 0$"):
        checks.check_count(0, "threads", 1)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25), Fraction(1, 3)])
def test_numbers_from_0_to_1_are_fractions(value: object) -> None:
    assert checks.check_fraction(value, "slippage") == float(value)


@pytest.mark.parametrize("value", [-1e-9, 1.0000001, float("inf"), 7])
def test_numbers_outside_0_to_1_are_no_fractions(value: object) -> None:
    with pytest.raises(ValueError, match=r"^slippage must be between 0 and 1, got "):
        checks.check_fraction(value, "slippage")


@pytest.mark.parametrize("value", [True, "0.5", None, 1j, [0.5, 0.5]])
def test_other_types_are_no_numbers(value: object) -> None:
    with pytest.raises(TypeError, match=r"^size must be a number, got "):
        checks.check_number(value, "size")


def test_nan_is_no_number() -> None:
    with pytest.raises(ValueError, match=r"^size must be a number, got NaN$"):
        checks.check_number(float("nan"), "size")


def test_a_misspelt_choice_is_answered_with_the_nearest() -> None:
    assert checks.check_choice("raise", "nan", ("raise", "worst")) == "raise"
    with pytest.raises(ValueError, match=r"^nan must be one of 'raise', 'worst', got 'wurst'; did you mean 'worst'\?$"):
        checks.check_choice("wurst", "nan", ("raise", "worst"))
    with pytest.raises(TypeError, match=r"^nan must be one of 'raise', 'worst', got 3$"):
        checks.check_choice(3, "nan", ("raise", "worst"))


def test_nearest_sees_through_case_and_underscores_and_lists_all_when_lost() -> None:
    assert (
        checks.did_you_mean("Ranked_Num_Zero", ["lexicase", "ranked-num-zeros"]) == "; did you mean 'ranked-num-zeros'?"
    )
    assert checks.did_you_mean("num-zero", ["num_zeros"]) == "; did you mean 'num_zeros'?"
    assert checks.did_you_mean("xyz", ["lexicase", "random"]) == "; known: lexicase, random"
    assert checks.did_you_mean("xyz", ["lexicase", "random"], listed=True) == ""


@pytest.mark.parametrize(
    "weights", [[1, 2.5, 0], (True, False, True), np.arange(3, dtype=np.uint8), [Fraction(1, 2)] * 3]
)
def test_real_numbers_are_weights(weights: object) -> None:
    checked = checks.check_weights(weights, 3, "weights")
    assert checked.dtype == np.float64
    assert checked.tolist() == [float(w) for w in weights]


def test_one_weight_serves_every_case() -> None:
    assert checks.check_weights(2, 3, "weights").tolist() == [2.0, 2.0, 2.0]


def test_checked_weights_are_a_copy() -> None:
    mine = np.ones(3)
    checks.check_weights(mine, 3, "weights")[0] = 5
    assert mine[0] == 1


@pytest.mark.parametrize(
    "values", [None, "1", ["1", "2"], [b"1"], 1j, np.array([1j]), np.array(["2020"], "M8[Y]"), np.zeros(2, "V4"), {1}]
)
def test_text_dates_and_complex_numbers_are_not_numbers(values: object) -> None:
    with pytest.raises(TypeError, match=r"^errors must be real numbers, got "):
        checks.as_number_array(values, "errors")


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([[2**64 - 1, 1]], np.uint64),
        ([[2**63 - 1, -1]], np.int64),
        (np.array([[2**63, True]], dtype=object), np.uint64),
        (np.array([[1, np.int8(2)]], dtype=object), np.int64),
        ([[2**70, 1]], np.float64),
        ([[2**60, 0.5]], np.float64),
        (np.array([[Fraction(1, 2), Decimal("0.25")]], dtype=object), np.float64),
        ([[np.inf, 1]], np.float64),
    ],
)
def test_integers_keep_their_value(values: object, dtype: type) -> None:
    """NumPy makes floats of [2**63, 1], and would tie 2**64 - 1 with 2**64 - 2."""
    array = checks.as_number_array(values, "errors")
    assert array.dtype == dtype
    assert array.tolist() == [[float(v) if dtype is np.float64 else int(v) for v in values[0]]]


@pytest.mark.parametrize("values", [[[2**64, 2**53 + 1]], [[2**63, -1, 2**53 + 1]], [[0.5, 2**53 + 1]], [[10**400]]])
def test_integers_that_would_be_rounded_are_refused(values: object) -> None:
    with pytest.raises(ValueError, match=r"^errors must be integers of 64 bits or floats, but entry \[0, \d\] is the "):
        checks.as_number_array(values, "errors")


class NAType:
    """What pandas has for a missing number."""


@pytest.mark.parametrize(
    "values",
    [
        np.ma.masked_array([[1, 2]], mask=[[False, True]]),
        [np.ma.masked_array([1, 2], mask=[False, True])],
        ([1.0, np.nan], np.ma.masked_array([1.0, 2.0], mask=[False, True]))[1:],
        np.array([[1, None]], dtype=object),
        np.array([[1, NAType()]], dtype=object),
        [[1, None]],
    ],
)
def test_missing_numbers_become_nan(values: object) -> None:
    """What lies under a mask must not be read."""
    np.testing.assert_array_equal(checks.as_number_array(values, "errors"), [[1, np.nan]])


@pytest.mark.parametrize("value", [2**63, 10**400, np.uint64(2**64 - 1)])
def test_a_count_beyond_its_maximum_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"^batch must be at most 9,223,372,036,854,775,807, got "):
        checks.check_count(value, "batch", 1)


@pytest.mark.parametrize("value", [0, "yes", None, np.ones(2)])
def test_only_true_and_false_are_flags(value: object) -> None:
    assert checks.check_flag(np.bool_(True), "counts") is True
    with pytest.raises(TypeError, match=r"^counts must be True or False, got "):
        checks.check_flag(value, "counts")


@pytest.mark.parametrize("value", [[0, 3], [-1], [[0]], [0.0], 0, ["0"], [2**64]])
def test_indices_are_whole_and_within_their_range(value: object) -> None:
    assert checks.check_indices([], "cases", 3).dtype == checks.check_indices([0, 2], "cases", 3).dtype == np.int64
    with pytest.raises((TypeError, ValueError), match=r"^cases must be "):
        checks.check_indices(value, "cases", 3)


def test_a_function_is_asked_for_its_arguments() -> None:
    function = np.subtract.outer  # has no signature
    assert checks.check_function(function, "function", 2) is function
    with pytest.raises(TypeError, match=r"^bias must be a function of 1 argument, got one of \(a, b\)$"):
        checks.check_function(lambda a, b: 0, "bias", 1)


def test_what_cannot_be_printed_is_shown_by_its_type() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise ZeroDivisionError

    assert "Mute" in checks.shown(Mute())
    assert len(checks.shown(10**9000)) <= 80
    assert len(checks.shown(np.ones((1000, 1000)))) <= 80


def test_every_missing_package_is_named():
    with pytest.raises(ImportError, match=r"^this needs no_such_one and no_other: pip install 'flexicase\[torch\]'$"):
        require_package("this needs", "no_such_one", "numpy", "no_other", extra="torch")


@pytest.mark.slow
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


@pytest.mark.slow
def test_evaluation_on_ray_says_what_to_install():
    code = "import sys; sys.modules['ray'] = None\n"
    code += "from flexicase.evaluation import RayEvaluator; RayEvaluator(lambda i, c: [[0]])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: RayEvaluator needs ray: pip install 'flexicase[cluster]'" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("package", ["ray", "submitit", "torch"])
def test_nothing_of_a_cluster_is_imported_unless_it_is_used(package):
    code = "import sys, flexicase, flexicase.evaluation, flexicase.cli\n"
    code += f"assert {package!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
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
