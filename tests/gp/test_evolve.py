"""Runs: the loop, its counts, its end, and that nothing but the seed and the settings decides."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import flexicase as fx
from flexicase import problems
from flexicase.gp import Variation, evolve
from flexicase.gp.evolve import Evolution, evolve_settings
from flexicase.push import Evaluator, Gene, Genome, Program
from flexicase.selection.methods import PAPER_METHODS
from tests.gp._helpers import MIXED, fingerprint, small_run


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"partial": True}, {"variation": MIXED}, {"method": "ranked-num-nonzeros"}])
def test_a_run_is_the_same_on_any_number_of_threads(changes):
    runs = [fingerprint(small_run(threads=threads, **changes)) for threads in (1, 2, 4)]
    assert runs[0] == runs[1] == runs[2]


def test_another_seed_is_another_run():
    assert fingerprint(small_run(seed=5)) != fingerprint(small_run(seed=6))


@pytest.mark.slow
@pytest.mark.parametrize("method", PAPER_METHODS)
@pytest.mark.parametrize("partial", [False, True])
def test_the_methods_of_the_paper(method, partial):
    run = small_run(method=method, partial=partial)
    assert [record.generation for record in run.records] == list(range(len(run.records)))
    for record in run.records[:-1]:
        assert record.events > 60
        assert record.evaluations >= record.events
        if partial:
            assert record.evaluations_distinct is None
        else:
            assert record.evaluations_distinct <= record.evaluations
            assert record.pairs == 6000


def test_other_methods_by_object():
    assert small_run(method=fx.Tournament(7)).records[0].evaluations is None
    method = fx.Lexicase(order=fx.Ranked("num_nonzeros"))
    by_name, by_object = small_run(method="ranked-num-nonzeros"), small_run(method=method)
    assert by_name.records == by_object.records


def test_records_are_those_of_the_evaluated_population():
    """Checked against a second evaluation of the same population."""
    evolution = Evolution(evolve_settings("mirror-image", population=80, generations=3, seed=2, threads=1))
    for _ in range(3):
        population = evolution.state.population
        programs, sizes = population.translate(1200)
        errors = evolution.train.errors(programs)
        totals = errors.sum(axis=1)
        record, _ = evolution.step()
        assert record.best_error == totals.min()
        assert record.median_error == np.median(totals)
        assert record.mean_error == pytest.approx(totals.mean())
        assert record.solved_cases == (errors[totals.argmin()] == 0).sum()
        assert record.n_distinct_errors == len(np.unique(errors, axis=0))
        assert record.program_size == sizes.mean()
        assert record.genome_size == np.mean([len(genome) for genome in population])
        assert record.pairs == errors.size


def test_generations_are_counted_from_the_random_one_and_the_last_breeds_nothing():
    run = small_run(generations=2)
    assert [record.generation for record in run.records] == [0, 1, 2]
    assert run.records[1].events > 0
    assert (run.records[2].events, run.records[2].evaluations) == (0, 0)
    assert [record.generation for record in small_run(generations=0).records] == [0]


@pytest.mark.slow
def test_a_solution_ends_the_run_and_is_judged_on_the_test_cases():
    run = evolve("mirror-image", population=1000, generations=30, seed=0, threads=1, simplification_steps=500)
    assert run.solved
    assert run.generation < 30
    assert run.records[-1].best_error == run.train_errors.sum() == 0
    assert run.simplified.points <= run.best.points
    assert run.success == (run.test_errors.sum() == 0)
    assert str(run.genome.translate()) == str(run.best)


def test_a_run_without_solution_is_no_success_and_not_simplified():
    run = small_run(generations=1)
    assert (run.solved, run.success, run.simplified) == (False, False, None)
    assert run.train_errors.sum() == run.records[-1].best_error > 0
    assert len(run.test_errors) == 1000


def test_copies_keep_their_errors_and_are_not_run_again():
    run = small_run(variation=Variation(operators={"reproduction": 1.0}))
    assert [record.pairs for record in run.records] == [6000, 0, 0, 0, 0]
    assert [record.push_steps > 0 for record in run.records] == [True, False, False, False, False]
    fresh = small_run(variation=Variation(operators={"reproduction": 0.5, "uniform_mutation": 0.5}))
    assert all(0 < record.pairs < 6000 for record in fresh.records[1:])


def test_events_that_gene_selection_did_not_need_are_not_counted():
    without = small_run(variation=Variation(operators={"gene_selection": 1.0}, gene_selection_rate=0.0))
    assert all(record.events == 60 for record in without.records[:-1])
    with_all = small_run(variation=Variation(operators={"gene_selection": 1.0}))
    assert with_all.records[0].events > 60 * 10
    assert with_all.records[0].evaluations > without.records[0].evaluations


def test_partial_evaluation_runs_less_than_everything():
    run = small_run(method="ranked-num-nonzeros", partial=True)
    assert all(record.pairs < 6000 for record in run.records[1:])


@pytest.mark.parametrize("partial", [False, True])
def test_few_selections_give_all_parents(partial):
    """Every child then comes from one of their winners, and no other event is counted."""
    copies = Variation(operators={"reproduction": 1.0})
    run = small_run(method="ranked-num-nonzeros", n_selections=3, partial=partial, variation=copies)
    assert [record.events for record in run.records[:-1]] == [3, 3, 3, 3]
    assert run.records[0].evaluations < small_run(method="ranked-num-nonzeros").records[0].evaluations / 5
    evolution = Evolution(
        evolve_settings("mirror-image", population=60, seed=5, threads=1, n_selections=3, variation=copies)
    )
    evolution.step()
    assert 1 <= len({str(genome.genes) for genome in evolution.state.population}) <= 3


def test_winners_are_drawn_alike_and_from_the_seed():
    from flexicase.gp.evolve import draw_parents
    from flexicase.rng import key_from_seed

    draws = draw_parents(3000, 3, key_from_seed(7))
    assert np.bincount(draws).min() > 900
    assert np.array_equal(draws[:10], draw_parents(10, 3, key_from_seed(7)))
    assert not np.array_equal(draws, draw_parents(3000, 3, key_from_seed(8)))


def test_the_number_of_selections_is_part_of_a_run():
    assert small_run(generations=0).settings["n_selections"] is None
    assert small_run(generations=0, n_selections=2).settings["n_selections"] == 2


@pytest.mark.parametrize(
    ("changes", "expected"), [({}, "max"), ({"default_weight": "max"}, "max"), ({"default_weight": "min"}, "min")]
)
def test_cases_not_visited_yet_have_the_default_weight(changes, expected):
    evolution = Evolution(
        evolve_settings("mirror-image", "ranked-num-nonzeros", population=20, partial=True, **changes)
    )
    assert evolution.state.selection["settings"]["default_weight"] == expected


@pytest.mark.parametrize("method", ["lexicase", "weighted-num-nonzeros", "ranked-num-nonzeros"])
def test_partial_evaluation_finds_a_solution_whenever_there_is_one(method):
    """The stop rule: the winner of one event is free of errors exactly if anybody is."""
    from flexicase.gp.parents import InheritedErrors, PartialEvaluation
    from flexicase.push import Program
    from flexicase.rng import key_from_seed

    problem = problems.load("mirror-image")
    evaluator = problem.evaluator(problem.sample(3)[0])
    evolution = Evolution(evolve_settings(problem, population=40, seed=1, threads=1))
    programs, _ = evolution.state.population.translate(1200)
    perfect = Program("(in1 in2 vector_integer_reverse vector_integer_eq)")
    for seed in range(10):
        parents = PartialEvaluation(evaluator, fx.FastLexicase(100, method, seed=0), 1)
        none = InheritedErrors.none(100)
        assert parents.evaluate([*programs, perfect], none, key_from_seed(seed), 0).statistics["best_error"] == 0
        assert parents.evaluate(programs, none, key_from_seed(seed), 0).statistics["best_error"] > 0


def test_the_callback_sees_every_generation_as_it_ends():
    seen = []
    run = small_run(callback=seen.append)
    assert tuple(seen) == run.records


def test_a_problem_of_ones_own():
    from flexicase.push import RandomInteger, Symbol

    problem = problems.Problem(
        name="double",
        description="Twice an integer.",
        answer=lambda n: 2 * n,
        sources=[problems.RandomCases(lambda rng: (int(rng.integers(-50, 50)),), train=10, test=20)],
        measures=[problems.ErrorMeasure("integer", "absolute", penalty=1000)],
        stacks=["exec", "integer"],
        generators=[RandomInteger(-10, 10), Symbol("in1")],
    )
    run = evolve(problem, population=200, generations=20, seed=1, threads=1)
    assert run.success
    assert isinstance(problem.evaluator(problem.sample(1)[0]), Evaluator)


def test_a_solution_without_test_cases_is_not_called_a_success():
    """No evidence is not evidence of success, in the outcome nor in what is said about it."""
    from flexicase.cli.evolve import report
    from flexicase.plot._runs import _title

    problem = problems.from_cases("same", [((n,), n) for n in range(3)], test=0.0)
    run = evolve(problem, population=50, generations=5, seed=1, threads=1, simplification_steps=10)
    assert (run.solved, run.success, run.as_dict()["test_error"]) == (True, None, None)
    assert "there are no test cases" in report(run)
    assert "solves the training cases, no test cases" in _title(run)
    few = evolve(problem, population=1, generations=0, seed=2, threads=1)
    assert (few.solved, few.success) == (False, False)


def test_steps_are_those_of_the_programs():
    run = small_run(generations=0)
    assert 0 < run.records[0].push_steps <= 6000 * 600


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"population": 0}, "population must be at least 1, got 0"),
        ({"population": 1.5}, "population must be an integer"),
        ({"generations": -1}, "generations must be at least 0, got -1"),
        ({"problem": "miror-image"}, "did you mean 'mirror-image'"),
        ({"problem": 7}, "problem must be"),
        ({"method": "lexicas"}, "did you mean 'lexicase'"),
        ({"method": 3}, "method must be"),
        ({"seed": -1}, "seed must not be negative"),
        ({"seed": "x"}, "seed must be an int"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"partial": "max"}, "partial must be"),
        ({"default_weight": "mean"}, "default_weight must be"),
        ({"instruction_set": "W"}, "instruction_set must be"),
        ({"n_selections": 0}, "n_selections must be at least 1, got 0"),
        ({"n_selections": 2.0}, "n_selections must be an integer"),
        ({"partial": True, "method": "tournament"}, "method must be a lexicase method"),
        ({"variation": {}}, "variation must be"),
        ({"simplification_steps": -1}, "simplification_steps"),
        ({"resume": True}, "needs the folder"),
        ({"save_every": -1.0, "save": "x"}, "save_every"),
        ({"time_limit": -1}, "time_limit must not be negative, got -1"),
        ({"time_limit": "1"}, "time_limit must be a number"),
        ({"initial": 5}, "initial must be a sequence of genomes or programs, got 5"),
        ({"initial": ["(in1", "(in1)"]}, r"initial\[0\]: text: 1 '\(' not closed"),
        ({"initial": ["(in1)", None]}, r"initial\[1\]: program must be a string, got None"),
        ({"initial": ["(1)"] * 61}, "initial must have at most 60 individuals, the size of the population, got more"),
        ({"initial": ["(" + "1 " * 2000 + ")"]}, r"initial\[0\] must have at most"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        small_run(**changes)


def test_individuals_to_start_with_are_in_generation_0(tmp_path):
    """They replace the first random individuals; the others are those of any run with this seed."""
    solution = Program("(in1 in2 vector_integer_reverse vector_integer_eq)")
    run = small_run(initial=["(in1)", solution])
    assert (run.generation, run.solved, str(run.best)) == (0, True, str(solution))
    evolutions = [
        Evolution(evolve_settings("mirror-image", population=20, seed=3, initial=i)) for i in (None, [run.genome])
    ]
    random, given = (list(evolution.state.population) for evolution in evolutions)
    assert given[0].genes == run.genome.genes
    assert [genome.genes for genome in given[1:]] == [genome.genes for genome in random[1:]]
    small_run(initial=["(in1)"], save=tmp_path)
    with pytest.raises(ValueError, match="initial"):
        small_run(initial=["(in2)"], save=tmp_path, resume=True)


@pytest.mark.slow
def test_a_run_from_given_individuals_resumes_without_them(tmp_path):
    """They are in the checkpoint; the command that an interrupted run prints does not name their file."""
    small_run(initial=["(in1)"], time_limit=0, save=tmp_path)
    assert fingerprint(small_run(save=tmp_path, resume=True)) == fingerprint(small_run(initial=["(in1)"]))


def test_individuals_that_translate_to_nothing_are_no_larger_than_the_limit():
    silent = Genome([Gene(1, silent=True)])
    state = Evolution(evolve_settings("mirror-image", population=3, seed=3, initial=[silent, "()"])).state
    assert [str(program) for program in state.population.translate(1200)[0][:2]] == ["()", "()"]


def test_a_run_that_ends_at_its_time_limit_is_resumed_as_if_it_had_not_ended(tmp_path):
    short = small_run(time_limit=0, save=tmp_path)
    assert (len(short.records), short.solved, short.records[0].events) == (1, False, 0)
    assert fingerprint(small_run(save=tmp_path, resume=True)) == fingerprint(small_run())


def test_a_population_of_one():
    assert small_run(population=1).records[0].n_distinct_errors == 1


def test_seeds_of_other_kinds():
    run = small_run(seed=np.random.default_rng(3), generations=1)
    assert fingerprint(run) == fingerprint(small_run(seed=run.seed, generations=1))
    assert small_run(seed=None, generations=0).seed != small_run(seed=None, generations=0).seed


@pytest.mark.parametrize("how", [lambda run: pickle.loads(pickle.dumps(run)), copy.deepcopy, copy.copy])
def test_the_outcome_can_be_pickled_and_copied(how):
    """Results come back from worker processes this way."""
    problem = problems.from_cases("same", [((n,), n) for n in range(4)])
    for run in (small_run(generations=1), evolve(problem, population=50, generations=3, seed=1, threads=1)):
        again = how(run)
        assert fingerprint(again) == fingerprint(run)
        assert again.best == run.best
        assert again.simplified == run.simplified
        assert again.records == run.records
