import pytest

from flexicase.experiments import SpecError, load_spec, parse_spec, preset_path
from flexicase.experiments.presets import PRESETS
from flexicase.experiments.spec import diff_specs, plan, run_id
from flexicase.problems import names
from flexicase.selection.methods import PAPER_METHODS

from ._helpers import KIND, study_text

GOOD = study_text(length=7, seeds=3)


def test_settings_are_complete_with_the_defaults_of_the_kind():
    assert parse_spec(GOOD, allow_code=True).settings == {"length": 7, "pause": 0.0, "padding": 0}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("methods =", "method =", "unknown key 'method'; did you mean 'methods'?"),
        ("length = 7", "lenght = 7", "study: settings: unknown key 'lenght'; did you mean 'length'?"),
        ("length = 7", 'length = "7"', "settings: length: should be a valid integer, got '7'"),
        ("seeds = 3", "seeds = 0", "seeds: should be at least 1 and at most 100000, got 0"),
        ("seeds = 3", "seeds = 9_000_000_000_000", "seeds: should be at least 1 and at most 100000, got 9000000000000"),
        ("seeds = 3", "seeds = 60_000", "study: expected at most 100000 runs, got 120000"),
        ("seeds = 3", "seeds = [1, 2, 1]", "seeds: duplicate value 1"),
        ("seeds = 3", "seeds = true", "seeds: should be a valid list, got True"),
        ("seeds = 3", "seeds = [-1]", "seeds.0: should be greater than or equal to 0, got -1"),
        ("seeds = 3", "", "'seeds' is missing"),
        ('name = "walks"', 'name = "../walks"', "name: "),
        ("line", "lime", "problem must be one of line, ray, got 'lime'"),
        (KIND, "gpp", "unknown kind 'gpp'; did you mean 'gp'?"),
        (KIND, "no.such:Job", "cannot load job 'no.such:Job'"),
        ("seeds = 3", "seeds =", "not valid TOML"),
    ],
)
def test_a_mistake_is_refused_with_the_key_and_the_reason(before, after, message):
    assert before in GOOD
    with pytest.raises(SpecError) as caught:
        parse_spec(GOOD.replace(before, after), allow_code=True)
    assert message in str(caught.value)


SUITE = 'name = "s"\nmethods = ["lexicase"]\nseeds = 1\n'


def test_a_suite_is_the_same_study_as_its_problems():
    spec = parse_spec(SUITE + 'suite = "psb2"\nexclude = ["gcd"]')
    assert spec.problems == [name for name in names("psb2") if name != "gcd"]
    assert spec.content() == parse_spec(SUITE + f"problems = {spec.problems}").content()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('suite = "psb3"', "study: suite: should be 'psb1' or 'psb2', got 'psb3'"),
        (
            'suite = "psb1"\nexclude = ["mirror_image"]',
            "exclude: should be problems of the suite; did you mean 'mirror-i",
        ),
        ('suite = "psb1"\nexclude = "digits"', "exclude: should be a valid list, got 'digits'"),
        ('problems = ["digits"]\nexclude = ["digits"]', "exclude: should be problems of the suite, got ['digits']"),
        (
            'suite = "psb1"\nproblems = ["digits"]',
            "problems: should be a list of problems, or left out for the problems",
        ),
        (f"suite = 'psb1'\nexclude = {names('psb1')}", "problems: should be a list of problems, or left out"),
        ("", "problems: should be a list of problems, or left out for the problems of a suite, got []"),
    ],
)
def test_a_suite_that_gives_no_problems_is_refused(lines, message):
    with pytest.raises(SpecError) as caught:
        parse_spec(SUITE + lines)
    assert message in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match=r"bad\.toml: not a text file"):
        load_spec(tmp_path / "bad.toml")


def test_variants_change_settings_and_are_checked_too():
    spec = parse_spec(GOOD + "\n[variants.short]\nlength = 2\n[variants.long]\nlength = 9\n", allow_code=True)
    assert [task.settings["length"] for task in plan(spec)[:2]] == [2, 9]
    assert len({task.id for task in plan(spec)}) == 3 * 2 * 2
    with pytest.raises(SpecError, match=r"variants.short: unknown key 'lengt'; did you mean 'length'"):
        parse_spec(GOOD + "\n[variants.short]\nlengt = 2\n", allow_code=True)


def test_how_a_study_is_written_does_not_matter():
    other = GOOD.replace("seeds = 3", "seeds = [0, 1, 2] # three\ndescription = 'walks'") + "\npause = 0.0"
    assert parse_spec(other, allow_code=True).content() == parse_spec(GOOD, allow_code=True).content()


def test_what_changed_names_every_key():
    changed = parse_spec(GOOD.replace("length = 7", "length = 8").replace("seeds = 3", "seeds = 4"), allow_code=True)
    assert diff_specs(parse_spec(GOOD, allow_code=True).content(), changed.content()) == [
        "seeds: [0, 1, 2] -> [0, 1, 2, 3]",
        "settings.length: 7 -> 8",
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_have_the_papers_methods_and_problems(preset):
    spec = load_spec(preset_path("gp", preset))
    assert sorted(spec.methods) == sorted(PAPER_METHODS)
    assert spec.problems == ["mirror-image", "last-index-of-zero"]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_beyond_the_paper_compare_with_the_full_matrix(preset):
    fast = load_spec(preset_path("fast", preset))
    assert fast.problems == ["mirror-image", "last-index-of-zero"]
    assert [fast.settings_of(name).get("partial") for name in fast.variants][:2] == [False, True]
    assert [fast.settings_of(name).get("n_selections") for name in fast.variants] == [None, 1, 10, 10, 100, None]


def test_the_paper_preset_is_the_papers_study():
    spec = load_spec(preset_path("gp", "paper"))
    assert spec.settings == {"population": 1000, "generations": 300}
    assert len(plan(spec)) == 500


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
