"""Studies of many runs: a TOML file, a ledger, runs that continue after any interruption, and their results."""

from typing import TYPE_CHECKING

from flexicase._checks import require_package
from flexicase._lazy import lazy_names

if TYPE_CHECKING:
    from flexicase.experiments.executors import ExecutorFactory, open_cluster
    from flexicase.experiments.export import export_study, import_study
    from flexicase.experiments.gp_job import GpJob
    from flexicase.experiments.image_job import ImageJob
    from flexicase.experiments.jobs import Job, JobResult, Progress, RunSpec
    from flexicase.experiments.ledger import Ledger
    from flexicase.experiments.presets import preset_path
    from flexicase.experiments.reruns import find_run, rerun
    from flexicase.experiments.results import read_results
    from flexicase.experiments.runner import Monitor, StudyOptions, run_study
    from flexicase.experiments.same_populations_job import SamePopulationsJob
    from flexicase.experiments.spec import SpecError, StudySpec, load_spec, parse_spec
    from flexicase.experiments.study import Study

require_package("studies need", "pydantic", "pyarrow")

__all__ = [
    "ExecutorFactory",
    "GpJob",
    "ImageJob",
    "Job",
    "JobResult",
    "Ledger",
    "Monitor",
    "Progress",
    "RunSpec",
    "SamePopulationsJob",
    "SpecError",
    "Study",
    "StudyOptions",
    "StudySpec",
    "export_study",
    "find_run",
    "import_study",
    "load_spec",
    "open_cluster",
    "parse_spec",
    "preset_path",
    "read_results",
    "rerun",
    "run_study",
]

_MODULES = {
    "executors": "ExecutorFactory open_cluster",
    "export": "export_study import_study",
    "gp_job": "GpJob",
    "image_job": "ImageJob",
    "jobs": "Job JobResult Progress RunSpec",
    "ledger": "Ledger",
    "presets": "preset_path",
    "reruns": "find_run rerun",
    "results": "read_results",
    "runner": "Monitor StudyOptions run_study",
    "same_populations_job": "SamePopulationsJob",
    "spec": "SpecError StudySpec load_spec parse_spec",
    "study": "Study",
}

if not TYPE_CHECKING:  # a worker imports only what its run needs
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
