"""Errors of candidates on cases: in blocks as one case at a time, and cases that cannot be used are refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import TensorDataset

import flexicase as fx
import flexicase.torch as ft
from flexicase.evaluation._lookahead import Growing
from flexicase.rng import key_from_seed
from flexicase.torch._evaluation import CaseLoader, max_block_cases, zero_one_error
from tests.torch._helpers import cases, fake_images, network, search, small

#: Bias (None: uniform order) and default weight.
SELECTIONS = [(None, "max")] + [
    (bias, default_weight) for bias in ("num_nonzeros", "num_zeros", "split") for default_weight in ("max", "min")
]


def selector(which, n_cases, population, seed, lookahead):
    bias, default_weight = which
    order = fx.Uniform() if bias is None else fx.Weighted(bias)
    found = fx.FastLexicase(
        n_cases,
        fx.Lexicase(order=order),
        default_weight=default_weight,
        w_max=population + 1.0,
        seed=key_from_seed(seed),
    )
    found.lookahead = lookahead
    return found


def one_at_a_time(table, order, weights, bias):
    """Algorithm 2's filter on a table of right and wrong, written out: (pool, evaluations, cases)."""
    pool, evaluations, cases = list(range(len(table))), 0, 0
    for case in order:
        if len(pool) == 1:
            break
        results = [int(table[c][case]) for c in pool]
        right, n = results.count(0), len(results)
        evaluations, cases = evaluations + n, cases + 1
        metric = {"num_nonzeros": n - right, "num_zeros": right, "split": 4 * right * (n - right) / n}[bias]
        weights[case] = metric + 1
        if 0 < right < n:
            pool = [c for c, result in zip(pool, results, strict=True) if result == 0]
    return pool, evaluations, cases


@pytest.mark.slow
@given(
    table=st.integers(1, 6).flatmap(
        lambda p: st.integers(1, 60).flatmap(
            lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=p, max_size=p)
        )
    ),
    hard=st.integers(0, 9),
    which=st.sampled_from(SELECTIONS),
    seed=st.integers(0, 1000),
)
def test_blocks_give_what_one_case_at_a_time_gives(table, hard, which, seed):
    """On one recorded table of right and wrong, over three selections with the weights carried on."""
    errors = (np.array(table) < hard).astype(np.int64)
    population, n_cases = errors.shape
    outcomes = []
    for lookahead in (1, Growing(delayed=True), "auto", Growing(5), Growing(5, max_pairs=7)):
        fast = selector(which, n_cases, population, seed, lookahead)
        out = []
        for generation in range(3):
            s = fast.select(lambda i, c: errors[np.ix_(i, c)], population, cache_key=generation)
            out.append((s.indices.tolist(), s.evaluations.tolist(), s.cases_used.tolist(), s.ended.tolist()))
        outcomes.append((out, fast.weights.tolist()))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    check_against_definition(errors, which, seed, outcomes[0])


def check_against_definition(errors, which, seed, outcome):
    from flexicase.selection.orders import uniform_order, weighted_order

    population, n_cases = errors.shape
    bias, default_weight = which
    weights = np.full(n_cases, 1.0 if default_weight == "min" else population + 1.0)
    key = key_from_seed(seed)
    for generation, (parent, evaluations, cases_used, ended) in enumerate(outcome[0]):
        order = uniform_order(key, generation, n_cases) if bias is None else weighted_order(key, generation, weights)
        pool, count, used = one_at_a_time(errors, order, weights, bias or "num_nonzeros")
        assert (evaluations, cases_used, ended) == ([count], [used], [int(len(pool) > 1)])
        assert parent[0] in pool
    assert outcome[1] == weights.tolist()


