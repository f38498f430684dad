import numpy as np
import pytest

from flexicase.experiments import Study, parse_spec
from flexicase.experiments._tables import write_rows
from flexicase.experiments.ledger import Ledger
from flexicase.experiments.reruns import differences_of, find_run, rerun

from ._helpers import study_text


@pytest.mark.slow
def test_a_run_made_again_is_the_same_and_a_difference_is_found(walks):
    _, _, study = walks(seeds=1)
    entry = study.entries()[0]
    comparison = rerun(study, entry, allow_code=True)
    assert (comparison.identical, comparison.rows) == (True, 5)
    assert comparison.columns == ["step", "position", "positive"]
    position = np.array([9.0] * 5)
    forged = {"step": np.arange(5), "position": position, "positive": position > 0, "seconds": position}
    checksum = write_rows(study.rows(entry.task.id), forged)
    with Ledger(study.ledger) as ledger:
        ledger._update(entry.task.id, checksum=checksum, summary='{"success": true, "last": -9}')
        comparison = rerun(study, ledger.entry(entry.task.id), allow_code=True)
    assert not comparison.identical
    assert comparison.differences[0].startswith("column 'position', row 0: 9.0 is stored, ")
    assert any(line.startswith("summary 'last': -9 is stored, ") for line in comparison.differences)


@pytest.fixture
def planned(tmp_path):
    """The folder of a study that has not been started."""
    (tmp_path / "walks").mkdir()
    Ledger.create(tmp_path / "walks" / "ledger.sqlite", parse_spec(study_text(seeds=1), allow_code=True)).close()
    return tmp_path


@pytest.mark.slow
def test_a_run_is_found_by_the_start_of_its_id(walks):
    _, _, study = walks(seeds=1)
    for entry in study.entries():
        assert find_run(study.folder.parent, entry.task.id[:8])[1] == entry


def test_an_id_that_names_no_single_run_is_refused(planned, tmp_path_factory):
    with pytest.raises(ValueError, match="there are no studies in"):
        find_run(tmp_path_factory.mktemp("empty"), "zz")
    with pytest.raises(ValueError, match="no run's id starts with 'zz'"):
        find_run(planned, "zz")
    with pytest.raises(ValueError, match="2 runs' ids start with ''"):
        find_run(planned, "")


def test_a_run_that_is_not_done_cannot_be_compared(planned):
    study = Study(planned / "walks")
    entry = study.entries()[0]
    for attempt in (lambda: rerun(study, entry, allow_code=True), lambda: find_run(planned, entry.task.id)):
        with pytest.raises(ValueError, match=f"run {entry.task.id} is planned, not done"):
            attempt()


def test_differences_are_found_to_the_last_bit():
    one = {"x": np.array([0.0, 1.0]), "n": np.array([1, 2]), "seconds": np.array([1.0, 1.0])}
    assert differences_of(one, {**one, "seconds": np.zeros(2)}) == []
    assert differences_of(one, {**one, "x": np.array([-0.0, 1.0])}) == ["column 'x', row 0: 0.0 is stored, -0.0 found"]
    assert differences_of(one, {**one, "x": np.array([0.0, 2.0])}) == ["column 'x', row 1: 1.0 is stored, 2.0 found"]
    assert differences_of(one, {**one, "n": np.array([1])}) == ["column 'n': 2 × int64 are stored, 1 × int64 found"]
    assert differences_of(one, {"x": one["x"]}) == ["column 'n' is only in the stored rows"]
    assert differences_of({"x": one["x"]}, one) == [], "a later version may have added a column"
