"""Packages that some parts need and others do not."""

from __future__ import annotations

import importlib.util


def require(who: str, *packages: str, extra: str = "report") -> None:
    """Raise an ImportError that says what to install if a package is missing.

    Args:
        who: Who needs them, with the verb: ``"pictures need"``.
        packages: Names to import them by.
        extra: The extra of flexicase that brings them.

    >>> require("time travel needs", "numpy", "flux_capacitor")
    Traceback (most recent call last):
    ...
    ImportError: time travel needs flux_capacitor: pip install 'flexicase[report]'
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"{who} {' and '.join(missing)}: pip install 'flexicase[{extra}]'")
