"""Training runs as jobs of a study."""

import pytest

from flexicase.experiments import SpecError, Study, StudyOptions, load_spec, parse_spec, preset_path, run_study
from flexicase.experiments._tables import read_rows
from flexicase.experiments.image_job import ImageSettings, load_data, make_search, pretrain

STUDY = """
name = "tiny"
kind = "image"
problems = ["digits"]
methods = ["lexicase", { method = "weighted-split", default_weight = "max" }]
seeds = [3]
[settings]
arch = "digits"
generations = 3
batch_size = 16
train_cases = 64
test_cases = 32
"""


@pytest.mark.slow
def test_rows_are_the_records_of_the_training(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")
    torch.set_num_threads(1)
    study, spec = Study(tmp_path / "tiny"), parse_spec(STUDY)
    assert run_study(tmp_path, spec, StudyOptions(workers=1)) == "complete"
    for entry in study.entries():
        settings = ImageSettings(**entry.task.settings)
        search = make_search(entry.task.method, settings, 3, load_data("digits", settings))
        records = search.fit(3)
        rows = read_rows(study.rows(entry.task.id), entry.result.checksum)
        for name in ("generation", "evaluations", "cases_used", "pairs", "loss", "lr"):
            assert rows[name].tolist() == [getattr(record, name) for record in records], name
        assert rows["accuracy"].tolist() == [None, None, records[-1].accuracy]
        assert entry.result.summary["accuracy"] == records[-1].accuracy
        assert entry.result.summary["correct"] == round(32 * records[-1].accuracy)


def test_names_and_settings_are_checked_before_anything_runs():
    for old, new, message in (
        ('["digits"]', '["mnist"]', "unknown data set 'mnist'"),
        ('["digits"]', '["fake"]', "unknown data set 'fake'"),
        ("weighted-split", "weighted-splt", "unknown method 'weighted-splt'; did you mean 'weighted-split'?"),
        ('arch = "digits"', 'arch = "resnet"', "settings: arch: "),
        ("generations = 3", "generations = 3\nschedule_start = 1", "must be at most schedule_generations"),
        ("batch_size", "batch", "unknown key 'batch'; did you mean 'batch_size'?"),
    ):
        with pytest.raises(SpecError) as caught:
            parse_spec(STUDY.replace(old, new))
        assert message in str(caught.value)


@pytest.mark.parametrize("preset", ["smoke", "laptop", "paper"])
def test_presets_hold_the_paper_s_methods(preset):
    spec = load_spec(preset_path("image", preset))
    assert spec.kind == "image"
    weighted = [f"weighted-{bias}" for bias in ("num-nonzeros", "num-nonzeros", "num-zeros", "num-zeros", "split")]
    assert [method for method, _ in spec.method_settings()] == ["lexicase", *weighted]
    weights = [settings.get("default_weight") for _, settings in spec.method_settings()]
    assert weights == [None, "max", "min", "max", "min", "max"]


@pytest.mark.slow
def test_all_methods_start_from_one_pretrained_network_at_a_later_learning_rate(tmp_path, monkeypatch):
    ft = pytest.importorskip("flexicase.torch", reason="PyTorch is not installed (the torch extra)")
    monkeypatch.setenv("FLEXICASE_CACHE_DIR", str(tmp_path / "cache"))
    tail = STUDY + "pretrain_epochs = 4\nschedule_start = 940\nschedule_generations = 1000\n"
    study = Study(tmp_path / "tiny")
    assert run_study(tmp_path, parse_spec(tail), StudyOptions(workers=2)) == "complete"
    summaries = [entry.result.summary for entry in study.entries()]
    assert len({(facts["pretrain_accuracy"], facts["pretrain_test_accuracy"]) for facts in summaries}) == 1
    assert len(list((tmp_path / "cache" / "pretrained").iterdir())) == 1, "both methods share one network"
    for entry in study.entries():
        rows = read_rows(study.rows(entry.task.id), entry.result.checksum)
        assert rows["lr"].tolist() == pytest.approx([0.1 * ft.cosine(940 + g, 1000) for g in range(3)])


@pytest.mark.slow
def test_a_damaged_pretrained_network_is_made_again(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")
    monkeypatch.setenv("FLEXICASE_CACHE_DIR", str(tmp_path / "cache"))
    settings = ImageSettings(arch="digits", generations=1, train_cases=64, test_cases=32, pretrain_epochs=2)
    data, notes = load_data("digits", settings), []
    network, facts = pretrain("digits", settings, 3, data, lambda step, note: notes.append(note))
    assert len(notes) == 2
    assert pretrain("digits", settings, 3, data, lambda step, note: notes.append(note))[1] == facts
    assert len(notes) == 2, "the second call trains nothing"
    for path in (tmp_path / "cache").rglob("training/*"):
        path.write_bytes(path.read_bytes()[:100])
    again, same = pretrain("digits", settings, 3, data, lambda step, note: None)
    assert same == facts
    assert all((a == b).all() for a, b in zip(network.parameters(), again.parameters(), strict=True))


def test_augmentation_can_be_reduced():
    pytest.importorskip("torch", reason="PyTorch is not installed (the torch extra)")
    settings = {"arch": "digits", "generations": 1, "train_cases": 8, "test_cases": 8}
    usual, flipped, plain = (
        load_data("digits", ImageSettings(**settings, augment=augment)).transform for augment in (None, "flip", "none")
    )
    assert (usual.padding, flipped.padding, plain) == (1, 0, None)
    assert flipped.flip == 0.5
