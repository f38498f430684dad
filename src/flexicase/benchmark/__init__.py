"""Benchmarks: fixed workloads, peers, and how both are timed (see ``benchmarks/`` and ``flexicase bench``)."""

from flexicase.benchmark.comparison import Entry, Row, compare, entries
from flexicase.benchmark.costs import Cost, costs_of, memory, second_thread, small_calls
from flexicase.benchmark.peers import PEERS, Peer, resolve_peers
from flexicase.benchmark.report import Report, replace_fragment
from flexicase.benchmark.runners import RUNNERS, Bench, Timing
from flexicase.benchmark.workloads import WORKLOADS, Workload, resolve_workloads

__all__ = [
    "PEERS",
    "RUNNERS",
    "WORKLOADS",
    "Bench",
    "Cost",
    "Entry",
    "Peer",
    "Report",
    "Row",
    "Timing",
    "Workload",
    "compare",
    "costs_of",
    "entries",
    "memory",
    "replace_fragment",
    "resolve_peers",
    "resolve_workloads",
    "second_thread",
    "small_calls",
]
