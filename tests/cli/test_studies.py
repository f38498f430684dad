"""``flexicase run``, ``status``, ``export``, ``import``, ``rerun`` and ``reproduce`` on tiny studies."""

import inspect
import io
import json
import re
import sys
import time
from dataclasses import replace

import pytest
from rich.console import Console

from flexicase import experiments
from flexicase._provenance import Provenance
from flexicase.cli import studies as commands
from flexicase.cli._output import StatusLine
from flexicase.cli._study_display import (
    LiveMonitor,
    PlainMonitor,
    _success_line,
    format_duration,
    monitor_for,
    picture,
)
from flexicase.experiments import Progress, RunSpec, parse_spec, presets
from flexicase.experiments.ledger import Ledger, LedgerEntry, RunResult
from flexicase.experiments.study import CellStatus, StudyStatus, study_status

STUDY = """
name = "tiny"
problems = ["simple-regression"]
methods = ["lexicase", "random"]
seeds = [1]
[settings]
population = 20
generations = 2
"""


#: For each command: the functions whose arguments it takes; those of them that only Python has; options beyond them.
FUNCTIONS = {
    "run": (("run_study", "StudyOptions", "open_cluster"), {"options", "monitor", "executor"}, {"cluster_option"}),
    "status": (("Study",), {"folder"}, {"name", "studies"}),
    "export": (("export_study",), {"study"}, {"name", "studies"}),
    "import_": (("import_study",), set(), set()),
    "rerun": (("find_run", "rerun"), {"run_id", "study", "entry", "report"}, {"ids"}),
}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_options_have_the_names_and_defaults_of_the_python_arguments(command):
    functions, python_only, command_only = FUNCTIONS[command]
    python = {}
    for function in functions:
        python |= inspect.signature(getattr(experiments, function)).parameters
    options = dict(inspect.signature(getattr(commands, command)).parameters)
    del options["as_json"]
    assert python.keys() - options.keys() == python_only
    assert options.keys() - python.keys() == command_only
    defaults = {
        name: (options[name].default, python[name].default)
        for name in options.keys() & python.keys() - {"workers", "studies", "out"}  # only the command has a default
        if python[name].default is not inspect.Parameter.empty
    }
    assert all(ours == theirs for ours, theirs in defaults.values()), defaults
    shared = [name for name in python if name in options and name not in ("spec", "studies", "folder", "allow_code")]
    assert [name for name in options if name in shared] == shared


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY)
    return tmp_path / "tiny.toml"


@pytest.mark.slow
def test_from_spec_to_results_and_back(run, spec, tmp_path):
    done = run("run", spec, "--workers", 2)
    assert (done.exit_code, done.stderr.count("2 of 2 runs done")) == (0, 1)
    assert "simple-regression  lexicase  base" in done.stdout
    assert run("status").stdout == "tiny: 2 of 2 runs done\n"
    assert "random" in run("status", "tiny").stdout
    (status,) = json.loads(run("status", "--json").stdout)
    assert (status["study"], status["counts"]["done"], status["unfinished"]) == ("tiny", 2, [])

    exported = run("export", "tiny", "--out", "export", "--format", "csv")
    assert exported.stdout.startswith("2 of 2 runs, 6 rows, ")
    assert sorted(path.name for path in (tmp_path / "export").iterdir()) == sorted(
        ["manifest.json", "provenance.csv.gz", "rows.csv.gz", "runs.csv.gz", "study.toml", "timings.csv.gz"]
    )
    imported = run("import", "export", "--studies", "elsewhere")
    assert (
        imported.stdout == "2 new runs, 2 of 2 done; to continue: flexicase run export/study.toml --studies elsewhere\n"
    )

    with Ledger(tmp_path / "elsewhere" / "tiny" / "ledger.sqlite") as ledger:
        run_id = ledger.entries()[0].task.id
    again = run("rerun", run_id[:10], "--studies", "elsewhere")
    named = f"{run_id} (simple-regression, lexicase, seed 1)"
    assert (again.exit_code, again.stdout) == (0, f"{named}: 3 rows × 24 columns identical\n")
    mistaken = run("rerun", run_id, "abcx", "--studies", "elsewhere")
    assert (mistaken.exit_code, mistaken.stdout) == (2, "")  # said before anything is made
    assert "no run's id starts with 'abcx'" in mistaken.stderr


