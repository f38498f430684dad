"""Sines, logarithms and the like: the nearest double, whatever the C library would give."""

from __future__ import annotations

import pytest

from flexicase.push import Float32
from tests.push.test_quirks import execute

# Computed with 400 bits. A C library in wide use is off by one unit for the last three arguments of each function.
NEAREST = [
    ("sin", 1e300, -0.8178819121159085),
    ("sin", 8.98846567431158e307, 0.563127779850884),
    ("sin", 1000000000000.0, -0.6112387023768895),
    ("sin", -355.0, 3.014435335948845e-05),
    ("sin", -19.069981626276842, -0.2186450474621047),
    ("sin", 87.60284052694885, -0.35391504179435257),
    ("sin", -73.13631536687994, 0.7705377137496644),
    ("cos", 1e300, -0.5753861119575491),
    ("cos", 8.98846567431158e307, -0.826369834614148),
    ("cos", 1000000000000.0, 0.7914463018528902),
    ("cos", 11.0, 0.004425697988050785),
    ("cos", 16.604398850846152, -0.6243981173974505),
    ("cos", 85.97812341684417, -0.40380713661321405),
    ("cos", -41.346831311034826, -0.8746287577575972),
    ("tan", 1e300, 1.4214488238747245),
    ("tan", 1000000000000.0, -0.7723059681318761),
    ("tan", -11.0, 225.95084645419513),
    ("tan", -3.828487881242765, -0.8201297495246017),
    ("tan", 7.780311080760669, 13.549378750829847),
    ("tan", -94.28830460837358, -0.04054719967032509),
    ("arcsin", 1.0, 1.5707963267948966),
    ("arcsin", -0.5, -0.5235987755982989),
    ("arcsin", -0.2021377610885129, -0.2035402518745609),
    ("arcsin", -0.684026648845333, -0.7532685123569521),
    ("arcsin", -0.015106983790352357, -0.015107558471095682),
    ("arccos", -1.0, 3.141592653589793),
    ("arccos", 0.5, 1.0471975511965979),
    ("arccos", 0.9999999999999999, 1.4901161193847656e-08),
    ("arccos", 0.8897316622916358, 0.47403933050770236),
    ("arccos", 0.846300639347856, 0.561794301704908),
    ("arccos", 0.7926416812250077, 0.6556666084592476),
    ("arctan", 1e300, 1.5707963267948966),
    ("arctan", -1.0, -0.7853981633974483),
    ("arctan", -0.20903623264049997, -0.20606895512290552),
    ("arctan", -3.2745699271911803, -1.2744077840854084),
    ("arctan", -6.612714513699942, -1.4207096971333166),
    ("log10", 0.3333333333333333, -0.47712125471966244),
    ("log10", 1000.0, 3.0),
    ("log10", 5e-324, -323.3062153431158),
    ("log10", 24.324733705232994, 1.38604809453213),
    ("log10", 87.61492898431959, 1.9425781132811013),
    ("log10", 87.09992751745042, 1.9400177935979686),
]


@pytest.mark.parametrize(("function", "argument", "nearest"), NEAREST)
def test_result_is_the_nearest_double(function: str, argument: float, nearest: float) -> None:
    """A result from the C library would differ between platforms."""
    assert execute(f"float_{function}", float=[argument])["float"] == [nearest]


@pytest.mark.parametrize(
    ("base", "exponent", "power"),
    [
        (2.0, 10.0, 1024.0),
        (10.0, -3.0, Float32(0.0010000000474974513)),
        (-3.0, 3.0, -27.0),
        (2.0, 0.5, Float32(1.4142135381698608)),
        (4097.0, 2.0, 16785408.0),  # 16785409 is a tie between singles
        (-2.0, 0.5, 0.0),
        (1.5, 1e6, Float32(999999995904.0)),
        (0.5, -1e300, 0.0),
        (float("nan"), 0.0, 1.0),
        (-float("inf"), 3.0, Float32(-999999995904.0)),
        (-1.0, float("inf"), 0.0),
    ],
)
def test_power_is_rounded_to_a_single(base: float, exponent: float, power: float) -> None:
    assert execute("float_pow", float=[exponent, base])["float"] == [power]
