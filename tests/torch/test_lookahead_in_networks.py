"""Looking ahead in blocks changes what is computed when, never what comes out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import flexicase as fx
import flexicase.torch as ft
from flexicase.evaluation._lookahead import Growing
from flexicase.rng import key_from_seed
from flexicase.torch._evaluation import CaseLoader, max_block_cases
from flexicase.torch.gradient_lexicase import make_selector
from tests.torch.training_runs import network, search

SELECTIONS = [("lexicase", None, None)] + [
    ("fast", bias, default) for bias in ("num_nonzeros", "num_zeros", "split") for default in ("max", "min")
]


def selector(which, n_cases, population, seed, lookahead):
    selection, bias, default = which
    return make_selector(
        selection,
        n_cases,
        population,
        bias=bias,
        default=default,
        epsilon=None,
        on_all_fail=None,
        lookahead=lookahead,
        max_block_cases=1024,
        key=key_from_seed(seed),
    )


def one_at_a_time(table, order, weights, bias, learns):
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
    for lookahead in (1, Growing(delayed=True), "auto", Growing(5)):
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
    selection, bias, default = which
    weights = np.full(n_cases, 1.0 if default == "min" else population + 1.0)
    key = key_from_seed(seed)
    for generation, (parent, evaluations, cases, ended) in enumerate(outcome[0]):
        if selection == "lexicase":
            order = uniform_order(key, generation, n_cases)
        else:
            order = weighted_order(key, generation, weights)
        pool, count, used = one_at_a_time(errors, order, weights, bias or "num_nonzeros", selection)
        assert (evaluations, cases, ended) == ([count], [used], [int(len(pool) > 1)])
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


def test_training_does_not_depend_on_the_blocks():
    def outcome(lookahead):
        inputs = torch.randn(80, 1, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        targets = torch.randint(0, 10, (80,), generator=torch.Generator().manual_seed(2))
        found = ft.GradientLexicase(
            lambda: network().double(),
            torch.utils.data.TensorDataset(inputs, targets),
            selection="fast",
            bias="split",
            seed=4,
            batch_size=16,
            lookahead=lookahead,
        )
        records = found.fit(6)
        counts = [(r.parent, r.evaluations, r.cases, r.ended) for r in records]
        return counts, found.weights.tolist(), [v.tolist() for v in found.parent.state_dict().values()]

    assert outcome(1) == outcome("auto") == outcome(7)


def test_after_short_selections_a_short_one_computes_nothing_in_vain():
    found = search()
    found.fit(3)
    short = [record for record in found.records if record.cases < 8]
    assert short  # barely trained networks differ soon
    for record in short:
        assert record.forward_passes == record.evaluations == record.forward_calls


@pytest.mark.parametrize("selection", [fx.FastLexicase(96, "ranked-split", seed=3), "lexicase"])
def test_a_selector_of_ones_own_or_a_name(selection):
    found = search(selection=selection)
    assert len(found.fit(2)) == 2


def test_large_networks_look_ahead_less_far_than_small_ones():
    """Where a call is full of work with 16 cases, further ones only cost."""
    found = {}
    for name, channels, size in (("digits", 1, 8), (11, 3, 32)):
        images = torch.utils.data.TensorDataset(torch.zeros(4, channels, size, size), torch.zeros(4, dtype=torch.int64))
        model = ft.vgg(name, channels=channels, size=size).eval()
        found[name] = max_block_cases(model, CaseLoader(images, torch.device("cpu"), name="images"))
    assert found == {"digits": 1024, 11: 16}
