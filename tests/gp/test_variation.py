"""The operators do what their definitions say, as often as they say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from flexicase.gp import OffspringGenerator, Population, Variation
from flexicase.problems.settings import OPERATOR_NAMES
from flexicase.push import (
    Char,
    Gene,
    Genome,
    RandomBoolean,
    RandomChar,
    RandomFloat,
    RandomInteger,
    RandomString,
    RandomTag,
    RandomTagged,
    RandomVector,
    RandomWords,
    Symbol,
)
from flexicase.push.draws import VISIBLE
from flexicase.rng import key_from_seed
from tests.gp._helpers import FRESH, children, is_rate, items, numbered, offspring

LONG = 100_000  # max_points for parents of many genes


def genes_of(generator, n=20_000):
    breeder = OffspringGenerator([generator], Variation(max_initial_genome=n))
    population = breeder.random(3, key_from_seed(3))
    return [gene for genome in population for gene in genome.genes][:n]


def is_uniform(values, support) -> bool:
    counts = [values.count(value) for value in support]
    return sum(counts) == len(values) and stats.chisquare(counts).pvalue > 1e-5


def test_entries_of_a_generator_list_are_equally_likely():
    entries = [Symbol(f"in{i}") for i in range(1, 11)]
    population = OffspringGenerator(entries, Variation(max_initial_genome=20_000)).random(4, key_from_seed(1))
    assert is_uniform([gene.item for genome in population for gene in genome.genes], entries)


def test_close_counts_have_the_distribution_of_the_definition():
    closes = [gene.close for gene in genes_of(RandomBoolean(), 40_000)]
    expected = np.array([0.772, 0.206, 0.021, 0.001]) * len(closes)
    assert stats.chisquare([closes.count(i) for i in range(4)], expected * len(closes) / expected.sum()).pvalue > 1e-5


def test_without_the_marker_nothing_closes():
    breeder = OffspringGenerator([FRESH], Variation(close_marker=False, max_initial_genome=5000))
    assert {gene.close for gene in breeder.random(1, key_from_seed(1))[0].genes} == {0}


def test_lengths_of_random_genomes_are_uniform():
    sizes = OffspringGenerator([FRESH], Variation(max_initial_genome=20)).random(20_000, key_from_seed(1)).sizes
    assert is_uniform(sizes.tolist(), range(1, 21))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("generator", "support"),
    [
        (RandomInteger(-3, 3), range(-3, 4)),
        (RandomBoolean(), (True, False)),
        (RandomChar("abc"), tuple(map(Char, "abc"))),
        (RandomTag(("integer", "exec"), 2), [Symbol(f"tag_{s}_{n}") for s in ("integer", "exec") for n in (0, 1)]),
        (RandomTagged(3), [Symbol(f"tagged_{n}") for n in range(3)]),
        (RandomString(1, 1), VISIBLE),
    ],
)
def test_constants_are_uniform_on_their_range(generator, support):
    found = [gene.item for gene in genes_of(generator)]
    assert is_uniform(found, list(support))
    assert type(found[0]) is type(next(iter(support)))


def test_floats_are_uniform():
    found = [gene.item for gene in genes_of(RandomFloat(-2.0, 3.0))]
    assert stats.kstest(found, stats.uniform(-2, 5).cdf).pvalue > 1e-5


@pytest.mark.slow
def test_strings_draw_lengths_and_groups():
    found = [gene.item for gene in genes_of(RandomString(0, 4, ((0.25, "x"), (0.75, "abc"))))]
    assert is_uniform([len(text) for text in found], range(5))
    letters = "".join(found)
    assert is_rate(letters.count("x"), len(letters), 0.25)
    assert is_rate(letters.count("b"), len(letters), 0.25)


def test_words_have_single_spaces_inside_only():
    found = [gene.item for gene in genes_of(RandomString(0, 9, ((0.5, " "), (0.5, "a")), words=True))]
    assert all(text == " ".join(text.split()) for text in found)
    assert any(" " in text for text in found)


def test_words_are_cut_to_their_length_and_end_with_a_letter():
    kind = RandomWords(3, 3, "ab", ((0.75, "-"), (0.25, " ")), ((0.5, 1, 1), (0.5, 2, 2)))
    found = [gene.item for gene in genes_of(kind)]
    assert {len(text) for text in found} == {2, 3}, "a separator in the third place is dropped"
    assert not [text for text in found if not set(text[0] + text[-1]) <= set("ab") or text[:2] in ("--", "  ")]
    short = sum(text[1] in "- " for text in found)
    assert is_rate(short, len(found), 0.5)
    assert is_rate(sum(text[1] == "-" for text in found), short, 0.75)
    assert is_rate(sum(len(text) == 2 for text in found), len(found), 0.5)


@pytest.mark.slow
def test_vectors_draw_lengths_and_elements():
    found = [gene.item for gene in genes_of(RandomVector(0, 4, RandomInteger(-1, 1)))]
    assert is_uniform([len(vector) for vector in found], range(5))
    assert is_uniform([element for vector in found for element in vector], [-1, 0, 1])
    texts = [gene.item for gene in genes_of(RandomVector(1, 1, RandomString(1, 1, ((1.0, "ab"),))))]
    assert is_uniform([vector[0] for vector in texts], ["a", "b"])


def test_full_range_of_integers():
    found = [gene.item for gene in genes_of(RandomInteger(-(2**63), 2**63 - 1), 4000)]
    assert is_rate(sum(value < 0 for value in found), len(found), 0.5)
    assert is_rate(sum(abs(value) < 2**62 for value in found), len(found), 0.5)


def test_alternation_without_changes_copies_one_of_the_parents():
    made = offspring("alternation", [numbered(0, 30), numbered(100, 40)], 4000, alternation_rate=0.0)
    first = made.count(list(range(30)))
    assert first + made.count(list(range(100, 140))) == 4000
    assert is_rate(first, 4000, 0.5)


def jumps(sigma, rate=0.02, n=250, length=3000):
    """Places where a child goes over to the other parent, and the jump there."""
    offset, found, copied = 10 * length, [], 0
    for child in offspring(
        "alternation",
        [numbered(0, length), numbered(offset, length)],
        n,
        max_points=LONG,
        alternation_rate=rate,
        alignment_deviation=sigma,
    ):
        source, place = np.divmod(child, offset)
        copied += len(child)
        at = np.flatnonzero(source[1:] != source[:-1])
        at = at[(place[at] > 6 * sigma) & (place[at] < length - 6 * sigma - 1)]
        found.extend((place[at + 1] - place[at] - 1).tolist())
    return np.array(found), copied


@pytest.mark.slow
def test_jumps_of_alternation_are_rounded_gaussians():
    found, _ = jumps(sigma=10)
    edges = np.arange(-25.5, 26)
    counts = np.histogram(found, np.concatenate([[-np.inf], edges, [np.inf]]))[0]
    expected = np.diff(stats.norm.cdf(np.concatenate([[-np.inf], edges, [np.inf]]), scale=10)) * len(found)
    assert len(found) > 10_000
    assert stats.chisquare(counts, expected).pvalue > 1e-5


@pytest.mark.slow
def test_alternation_changes_parents_at_its_rate():
    n, length, rate = 400, 500, 0.02
    switches = steps = 0
    parents = [numbered(0, length), numbered(10_000, length)]
    for child in offspring("alternation", parents, n, max_points=LONG, alternation_rate=rate, alignment_deviation=0.0):
        source = np.array(child) // 10_000
        switches += int((source[1:] != source[:-1]).sum())
        steps += len(child) - 1
    odd = rate / (1 + rate)  # an odd number of changes between two genes
    assert is_rate(switches, steps, odd)


def test_alternation_never_goes_before_the_start_and_ends_with_a_parent():
    parents = [numbered(0, 20), numbered(100, 20)]
    for child in offspring("alternation", parents, 2000, alternation_rate=0.5, alignment_deviation=50.0):
        assert len(child) <= 40
        assert all(0 <= item % 100 < 20 for item in child)


def test_alternation_stops_one_gene_above_the_limit_which_is_too_big():
    parents = [numbered(0, 50), numbered(100, 50)]
    made = offspring("alternation", parents, 200, max_points=80, alternation_rate=0.0, oversized="truncate")
    assert {len(child) for child in made} == {20}
    assert {child[0] for child in made} == {0, 100}


@pytest.mark.slow
def test_uniform_mutation_changes_genes_at_its_rate_and_keeps_close():
    parent = numbered(0, 5000, close=2)
    made, _, _ = children(
        "uniform_mutation", [parent], 20, max_points=LONG, mutation_rate=0.03, constant_tweak_rate=0.0
    )
    found = [gene for child in made for gene in child.genes]
    assert is_rate(sum(gene.item >= 1_000_000 for gene in found), len(found), 0.03)
    assert {gene.close for gene in found} == {2}


def mutated(item, n=20_000, genes=(FRESH,), **settings):
    settings = {"mutation_rate": 1.0, "constant_tweak_rate": 1.0, "max_points": 4 * n, **settings}
    return offspring("uniform_mutation", [Genome([Gene(item)] * n)], 1, genes=genes, **settings)[0]


def test_constant_tweak_rate_divides_mutations():
    found = mutated(5, constant_tweak_rate=0.3)
    assert is_rate(sum(item < 1_000_000 for item in found), len(found), 0.3)


def test_integers_move_by_a_rounded_gaussian():
    found = np.array(mutated(50, integer_deviation=3.0)) - 50
    edges = np.concatenate([[-np.inf], np.arange(-7.5, 8), [np.inf]])
    expected = np.diff(stats.norm.cdf(edges, scale=3)) * len(found)
    assert stats.chisquare(np.histogram(found, edges)[0], expected).pvalue > 1e-5


def test_floats_move_by_a_gaussian():
    found = np.array(mutated(2.5, float_deviation=0.5)) - 2.5
    assert stats.kstest(found, stats.norm(scale=0.5).cdf).pvalue > 1e-5


@pytest.mark.slow
def test_tags_move_within_their_range():
    found = np.array([int(item.rsplit("_", 1)[1]) for item in mutated(Symbol("tag_exec_9990"))])
    moved = (found - 9990 + 5000) % 10_000 - 5000
    assert found.min() >= 0
    assert found.max() < 10_000
    assert (
        stats.kstest(moved + np.random.default_rng(1).uniform(-0.5, 0.5, len(moved)), stats.norm(scale=100).cdf)[1]
        > 1e-5
    )
    assert set(mutated(Symbol("tagged_7"), 100)).isdisjoint({FRESH})
    assert all(item.startswith("tagged_") for item in mutated(Symbol("tagged_7"), 100))


def test_strings_change_character_by_character():
    found = mutated("~" * 10)
    characters = "".join(found)
    assert {len(text) for text in found} == {10}
    assert is_rate(sum(c != "~" for c in characters), len(characters), 0.1 * 96 / 97)
    assert set(characters) == set(VISIBLE)


def test_booleans_are_drawn_anew():
    found = mutated(True)
    assert is_rate(sum(found), len(found), 0.5)


@pytest.mark.parametrize("item", [Symbol("integer_add"), Symbol("in1"), Char("a"), [1, 2]])
def test_what_is_no_constant_is_replaced(item):
    assert all(found >= 1_000_000 for found in mutated(item, 50))


def test_an_integer_at_the_edge_stays_an_integer():
    assert all(-(2**63) <= item < 2**63 for item in mutated(2**63 - 1, 100, integer_deviation=1e6))


@pytest.mark.slow
def test_close_counts_grow_and_shrink_at_their_rates():
    parent = Genome([Gene(1, close=i % 2) for i in range(10_000)])
    settings = {"max_points": LONG, "close_mutation_rate": 0.2, "close_increment_rate": 0.3}
    made, _, _ = children("uniform_close_mutation", [parent], 10, **settings)
    change = np.array([[gene.close for gene in child.genes] for child in made]) - np.arange(10_000) % 2
    assert is_rate(int((change == 1).sum()), change.size, 0.2 * 0.3)
    assert is_rate(int((change[:, 1::2] == -1).sum()), change.size // 2, 0.2 * 0.7)
    assert not (change[:, ::2] < 0).any()


def test_close_mutation_needs_the_marker():
    made = children("uniform_close_mutation", [numbered(0, 50, close=1)], 20, close_marker=False)[0]
    assert {gene.close for child in made for gene in child.genes} == {1}


@pytest.mark.parametrize(
    ("operator", "rate", "item", "changes"),
    [
        ("uniform_integer_mutation", "constant_tweak_rate", 10**6, lambda old, new: type(new) is int and new != old),
        ("uniform_float_mutation", "constant_tweak_rate", 2.5, lambda old, new: type(new) is float and new != old),
        ("uniform_boolean_mutation", "constant_tweak_rate", True, lambda old, new: new is False),
        ("uniform_string_mutation", "mutation_rate", "abc" * 400, lambda old, new: new != old),
        ("uniform_tag_mutation", "mutation_rate", Symbol("tagged_500"), lambda old, new: new != old),
        ("uniform_instruction_mutation", "mutation_rate", 7, lambda old, new: new >= 1_000_000),
    ],
)
def test_single_kind_mutations_use_their_rate_and_leave_other_kinds_alone(operator, rate, item, changes):
    others = [
        value for value in (7, 2.5, True, "abc", Symbol("tagged_500"), Char("c")) if type(value) is not type(item)
    ]
    if operator == "uniform_instruction_mutation":
        others = []
    parent = Genome([Gene(item)] * 3000 + [Gene(other) for other in others for _ in range(10)])
    deviations = {"integer_deviation": 1e5, "tag_deviation": 1e6}
    made = offspring(operator, [parent], 4, max_points=LONG, **{rate: 0.3}, **deviations)
    assert is_rate(sum(changes(item, new) for child in made for new in child[:3000]), 12_000, 0.3)
    assert all(child[3000:] == items(parent)[3000:] for child in made)


def test_silence_is_switched_only_where_genes_may_be_silent():
    parent = Genome([Gene(1, silent=i % 2 == 0) for i in range(5000)])
    made, _, _ = children("uniform_silence_mutation", [parent], 4, max_points=LONG, silent_marker=True)
    switched = [
        gene.silent != old.silent for child in made for gene, old in zip(child.genes, parent.genes, strict=True)
    ]
    assert is_rate(sum(switched), len(switched), 0.1)
    assert children("uniform_silence_mutation", [parent], 1, max_points=LONG)[0][0].genes == parent.genes


def test_random_genes_are_silent_at_their_rate():
    breeder = OffspringGenerator([FRESH], Variation(silent_marker=True, max_initial_genome=20_000))
    silent = [gene.silent for genome in breeder.random(3, key_from_seed(1)) for gene in genome.genes]
    assert is_rate(sum(silent), len(silent), 0.2)


@pytest.mark.slow
def test_addition_puts_random_genes_before_or_after():
    parent = numbered(0, 5000)
    before = after = 0
    for child in offspring("uniform_addition", [parent], 10, max_points=LONG, addition_rate=0.1):
        assert [item for item in child if item < 1_000_000] == items(parent)
        before += child[0] >= 1_000_000
        after += sum(item >= 1_000_000 for item in child)
    assert is_rate(after, 50_000, 0.1)
    firsts = [child[0] for child in offspring("uniform_addition", [numbered(0, 1)], 4000, addition_rate=1.0)]
    assert is_rate(sum(item >= 1_000_000 for item in firsts), 4000, 0.5)


def test_deletion_has_its_rate():
    sizes = children("uniform_deletion", [numbered(0, 5000)], 10, max_points=LONG, deletion_rate=0.1)[0].sizes
    assert is_rate(50_000 - int(sizes.sum()), 50_000, 0.1)


@pytest.mark.slow
def test_addition_and_deletion_keep_the_expected_size():
    rate, n, length = 0.25, 400, 1000
    made = offspring(
        "uniform_addition_and_deletion", [numbered(0, length)], n, max_points=LONG, addition_and_deletion_rate=rate
    )
    sizes = np.array([len(child) for child in made])
    deviation = np.sqrt(length * 2 * rate)  # a generous bound of one child's standard deviation
    assert abs(sizes.mean() - length) < 5 * deviation / np.sqrt(n)
    kept = sum(item < 1_000_000 for child in made for item in child)
    assert is_rate(kept, n * length, 1 / (1 + rate))


@pytest.mark.parametrize("operator", ["uniform_combination", "uniform_combination_and_deletion"])
def test_combination_adds_genes_of_the_other_parent_at_the_same_place(operator):
    parents = [numbered(0, 900), numbered(10_000, 300)]
    rates = {"combination_rate": 0.2, "combination_and_deletion_rate": 0.2}
    added = kept = 0
    for child in offspring(operator, parents, 50, max_points=LONG, **rates):
        own = [item for item in child if item < 10_000]
        assert own == sorted(own)
        added += len(child) - len(own)
        kept += len(own)
        if operator == "uniform_combination":
            for i, item in enumerate(child):
                if item >= 10_000:
                    around = {child[j] % 300 for j in (i - 1, i + 1) if 0 <= j < len(child) and child[j] < 10_000}
                    assert item - 10_000 in around
    survive = 1.0 if operator == "uniform_combination" else 1 / 1.2
    assert is_rate(kept, 45_000, survive)
    assert is_rate(added, 45_000, 0.2 * survive)


def test_combination_with_an_empty_parent_changes_nothing():
    assert (
        offspring("uniform_combination", [numbered(0, 5), Genome([])], 3, combination_rate=1.0) == [list(range(5))] * 3
    )


def test_uniform_crossover_takes_each_place_from_either_parent():
    parents = [numbered(0, 200), numbered(1000, 100)]
    made = offspring("uniform_crossover", parents, 400)
    assert is_rate(sum(item < 100 for child in made for item in child), 40_000, 0.5)
    assert is_rate(sum(100 <= item < 200 for child in made for item in child), 40_000, 0.5)
    assert all(sum(item % 1000 < 100 for item in child) == 100 for child in made)


def test_two_point_crossover_replaces_the_middle():
    parents = [numbered(0, 4), numbered(100, 3)]
    made = offspring("two_point_crossover", parents, 20_000)
    for child in made[:500]:
        middle = [item for item in child if item >= 100]
        assert middle == list(range(middle[0], middle[0] + len(middle))) if middle else True
        own = [item for item in child if item < 100]
        assert own == sorted(own)
    # 0 … 4 are 5 cut points: the parent's ends are both kept with no middle taken when both cuts agree (1 in 5)
    assert is_rate(sum(len([i for i in child if i < 100]) == 4 for child in made), 20_000, 1 / 5)
    assert is_rate(sum(not any(i >= 100 for i in child) for child in made), 20_000, 1 / 4)


def test_reordering_swaps_neighbours():
    made = offspring("uniform_reordering", [numbered(0, 1000)], 40, reordering_rate=0.2, max_points=LONG)
    swapped = sum(a > b for child in made for a, b in itertools.pairwise(child))
    assert is_rate(swapped, 40 * 500 - 20, 0.2)  # a coin decides between 500 and 499 pairs
    assert all(sorted(child) == list(range(1000)) for child in made)
    assert all(abs(item - i) <= 1 for child in made for i, item in enumerate(child))
    firsts = offspring("uniform_reordering", [numbered(0, 2)], 4000, reordering_rate=1.0)
    assert is_rate(firsts.count([1, 0]), 4000, 0.5)


SEGMENTS = {"max_points": LONG, "segmenting_rate": 0.5}


def test_segments_are_runs_of_marked_or_unmarked_genes():
    """With everything duplicated, a segment's length is seen; runs of fair coins are geometric."""
    lengths = []
    for child in offspring(
        "uniform_segment_duplication", [numbered(0, 400)], 100, segment_duplication_rate=1.0, **SEGMENTS
    ):
        at = 0
        while at < len(child):
            length = child[at + 1 :].index(child[at]) + 1
            assert child[at : at + length] == child[at + length : at + 2 * length]
            lengths.append(length)
            at += 2 * length
    assert is_rate(lengths.count(1), len(lengths), 0.5)
    assert is_rate(lengths.count(3), len(lengths), 0.125)


