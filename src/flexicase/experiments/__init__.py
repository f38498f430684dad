"""Studies of many runs: a TOML file, a plan, a ledger, and runs that survive whatever happens."""

from flexicase._checks import require

require("studies need", "pydantic", "pyarrow")

from flexicase._files import LockedError
from flexicase.experiments._database import DamagedLedgerError
from flexicase.experiments._tables import DamagedRowsError
from flexicase.experiments.executors import Place, place_of
from flexicase.experiments.export import Exported, export_study, import_study
from flexicase.experiments.jobs import Job, Outcome, Progress, Task
from flexicase.experiments.ledger import ChangedSpecError, Entry, Ledger, Result
from flexicase.experiments.presets import preset_path
from flexicase.experiments.rerun import Comparison, find_run, rerun
from flexicase.experiments.runner import FullDiskError, Monitor, Options, run_study
from flexicase.experiments.spec import Spec, SpecError, load_spec, parse_spec, plan
from flexicase.experiments.study import Overview, Study, overview, studies_in

__all__ = [
    "ChangedSpecError",
    "Comparison",
    "DamagedLedgerError",
    "DamagedRowsError",
    "Entry",
    "Exported",
    "FullDiskError",
    "Job",
    "Ledger",
    "LockedError",
    "Monitor",
    "Options",
    "Outcome",
    "Overview",
    "Place",
    "Progress",
    "Result",
    "Spec",
    "SpecError",
    "Study",
    "Task",
    "export_study",
    "find_run",
    "import_study",
    "load_spec",
    "overview",
    "parse_spec",
    "place_of",
    "plan",
    "preset_path",
    "rerun",
    "run_study",
    "studies_in",
]
