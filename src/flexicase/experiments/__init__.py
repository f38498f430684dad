"""Studies of many runs: a TOML file, a plan, a ledger, and runs that survive whatever happens."""

from flexicase._checks import require_package

require_package("studies need", "pydantic", "pyarrow")

from flexicase._files import LockedError
from flexicase.experiments._database import DamagedLedgerError
from flexicase.experiments._tables import DamagedRowsError
from flexicase.experiments.executors import ExecutorFactory, open_cluster
from flexicase.experiments.export import ExportSummary, export_study, import_study
from flexicase.experiments.jobs import Job, JobResult, Progress, RunSpec
from flexicase.experiments.ledger import ChangedSpecError, Ledger, LedgerEntry, RunResult
from flexicase.experiments.presets import preset_path
from flexicase.experiments.rerun import RerunComparison, find_run, rerun
from flexicase.experiments.runner import FullDiskError, Monitor, StudyOptions, run_study
from flexicase.experiments.spec import SpecError, StudySpec, load_spec, parse_spec, plan
from flexicase.experiments.study import Study, StudyStatus, studies_in, study_status

__all__ = [
    "ChangedSpecError",
    "DamagedLedgerError",
    "DamagedRowsError",
    "ExecutorFactory",
    "ExportSummary",
    "FullDiskError",
    "Job",
    "JobResult",
    "Ledger",
    "LedgerEntry",
    "LockedError",
    "Monitor",
    "Progress",
    "RerunComparison",
    "RunResult",
    "RunSpec",
    "SpecError",
    "Study",
    "StudyOptions",
    "StudySpec",
    "StudyStatus",
    "export_study",
    "find_run",
    "import_study",
    "load_spec",
    "open_cluster",
    "parse_spec",
    "plan",
    "preset_path",
    "rerun",
    "run_study",
    "studies_in",
    "study_status",
]
