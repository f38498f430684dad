"""flexicase against its peers, each in an environment of its own, in turns.

Example: python benchmarks/selection --peers numpy,lexicase,deap --markdown --out results.json
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # Python puts the folder of this file there

from fragments import replace_fragment
from selection import runners
from selection.comparison import compare
from selection.costs import costs_of, small_calls
from selection.peers import PEERS, Peer, resolve_peers
from selection.report import Report
from selection.runners import Timing
from selection.workloads import WORKLOADS, Workload, resolve_workloads

PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparison.md"
HERE = [sys.executable, str(runners.__file__)]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass
class Worker:
    """A process that times one runner on one matrix; see `selection.runners`."""

    process: subprocess.Popen[str]
    label: str

    def time(self, n: int, *, seed: int, seconds: float, limit: float, **options: Any) -> Timing:
        """Ask the process."""
        request = {"n": n, "seed": seed, "seconds": seconds, "limit": limit, **options}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.label} ended without an answer, exit code {self.process.wait()}; see above")
        return Timing(**json.loads(answer))


@contextlib.contextmanager
def worker(label: str, command: list[str], **environment: str) -> Iterator[Worker]:
    """Start a process, and end it when done."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **ONE_THREAD, **environment},
    ) as process:
        try:
            yield Worker(process, label)
        finally:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
            process.kill()


def install(peer: Peer, folder: Path) -> str | None:
    """Make the peer's environment unless it is there already; the reason if that fails."""
    if not peer.supported:
        return "needs Python {}.{} or later".format(*peer.since)
    python = peer_python(peer, folder)
    wanted = f"import {peer.module}, importlib.metadata as m; assert m.version({peer.key!r}) == {peer.pinned!r}"
    check = [str(python), "-I", "-c", wanted]
    if python.exists() and subprocess.run(check, capture_output=True, check=False).returncode == 0:
        return None
    note(f"installing {peer.requirement}")
    for command in (
        [sys.executable, "-m", "venv", str(python.parent.parent)],
        [str(python), "-m", "pip", "install", "--quiet", "numpy", peer.requirement],
        check,
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["no message"]
            return f"could not be installed: {lines[-1][:160]}"
    return None


def peer_python(peer: Peer, folder: Path) -> Path:
    where = folder / f"{peer.key}-{peer.pinned}"
    return where / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def measure(workload: Workload, peers: list[Peer], folder: Path, report: Report, options: argparse.Namespace) -> None:
    """Time flexicase and its peers on one workload and add the rows and costs to the report."""
    errors = workload.build()
    path = folder / f"{workload.key}.npy"
    np.save(path, errors)
    kind = "epsilon" if workload.epsilon else "std"
    with contextlib.ExitStack() as stack:

        def start(label: str, command: list[str], **environment: str) -> Worker:
            return stack.enter_context(worker(label, command, **environment))

        ours = {"flexicase": start("flexicase", [*HERE, "flexicase", str(path), kind])}
        for isa in options.isas:
            label = f"flexicase ({isa})"
            ours[label] = start(label, [*HERE, "flexicase", str(path), kind], FLEXICASE_ISA=isa)
        theirs = {}
        for peer in peers:
            alone = [str(peer_python(peer, options.venv)), "-I", str(runners.__file__)]
            command = [*(alone if peer.pinned else HERE), peer.key, str(path), kind]
            theirs[peer.label] = start(peer.label, command)
        report.rows += compare(
            workload,
            ours,
            theirs,
            repeat=options.repeat,
            seconds=options.seconds,
            limit=options.limit,
            report=note if options.verbose else lambda message: None,
        )
    report.costs += costs_of(workload, errors, repeat=options.repeat, seconds=options.seconds)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(PEERS), help="comma-separated; default: %(default)s")
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help="comma-separated; default: %(default)s")
    parser.add_argument("--isas", default="", help="also flexicase with these instruction sets: avx2,base")
    parser.add_argument("--repeat", type=int, default=5, help="rounds; the best counts; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.2, help="least processor seconds of a turn")
    parser.add_argument("--limit", type=float, default=4.0, help="a peer that needs longer for a call selects fewer")
    parser.add_argument("--venv", type=Path, help="folder for the peers' environments, kept; default: thrown away")
    parser.add_argument("--out", type=Path, help="write everything as JSON")
    parser.add_argument("--markdown", action="store_true", help="print Markdown instead of text")
    parser.add_argument("--update-docs", action="store_true", help="put the Markdown into docs/comparison.md")
    parser.add_argument("--page", type=Path, default=PAGE, help=argparse.SUPPRESS)
    parser.add_argument("--verbose", action="store_true", help="say what is running")
    options = parser.parse_args()
    options.isas = [isa.strip() for isa in options.isas.split(",") if isa.strip()]
    try:
        options.peers = resolve_peers(options.peers.split(","))
        options.workloads = resolve_workloads(options.workloads.split(","))
    except ValueError as error:
        parser.error(str(error))
    for isa in options.isas:
        if isa not in ("base", "avx2"):
            parser.error(f"--isas must name base or avx2, got {isa!r}")
    if options.repeat < 1:
        parser.error(f"--repeat must be at least 1, got {options.repeat}")
    if options.update_docs:
        replace_fragment(options.page.read_text(encoding="utf-8"), "")  # fails now rather than after the run
    return options


def main() -> None:
    options = arguments()
    report = Report()
    with tempfile.TemporaryDirectory(prefix="flexicase-bench-") as temporary:
        folder = Path(temporary)
        options.venv = (options.venv or folder / "venv").resolve()
        peers = []
        for peer in options.peers:
            reason = install(peer, options.venv) if peer.pinned else None
            if reason is None:
                peers.append(peer)
            else:
                report.skipped[peer.label] = reason
        for workload in options.workloads:
            measure(workload, peers, folder, report, options)
    report.costs += small_calls(repeat=options.repeat)
    if options.out:
        options.out.write_text(json.dumps(report.as_dict(), indent=2) + "\n", encoding="utf-8")
    if options.update_docs:
        text = options.page.read_text(encoding="utf-8")
        options.page.write_text(replace_fragment(text, report.as_markdown()), encoding="utf-8")
    print(report.as_markdown() if options.markdown else report.as_text())


if __name__ == "__main__":
    main()
