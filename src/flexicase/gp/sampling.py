"""Down-sampling that saves executions: programs run on some cases, and candidates are checked on the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import check_count, shown
from flexicase.gp.parents import Executions, InheritedErrors, PopulationSummary, count_distinct
from flexicase.push.evaluator import Evaluator, PairErrors
from flexicase.push.program import Program
from flexicase.rng import Key, Lane, Stream, derived_key
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.protocol import Kernel, Method, Selection
from flexicase.selection.sampling import (
    Cohorts,
    DownSample,
    InformedDownSample,
    Partition,
    PartitionKernel,
    random_permutation,
    sample_size,
)

#: Which of the individuals that solve the sample are run on the remaining cases: all, or the first of the best.
Check: TypeAlias = Literal["all", "first"]
#: The age of a case that no ancestor was run on.
UNKNOWN = 255
#: Room for rounding when a sum of some errors is compared with a threshold; the verdict itself has none.
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class PhylogenyInformed:
    """Phylogeny-informed fitness estimation by ancestors (Lalejini et al., GPTP XX, 2024); for `flexicase.gp.evolve`.

    Programs run on a sample, but selection uses all cases. The error of a case that an individual was not run on is
    that of its nearest ancestor that was, along the line of first parents. A case that no ancestor within ``depth``
    generations was run on counts as failed, with an infinite error.

    Attributes:
        sample: The cases that programs run on.
        depth: How many generations back an ancestor may be, at most 254.

    Example:
        >>> from flexicase import gp
        >>> import flexicase as fx
        >>> sampling = fx.PhylogenyInformed(fx.DownSample(0.5), depth=3)
        >>> run = gp.evolve("mirror-image", population=20, generations=1, seed=1, threads=1, sampling=sampling)
        >>> run.records[1].executions_sample
        1000
    """

    sample: DownSample | Cohorts | InformedDownSample = field(default_factory=DownSample)
    depth: int = 5

    def __post_init__(self) -> None:
        if not isinstance(self.sample, DownSample | Cohorts | InformedDownSample):
            raise TypeError(f"sample must be DownSample, InformedDownSample or Cohorts, got {shown(self.sample)}")
        object.__setattr__(self, "depth", check_count(self.depth, "depth", 0, 254))


#: What `flexicase.gp.evolve` runs programs on.
CaseSampling: TypeAlias = DownSample | Cohorts | InformedDownSample | PhylogenyInformed


class CasePart(NamedTuple):
    """(k,) individuals of a generation, and the (s,) cases that they are run on; both ascending."""

    individuals: NDArray[np.int64]
    cases: NDArray[np.int64]


class CaseSampler:
    """Draws which individuals of a generation are run on which cases.

    The parts depend on the key and the generation, and for `InformedDownSample` on what is known of the cases.
    """

    def __init__(self, sampling: DownSample | Cohorts | InformedDownSample, n_cases: int, key: Key) -> None:
        self.sampling = sampling
        self.n_cases = n_cases
        self._key = key
        self._window: tuple[int, list[int]] = (0, [])

    def parts(self, generation: int, n_individuals: int, solved: NDArray[np.bool_] | None = None) -> list[CasePart]:
        """The parts of a generation; all individuals are in one unless there are cohorts.

        ``solved`` is (n_informants, n_cases) which individuals solve which cases; None if this is not known yet.
        """
        sampling = self.sampling
        if isinstance(sampling, Cohorts):
            groups = sampling.split(n_individuals, self.n_cases, self._key_of(generation))
            return [CasePart(*group) for group in groups]
        if isinstance(sampling, DownSample):
            chosen = self._down_sample(sampling, generation)
        elif solved is None:
            chosen = self._shuffled(generation)[: sample_size(sampling.size, self.n_cases)]
        else:
            chosen = sampling.choose(solved, self._stream(generation))
        return [CasePart(np.arange(n_individuals), np.sort(chosen))]

    def takes_all(self, n_individuals: int) -> bool:
        """Whether every individual is run on every case, in all generations."""
        if isinstance(self.sampling, Cohorts):
            return min(self.sampling.n_cohorts, n_individuals, self.n_cases) == 1
        fixed = isinstance(self.sampling, DownSample) or self.sampling.radius is None
        return fixed and sample_size(self.sampling.size, self.n_cases) == self.n_cases

    def informants(self, generation: int, n_individuals: int) -> NDArray[np.int64]:
        """The individuals of a generation that are run on all cases, to inform the samples after it; mostly none."""
        if not isinstance(self.sampling, InformedDownSample) or generation % self.sampling.every:
            return np.empty(0, np.int64)
        return self.sampling.informants(n_individuals, self._stream(generation, 1))

    def _key_of(self, generation: int) -> Key:
        return derived_key(self._key, generation, Lane.SAMPLE)

    def _stream(self, generation: int, event: int = 0) -> Stream:
        return Stream.of(self._key_of(generation), event, Lane.SAMPLE)

    def _shuffled(self, generation: int) -> NDArray[np.int64]:
        return random_permutation(self.n_cases, self._stream(generation))

    def _down_sample(self, sampling: DownSample, generation: int) -> NDArray[np.int64]:
        size = sample_size(sampling.size, self.n_cases)
        if sampling.kind == "rolling":
            return self._rolled(generation, size)
        block = generation % -(-self.n_cases // size) if sampling.kind == "disjoint" else 0
        drawn_in = {"random": generation, "static": 0, "disjoint": generation - block}[sampling.kind]
        return self._shuffled(drawn_in)[block * size : (block + 1) * size]

    def _rolled(self, generation: int, size: int) -> NDArray[np.int64]:
        """The sample of a generation, made from the last one that was asked for, or else from the first."""
        at, window = self._window
        if not window or at > generation:
            at, window = 0, self._shuffled(0)[:size].tolist()
        while at < generation and size < self.n_cases:
            at += 1
            outside = np.setdiff1d(np.arange(self.n_cases), window)
            window = [*window[1:], int(outside[self._stream(at).bounded(len(outside))])]
        self._window = at, window
        return np.array(window)


class SampledEvaluation:
    """Runs every individual on a sample of the cases, then selects by any method.

    Individuals that solve their sample are candidates. They are run on the remaining cases, and the run is solved if
    one of them solves these too. Candidates that fail stay in the population with the errors of their sample.
    """

    _errors_of: PairErrors
    _known: NDArray[np.float64]  # (individuals, cases, measures), NaN where a program was not run
    _table: NDArray[np.float64]  # (individuals, cases, measures), errors and estimates
    _ages: NDArray[np.uint8]  # (individuals, cases), generations to the ancestor that an estimate is from
    _parts: list[CasePart]
    _matrices: list[ErrorMatrix]
    _key: Key

    def __init__(
        self,
        evaluator: Evaluator,
        method: Method,
        sampling: CaseSampling,
        key: Key,
        *,
        check: Check = "all",
        threshold: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.evaluator = evaluator
        self.method = method
        self.depth = sampling.depth if isinstance(sampling, PhylogenyInformed) else None
        sample = sampling.sample if isinstance(sampling, PhylogenyInformed) else sampling
        self.sampler = CaseSampler(sample, evaluator.n_cases, key)
        self.check = check
        self.threshold = threshold
        self.threads = threads
        self.executions = Executions()
        self._generation = 0
        self._informed: tuple[int, NDArray[np.bool_]] | tuple[None, None] = None, None

    @property
    def pairs(self) -> int:
        return self.executions.total * self.evaluator.errors_per_case

    def evaluate(
        self, programs: list[Program], inherited: InheritedErrors, key: Key, generation: int
    ) -> PopulationSummary:
        """Run all programs on the sample, and the candidates on more; the best has the smallest error per case."""
        n, n_cases = len(programs), self.evaluator.n_cases
        self._errors_of = self.evaluator.on_demand(programs, self.threads)
        self._known = np.full((n, n_cases, self.evaluator.errors_per_case), np.nan)
        self._key, self._generation, self.executions = key, generation, Executions()
        informed_generation, solved = self._informed
        self._parts = self.sampler.parts(generation, n, solved)
        sizes = [len(part.cases) for part in self._parts]
        if self._is_whole() and inherited.ages is None:  # otherwise they are errors on other cases
            self._known[inherited.individuals] = inherited.errors.reshape(-1, *self._known.shape[1:])
        self.executions.sample = self._run_missing(self._parts)
        own = [self._known[np.ix_(*part)] for part in self._parts]
        self._matrices = [ErrorMatrix.from_array(errors.reshape(len(errors), -1)) for errors in own]
        totals, n_run = np.empty(n), np.empty(n)
        for part, matrix in zip(self._parts, self._matrices, strict=True):
            totals[part.individuals], n_run[part.individuals] = matrix.total_errors, len(part.cases)
        solution, n_candidates, n_checked = self._check(programs, totals)
        comparable = len(set(sizes)) == 1
        best = int(np.argmin(totals if comparable else totals / n_run)) if solution is None else solution
        errors = next(self._known[best, part.cases].ravel() for part in self._parts if best in part.individuals)
        if self.depth is not None and not self.sampler.takes_all(n):
            self._estimate(inherited)
        statistics = {
            "best_error": float(totals[best]),
            "median_error": float(np.median(totals)) if comparable else None,
            "mean_error": float(totals.mean()) if comparable else None,
            "n_distinct_errors": sum(map(count_distinct, self._matrices)),
            "sample_size": max(sizes),
            "n_candidates": n_candidates,
            "n_checked": n_checked,
            "informed_generation": informed_generation,
            "n_distinct_columns": None if solved is None else len(np.unique(solved, axis=1).T),
            "sample": tuple(self._parts[0].cases.tolist()) if len(self._parts) == 1 else None,
        }
        return PopulationSummary(best, errors, solution is not None, statistics)

    def select(self, n: int) -> Selection:
        """Select by the method from each part in turn, after the samples of the next generations were informed."""
        self._inform()
        kernels: list[Kernel] = [self.method.prepare(matrix, self._key, "native") for matrix in self._matrices]
        kernel = PartitionKernel([Partition(*part) for part in self._parts], kernels)
        return kernel.draw(self._key, range(n), True, self.threads)

    def train_errors(self, individual: int) -> tuple[NDArray[np.float64], int]:
        executions = self._run_missing([CasePart(np.array([individual]), np.arange(self.evaluator.n_cases))])
        return self._known[individual].ravel(), executions

    def inherited_errors(self, is_copy: NDArray[np.bool_], parents: NDArray[np.int64]) -> InheritedErrors:
        n = len(self._known)
        if self.depth is not None and not self.sampler.takes_all(n):
            children = np.flatnonzero(parents >= 0)
            table, ages = self._table[parents[children]], self._ages[parents[children]]
            gone = ages >= self.depth  # unknown ones included
            table[gone], ages = np.inf, np.where(gone, UNKNOWN, ages + 1).astype(np.uint8)
            return InheritedErrors(children, table.reshape(-1, self.evaluator.n_errors), ages)
        if not self._is_whole():
            return InheritedErrors.none(self.evaluator.n_errors)
        copies = np.flatnonzero(is_copy)
        return InheritedErrors(copies, self._known[parents[copies]].reshape(-1, self.evaluator.n_errors))

    def state_dict(self) -> dict[str, Any] | None:
        if not isinstance(self.sampler.sampling, InformedDownSample):
            return None
        generation, solved = self._informed
        rows = [] if solved is None else [row.tobytes().hex() for row in np.packbits(solved, axis=1)]
        return {"generation": generation, "solved": rows}

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        if not isinstance(self.sampler.sampling, InformedDownSample):
            return
        if state is None:
            raise ValueError("the checkpoint is of a run without informed down-sampling")
        self._informed = None, None
        if state["generation"] is not None:
            n_cases = self.evaluator.n_cases
            packed = np.array([list(bytes.fromhex(row)) for row in state["solved"]], np.uint8)
            if not len(packed) or packed.shape[1] != (n_cases + 7) // 8:
                raise ValueError("solved must have one bit for each case")
            solved = np.unpackbits(packed, axis=1, count=n_cases).astype(np.bool_)
            self._informed = check_count(state["generation"], "generation"), solved

    def _is_whole(self) -> bool:
        """Whether every individual is run on every case in this generation."""
        return len(self._parts) == 1 and len(self._parts[0].cases) == self.evaluator.n_cases

    def _run_missing(self, parts: list[CasePart]) -> int:
        """Run individuals on cases that they were not run on yet; gives the number of executions."""
        missing = [np.nonzero(np.isnan(self._known[:, :, 0][np.ix_(*part)])) for part in parts]
        rows = np.concatenate([part.individuals[i] for part, (i, _) in zip(parts, missing, strict=True)])
        cases = np.concatenate([part.cases[i] for part, (_, i) in zip(parts, missing, strict=True)])
        if len(rows):
            width = self._known.shape[2]
            wanted = cases[:, None] * width + np.arange(width)
            self._known[rows, cases] = self._errors_of(rows[:, None], wanted)
        return len(rows)

    def _check(self, programs: list[Program], totals: NDArray[np.float64]) -> tuple[int | None, int, int]:
        """The first candidate that solves all cases, or None; the number of candidates; how many were run.

        Candidates are run in groups that double in size, on blocks of cases that double in size. The cases that
        refuted most candidates come first, and a candidate is dropped as soon as its error exceeds the threshold.
        """
        limit = self.threshold * (1 + SLACK)
        found = np.flatnonzero(totals <= limit)
        candidates = found[np.argsort(totals[found], kind="stable")]
        if self.check == "first":
            candidates = candidates[:1]
        first: dict[bytes, int] = {}
        for i in candidates:
            first.setdefault(programs[i].to_bytes(), i)
        distinct = np.array(list(first.values()), np.int64)
        refuted, n_checked = np.zeros(self.evaluator.n_cases, np.int64), 0
        solution: int | None = None
        while solution is None and n_checked < len(distinct):
            alive = distinct[n_checked : 2 * n_checked + 1]
            n_checked += len(alive)
            order, done = np.argsort(-refuted, kind="stable"), 0
            while len(alive) and done < len(order):
                block = order[done : 2 * done + 1]
                done += len(block)
                self.executions.check += self._run_missing([CasePart(alive, block)])
                failed = np.nansum(self._known[alive], axis=(1, 2)) > limit
                refuted[block] += (self._known[np.ix_(alive[failed], block)] > 0).any(axis=2).sum(axis=0)
                alive = alive[~failed]
            if len(alive):
                sums = ErrorMatrix.from_array(self._known[alive].reshape(len(alive), -1)).total_errors
                solving = alive[sums <= self.threshold]
                solution = int(solving[0]) if len(solving) else None
        return solution, len(found), n_checked if self.executions.check else 0  # a sample of all cases needs no check

    def _inform(self) -> None:
        """Run some individuals on all cases if it is time to."""
        informants = self.sampler.informants(self._generation, len(self._known))
        if len(informants):
            all_cases = np.arange(self.evaluator.n_cases)
            self.executions.informed = self._run_missing([CasePart(informants, all_cases)])
            assert isinstance(self.sampler.sampling, InformedDownSample)
            solved = self.sampler.sampling.solved(self._known[informants].sum(axis=2))
            self._informed = self._generation, solved

    def _estimate(self, inherited: InheritedErrors) -> None:
        """Let selection use all cases: own errors, those of ancestors, or infinity."""
        self._table = np.full(self._known.shape, np.inf)
        self._ages = np.full(self._known.shape[:2], UNKNOWN, np.uint8)
        if inherited.ages is not None:
            self._table[inherited.individuals] = inherited.errors.reshape(-1, *self._known.shape[1:])
            self._ages[inherited.individuals] = inherited.ages
        for part in self._parts:
            own = np.ix_(*part)
            self._table[own], self._ages[own] = self._known[own], 0
        tables = [self._table[part.individuals] for part in self._parts]
        self._matrices = [ErrorMatrix.from_array(table.reshape(len(table), -1)) for table in tables]
