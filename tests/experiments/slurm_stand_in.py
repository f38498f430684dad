"""Stands in for the commands of Slurm that submitit calls: an array's jobs become processes of this machine.

It keeps a folder of its own, the one that it lies in: ``jobs`` with a line per submitted array, ``states`` with one
file per job. What it is called as says which command it is. ``refusals`` says how many of the next submissions fail,
and ``forgetful`` that submitted jobs never start and that accounting does not know them.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
STATES = HERE / "states"
COMMANDS = ("sbatch", "srun", "sacct", "scancel")


def sbatch(script):
    """Start a job, or every job of an array, each in a session of its own, as the script on it says."""
    refusals = HERE / "refusals"
    if refusals.exists() and int(refusals.read_text()) > 0:
        refusals.write_text(str(int(refusals.read_text()) - 1))
        sys.exit("sbatch: error: Unable to contact slurm controller")
    array = re.search(r"^#SBATCH --array=0-(\d+)%\d+$", Path(script).read_text(), re.MULTILINE)
    number = 1 + len((HERE / "jobs").read_text().splitlines())
    size = int(array[1]) + 1 if array else 1
    with open(HERE / "jobs", "a", encoding="utf-8") as file:
        file.write(f"{size}\n")
    for index in range(size):
        name = f"{number}_{index}" if array else f"{number}"
        slurm = {"JOB_ID": number * 100 + index if array else number}
        slurm |= {"NTASKS": 1, "JOB_NUM_NODES": 1, "NODEID": 0, "PROCID": 0, "LOCALID": 0}
        slurm |= {"ARRAY_JOB_ID": number, "ARRAY_TASK_ID": index} if array else {}
        if (HERE / "forgetful").exists():
            continue
        (STATES / name).write_text("PENDING 0")
        subprocess.Popen(
            [sys.executable, HERE / "wait", name, "bash", script],
            env=os.environ | {f"SLURM_{key}": str(value) for key, value in slurm.items()},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    print(f"Submitted batch job {number}")


def wait(job, *command):
    """Keep account of a job while it runs."""
    (STATES / job).write_text(f"RUNNING {os.getpid()}")
    subprocess.run(command, check=False)
    (STATES / job).write_text("COMPLETED 0")


def srun(*arguments):
    """Run a step of the job, here."""
    command = list(arguments)
    while command[0].startswith("--"):
        del command[: 1 if command[0] == "--unbuffered" else 2]
    os.execvp(command[0], command)


def sacct(*arguments):
    """Tell the states of all jobs."""
    print("JobID|State|NodeList")
    for path in STATES.iterdir():
        print(f"{path.name}|{path.read_text().split()[0]}|here")


def scancel(job, *arguments):
    """End a job and all that it has started."""
    if not (STATES / job).exists():
        sys.exit("scancel: error: Invalid job id")
    state, process = (STATES / job).read_text().split()
    if state == "RUNNING":
        (STATES / job).write_text("CANCELLED 0")
        os.killpg(int(process), signal.SIGKILL)


def install(folder):
    """Put the commands into a folder."""
    (folder / "states").mkdir(parents=True)
    (folder / "jobs").touch()
    for command in (*COMMANDS, "wait"):
        (folder / command).write_text(f"#!{sys.executable}\n{Path(__file__).read_text(encoding='utf-8')}")
        (folder / command).chmod(0o755)


if __name__ == "__main__":
    globals()[Path(sys.argv[0]).name](*sys.argv[1:])