def test_mistakes_are_one_line_and_the_right_exit_code(run, spec, tmp_path):
    assert run("run", tmp_path / "no.toml").exit_code == 1
    spec.write_text(STUDY.replace("seeds", "seed"))
    refused = run("run", spec)
    assert refused.exit_code == 1
    assert "unknown key 'seed'; did you mean 'seeds'?" in refused.stderr
    for arguments, message in (
        (("export", "tinny"), "unknown study 'tinny'; there are none in studies"),
        (("reproduce", "tabel2"), "unknown target 'tabel2'; did you mean 'table2'?"),
        (("reproduce", "--preset", "papr"), "unknown preset 'papr'; did you mean 'paper'?"),
    ):
        wrong = run(*arguments)
        assert wrong.exit_code == 2
        assert message in wrong.stderr
    assert run("status").stdout == "no studies in studies\n"
    assert "there are no studies in studies" in run("rerun", "abc").stderr


@pytest.mark.slow
def test_a_damaged_study_does_not_hide_the_others(run, spec, tmp_path):
    """`status` and `rerun` failed for every study of the folder."""
    assert run("run", spec).exit_code == 0
    for name, content in (("aaa", b"no ledger" * 500), ("zzz", b"")):
        (tmp_path / "studies" / name).mkdir()
        (tmp_path / "studies" / name / "ledger.sqlite").write_bytes(content)
    status = run("status")
    assert status.exit_code == 1
    damaged, fine, empty = status.stdout.splitlines()
    assert re.match(r"aaa: error: .*/aaa/ledger.sqlite is damaged", damaged)
    assert fine == "tiny: 2 of 2 runs done"
    assert empty.startswith("zzz: error: ")
    first, second, third = json.loads(run("status", "--json").stdout)
    assert (set(first), second["study"], set(third)) == ({"study", "error"}, "tiny", {"study", "error"})
    assert run("status", "tiny").exit_code == 0
    named = run("status", "aaa")
    assert (named.exit_code, named.stdout) == (1, "")
    with Ledger(tmp_path / "studies" / "tiny" / "ledger.sqlite") as ledger:
        run_id = ledger.entries()[0].task.id
    assert run("rerun", run_id).exit_code == 0
    missing = run("rerun", "ffffffffffff")
    assert missing.exit_code == 2
    assert "could not be read: aaa, zzz" in missing.stderr


def test_a_file_is_no_folder_of_studies(run, spec):
    """`flexicase status --studies FILE` said that there were no studies, with exit code 0."""
    for command in (("status",), ("status", "tiny"), ("export", "tiny"), ("rerun", "ab"), ("run", spec)):
        refused = run(*command, "--studies", spec)
        assert refused.exit_code != 0, command
        assert "not a directory" in refused.stderr.lower(), command


@pytest.mark.slow
def test_a_changed_study_is_refused_with_what_changed(run, spec):
    assert run("run", spec, "--json").exit_code == 0
    spec.write_text(STUDY.replace("generations = 2", "generations = 3"))
    refused = run("run", spec)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "settings.generations: 2 -> 3 (give the changed study another name)" in refused.stderr


@pytest.mark.slow
def test_reproduce_runs_the_preset_and_says_where_the_report_is(run, spec, tmp_path, monkeypatch):
    monkeypatch.setattr(presets, "preset_path", lambda study, preset: spec)
    monkeypatch.setattr("flexicase.experiments.preset_path", lambda study, preset: spec)
    monkeypatch.setattr("flexicase.report.write.draw_figures", lambda *_: [])
    done = run("reproduce", "fig1", "--workers", 2)
    assert done.exit_code == 0
    page = "studies/tiny/report/report.html"
    assert done.stdout.endswith(f"random    base             0     1        1\n\nreport: {page}\n")
    assert (tmp_path / page).exists()
    assert (tmp_path / "studies" / "tiny" / "results" / "rows.parquet").exists()
    assert json.loads(run("reproduce", "--json").stdout) == {"tiny": page}