@pytest.mark.slow
def test_blocks_give_the_same_through_real_networks():
    """In float64 a network's outputs do not tip over with the size of the batch."""
    inputs = torch.randn(300, 1, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    targets = torch.randint(0, 10, (300,), generator=torch.Generator().manual_seed(2))
    data = CaseLoader(torch.utils.data.TensorDataset(inputs, targets), torch.device("cpu"), name="data")
    torch.manual_seed(3)
    base = network().double()
    models = []
    for _ in range(4):  # nearly equal candidates, as late in training: long selections
        model = network().double()
        model.load_state_dict(
            {k: v + 0.002 * torch.randn_like(v) if v.is_floating_point() else v for k, v in base.state_dict().items()}
        )
        models.append(model.eval())
    for which in SELECTIONS:
        outcomes, calls = [], []
        for lookahead in (1, Growing(40)):
            fast, out = selector(which, 300, 4, 11, lookahead), []
            evaluate = ft.CandidateErrors(models, data, batch=64)
            for generation in range(3):
                s = fast.select(evaluate, 4, cache_key=generation)
                out.append((s.indices.tolist(), s.evaluations.tolist(), s.cases_used.tolist(), s.ended.tolist()))
            outcomes.append((out, fast.weights.tolist()))
            calls.append(evaluate.calls)
        assert outcomes[0] == outcomes[1]
        assert calls[1] < calls[0]


@pytest.mark.slow
def test_training_does_not_depend_on_the_blocks():
    def outcome(lookahead):
        inputs = torch.randn(80, 1, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        targets = torch.randint(0, 10, (80,), generator=torch.Generator().manual_seed(2))
        found = ft.GradientLexicase(
            lambda: network().double(),
            torch.utils.data.TensorDataset(inputs, targets),
            method="weighted-split",
            seed=4,
            batch_size=16,
            lookahead=lookahead,
        )
        records = found.fit(6)
        counts = [(r.parent, r.evaluations, r.cases_used, r.ended) for r in records]
        return counts, found.weights.tolist(), [v.tolist() for v in found.parent.state_dict().values()]

    assert outcome(1) == outcome("auto") == outcome(7)


def test_after_short_selections_a_short_one_computes_nothing_in_vain():
    found = search()
    found.fit(3)
    short = [record for record in found.records if record.cases_used < 8]
    assert short  # barely trained networks differ soon
    for record in short:
        assert record.pairs == record.evaluations == record.forward_calls


def test_large_networks_look_ahead_less_far_than_small_ones():
    """Where a call is full of work with 16 cases, further ones only cost."""
    found = {}
    for name, channels, size in (("digits", 1, 8), ("vgg11-quarter", 3, 32), (11, 3, 32)):
        images = torch.utils.data.TensorDataset(torch.zeros(4, channels, size, size), torch.zeros(4, dtype=torch.int64))
        model = ft.vgg(name, channels=channels, size=size).eval()
        found[name] = max_block_cases(model, CaseLoader(images, torch.device("cpu"), name="images"))
    assert found == {"digits": 1024, "vgg11-quarter": 50, 11: 16}


def test_dropout_and_augmentation_are_off_in_selection():
    """A selection on the very same candidates gives the same errors however often it is asked."""
    data = fake_images(64, 8)
    found = ft.GradientLexicase(
        lambda: nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 10)),
        data.train,
        transform=ft.PadCropFlip(2),
        seed=2,
    )
    found.fit(1)
    evaluate = found._candidate_errors()
    cases = np.arange(64)
    np.testing.assert_array_equal(evaluate(np.arange(4), cases), evaluate(np.arange(4), cases))


def test_augmented_selection_depends_on_the_case_not_on_its_place():
    found = search(selection_transform=ft.PadCropFlip(2))
    found.fit(1)
    evaluate, order = found._candidate_errors(), np.random.default_rng(1).permutation(96)
    np.testing.assert_array_equal(evaluate(np.arange(4), np.arange(96))[:, order], evaluate(np.arange(4), order))
    inputs, _ = found._cases.batch(np.arange(96))
    assert not torch.equal(evaluate.augment(inputs, np.arange(96)), inputs)


class Squares:
    """A map-style data set that only knows single cases."""

    def __len__(self):
        return 40

    def __getitem__(self, case):
        return torch.full((4,), float(case % 3)), case % 3


def test_any_map_style_data_set_will_do():
    found = ft.GradientLexicase(lambda: nn.Linear(4, 3), Squares(), seed=1, batch_size=5, test_set=Squares())
    records = found.fit(3)
    assert [record.accuracy is None for record in records] == [True, True, False]
    assert records[-1].accuracy == found.evaluate(torch.utils.data.Subset(Squares(), range(40)))


@pytest.mark.parametrize("target", [0, 1, 2])
def test_an_output_that_is_no_number_is_wrong(target):
    """argmax takes NaN for the largest, so that a broken network was right on one class."""
    nan = float("nan")
    outputs = torch.tensor([[nan, nan, nan], [0.0, nan, 1.0], [nan, 2.0, 1.0], [1.0, 0.0, nan]])
    assert zero_one_error(outputs, torch.full((4,), target)).tolist() == [True] * 4
    broken = nn.Linear(4, 3)
    nn.init.constant_(broken.weight, nan)
    evaluate = ft.CandidateErrors([broken], cases())
    assert evaluate(np.array([0]), np.arange(20)).tolist() == [[1.0] * 20]


def data_set(labels, n=None):
    labels = torch.as_tensor(labels)
    return TensorDataset(torch.zeros(n or len(labels), 1, 8, 8), labels)


