"""Whatever an export holds, a report and an import give a result or one clear error, and write nowhere else."""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("jinja2")
pytest.importorskip("pydantic")
pytest.importorskip("scipy")

from flexicase.experiments import import_study  # noqa: E402
from flexicase.experiments._tables import MANIFEST, read_tables, types_of, write_tables  # noqa: E402
from flexicase.experiments.results import PROVENANCE_COLUMNS  # noqa: E402
from flexicase.report.write import write_report  # noqa: E402
from tests.hostile.values import EFFORT  # noqa: E402

pytestmark = pytest.mark.slow

N_EXPORTS = 25 * EFFORT
FILES = ("study.toml", "runs.parquet", "rows.parquet", "timings.parquet", "provenance.parquet", MANIFEST)
STEPS = 4
REST = 'problems = ["a"]\nmethods = ["lexicase"]\nseeds = 6\n'
SPECS = {
    "gp": 'name = "t"\nproblems = ["a"]\nmethods = ["lexicase", "ranked-num-nonzeros"]\nseeds = 6\n[settings]\n'
    "population = 10\n",
    "partial": f'name = "t"\n{REST}[settings]\npopulation = 10\n[variants.x]\npartial = true\n'
    "[variants.y]\nn_selections = 3\n",
    "image": f'name = "t"\nkind = "image"\n{REST}',
    "own": f'name = "t"\nkind = "mine:Walk"\n{REST}',
}
METHODS = {"image": ("lexicase", "weighted-num-nonzeros")}
NAMES = ("", " ", "../../x", "\0", "$x_{", "_a", "<b>", "x" * 500, "ä\n", "lexicase", "null", "\u202e", "__class__")
VALUES: tuple[Any, ...] = (
    *(float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, -0.0),
    *(2**63 - 1, -(2**63), 0, -1, None, True, "text", b"\xff", [1], {"a": 1}),
)
BYTES = (
    b"",
    b"\0",
    b"PAR1",
    b"PAR1" + b"\xff" * 100 + b"PAR1",
    b"\x1f\x8b",
    b"{}",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"{" * 10**5,
)
TEXTS = (
    *('name = 7\nkind = "gp"', 'name = "t"\nsettings = 7', 'name = "t"\nvariants = 7', 'name = "t"\n[variants]\na = 1'),
    *('kind = ""', 'kind = ["gp"]', "kind = 7", 'kind = "os:abort"', "", "a = " + "[" * 10**4, 'name = ""', "x"),
    *(
        'name = "t"\n[variants.x]\npartial = true\nn_selections = [1]\n[variants.y]\npartial = [[]]\n',
        'name = "t"\n[variants.x]\nn_selections = nan',
        'name = "t"\nmethods = [{ method = 7 }]',
    ),
    *(
        'name = "../x"',
        'name = "t"\nkind = "image"\n[settings]\npopulation = nan',
        'kind = "gp"\n[settings]\n[variants.base]',
    ),
)
#: The same in studies that are whole otherwise.
TEXTS += tuple(f"{REST}{text}" for text in TEXTS)


def base(kind: str) -> dict[str, Any]:
    """A small export of a kind of study."""
    runs, rows, timings = [], [], []
    variants = ("x", "y") if kind == "partial" else ("base",)
    for seed in range(6):
        for method in METHODS.get(kind, ("lexicase", "ranked-num-nonzeros")):
            for variant in variants:
                run_id = f"{method}-{variant}-{seed}"
                run = {
                    "id": run_id,
                    "problem": "a",
                    "method": method,
                    "variant": variant,
                    "seed": seed,
                    "state": "done",
                }
                facts = {"digest": "0" * 64, "success": seed > 2, "accuracy": 0.5, "correct": 5, "test_cases": 10}
                runs.append(run | facts)
                for step in range(STEPS):
                    row = {"id": run_id, "generation": step, "events": 3, "evaluations": 50 + step + seed, "pairs": 40}
                    row |= {"evaluations_distinct": 9, "n_distinct_errors": 5, "forward_calls": 3}
                    rows.append(row | {"ended": step % 3, "loss": 0.5})
                    seconds = {"seconds_select": 0.1, "seconds_evaluate": 0.2, "seconds_train": 0.3}
                    timings.append({"id": run_id, **seconds})
    plain = {"string": "x", "int64": 1, "float64": 0.5}
    made = [{name: plain[type_] for name, type_ in PROVENANCE_COLUMNS.items()} | {"id": run["id"]} for run in runs]
    contents = {"runs": runs, "rows": rows, "timings": timings, "provenance": made}
    return {name: pa.Table.from_pylist(lines) for name, lines in contents.items()}