def test_what_goes_beyond_the_paper_is_made_only_if_asked_for(run, monkeypatch):
    made = []
    monkeypatch.setattr("flexicase.cli.reproduce.run_with_display", lambda spec, *_, **__: made.append(spec.name) or 0)
    monkeypatch.setattr("flexicase.cli.reproduce.publish", lambda folder: folder)
    assert run("reproduce", "beyond", "fig1", "--json").exit_code == 0
    assert made == ["fast-smoke", "gp-smoke"]
    made.clear()
    assert run("reproduce", "--json").exit_code == 0
    assert "gp-smoke" in made
    assert "fast-smoke" not in made


@pytest.fixture
def half_done(tmp_path):
    """A ledger with one run done and one going on."""
    (tmp_path / "tiny").mkdir()
    with Ledger.create(tmp_path / "tiny" / "ledger.sqlite", parse_spec(STUDY)) as ledger:
        first, second = (entry.task.id for entry in ledger.entries())
        for run_id in (first, second):
            ledger.start(run_id, Provenance("1", "m", "c"))
        ledger.finish(first, RunResult("c", "d", {"success": True}), Progress(2, 2), Provenance("1", "m", "c"))
        yield ledger, {second: Progress(1, 2, "best error 0.5")}


def test_status_tells_of_runs_that_go_on_and_of_those_that_failed(run, half_done):
    ledger, running = half_done
    ((run_id, progress),) = running.items()
    before = time.time()
    ledger.record_heartbeats({run_id: progress})
    command = ("status", ledger.path.parent.name, "--studies", ledger.path.parents[1])
    shown = run(*command).stdout
    line = rf"{run_id} running: simple-regression, random, seed 1, step 1 of 2; last heartbeat (\d+) s ago\n"
    assert int(re.search(line, shown)[1]) <= time.time() - before + 0.5  # rounded
    ledger.fail(run_id, "it fell", limit=1)
    assert f"{run_id} quarantined: 1 attempts; it fell\n" in run(*command).stdout


def test_plain_lines_say_how_far_it_is_and_not_too_often(half_done):
    stream = io.StringIO()
    monitor = PlainMonitor(1, stream)
    monitor.on_tick(*half_done)
    monitor.on_tick(*half_done)
    monitor.on_message("something")
    line, note = stream.getvalue().splitlines()
    assert "1 of 2 runs done, 1 running, time left " in line
    assert "; at step 1/2; successes" in line
    assert "successes: simple-regression: lexicase 1/1, random 0/0" in line
    assert note.endswith("something")


def test_plain_lines_go_on_while_no_run_ends(half_done, monkeypatch):
    """A log was silent for half an hour."""
    ledger, running = half_done
    monkeypatch.setattr("flexicase.cli._study_display.SECONDS_BETWEEN_LINES", 0.0)
    monitor = PlainMonitor(1, io.StringIO())
    for step in (1, 2):
        monitor.on_tick(ledger, {run_id: Progress(step, 50) for run_id in [*running, "b", "c", "d", "e"]})
    first, second = monitor.stream.getvalue().splitlines()
    assert "; at step 1/50, 1/50, 1/50, 1/50, …; successes" in first
    assert "; at step 2/50" in second


def test_the_line_of_a_study_of_many_problems_sums_up():
    """29 problems in one line could not be read."""
    cells = [CellStatus(f"p{i}", method, "base", i % 2, 3, 3) for i in range(29) for method in ("a", "b")]
    assert _success_line(StudyStatus({}, cells, None)) == "29 problems: a 14/87, b 14/87"


