"""Check that no code is shared between instruction sets: ``python tools/check_isa_symbols.py BUILD_DIR``.

The inner loops are compiled once per instruction set. A weak symbol (an inline function or a template that was not
inlined) that two of these objects define is merged by the linker: a processor without AVX-512 may then run code that
was compiled for it. The same holds for a weak symbol of such an object that any other object of the library defines.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

SHARED = frozenset("WVu")


def weak_symbols(path: Path) -> set[str]:
    """Names of the weak symbols that an object file defines, as the linker sees them."""
    command = ["nm", "--defined-only", str(path)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = (line.split(maxsplit=2) for line in listing.splitlines())
    return {name for _, kind, name in rows if kind in SHARED}


def shared_symbols(objects: Iterable[Path]) -> dict[str, list[str]]:
    """Weak symbols of objects for an instruction set that other objects define as well.

    Args:
        objects: All object files of the library.

    Returns:
        The names of the objects that define each such symbol.
    """
    where = defaultdict(list)
    for path in sorted(objects):
        for symbol in weak_symbols(path):
            where[symbol].append(path.name)
    return {
        symbol: names
        for symbol, names in sorted(where.items())
        if len(names) > 1 and any(name.startswith("isa_") and not name.startswith("isa_base") for name in names)
    }


def readable(symbol: str) -> str:
    """The C++ name of a symbol."""
    return subprocess.run(["c++filt", symbol], check=True, capture_output=True, text=True).stdout.strip()


def main(build_dir: str) -> int:
    """Print the shared symbols of a build; 1 if there are any."""
    objects = [path for path in Path(build_dir).rglob("*.o") if "flexicase_core.dir" in path.parts]
    if not any(path.name.startswith("isa_") for path in objects):
        print(f"BUILD_DIR must hold objects of flexicase_core, got {build_dir}")
        return 2
    shared = shared_symbols(objects)
    for symbol, names in shared.items():
        print(f"{readable(symbol)}\n    {', '.join(names)}")
    print(f"{len(shared)} symbols shared between instruction sets")
    return 1 if shared else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