def changed_table(draw: random.Random, table: Any) -> Any:  # noqa: PLR0911
    """A table after one change."""
    column = draw.choice(table.column_names)
    place = table.column_names.index(column)
    values = table[column].to_pylist()
    match draw.randrange(10):
        case 0:
            return table.drop_columns([column])
        case 1:
            return table.rename_columns([draw.choice(NAMES) if name == column else name for name in table.column_names])
        case 2:
            return table.slice(0, draw.choice((0, 1, len(table) // 2)))
        case 3:
            return pa.concat_tables([table, table.slice(draw.randrange(len(table) + 1))])
        case 4:
            return table.take(draw.sample(range(len(table)), len(table)))
        case 5 if values and isinstance(values[0], str):
            odd = draw.choice(NAMES)
            return table.set_column(place, column, [[odd if draw.random() < 0.5 else value for value in values]])
        case 6:
            return table.append_column(draw.choice(NAMES), [values])
        case 7:
            kinds = (pa.string(), pa.float64(), pa.bool_(), pa.null(), pa.int8(), pa.large_string(), pa.binary())
            new = pa.array([None] * len(table), draw.choice(kinds))
            return table.set_column(place, column, new)
        case 8:
            dictionary = pa.array([str(value) for value in values]).dictionary_encode()
            return table.set_column(place, column, dictionary)
        case _:
            odd = draw.choice(VALUES)
            mixed = [odd if draw.random() < 0.7 else value for value in values]
            for candidate in (mixed, [odd] * len(values)):
                try:
                    return table.set_column(place, column, pa.array(candidate, from_pandas=False))
                except (pa.ArrowException, OverflowError, TypeError):
                    continue
            return table


def spoil(draw: random.Random, folder: Path) -> str:  # noqa: PLR0912
    """Change an export; says what was done."""
    path = folder / draw.choice(FILES)
    match draw.randrange(9):
        case 0:
            path.unlink()
            odd = draw.choice(("missing", "folder", "loop", "device", "pipe"))
            if odd == "folder":
                path.mkdir()
            elif odd == "loop":
                path.symlink_to(path.name)
            elif odd == "device":
                path.symlink_to("/dev/null")
            elif odd == "pipe":
                os.mkfifo(path)
            return f"{path.name}: {odd}"
        case 1:
            content = draw.choice((*BYTES, path.read_bytes()[: draw.randrange(path.stat().st_size)]))
            path.write_bytes(content)
            return f"{path.name}: {content[:20]!r}"
        case 2:
            content = bytearray(path.read_bytes())
            for _ in range(draw.randint(1, 20)):
                content[draw.randrange(len(content))] = draw.randrange(256)
            path.write_bytes(content)
            return f"{path.name}: other bytes"
        case 3:
            text = draw.choice(TEXTS)
            (folder / "study.toml").write_text(text)
            return f"study.toml: {text[:60]!r}"
        case 4:
            manifest = json.loads((folder / MANIFEST).read_text())
            table = draw.choice(list(manifest["tables"]))
            columns = manifest["tables"][table]
            odd = draw.choice((None, 7, [], {}, "", "int64", "__class__", float("nan"), {"id": {}}, {"id": "list_"}))
            if draw.random() < 0.5:
                manifest["tables"][table] = odd
            else:
                columns[draw.choice([*columns, "other", ""])] = odd
            (folder / MANIFEST).write_text(json.dumps(manifest))
            return f"{MANIFEST}: {table} {odd!r}"
        case _:
            tables = read_tables(folder)
            for _ in range(draw.randint(1, 2)):
                name = draw.choice(list(tables))
                tables[name] = changed_table(draw, tables[name])
            others = {"study.toml": (folder / "study.toml").read_bytes()}
            if draw.random() < 0.2:
                pa.parquet.write_table(tables[name], folder / f"{name}.parquet")  # the manifest says otherwise
            else:
                write_tables(folder, tables, draw.choice(("parquet", "parquet", "csv")), others)
            return f"{name}: {str(types_of(tables[name]))[:200]}"


@pytest.fixture
def quick_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are prepared, but not drawn, which takes most of the time of a report."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda _, path, **options: path.touch())


@pytest.mark.usefixtures("quick_figures")
@pytest.mark.parametrize("kind", SPECS)
def test_spoilt_exports_give_a_result_or_a_clear_error(kind: str, tmp_path: Path) -> None:
    draw = random.Random(kind)
    outcomes = Counter[str]()
    good = tmp_path / "good"
    write_tables(good, base(kind), "parquet", {"study.toml": SPECS[kind].encode()})
    for number in range(N_EXPORTS):
        home = tmp_path / str(number)
        shutil.copytree(good, home / "export")
        what = "as it was" if number == 0 else ""
        try:
            what = what or spoil(draw, home / "export")
        except (pa.ArrowException, ValueError, TypeError):
            continue  # no such table can be written
        before = {path for path in tmp_path.rglob("*") if home / "export" not in path.parents}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outcomes[outcome(what, write_report, home / "export", home / "report")] += 1
            outcomes[outcome(what, import_study, home / "export", home / "studies")] += 1
        outside = {path for path in tmp_path.rglob("*") if home not in path.parents}
        assert outside == {path for path in before if home not in path.parents}, what
        shutil.rmtree(home)
    assert outcomes["result"] > 0
    assert len(outcomes) > min(10, N_EXPORTS // 4)


def outcome(what: str, call: Any, *paths: Path) -> str:
    """``"result"``, or the message of an error that the command line shows in one line."""
    try:
        call(*paths)
    except (OSError, ValueError) as error:
        message = str(error)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} from {what}") from error
    else:
        return "result"
    assert message.strip(), what
    assert len(message) < 3000, what
    return message