def test_the_live_display_shows_the_bar_the_running_runs_and_the_successes(half_done):
    ledger, running = half_done
    console = Console(file=io.StringIO(), width=120)
    console.print(picture(study_status(ledger.entries()), ledger.entries(), running))
    drawn = console.file.getvalue()
    assert "━" in drawn
    for text in ("1 of 2 runs done, 1 running", "seed 1  1/2  best error 0.5", "1 of 1", "0 of 0"):
        assert text in drawn
    assert "variant" not in drawn
    stream = io.StringIO()
    with LiveMonitor(1, stream) as monitor:
        monitor.on_message("run [x] failed")
        monitor.on_tick(ledger, running)
    assert "run [x] failed" in stream.getvalue()


def test_names_and_notes_from_data_are_shown_as_they_are():
    """`[/b]` in a note or in a method's name was taken for markup, and a lone surrogate cannot be written."""
    task = RunSpec("0" * 16, "gp", "[/problem]", "[bold]m", "[/v]", 1, {})
    entry = LedgerEntry(
        task, "done", 1, 0.0, 0.0, 1.0, 1.0, Progress(1, 2), None, None, RunResult("c", "d", {"success": True})
    )
    entries = [entry, replace(entry, task=replace(task, variant="[red]"))]
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), width=200)
    console.print(picture(study_status(entries), entries, {task.id: Progress(1, 2, "[/b] [bold]note \udcff")}))
    console.file.seek(0)
    drawn = console.file.read()
    for text in ("[/problem]", "[bold]m", "[/v]", "[red]", r"[/b] [bold]note \udcff"):
        assert text in drawn


def test_a_line_that_is_kept_up_to_date_is_no_markup(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", stream)
    with StatusLine() as line:
        line.show("run [/b] [bold]x")
    assert "run [/b] [bold]x" in stream.getvalue()


@pytest.mark.parametrize("display", [PlainMonitor, LiveMonitor])
def test_a_display_that_cannot_be_written_does_not_stop_the_study(display, half_done):
    """A closed terminal, `2>&1 | head`, a full disk under the log file."""

    written = []

    class Gone(io.StringIO):
        def write(self, text):
            written.append(text)
            raise BrokenPipeError(32, "Broken pipe")

    with display(1, Gone()) as monitor:
        monitor.on_message("something")
        monitor.on_tick(*half_done)
    assert any("something" in text for text in written)


def test_displays_fit_where_they_go():
    assert isinstance(monitor_for(1, io.StringIO()), PlainMonitor)
    assert not isinstance(monitor_for(1, quiet=True), PlainMonitor)


def test_durations():
    assert [format_duration(s) for s in (0, 99, 150, 3600, 9000, None)] == [
        "0 s",
        "99 s",
        "2 min",
        "1 h 00 min",
        "2 h 30 min",
        "?",
    ]


def test_reproduce_and_report_check_their_folder_and_packages_before_the_work(run, spec, tmp_path, monkeypatch):
    """Hours of runs or a long export, and then no report."""
    made = []
    monkeypatch.setattr("flexicase.cli.reproduce.run_with_display", lambda spec, *_, **__: made.append(spec.name) or 0)
    monkeypatch.setattr("flexicase.cli.studies.write_results", made.append)
    (tmp_path / "studies" / "tiny").mkdir(parents=True)
    Ledger.create(tmp_path / "studies" / "tiny" / "ledger.sqlite", parse_spec(STUDY)).close()
    (tmp_path / "file").write_text("")
    for arguments in (
        ("reproduce", "fig1", "--studies", "file"),
        ("report", "tiny", "--out", "file"),
        ("report", "tiny", "--out", "file/x"),
    ):
        refused = run(*arguments)
        assert (refused.exit_code, refused.stderr) == (
            1,
            f"flexicase: error: {refused.stderr.split()[2]} Not a directory\n",
        )
    monkeypatch.setitem(sys.modules, "scipy", None)
    for arguments in (("reproduce", "fig1"), ("report", "tiny")):
        assert "reports need scipy: pip install 'flexicase[report]'" in run(*arguments).stderr
    assert made == []