class Lazy:
    """A data set whose labels are seen only case by case."""

    def __len__(self):
        return 8

    def __getitem__(self, case):
        return torch.zeros(1, 8, 8), 10 if case == 7 else 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2, 10], "labels from 0 to 9, as the network has 10 outputs, got 10 for case 3"),
        ([0, -1, 2, 3], "got -1 for case 1"),
        (
            [0.0, 1.0, 2.0, 3.0],
            "targets of train_set must be class labels, whole numbers, one per case, got torch.float32",
        ),
    ],
)
def test_labels_that_are_no_classes(labels, message):
    with pytest.raises(ValueError, match=message):
        ft.GradientLexicase(network, data_set(labels))


def test_labels_that_are_no_classes_are_found_late_if_need_be():
    found = ft.GradientLexicase(network, Lazy(), seed=1)
    with pytest.raises(ValueError, match=r"labels from 0 to 9, as the network has 10 outputs, got 10 for case 7"):
        found.fit(1)


def test_labels_of_the_test_set_are_checked():
    with pytest.raises(ValueError, match=r"targets of test_set must be class labels from 0 to 9"):
        search(test_set=data_set([3, 12]))


def test_an_empty_data_set():
    with pytest.raises(ValueError, match=r"train_set must have at least one case, got an empty data set"):
        ft.GradientLexicase(network, data_set(torch.zeros(0, dtype=torch.long)))


def test_no_data_set():
    with pytest.raises(TypeError, match=r"train_set must be a map-style data set, with len"):
        ft.GradientLexicase(network, iter([]))


def test_fewer_cases_than_candidates():
    with pytest.raises(ValueError, match=r"at least one case per candidate, got 3 cases and 4 candidates"):
        ft.GradientLexicase(network, data_set([0, 1, 2]))


def test_an_error_function_that_gives_no_error_per_case():
    found = ft.GradientLexicase(
        network, data_set([0, 1, 2, 3]), error_fn=lambda o, t: o, loss=nn.functional.cross_entropy, seed=1
    )
    with pytest.raises(fx.EvaluationError, match=r"error_fn must give one error per case, shape \(1,\), got \(1, 10\)"):
        found.fit(1)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.int16, torch.int64])
def test_labels_may_be_of_any_whole_type(dtype):
    """Cross-entropy takes int64 alone; the same labels in another type train the same network."""
    found, expected = small(data=cases(targets=(torch.arange(20) % 3).to(dtype))), small()
    found.fit(2), expected.fit(2)
    assert all(map(torch.equal, found.parent.parameters(), expected.parent.parameters()))


def test_labels_may_be_yes_and_no():
    found = small(lambda: nn.Linear(4, 2), cases(targets=torch.arange(20) % 2 == 0))
    assert found.fit(1)[0].loss > 0
    assert 0 <= found.evaluate(cases(targets=torch.arange(20) % 2 == 0)) <= 1


def test_a_single_case():
    assert small(data=cases(1), population=1).fit(2)[-1].cases_used <= 1
    with pytest.raises(ValueError, match="at least one case per candidate, got 1 cases and 4 candidates"):
        small(data=cases(1))


class Items(list):
    """A data set of whatever is in a list."""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((torch.zeros(20, 4), torch.zeros(20).long()), r"train_set must be a data set .*TensorDataset"),
        (torch.zeros(20, 4), r"train_set must give \(input, target\) for a case, got Tensor for case 0"),
        (TensorDataset(torch.zeros(20, 4)), r"train_set must give \(input, target\) for a case, got 1 values"),
        (TensorDataset(*[torch.zeros(20, 4)] * 3), r"train_set must give \(input, target\) for a case, got 3 values"),
        (Items([None] * 20), r"train_set must give \(input, target\) for a case, got NoneType for case 0"),
        (Items([(None, 1)] * 20), r"train_set must give .*tensors, arrays or numbers.*cases 0 and 1.*NoneType"),
        (Items([(torch.zeros(4), "cat")] * 20), r"train_set must give tensors, arrays or numbers, got tuple as target"),
        (
            Items([({"x": torch.zeros(4)}, 1)] * 20),
            r"train_set must give tensors, arrays or numbers, got dict as input",
        ),
        (Items([(torch.zeros(4 + i), 1) for i in range(20)]), r"train_set must give .*cases 0 and 1.*equal size"),
        (dict.fromkeys(range(20), 3), r"train_set must give \(input, target\) for a case, got int for case 0"),
        ("twenty letters, or so", r"train_set must give \(input, target\) for a case, got str for case 0"),
    ],
)
def test_data_that_are_no_cases(data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        small(data=data)


def test_an_error_function_that_gives_no_tensor():
    found = small(error_fn=lambda o, t: [0.0] * len(o), loss=nn.functional.cross_entropy)
    with pytest.raises(fx.EvaluationError, match=r"error_fn must return a tensor, got list"):
        found.fit(1)
