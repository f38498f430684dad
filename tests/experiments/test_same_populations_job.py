"""Methods compared on the same populations."""

import numpy as np
import pytest

import flexicase as fx
from flexicase.experiments import SpecError, Study, StudyOptions, parse_spec, run_study
from flexicase.experiments._tables import read_rows
from flexicase.experiments.same_populations_job import ComparingMethod
from flexicase.gp import evolve

STUDY = """
name = "same"
kind = "same-populations"
problems = ["count-odds"]
methods = ["lexicase"]
seeds = [3]
[settings]
compared = ["lexicase", "ranked-num-nonzeros"]
every = 2
population = 30
generations = 3
"""


@pytest.mark.slow
def test_rows_hold_the_counts_of_every_method_at_every_other_generation(tmp_path):
    study = Study(tmp_path / "same")
    assert run_study(tmp_path, parse_spec(STUDY), StudyOptions(workers=1)) == "complete"
    (entry,) = study.entries()
    rows = read_rows(study.rows(entry.task.id), entry.result.checksum)
    assert rows["generation"].tolist() == [0, 2]
    run = evolve("count-odds", population=30, generations=3, seed=3, threads=1, simplification_steps=0)
    for row, generation in enumerate((0, 2)):
        record = run.records[generation]
        # A child of several parents may leave some unused; the run counts used events only.
        assert rows["events"][row] >= record.events
        assert rows["evaluations_lexicase"][row] >= record.evaluations
    assert (np.asarray(rows["evaluations_distinct_lexicase"]) <= np.asarray(rows["evaluations_lexicase"])).all()


def test_the_run_is_that_of_the_method_alone():
    compared = ComparingMethod(fx.Lexicase(), {"ranked": fx.Lexicase(order=fx.Ranked("num_nonzeros"))}, 1)
    settings = {"population": 30, "generations": 3, "seed": 4, "threads": 1}
    one, other = evolve("count-odds", compared, **settings), evolve("count-odds", "lexicase", **settings)
    assert str(one.best) == str(other.best)
    assert [record.evaluations for record in one.records] == [record.evaluations for record in other.records]
    assert len(compared.rows) == 3, "no parents are selected in the last generation"


def test_unknown_methods_are_refused_when_the_study_is_read():
    with pytest.raises(SpecError, match="unknown method 'ranked-num-nonzero'"):
        parse_spec(STUDY.replace("ranked-num-nonzeros", "ranked-num-nonzero"))
