"""Bring exports of format 1 to format 2: new names of columns, methods and settings; nulls for what was not counted.

    python tools/migrate_results.py results/*/ --log results/migrated_ids.csv

Nothing is run again. A run's id and digest hash names, so both change; the log lists old and new ids. Every folder is
checked before (the old digests fit the old rows) and after (the same runs, the same values in every column that stays).
An unfinished study is exported by the old version, migrated here, and imported by this one.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from flexicase.experiments._tables import MANIFEST, Rows, is_timing, rows_digest, to_rows, write_tables
from flexicase.experiments.jobs import RunSpec
from flexicase.experiments.results import SPEC
from flexicase.experiments.spec import parse_spec, plan
from flexicase.gp import GenerationRecord
from flexicase.records import Record

TABLES = ("runs", "rows", "timings", "provenance")
NOT_COUNTED = -1
#: Columns of rows and of summaries.
COLUMNS = {
    "gp": {"steps": "push_steps", "distinct_errors": "n_distinct_errors"},
    "image": {"cases": "cases_used", "forward_passes": "pairs"},
}
#: Real columns in which NaN stood for what is not known.
UNKNOWN = ("median_error", "mean_error", "accuracy")
#: Values of `ended` in image rows: 2 meant that no candidate passed a case.
ENDED = {2: 4}
INSTRUCTION_SETS = {"W": "2019", "M": "2021", "L": "2023"}
FAST = re.compile(r"fast-(num-nonzeros|num-zeros|split)-(max|min)")


def new_text(text: str) -> str:
    """The text of a study with the new names of methods and settings; comments stay."""
    text = re.sub(f'"{FAST.pattern}"', r'{ method = "weighted-\1", default_weight = "\2" }', text)
    text = text.replace('"gradient-lexicase"', '"lexicase"')
    text = re.sub(r'^partial = "max"', "partial = true", text, flags=re.MULTILINE)
    text = re.sub(r'^partial = "min"', 'partial = true\ndefault_weight = "min"', text, flags=re.MULTILINE)
    text = re.sub(r"^parents\b", "n_selections", text, flags=re.MULTILINE)
    text = re.sub(r"^(train|test)\b", r"\1_cases", text, flags=re.MULTILINE)
    text = re.sub(r'^on_all_fail = "(\w+)"', _stop_on_all_fail, text, flags=re.MULTILINE)
    return re.sub(
        r'^profile = "(\w)"', lambda m: f'instruction_set = "{INSTRUCTION_SETS[m[1]]}"', text, flags=re.MULTILINE
    )


def _stop_on_all_fail(match: re.Match[str]) -> str:
    return f"stop_on_all_fail = {'true' if match[1] == 'stop' else 'false'}"


def new_method(method: str, variant: str) -> tuple[str, str]:
    """Method and variant of a run."""
    fast = FAST.fullmatch(method)
    if fast is not None:
        return f"weighted-{fast[1]}", f"default_weight={fast[2]}"
    return ("lexicase" if method == "gradient-lexicase" else method), variant


def old_digest(rows: Rows) -> str:
    """The digest of a run's rows in format 1."""
    state = hashlib.sha256()
    for name in sorted(rows):
        if not is_timing(name):
            state.update(f"{name}:{rows[name].dtype.str}:{len(rows[name])};".encode() + rows[name].tobytes())
    return state.hexdigest()


#: Columns that were added after format 1.
ADDED = re.compile("solved$|executions|sample_size|n_candidates|n_checked|informed_generation|n_distinct_columns")


def new_columns(rows: Rows, kind: str) -> Rows:
    """Columns under their new names, masked where nothing was counted, in the order of the record's fields."""
    columns = {}
    for old, values in rows.items():
        missing = np.zeros(len(values), bool)
        if kind == "gp" and values.dtype.kind == "i":
            missing = values == NOT_COUNTED
        elif old in UNKNOWN:
            missing = np.isnan(values)
        elif old == "ended":
            columns[old] = np.array([ENDED.get(code, code) for code in values.tolist()], np.int64)
            continue
        columns[COLUMNS[kind].get(old, old)] = np.ma.array(np.where(missing, 0, values), mask=missing)
    order = list(_record(kind).to_columns([]))
    expected = [name for name in order if is_timing(name) == all(map(is_timing, columns)) and not ADDED.match(name)]
    if sorted(columns) != sorted(expected):
        raise ValueError(f"expected the columns of {_record(kind).__name__}, got {', '.join(columns)}")
    return {name: columns[name] for name in order if name in columns}


def _record(kind: str) -> type[Record]:
    if kind == "gp":
        return GenerationRecord
    from flexicase.torch import TrainingRecord

    return TrainingRecord