def test_segments_are_reversed_deleted_or_swapped():
    parent = numbered(0, 300)
    for child in offspring("uniform_segment_transposition", [parent], 20, transposition_rate=1.0, **SEGMENTS):
        assert sorted(child) == list(range(300))
        assert child != list(range(300))
    assert offspring("uniform_segment_deletion", [parent], 5, segment_deletion_rate=1.0, **SEGMENTS) == [[]] * 5
    sizes = children("uniform_segment_deletion", [parent], 2000, segment_deletion_rate=0.3, **SEGMENTS)[0].sizes
    assert abs(sizes.mean() - 300 * 0.7) < 3
    for child in offspring("uniform_segment_reordering", [parent], 20, reordering_rate=1.0, **SEGMENTS):
        assert sorted(child) == list(range(300))
        assert child != list(range(300))


def test_gene_selection_takes_every_gene_from_a_new_parent():
    parents = [numbered(100 * i, 20) for i in range(5)]
    made, used, plan = children("gene_selection", parents, 10)
    for child, count in zip(made, used, strict=True):
        assert [item % 100 for item in items(child)] == list(range(20))
        assert [item // 100 for item in items(child)] == [i % 5 for i in range(20)]
        assert count == 21
    used_at_none = children("gene_selection", parents, 10, gene_selection_rate=0.0)[1]
    assert used_at_none.tolist() == [1] * 10
    assert plan.n_parents == 10 * 21


def test_genesis_and_reproduction():
    parents = [numbered(0, 7)]
    assert offspring("reproduction", parents, 2) == [list(range(7))] * 2
    assert all(item >= 1_000_000 for child in offspring("genesis", parents, 20) for item in child)


@pytest.mark.parametrize(
    ("oversized", "expected"), [("parent", range(30)), ("empty", range(0)), ("truncate", range(20))]
)
def test_a_child_that_is_too_big_is_replaced(oversized, expected):
    assert offspring("reproduction", [numbered(0, 30)], 1, max_points=80, oversized=oversized)[0] == list(expected)


def test_a_child_that_is_too_big_becomes_a_random_genome():
    made = offspring("reproduction", [numbered(0, 30)], 4000, max_points=80, max_initial_genome=10)
    assert is_uniform([len(child) for child in made], range(1, 11))
    assert all(item >= 1_000_000 for child in made for item in child)


def test_size_is_checked_once_after_the_pipeline():
    """Growing beyond the limit on the way is no reason to replace a child."""
    pipeline = {("uniform_addition", "uniform_deletion"): 1.0}
    rates = {"addition_rate": 1.0, "deletion_rate": 1.0, "max_points": 44}
    assert offspring(pipeline, [numbered(0, 10)], 3, **rates) == [[]] * 3


def test_pipelines_apply_operators_in_order():
    rates = {"alternation_rate": 0.0, "mutation_rate": 1.0, "constant_tweak_rate": 0.0}
    both = {"alternation+uniform_mutation": 1.0}
    made, used, _ = children(both, [numbered(0, 5), numbered(100, 9)], 50, **rates)
    assert {len(child) for child in made} == {5, 9}
    assert all(item >= 1_000_000 for child in made for item in items(child))
    assert set(used.tolist()) == {2}


def test_pipelines_are_drawn_by_their_probabilities():
    plan = children(Variation().operators, [numbered(0, 5)], 20_000)[2]
    counts = np.bincount(plan.pipelines)
    assert stats.chisquare(counts, np.array([0.2, 0.2, 0.1, 0.5]) * 20_000).pvalue > 1e-5
    assert is_rate(plan.n_parents - 20_000, 20_000, 0.7)


def test_one_of_several_rates_is_drawn_for_each_application():
    sizes = children("uniform_deletion", [numbered(0, 300)], 2000, deletion_rate=[0.0, 1.0])[0].sizes
    assert set(sizes.tolist()) == {0, 300}
    assert is_rate(int((sizes == 0).sum()), 2000, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATOR_NAMES)
def test_children_do_not_depend_on_threads(operator):
    source = [
        RandomString(0, 9),
        RandomVector(0, 3, RandomWords(0, 9, "ab")),
        RandomInteger(0, 9),
        RandomFloat(0, 1),
        RandomTag(("exec",)),
        Symbol("exec_if"),
        [1, 2],
    ]
    parents = list(OffspringGenerator(source, Variation(silent_marker=True)).random(30, key_from_seed(5)))
    chosen = np.random.default_rng(1)
    outcomes = set()
    for threads in (1, 2, 4):
        chosen = np.random.default_rng(1).integers(0, 30, 200 * 160)
        breeder = OffspringGenerator(
            source, Variation(operators={operator: 1.0}, silent_marker=True, segmenting_rate=0.2)
        )
        population = Population.from_genomes(parents)
        plan = breeder.plan(population, 200, key_from_seed(9))
        made, *_ = breeder.breed(population, plan, chosen[: plan.n_parents], key_from_seed(9), threads)
        outcomes.add(made.to_bytes())
    assert len(outcomes) == 1


def test_empty_parents_have_empty_children():
    for operator in OPERATOR_NAMES:
        made = offspring(operator, [Genome([]), Genome([])], 3)
        assert [bool(child) for child in made] == [operator == "genesis"] * 3, operator


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"operators": {"alternation": 0.5}}, "sum to 1, got 0.5"),
        ({"operators": {"alternation": 1.2, "uniform_mutation": -0.2}}, "between 0 and 1"),
        ({"operators": {"alternaton": 1.0}}, "did you mean 'alternation'"),
        ({"operators": {}}, "operators must map"),
        ({"mutation_rate": 1.5}, "mutation_rate must be between 0 and 1"),
        ({"constant_tweak_rate": 2}, "constant_tweak_rate must be between 0 and 1"),
        ({"mutation_rate": []}, "mutation_rate must have at least one value"),
        ({"alignment_deviation": -1.0}, "alignment_deviation must be finite"),
        ({"max_points": 0}, "max_points must be at least 4"),
        ({"max_initial_genome": 0}, "max_initial_genome must be at least 1"),
        ({"oversized": "shrink"}, "oversized must be one of"),
        ({"close_probabilities": (0.5, 0.5)}, "four numbers that sum to 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Variation(**settings)


def test_parents_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="parents must be from 0 to 0"):
        children("reproduction", [numbered(0, 3)], 2, chosen=np.array([0, 1]))
