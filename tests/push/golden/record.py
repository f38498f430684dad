"""Takes a sample of the golden records: ``python -m tests.push.golden.record FOLDER`` writes it beside this file."""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path

HERE = Path(__file__).parent
SAMPLE = {
    "core-steps": 330,
    "broad-steps": 850,
    "core-programs": 130,
    "broad-programs": 130,
    "translate": 250,
    "errors": 60,
}


def main(folder: Path) -> None:
    """Write a sample of each file, every instruction in it at least twice."""
    rng = random.Random(1)
    for name, size in SAMPLE.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            records = [line.strip() for line in lines]
        rng.shuffle(records)
        seen: dict[str, int] = {}
        chosen = []
        for line in records:
            group = json.loads(line).get("instruction", "")
            seen[group] = seen.get(group, 0) + 1
            if (group and seen[group] <= 2) or (len(chosen) < size and len(line) < 6_000):
                chosen.append(line)
        data = "\n".join(chosen) + "\n"
        (HERE / f"{name}.jsonl.gz").write_bytes(gzip.compress(data.encode(), mtime=0))
    (HERE / "error-cases.json").write_bytes((folder / "error-cases.json").read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
