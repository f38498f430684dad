import pytest

from flexicase.experiments import parse_spec
from flexicase.experiments.spec import plan, run_id

from .walk import study_text


def test_ids_stay_what_they_are():
    """If this fails, no study that was started before can be continued."""
    assert run_id("gp", "mirror-image", "lexicase", 0, {"population": 1000, "generations": 300}) == "3cc85d21ed04e4a3"


def test_ids_depend_on_everything_that_the_outcome_depends_on():
    base = ("gp", "p", "m", 0, {"a": 1, "b": 2})
    others = [("x", *base[1:]), ("gp", "q", *base[2:]), ("gp", "p", "n", *base[3:]), (*base[:3], 1, base[4])]
    ids = {run_id(*base), *(run_id(*other) for other in others), run_id(*base[:4], {"a": 1, "b": 3})}
    assert len(ids) == 6
    assert run_id(*base) == run_id(*base[:4], {"b": 2, "a": 1})


def test_the_plan_goes_seed_by_seed_so_that_partial_results_are_even():
    tasks = plan(parse_spec(study_text(seeds=3), allow_code=True))
    assert [(task.seed, task.method) for task in tasks] == [(s, m) for s in range(3) for m in ("short", "long")]


def test_variants_that_mean_the_same_are_refused():
    spec = parse_spec(study_text() + "\n[variants.a]\nlength = 3\n[variants.b]\nlength = 3\n", allow_code=True)
    with pytest.raises(ValueError, match="variants 'a' and 'b' of short have the same settings"):
        plan(spec)
