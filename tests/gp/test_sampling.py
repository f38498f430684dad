"""Down-sampling in runs: what is drawn, what is run, what is counted, and when a run ends."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexicase as fx
from flexicase import problems
from flexicase.gp import Variation, evolve
from flexicase.gp._settings import check_case_sampling, format_sampling, parse_sampling
from flexicase.gp._state import read
from flexicase.gp.evolve import Evolution, evolve_settings
from flexicase.gp.parents import InheritedErrors
from flexicase.gp.sampling import CaseSampler, SampledEvaluation
from flexicase.push import Program, Symbol
from flexicase.push.evaluator import Evaluator
from flexicase.rng import Key, Lane, Stream, derived_key, key_from_seed
from flexicase.selection.sampling import farthest_first, sample_size
from tests.gp._helpers import MIXED, SAMPLERS, fingerprint, small_run

KEY = key_from_seed(3)


def sampler(text: str, n_cases: int = 100, key: Key = KEY) -> CaseSampler:
    return CaseSampler(parse_sampling(text), n_cases, key)


def cases(text: str, generation: int, n_cases: int = 100, key: Key = KEY) -> list[int]:
    (part,) = sampler(text, n_cases, key).parts(generation, 5)
    return part.cases.tolist()


def clamped(**changes) -> problems.Problem:
    """A problem that small runs solve after many programs that solve a sample only: an integer, but at least 3."""
    genes = [Symbol("in1"), 3, Symbol("integer_max")] * 5
    parts = {"stacks": ["exec", "integer"], "generators": genes, **changes}
    return problems.from_cases("clamped", [((i,), max(i, 3)) for i in range(12)], test=0.0, **parts)


# The samplers: invariants 1 to 5.


@pytest.mark.slow
@given(
    st.sampled_from(["down", "static", "rolling", "informed"]),
    st.one_of(st.floats(0.01, 1.0), st.integers(1, 60)),
    st.integers(1, 50),
    st.integers(0, 30),
)
@settings(max_examples=150, deadline=None)
def test_a_sample_has_its_size_and_holds_sorted_distinct_cases(name, size, n_cases, generation):
    found = cases(f"{name}:{size!r}", generation, n_cases)
    assert len(found) == sample_size(size, n_cases)
    assert found == sorted(set(found))
    assert set(found) <= set(range(n_cases))
    if isinstance(size, float) and size == 1.0:
        assert found == list(range(n_cases))


def test_sizes_are_rounded_like_those_of_selection():
    """0.29 · 100 is 28.999…96: cut off it would be 28."""
    assert len(cases("down:0.29", 0)) == 29
    assert len(cases("down:0.25", 0, 25)) == 6
    assert len(cases("down:0.01", 0, 25)) == 1


def test_a_sample_depends_on_seed_and_generation_alone():
    for text in ("down:0.1", "rolling:0.1", "disjoint:0.1"):
        one, other = sampler(text), sampler(text)
        backwards = {g: other.parts(g, 5)[0].cases.tolist() for g in reversed(range(30))}
        assert [one.parts(g, 9)[0].cases.tolist() for g in range(30)] == [backwards[g] for g in range(30)]
        assert cases(text, 4, key=key_from_seed(4)) != cases(text, 4)
    assert len({tuple(cases("down:0.1", g)) for g in range(50)}) == 50


def test_random_samples_are_fair_to_cases_and_to_pairs_of_cases():
    n, s, draws = 12, 4, 6000
    seen = np.zeros((n, n))
    one = sampler(f"down:{s}", n)
    for generation in range(draws):
        drawn = one.parts(generation, 3)[0].cases
        seen[np.ix_(drawn, drawn)] += 1
    single, double = s / n, s * (s - 1) / (n * (n - 1))
    pairs = seen[~np.eye(n, dtype=bool)]
    assert np.abs(np.diag(seen) - draws * single).max() < 5 * math.sqrt(draws * single * (1 - single))
    assert np.abs(pairs - draws * double).max() < 5 * math.sqrt(draws * double * (1 - double))


def test_successive_random_samples_are_independent():
    """A case of one generation is in the next one as often as any other."""
    n, s, draws = 20, 5, 4000
    drawn = [set(cases(f"down:{s}", g, n)) for g in range(draws)]
    both = sum(len(a & b) for a, b in itertools.pairwise(drawn)) / (draws - 1)
    assert both == pytest.approx(s * s / n, abs=5 * math.sqrt(s / draws))


def test_a_static_sample_never_changes():
    assert {tuple(cases("static:0.2", g)) for g in range(20)} == {tuple(cases("down:0.2", 0))}


@pytest.mark.parametrize(("n", "s"), [(25, 10), (20, 5), (7, 7), (9, 1), (10, 4)])
def test_disjoint_samples_cover_every_case_once_per_shuffle(n, s):
    blocks = -(-n // s)
    rounds = []
    for start in range(0, 5 * blocks, blocks):
        drawn = [cases(f"disjoint:{s}", start + i, n) for i in range(blocks)]
        assert sorted(itertools.chain(*drawn)) == list(range(n))
        assert [len(block) for block in drawn[:-1]] == [s] * (blocks - 1)
        rounds.append(tuple(map(tuple, drawn)))
    assert len(set(rounds)) > 1 or n == s


@pytest.mark.slow
def test_a_rolling_sample_replaces_its_oldest_case():
    n, s = 15, 4
    drawn = [set(cases(f"rolling:{s}", g, n)) for g in range(200)]
    for before, after in itertools.pairwise(drawn):
        assert len(before - after) == len(after - before) == 1
    since = dict.fromkeys(drawn[0], 0)
    for g, (before, after) in enumerate(itertools.pairwise(drawn), 1):
        (gone,) = before - after
        if g > s:  # the order within the first sample is not known
            assert since[gone] == g - s
        since |= dict.fromkeys(after - before, g)
    assert len(set().union(*drawn)) == n


@pytest.mark.parametrize(("s", "n"), [(10, 100), (25, 50)])
def test_the_share_of_cases_not_met_falls_as_it_should(s, n):
    rounds = 40
    for g in (1, 5, 20):
        unseen = [
            n - len(set().union(*(cases(f"down:{s}", i, n, key_from_seed(seed)) for i in range(g))))
            for seed in range(rounds)
        ]
        expected = (1 - s / n) ** g
        assert np.mean(unseen) / n == pytest.approx(expected, abs=5 * math.sqrt(expected / (n * rounds)) + 1e-9)


@given(st.integers(1, 12), st.integers(1, 30), st.integers(1, 30), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_cohorts_are_partitions_of_both_into_equal_parts(k, n_individuals, n_cases, generation):
    parts = sampler(f"cohorts:{k}", n_cases).parts(generation, n_individuals)
    assert len(parts) == min(k, n_individuals, n_cases)
    for members, n in ((0, n_individuals), (1, n_cases)):
        sizes = [len(part[members]) for part in parts]
        assert sorted(np.concatenate([part[members] for part in parts]).tolist()) == list(range(n))
        assert max(sizes) - min(sizes) <= 1


def evaluated(text: str, seed: int = 0, problem: str = "mirror-image", population: int = 40, **settings):
    """A population that was evaluated once."""
    evolution = Evolution(evolve_settings(problem, population=population, seed=seed, threads=1))
    programs, _ = evolution.state.population.translate(1200)
    parents = SampledEvaluation(evolution.train, fx.Lexicase(), parse_sampling(text), key_from_seed(seed), **settings)
    none = InheritedErrors.none(evolution.train.n_errors)
    return parents, parents.evaluate(programs, none, key_from_seed(seed), 0), programs, evolution.train


def test_winners_are_of_the_cohort_whose_turn_it_is():
    parents, summary, _, _ = evaluated("cohorts:6")
    parts = parents.sampler.parts(0, 40)
    selection = parents.select(100)
    assert all(winner in parts[event % 6].individuals for event, winner in enumerate(selection.indices))
    assert parents.executions.sample == sum(len(i) * len(c) for i, c in parts)
    assert summary.statistics["median_error"] is None, "totals over different numbers of cases cannot be compared"


def test_the_best_of_cohorts_of_different_sizes_has_the_smallest_error_per_case():
    parents, summary, programs, train = evaluated("cohorts:3", population=20)
    errors = train.errors(programs)
    means = {i: errors[i, c].mean() for part in parents.sampler.parts(0, 20) for i in part[0] for c in [part[1]]}
    assert means[summary.best] == min(means.values())


# Farthest-first: invariants 6 to 11.

solve_matrices = st.integers(1, 6).flatmap(
    lambda p: st.integers(1, 8).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=p, max_size=p)
    )
)


def distances(solved):
    return (solved[:, :, None] != solved[:, None, :]).sum(axis=0)


@pytest.mark.slow
@given(solve_matrices, st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_farthest_first_grows_by_prefixes_and_covers_well(matrix, state):
    solved = np.array(matrix)
    n, apart = solved.shape[1], distances(solved)
    longest = farthest_first(solved, n, Stream(state)).tolist()
    for size in range(1, n + 1):
        chosen = farthest_first(solved, size, Stream(state)).tolist()
        assert chosen == longest[:size]
        radius = apart[chosen].min(axis=0).max()
        best = min(apart[list(some)].min(axis=0).max() for some in itertools.combinations(range(n), size))
        assert radius <= 2 * best
    kinds = {tuple(column) for column in solved.T}
    assert {tuple(solved[:, c]) for c in longest[: len(kinds)]} == kinds, "a column twice before every one was once"


@given(solve_matrices, st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_an_adaptive_sample_covers_every_case_within_its_radius(matrix, state):
    solved = np.array(matrix)
    n, apart = solved.shape[1], distances(solved)
    sizes = []
    for radius in range(len(solved) + 1):
        chosen = farthest_first(solved, n, Stream(state), radius).tolist()
        assert chosen == farthest_first(solved, n, Stream(state)).tolist()[: len(chosen)]
        assert apart[chosen].min(axis=0).max() <= radius
        sizes.append(len(chosen))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == len({tuple(column) for column in solved.T})
    assert sizes[-1] == 1


@given(solve_matrices, st.integers(0, 10**6), st.integers(1, 4), st.randoms())
@settings(max_examples=60, deadline=None)
def test_farthest_first_sees_nothing_but_the_distances(matrix, state, copies, chance):
    solved = np.array(matrix)
    rows = list(range(len(solved)))
    chance.shuffle(rows)
    sampling = fx.InformedDownSample(1.0)
    expected = sampling.choose(solved, Stream(state)).tolist()
    for same in (~solved, solved[rows], np.repeat(solved, copies, axis=0)):
        assert sampling.choose(same, Stream(state)).tolist() == expected


def test_the_example_of_farthest_first_has_its_exact_distribution():
    """Five cases with columns 111, 111, 001, 010, 110: the two synonymous ones are never together."""
    solved = np.array([[1, 1, 0, 0, 1], [1, 1, 0, 1, 1], [1, 1, 1, 0, 0]], bool)
    exact = {(0, 2, 3): 3 / 10, (1, 2, 3): 3 / 10, (0, 2, 4): 2 / 15, (1, 2, 4): 2 / 15, (2, 3, 4): 2 / 15}
    draws, sampling = 20_000, fx.InformedDownSample(3)
    seen = Counter(tuple(sorted(sampling.choose(solved, Stream(17 * i)).tolist())) for i in range(draws))
    assert set(seen) == set(exact)
    for cases_, p in exact.items():
        assert abs(seen[cases_] - draws * p) < 5 * math.sqrt(draws * p * (1 - p))


def test_cases_that_are_all_alike_are_drawn_at_random():
    seen = Counter(
        tuple(sorted(fx.InformedDownSample(2).choose(np.ones((3, 5), bool), Stream(31 * i)).tolist()))
        for i in range(5000)
    )
    assert len(seen) == 10
    assert max(abs(count - 500) for count in seen.values()) < 5 * math.sqrt(5000 * 0.1 * 0.9)


def test_the_other_notions_of_a_solved_case():
    errors = np.array([[0.0, 2.0, 1.0], [3.0, 2.0, 2.0], [5.0, 4.0, 9.0]])
    solved = {by: fx.InformedDownSample(solved_by=by).solved(errors).astype(int).tolist() for by in ("elite", "median")}
    assert solved["elite"] == [[1, 1, 1], [0, 1, 0], [0, 0, 0]]  # by case, not by individual
    assert solved["median"] == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert fx.InformedDownSample(solved_by=2.0).solved(errors).sum(axis=0).tolist() == [1, 2, 2]
    assert fx.InformedDownSample().solved(errors).sum() == 1


def test_the_cases_of_samples_are_recorded_on_request(tmp_path):
    run = small_run(sampling="rolling:0.1", record_samples=True, save=tmp_path, save_every=0.0)
    expected = sampler("rolling:0.1", key=key_from_seed(5))
    assert [list(r.sample) for r in run.records] == [expected.parts(g, 60)[0].cases.tolist() for g in range(5)]
    assert read(tmp_path)[1].records[2].sample == run.records[2].sample
    assert {r.sample for r in small_run(sampling="rolling:0.1").records} == {None}
    assert "sample" not in type(run.records[0]).to_columns(run.records)
    for wrong in (5, "12", [1.5], [None]):
        with pytest.raises(TypeError, match="sample must be"):
            type(run.records[0]).from_dict({**run.records[0].as_dict(), "sample": wrong})


def test_full_information_costs_what_no_sampling_costs():
    run = small_run(sampling="informed:0.1,parent_rate=1.0,every=1")
    assert [record.executions for record in run.records] == [6000, 6000, 6000, 6000, 600]
    assert [record.executions_informed for record in run.records] == [5400, 5400, 5400, 5400, 0]


def test_samples_are_informed_by_the_last_refresh_before_them():
    """The results of a generation are used from the next one on; the samples of 1 to 10 use those of 0."""
    run = small_run(generations=22, population=10, sampling=fx.InformedDownSample(0.1, 0.5))
    assert [record.informed_generation for record in run.records] == [None, *[0] * 10, *[10] * 10, 20, 20]
    assert [g for g, record in enumerate(run.records) if record.executions_informed] == [0, 10, 20]
    assert {record.executions_informed for record in run.records} == {0, 5 * 90}
    assert all(record.n_distinct_columns >= 1 for record in run.records[1:])


def test_informed_samples_are_drawn_from_the_results_of_the_informants():
    """The sample of every generation, recomputed from the programs of the generation that informed it."""
    sampling, key = fx.InformedDownSample(0.1, 0.2, every=2), key_from_seed(8)
    evolution = Evolution(evolve_settings("mirror-image", population=30, seed=8, threads=1, sampling=sampling))
    lane = CaseSampler(sampling, 100, key)
    solved = None
    for generation in range(6):
        programs, _ = evolution.state.population.translate(1200)
        errors = evolution.train.errors(programs)
        evolution.step()
        (expected,) = lane.parts(generation, 30, solved)
        assert evolution._parents._parts[0].cases.tolist() == expected.cases.tolist()
        if generation == 0:
            stream = Stream.of(derived_key(key, 0, Lane.SAMPLE), 0, Lane.SAMPLE)
            assert expected.cases.tolist() == sorted(fx.selection.sampling.random_permutation(100, stream)[:10])
        if generation % 2 == 0:
            informants = lane.informants(generation, 30)
            assert len(set(informants.tolist())) == 6
            solved = errors[informants] == 0


def test_an_adaptive_sample_takes_all_cases_while_nothing_is_known():
    run = small_run(sampling="informed,radius=0,parent_rate=0.2,every=1")
    assert run.records[0].sample_size == 100
    assert [r.sample_size for r in run.records[1:]] == [r.n_distinct_columns for r in run.records[1:]]


# Runs: invariants 12 to 20.

WHOLE = ["down:1.0", "down:1000", "static:1.0", "disjoint:1.0", "rolling:1.0", "cohorts:1", "phylogeny+down:1.0"]


@pytest.mark.slow
@pytest.mark.parametrize("text", [*WHOLE, "informed:1.0"])
@pytest.mark.parametrize("changes", [{}, {"variation": MIXED}, {"problem": "grade"}, {"method": "ranked-num-nonzeros"}])
def test_a_sample_of_all_cases_is_the_run_without_sampling(text, changes):
    """Bit for bit, the counts and the copies that keep their errors included."""
    plain, sampled = (small_run(generations=3, population=30, **changes, **more) for more in ({}, {"sampling": text}))
    expected, found = fingerprint(plain), fingerprint(sampled)
    for name in ("settings", "method"):
        del expected[name], found[name]
    if text == "informed:1.0":
        assert sampled.executions["informed"] == 0
        expected, found = ({**f, "records": [r.best_error for r in f["records"]]} for f in (expected, found))
    assert found == expected


class Counting(Evaluator):
    """Counts every (program, case) that is run, and may change the errors of some cases."""

    def watch(self):
        self.runs: Counter[tuple[int, int]] = Counter()
        self.changed: set[int] = set()
        return self

    def on_demand(self, programs, threads=None):
        errors, m = super().on_demand(programs, threads), len(self.measures)
        known = set()

        def counted(individuals, columns):
            rows, asked = np.broadcast_arrays(individuals, columns)
            for pair in set(zip(rows.ravel().tolist(), (asked // m).ravel().tolist(), strict=True)) - known:
                self.runs[pair] += 1
                known.add(pair)
            found = errors(individuals, columns)
            return found + np.isin(asked // m, list(self.changed))

        return counted


def watched(problem, **settings) -> Evolution:
    evolution = Evolution(evolve_settings(problem, threads=1, **settings))
    evolution.train.__class__ = Counting
    evolution.train.watch()
    return evolution


@pytest.mark.slow
@pytest.mark.parametrize("text", SAMPLERS)
@pytest.mark.parametrize("problem", ["mirror-image", "grade"])
def test_every_execution_is_accounted_for(text, problem):
    evolution = watched(problem, population=30, seed=4, sampling=text)
    total = 0
    for generation in range(5):
        evolution.train.watch()
        record, finished = evolution.step()
        parts = evolution._parents._parts
        inside = {(int(i), int(c)) for part in parts for i in part.individuals for c in part.cases}
        outside = [pair for pair in evolution.train.runs if pair not in inside]
        assert max(evolution.train.runs.values()) == 1
        assert inside <= set(evolution.train.runs)
        assert record.executions_sample == len(inside) == sum(len(i) * len(c) for i, c in parts)
        assert record.executions_informed + record.executions_check == len(outside)
        assert record.executions == len(evolution.train.runs)
        assert record.pairs == record.executions * len(evolution.train.measures)
        total += record.executions
        assert record.executions_so_far == total
        assert not finished, generation


def test_a_case_with_several_errors_is_run_once():
    """Grade has two errors a case: 200 cases, 20 of them sampled."""
    run = small_run(problem="grade", sampling="down:0.1", generations=1)
    for record in run.records:
        assert (record.sample_size, record.executions_sample) == (20, 60 * 20)
        assert record.pairs == 2 * record.executions == 2 * 60 * 20
    assert len(run.train_errors) == 400
    parents, summary, *_ = evaluated("down:0.1", problem="grade")
    assert parents._matrices[0].n_cases == len(summary.errors) == 40


def solving_runs(check: str, sampling: str, n: int = 8, **changes):
    """Runs on a problem that is solved sooner or later, with every population of each."""
    for seed in range(n):
        evolution = Evolution(
            evolve_settings(
                clamped(**changes), population=40, generations=15, seed=seed, threads=1, sampling=sampling, check=check
            )
        )
        populations = []
        while True:
            populations.append(evolution.state.population)
            record, finished = evolution.step()
            if finished:
                break
        yield evolution, populations, record


@pytest.mark.slow
@pytest.mark.parametrize("check", ["all", "first"])
@pytest.mark.parametrize("sampling", ["down:2", "cohorts:4", "informed:2,parent_rate=0.5", "phylogeny+down:2"])
def test_a_run_ends_when_an_individual_solves_all_cases_and_not_before(check, sampling):
    n_solved = n_candidates = 0
    for evolution, populations, last in solving_runs(check, sampling):
        for generation, population in enumerate(populations):
            programs, _ = population.translate(evolution.settings.variation.max_points)
            is_solution = evolution.train.errors(programs).sum(axis=1) <= 0
            ended = generation == len(populations) - 1 and last.solved
            assert not ended or is_solution.any(), "ended without a solution"
            if check == "all":
                assert ended == is_solution.any(), "a solution went unnoticed"
        run = evolution.result()
        assert run.solved == last.solved == (evolution.train.errors([run.best]).sum() <= 0)
        assert np.array_equal(run.train_errors, evolution.train.errors([run.best])[0])
        assert (run.executions_report == 0) == run.solved
        assert (run.simplified is not None) == run.solved
        n_solved += run.solved
        n_candidates += sum(record.n_checked for record in run.records if not record.solved)
    assert n_solved >= 2, "the test needs runs that solve the problem"
    assert n_candidates >= 20, "the test needs candidates that fail"


def test_a_threshold_above_zero_is_that_of_all_cases():
    settings = problems.ProblemSettings(error_threshold=3.0)
    for evolution, populations, last in solving_runs("all", "down:3", 4, settings=settings):
        programs, _ = populations[-1].translate(1200)
        totals = evolution.train.errors(programs).sum(axis=1)
        assert last.solved == (totals.min() <= 3.0)


def test_checks_stop_early_share_verdicts_and_prefer_cases_that_refuted():
    """300 programs solve the sample: they cost a few executions each, and equal ones cost nothing."""
    sample = cases("down:5", 0)
    wrong = [c for c in range(100) if c not in sample][-10:]  # 0 fails on these cases only
    expected = [7 if c in wrong else 0 for c in range(100)]
    evaluator = Evaluator([(i,) for i in range(100)], expected, stack="integer")
    parents = SampledEvaluation(evaluator, fx.Lexicase(), fx.DownSample(5), KEY)
    programs = [Program(f"({i} integer_pop 0)") for i in range(300)] + [Program("(0)")] * 500
    none = InheritedErrors.none(100)
    summary = parents.evaluate(programs, none, KEY, 0)
    counts = summary.statistics["n_candidates"], summary.statistics["n_checked"]
    assert (summary.solved, *counts) == (False, 800, 301)
    assert parents.executions.check < 95 + 2 * 301
    first = SampledEvaluation(evaluator, fx.Lexicase(), fx.DownSample(5), KEY, check="first")
    assert first.evaluate(programs, none, KEY, 0).statistics["n_checked"] == 1


def test_of_several_solutions_the_first_candidate_is_the_solution():
    evaluator = Evaluator([(i,) for i in range(20)], list(range(20)), stack="integer")
    programs = [Program("(3)"), Program("(in1 1 integer_pop)"), Program("(in1)"), Program("(in1)")]
    parents = SampledEvaluation(evaluator, fx.Lexicase(), fx.DownSample(4), KEY)
    summary = parents.evaluate(programs, InheritedErrors.none(20), KEY, 0)
    assert (summary.best, summary.solved, summary.statistics["best_error"]) == (1, True, 0.0)
    errors, executions = parents.train_errors(1)
    assert (errors.tolist(), executions) == ([0.0] * 20, 0)
    failed = SampledEvaluation(evaluator, fx.Lexicase(), fx.DownSample(4), KEY, check="first")
    assert not failed.evaluate([Program("(7 in1 integer_pop)")], InheritedErrors.none(20), KEY, 0).solved


@pytest.mark.parametrize("text", ["down:0.2", "cohorts:5", "informed:0.2,every=100"])
def test_selection_depends_on_the_sample_alone(text):
    """Other errors outside of the sample change no parent."""
    selected = []
    for changed in (False, True):
        evolution = watched("mirror-image", population=30, seed=2, sampling=text)
        programs, _ = evolution.state.population.translate(1200)
        parents = evolution._parents
        if changed and text != "cohorts:5":
            inside = parents.sampler.parts(0, 30)[0].cases
            evolution.train.changed = set(range(100)) - set(inside.tolist())
        parents.evaluate(programs, InheritedErrors.none(100), KEY, 0)
        if text == "cohorts:5":  # what was not run cannot matter
            parents._known[np.isnan(parents._known)] = 5.0 if changed else 0.0
        selected.append(parents.select(200).indices.tolist())
    assert selected[0] == selected[1]


@pytest.mark.parametrize(
    ("sampling", "budget", "populations"),
    [
        (None, 3 * 20 * 100, 4),  # G + 1 without sampling
        ("down:0.1", 3 * 20 * 100, 31),  # ⌈G·n/s⌉ + 1
        ("down:0.3", 3 * 20 * 100, 11),
        ("down:0.1", 1, 2),
        ("down:0.1", 0, 1),
        ("cohorts:10", 3 * 20 * 100, 31),
    ],
)
def test_a_budget_ends_the_run(sampling, budget, populations):
    run = evolve("last-index-of-zero", population=20, seed=1, threads=1, sampling=sampling, budget=budget * 3 // 2)
    assert not run.solved
    spent = [record.executions_so_far for record in run.records]
    assert len(run.records) == 1 or spent[-2] >= budget * 3 // 2
    assert len(run.records) <= 2 or spent[-3] < budget * 3 // 2
    if not run.executions["check"]:
        assert len(run.records) == populations or budget == 1


def test_the_default_budget_is_the_cost_of_the_generations_without_sampling():
    settings = evolve_settings("mirror-image", population=30, sampling="down:0.1")
    assert (settings.budget, settings.generations) == (300 * 30 * 100, None)
    assert evolve_settings("mirror-image", sampling="down:0.1", generations=7).budget is None
    both = evolve_settings("mirror-image", budget=9, generations=7)
    assert (both.budget, both.generations) == (9, 7)
    assert evolve_settings("mirror-image").as_dict()["budget"] is None
    assert evolve_settings("mirror-image", budget=9).generations is None


@pytest.mark.slow
@pytest.mark.parametrize("text", SAMPLERS)
def test_threads_do_not_matter(text):
    one, other = (fingerprint(small_run(sampling=text, threads=threads)) for threads in (1, 3))
    assert one == other


@pytest.mark.parametrize("text", ["down:0.25", "cohorts:4", "phylogeny+informed:0.25"])
def test_a_problem_of_several_outputs_is_sampled_by_case(text):
    """Coin Sums of the second suite has four errors a case."""
    run = evolve("coin-sums", population=20, generations=2, seed=1, threads=1, sampling=text)
    assert [(record.sample_size, record.executions_sample) for record in run.records] == [(50, 1000)] * 3
    assert all(record.pairs == 4 * record.executions for record in run.records)


def test_a_problem_without_a_target_is_sampled():
    """Its errors come from a function that calls the program."""
    calls = []

    def evaluate(program, n):
        calls.append(n)
        return abs((program(n) or 0) - n - 1)

    problem = problems.Problem(
        name="next",
        description="The next integer.",
        evaluate=evaluate,
        outputs=["integer"],
        sources=[problems.FixedCases([(i,) for i in range(20)])],
        stacks=["exec", "integer"],
        generators=[Symbol("in1"), 1],
    )
    run = evolve(problem, population=10, generations=2, seed=2, threads=1, sampling="down:0.2", simplification_steps=0)
    assert len(calls) == run.executions["total"] + run.executions_report
    assert run.executions["sample"] == len(run.records) * 10 * 4


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tournament", "weighted-split", fx.Lexicase(epsilon="mad"), "cohort-lexicase"])
@pytest.mark.parametrize("text", ["down:0.2", "cohorts:3", "phylogeny+down:0.2"])
def test_every_method_selects_from_samples(method, text):
    run = small_run(method=method, sampling=text, generations=2)
    assert (run.records[0].evaluations is None) == (method == "tournament")


@pytest.mark.parametrize("text", ["down:1", "cohorts:5", "informed:1", "phylogeny+rolling:1", "disjoint:1"])
def test_the_smallest_runs(text):
    assert len(small_run(population=1, generations=2, sampling=text).records) == 3
    assert len(small_run(generations=0, sampling=text).records) == 1
    one_case = problems.from_cases("one", [((1,), 3)], test=0.0)
    evolve(one_case, population=5, generations=3, seed=1, threads=1, sampling=text)


# Estimates from ancestors.


def test_an_estimate_is_the_error_of_the_nearest_ancestor_that_was_run():
    """Followed by hand: a chain of first parents, and what each of them was run on."""
    umad = Variation(operators={"uniform_addition_and_deletion": 0.9, "genesis": 0.1})
    sampling = fx.PhylogenyInformed(fx.DownSample(0.2), depth=3)
    evolution = Evolution(
        evolve_settings("mirror-image", population=25, seed=6, threads=1, sampling=sampling, variation=umad)
    )
    parents = evolution._parents
    links, runs = [], []
    inherit = parents.inherited_errors

    def watch(is_copy, first_parents):
        links.append(first_parents.copy())
        return inherit(is_copy, first_parents)

    parents.inherited_errors = watch
    for generation in range(8):
        programs, _ = evolution.state.population.translate(1200)
        truth = evolution.train.errors(programs)
        evolution.step()
        runs.append((parents._parts[0].cases, truth))
        for individual, case in itertools.product(range(25), range(100)):
            node, age, at = individual, 0, generation
            while age <= 3 and node >= 0 and at >= 0 and case not in runs[at][0]:
                at, age = at - 1, age + 1
                node = links[at][node] if at >= 0 else -1
            found = age <= 3 and node >= 0 and at >= 0
            assert parents._ages[individual, case] == (age if found else 255)
            expected = runs[at][1][node, case] if found else np.inf
            assert parents._table[individual, case, 0] == expected
    assert any((link < 0).any() for link in links), "random genomes have no ancestors"


def test_without_ancestors_selection_is_that_of_the_sample():
    """Cases that are unknown to all filter nobody out: the winners have the same distribution."""
    plain, informed = (evaluated(text, population=12)[0] for text in ("down:0.2", "phylogeny+down:0.2,depth=0"))
    one = np.bincount(plain.select(20_000).indices, minlength=12)
    other = np.bincount(informed.select(20_000).indices, minlength=12)
    assert np.abs(one - other).max() < 5 * math.sqrt(2 * 20_000 * 0.25)


def test_estimates_of_copies_are_their_errors():
    """With nothing but reproduction, an estimate equals the error that the copy would have."""
    copies = Variation(operators={"reproduction": 1.0})
    sampling = fx.PhylogenyInformed(fx.DownSample(0.3), depth=200)
    settings = {"population": 20, "generations": 9, "seed": 6, "threads": 1, "variation": copies}
    evolution = Evolution(evolve_settings("mirror-image", sampling=sampling, **settings))
    for _ in range(6):
        programs, _ = evolution.state.population.translate(1200)
        evolution.step()
        table = evolution._parents._table[:, :, 0]
        known = np.isfinite(table)
        assert np.array_equal(table[known], evolution.train.errors(programs)[known])
    assert known.mean() > 0.8


# Arguments and text forms.


@pytest.mark.parametrize("text", [*SAMPLERS, "down:25", "informed:0.05,solved_by=0.5", "informed:0.1,solved_by=elite"])
def test_the_text_of_a_sampling_can_be_read_again(text):
    sampling = parse_sampling(text)
    assert parse_sampling(format_sampling(sampling)) == sampling
    assert small_run(sampling=sampling, generations=0).settings["sampling"] == format_sampling(sampling)


def test_the_text_none_is_no_sampling():
    assert check_case_sampling("none") is None
    assert evolve_settings("mirror-image", sampling="none", profile="propeller").sampling is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampling": "dwn:0.1"}, "sampling has the unknown name 'dwn'; did you mean 'down'"),
        ({"sampling": "down:0.1,evry=3"}, "unknown or repeated setting 'evry=3'; known: size"),
        ({"sampling": "informed:0.1,every=2,every=3"}, "unknown or repeated setting"),
        ({"sampling": "informed:0.1,every"}, "unknown or repeated setting"),
        ({"sampling": "down:0.1,depth=3"}, "unknown or repeated setting"),
        ({"sampling": "down:x"}, "size must be an integer, got 'x'"),
        ({"sampling": "down:"}, "size must be an integer, got ''"),
        ({"sampling": "down:nan"}, "size must be a number, got NaN"),
        ({"sampling": "down:1.5"}, "size must be between 0 and 1"),
        ({"sampling": ""}, "sampling has the unknown name ''"),
        ({"sampling": "phylogeny+"}, "sampling has the unknown name ''"),
        ({"sampling": "phylogeny+phylogeny+down:0.1"}, "sampling has the unknown name"),
        ({"sampling": "phylogeny+down:0.1,depth=255"}, "depth must be at most 254"),
        ({"sampling": "informed:0.1,every=0"}, "every must be at least 1, got 0"),
        ({"sampling": "informed:0.1,solved_by=best"}, "solved_by must be"),
        ({"sampling": "informed:0.1,radius=-1"}, "radius must be at least 0"),
        ({"sampling": 0.1}, "sampling must be DownSample"),
        ({"sampling": fx.DownSample}, "sampling must be DownSample"),
        ({"sampling": "down:0.1", "partial": True}, "sampling must be None with partial=True"),
        ({"sampling": "down:0.1", "check": "some"}, "check must be"),
        ({"check": 3}, "check must be"),
        ({"budget": -1}, "budget must be at least 0, got -1"),
        ({"budget": 1.5}, "budget must be an integer"),
        ({"budget": 2**63}, "budget must be at most"),
        ({"profile": "psb3"}, "profile must be"),
        ({"steps": 0}, "steps must be at least 1"),
        (
            {
                "budget": 5,
                "generations": None,
                "variation": Variation(operators={"reproduction": 1.0, "uniform_mutation": 0.0}),
            },
            "generations must be given if variation only copies",
        ),
    ],
)
def test_arguments_of_sampling_that_make_no_sense_are_refused(changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        small_run(**changes)


@pytest.mark.parametrize(
    "make",
    [
        lambda: fx.DownSample(0.1, "sliding"),
        lambda: fx.PhylogenyInformed("down:0.1"),
        lambda: fx.PhylogenyInformed(fx.PhylogenyInformed()),
        lambda: fx.PhylogenyInformed(depth=1.0),
        lambda: fx.InformedDownSample(solved_by=math.nan),
        lambda: fx.InformedDownSample(solved_by=-1.0),
        lambda: fx.InformedDownSample(every=1.5),
        lambda: fx.Lexicase(sampling=fx.PhylogenyInformed()),
    ],
)
def test_samplings_that_make_no_sense_are_refused(make):
    with pytest.raises((ValueError, TypeError), match=r" must be .*, got "):
        make()


# Profiles.


def test_profiles_set_a_whole_run():
    for name in ("mirror-image", "number-io", "wallis-pi"):
        plain, psb1 = (evolve_settings(name, seed=1, profile=profile) for profile in (None, "psb1"))
        assert {**psb1.as_dict(), "profile": None} == plain.as_dict()
    own, psb2 = (evolve_settings("gcd", seed=1, profile=profile) for profile in (None, "psb2"))
    assert {**psb2.as_dict(), "profile": None} == own.as_dict(), "the problems of that suite have its settings"
    psb2 = evolve_settings("mirror-image", profile="psb2")
    assert (psb2.population, psb2.generations, psb2.steps, psb2.sampling) == (1000, 300, 2000, None)
    assert (psb2.variation.max_genes, psb2.variation.max_initial_genome) == (500, 250)
    assert dict(psb2.variation.operators) == {("uniform_addition_and_deletion",): 1.0}
    assert psb2.variation.addition_and_deletion_rate == (0.09,)
    assert (psb2.problem.limits().steps, psb2.problem.limits().points) == (2000, 2000)
    propeller = evolve_settings("mirror-image", profile="propeller")
    assert propeller.sampling == fx.InformedDownSample(0.1, 0.01, every=100)
    assert (propeller.check, propeller.budget, propeller.generations) == ("first", 300 * 1000 * 100, None)
    assert propeller.variation.addition_and_deletion_rate == (0.1,)
    assert propeller.problem.limits().points == 2000


def test_every_setting_of_a_profile_can_be_overridden_and_is_recorded():
    changes = {"sampling": "down:0.2", "check": "all", "population": 20, "steps": 300, "budget": 4000}
    run = evolve("mirror-image", profile="propeller", seed=1, threads=1, **changes)
    assert {name: run.settings[name] for name in changes} == changes
    assert run.settings["profile"] == "propeller"
    assert run.settings["variation"]["max_initial_genome"] == 249
    umad = Variation(operators={"uniform_mutation": 1.0})
    assert evolve_settings("mirror-image", profile="psb2", variation=umad).variation is umad


# Both programs.


@pytest.mark.parametrize(
    ("initial", "solved"), [("(1 in1 in2 vector_integer_reverse vector_integer_eq 2.5)", True), ("(in1)", False)]
)
def test_success_is_known_of_both_programs(initial, solved):
    run = evolve("mirror-image", population=20, generations=0, seed=1, initial=[initial], simplification_steps=300)
    evolution = Evolution(evolve_settings("mirror-image", population=20, seed=1))
    assert run.solved == solved
    assert np.array_equal(run.test_errors_unsimplified, evolution.test.errors([run.best])[0])
    assert run.success_unsimplified == (run.solved and run.test_errors_unsimplified.sum() == 0)
    if run.solved:
        assert run.simplified.points < run.best.points
        assert np.array_equal(run.test_errors, evolution.test.errors([run.simplified])[0])
