"""Writes native/push/letter_tables.inl, the character tables of the Push strings, from Python's Unicode data."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable

PLANE = [code for code in range(0x10000) if not 0xD800 <= code < 0xE000]


def ranges(holds: Callable[[str], bool]) -> list[str]:
    """First and last code of each run of characters of which ``holds`` is true."""
    found: list[list[int]] = []
    for code in PLANE:
        if holds(chr(code)):
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return [f"{{{first:#x}, {last:#x}}}" for first, last in found]


def shifts(change: Callable[[str], str]) -> list[str]:
    """Runs of characters, one or two apart, that change by the same amount."""
    found: list[list[int]] = []
    for code in PLANE:
        changed = change(chr(code))
        if len(changed) != 1 or changed == chr(code) or ord(changed) > 0xFFFF:
            continue
        shift = ord(changed) - code
        run = found[-1] if found else None
        if run and run[3] == shift and code - run[1] in (1, 2) and run[2] in (0, code - run[1]):
            run[2] = code - run[1]
            run[1] = code
        else:
            found.append([code, code, 0, shift])
    return [f"{{{first:#x}, {last:#x}, {stride or 1}, {shift}}}" for first, last, stride, shift in found]


def table(kind: str, name: str, rows: Iterable[str]) -> str:
    """A constant array in C++."""
    return f"constexpr {kind} {name}[] = {{{', '.join(rows)}}};\n"


def escaped(text: str) -> str:
    """A UTF-16 literal in C++."""
    return 'u"' + "".join(f"\\u{ord(c):04x}" if ord(c) > 126 else c for c in text) + '"'


def main() -> None:
    """Write the tables to standard output."""
    expansions = [(code, chr(code).upper()) for code in PLANE if len(chr(code).upper()) > 1]
    sys.stdout.write("// Made by tools/letter_tables.py.\n")
    sys.stdout.write(table("Range", "kLetters", ranges(lambda c: unicodedata.category(c).startswith("L"))))
    sys.stdout.write(table("Range", "kDigits", ranges(lambda c: unicodedata.category(c) == "Nd")))
    sys.stdout.write(table("CaseRange", "kToUpper", shifts(str.upper)))
    sys.stdout.write(table("CaseRange", "kToLower", shifts(str.lower)))
    rows = (f"{{{code:#x}, {escaped(text)}}}" for code, text in expansions)
    sys.stdout.write(table("Expansion", "kUpperExpansions", rows))


if __name__ == "__main__":
    main()
