"""An export with known contents: short runs of three methods on two problems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flexicase.experiments.results import StudyResults, read_results

METHODS = ("lexicase", "ranked-num-nonzeros", "weighted-num-zeros")
PROBLEMS = ("mirror-image", "last-index-of-zero")
SEEDS = 8
SPEC = """name = "known"
kind = "gp"
problems = ["mirror-image", "last-index-of-zero"]
methods = ["lexicase", "ranked-num-nonzeros", "weighted-num-zeros"]
seeds = 9

[settings]
population = 10
generations = 6
"""


def length_of(method: str, seed: int) -> int:
    """Generations that a run selects parents in: lexicase's differ, those of the others do not."""
    return 1 + seed % 6 if method == "lexicase" else 6


def evaluations_of(method: str, seed: int, generation: int) -> int:
    return {"lexicase": 200, "ranked-num-nonzeros": 100, "weighted-num-zeros": 400}[method] + seed + 10 * generation


def write_known_export(folder: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from flexicase.experiments._tables import write_tables

    runs, rows, timings, provenance = [], [], [], []
    for seed in range(SEEDS + 1):
        for problem in PROBLEMS:
            for method in METHODS:
                run = {"id": f"{problem}-{method}-{seed}", "problem": problem, "method": method, "variant": "base"}
                done = seed < SEEDS
                success = method == "lexicase" and problem == "mirror-image" and seed < 6
                runs.append(
                    {**run, "seed": seed, "state": "done" if done else "planned", "digest": "0" * 64 if done else None}
                    | {"success": success if done else None, "program": "(in1 </script><b>)" if done else None}
                )
                if not done:
                    continue
                provenance.append(
                    {
                        "id": run["id"],
                        "attempts": 1,
                        **{"started": 0.0, "finished": 1.0, "seconds": 1.0},
                        "version": "1.2.3",
                        "machine": "a machine",
                        "command": "flexicase run",
                    }
                )
                for g in range(length_of(method, seed) + 1):
                    last = g == length_of(method, seed)
                    count = 0 if last else evaluations_of(method, seed, g)
                    rows.append(
                        {
                            "id": run["id"],
                            "generation": g,
                            "events": 0 if last else 17,
                            "evaluations": count,
                            "evaluations_distinct": count // 2,
                            "n_distinct_errors": 5 + g,
                        }
                    )
                    timings.append(
                        {"id": run["id"], "seconds_select": 0.01 * (g + 1), "seconds_evaluate": 0.03 * (g + 1)}
                    )
    tables = {
        name: pa.Table.from_pylist(content)
        for name, content in {"runs": runs, "rows": rows, "timings": timings, "provenance": provenance}.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_tables(folder, tables, "parquet")
    (folder / "study.toml").write_text(SPEC)


@pytest.fixture(scope="session")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    write_known_export(folder)
    return folder


@pytest.fixture(scope="session")
def results(export: Path) -> StudyResults:
    return read_results(export)


def expected_means(method: str) -> list[float]:
    """Mean evaluations per generation over the runs still active, straight from the definition."""
    means = []
    for g in range(6):
        active = [evaluations_of(method, seed, g) for seed in range(SEEDS) if length_of(method, seed) > g]
        means.append(float(np.mean(active)))
    return means
