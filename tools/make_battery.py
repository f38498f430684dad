"""Recomputes the probabilities in ``src/flexicase/data/battery.json`` from its matrices."""

from __future__ import annotations

import json
from pathlib import Path

import flexicase as fx

PATH = Path(__file__).resolve().parent.parent / "src/flexicase/data/battery.json"


def main() -> None:
    """Write the file: one line per matrix."""
    battery = json.loads(PATH.read_text("utf-8"))
    matrices = battery["matrices"]
    for method, table in battery["probabilities"].items():
        table.update({name: fx.probabilities(errors, method).tolist() for name, errors in matrices.items()})
    text = json.dumps(battery, indent=1)
    for rows in [
        *matrices.values(),
        *(values for table in battery["probabilities"].values() for values in table.values()),
    ]:
        text = text.replace(_indented(rows, 2), json.dumps(rows)).replace(_indented(rows, 3), json.dumps(rows))
    PATH.write_text(text + "\n", "utf-8")


def _indented(value: object, level: int) -> str:
    return json.dumps(value, indent=1).replace("\n", "\n" + " " * level)


if __name__ == "__main__":
    main()