def migrate(folder: Path) -> dict[str, str]:
    """Migrate one export; gives the new id of each old one."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest["format"] != 1:
        raise ValueError(f"{folder}: expected format 1, got {manifest['format']}")
    old = {name: parquet.read_table(folder / f"{name}.parquet") for name in TABLES}
    text = new_text((folder / SPEC).read_text(encoding="utf-8"))
    spec = parse_spec(text, str(folder / SPEC))
    tasks, lines = plan(spec), old["runs"].to_pylist()
    check_plan(folder, tasks, lines)
    ids = {line["id"]: task.id for line, task in zip(lines, tasks, strict=True)}
    before = to_rows(old["rows"].drop_columns("id"))
    after = new_columns(before, spec.kind)
    digests = check_digests(folder, old["rows"]["id"].to_pylist(), before, after, lines)
    tables = {
        "runs": runs_table(old["runs"], tasks, digests, spec.kind),
        "rows": pa.table({"id": with_new_ids(old["rows"], ids), **after}),
        "timings": pa.table(
            {
                "id": with_new_ids(old["timings"], ids),
                **new_columns(to_rows(old["timings"].drop_columns("id")), spec.kind),
            }
        ),
        "provenance": old["provenance"].set_column(0, "id", with_new_ids(old["provenance"], ids)),
    }
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        for path in write_tables(Path(temporary), tables, "parquet", {SPEC: text.encode()}):
            os.replace(path, folder / path.name)
    check_values(folder, old, spec.kind)
    return ids


def check_plan(folder: Path, tasks: list[RunSpec], lines: list[dict[str, Any]]) -> None:
    """Refuse an export whose runs are not those that its study now plans, in the same order."""
    expected = [(line["problem"], *new_method(line["method"], line["variant"]), line["seed"]) for line in lines]
    if expected != [(task.problem, task.method, task.variant, task.seed) for task in tasks]:
        raise ValueError(f"{folder}: the runs are not those that {SPEC} plans")


def check_digests(
    folder: Path, ids: list[str], before: Rows, after: Rows, lines: list[dict[str, Any]]
) -> dict[str, str]:
    """The new digest of each run by its old id, after the old ones were checked."""
    places: dict[str, list[int]] = {}
    for place, run_id in enumerate(ids):
        places.setdefault(run_id, []).append(place)
    digests = {}
    for line in lines:
        if line["state"] != "done":
            continue
        own = places[line["id"]]
        start, stop = own[0], own[-1] + 1
        if len(own) != stop - start or line["digest"] != old_digest({k: v[start:stop] for k, v in before.items()}):
            raise ValueError(f"{folder}: the rows of run {line['id']} are damaged")
        digests[line["id"]] = rows_digest({name: values[start:stop] for name, values in after.items()})
    return digests


def runs_table(runs: Any, tasks: list[RunSpec], digests: dict[str, str], kind: str) -> Any:
    """The table of runs with new ids, methods, variants, digests and names of summaries."""
    table = runs.rename_columns([COLUMNS[kind].get(name, name) for name in runs.column_names])
    changed = {
        "id": [task.id for task in tasks],
        "method": [task.method for task in tasks],
        "variant": [task.variant for task in tasks],
        "digest": [digests.get(run_id) for run_id in runs["id"].to_pylist()],
    }
    for name, values in changed.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.string()))
    return table


def with_new_ids(table: Any, ids: dict[str, str]) -> Any:
    """The new ids of a table's lines."""
    return pa.array([ids[run_id] for run_id in table["id"].to_pylist()], pa.string())


def check_values(folder: Path, old: dict[str, Any], kind: str) -> None:
    """Read the migrated tables from the disk and compare every value with what it was."""
    for name in TABLES:
        new = parquet.read_table(folder / f"{name}.parquet")
        if len(new) != len(old[name]):
            raise ValueError(f"{folder}: {name} had {len(old[name])} lines and has {len(new)}")
        for column in old[name].column_names:
            if column in ("id", "digest") or (name == "runs" and column in ("method", "variant")):
                continue
            values = new[COLUMNS[kind].get(column, column)].to_pylist()
            expected = [_expected(column, value, kind, name) for value in old[name][column].to_pylist()]
            if values != expected and repr(values) != repr(expected):  # NaN is not equal to itself
                raise ValueError(f"{folder}: {name}: the values of {column} have changed")


def _expected(column: str, value: Any, kind: str, table: str) -> Any:
    """What becomes of a value; written anew, so that it can disagree with `new_columns`."""
    if table == "rows":
        if kind == "gp" and type(value) is int and value < 0:
            return None
        if column in {"median_error", "mean_error", "accuracy"} and value != value:  # noqa: PLR0124
            return None
        if column == "ended" and value == 2:
            return 4
    return value


def main() -> None:
    """Migrate the folders that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="exports of format 1; replaced")
    parser.add_argument("--log", type=Path, help="CSV file to which old and new ids are appended")
    options = parser.parse_args()
    for folder in options.folders:
        ids = migrate(folder)
        print(f"{folder}: {len(ids)} runs", file=sys.stderr)
        if options.log is not None:
            is_new = not options.log.exists()
            with options.log.open("a", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerows([["study", "old_id", "new_id"]] if is_new else [])
                writer.writerows([folder.name, *pair] for pair in ids.items())


if __name__ == "__main__":
    main()
