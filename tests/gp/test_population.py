"""Genomes go to native memory and back unchanged."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from flexicase.gp import Population
from flexicase.push import BigInteger, Char, Float32, Gene, Genome, Symbol

ITEMS = [
    *(
        0,
        -5,
        2**62,
        BigInteger(3),
        1.5,
        float("inf"),
        Float32(0.25),
        True,
        False,
        "",
        "text",
        "ünï\U0001f600",
        Char("x"),
    ),
    *([], [1, 2], [1.5], [True], ["a", "bc"], None),
    *map(
        Symbol, ("integer_add", "in3", "tag_exec_5", "tagged_7", "untag_8", "tagged_code_1", "tagged_when_2", "what?")
    ),
]
GENOMES = [
    Genome(Gene(item, i % 4, (False, True, "no-op")[i % 3]) for i, item in enumerate(ITEMS)),
    Genome([]),
    Genome([Gene(1, close=2**31 - 1)]),
]


def as_rows(population):
    return [[(type(g.item), g.item, g.close, g.silent) for g in genome.genes] for genome in population]


def test_every_kind_of_gene_comes_back():
    assert as_rows(Population.from_genomes(GENOMES)) == as_rows(GENOMES)


def test_bytes_hold_everything():
    population = Population.from_genomes(GENOMES)
    again = Population.from_bytes(population.to_bytes())
    assert as_rows(again) == as_rows(GENOMES)
    assert again.to_bytes() == population.to_bytes()


def test_translation_is_that_of_each_genome():
    programs, sizes = Population.from_genomes(GENOMES).translate(1200, threads=2)
    assert [str(p) for p in programs] == [str(g.translate()) for g in GENOMES]
    assert sizes.tolist() == [g.translate().points for g in GENOMES]


def test_programs_outlive_their_population():
    programs, _ = Population.from_genomes([Genome([Gene("long text " * 100)])]).translate(1200)
    Population.from_genomes([Genome([Gene("other text " * 100)])] * 50)
    assert "long text" in str(programs[0])


def test_bytes_that_are_no_population_are_refused():
    data = Population.from_genomes(GENOMES).to_bytes()
    for length in range(len(data)):
        with pytest.raises(ValueError, match=r"bytes|version|gene|vector"):
            Population.from_bytes(data[:length])
    with pytest.raises(ValueError, match="go on"):
        Population.from_bytes(data + b"\0")


def test_any_changed_byte_is_refused_or_gives_some_population():
    """No byte may crash the reader; what it accepts can be translated."""
    data = Population.from_genomes(GENOMES).to_bytes()
    accepted = 0
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        try:
            population = Population.from_bytes(bytes(changed))
        except ValueError:
            continue
        accepted += 1
        programs, _ = population.translate(1200)
        assert len(programs) == len(population)
    assert 0 < accepted < len(data)


def test_code_in_parentheses_is_no_gene():
    with pytest.raises(TypeError, match="not code in parentheses"):
        Population.from_genomes([Genome([Gene((1, 2))])])


def test_an_index_out_of_range():
    population = Population.from_genomes(GENOMES)
    assert len(population[-1]) == 1
    with pytest.raises(IndexError, match="between -3 and 2, got 3"):
        population[3]


def test_a_population_can_be_pickled_and_copied():
    population = Population.from_genomes([Genome([Gene(1), Gene("text", close=2, silent=True)]), Genome([])])
    for again in (pickle.loads(pickle.dumps(population)), copy.deepcopy(population)):
        assert [genome.genes for genome in again] == [genome.genes for genome in population]


def test_forged_bytes_give_a_population_that_works_or_a_value_error():
    """A checkpoint may come from anywhere: no byte of it may crash the process or end in another error."""
    draws = np.random.default_rng(1)
    whole = Population.from_genomes(GENOMES).to_bytes()
    read = 0
    for _ in range(400):
        forged = bytearray(whole)
        for place in draws.integers(len(whole), size=draws.integers(1, 4)):
            forged[place] = draws.choice([0, 1, 2, 3, 4, 5, 14, 127, 128, 255])
        try:
            population = Population.from_bytes(bytes(forged))
        except ValueError:
            continue
        read += 1
        assert len(list(population)) == len(population)
        assert all(len(str(program)) > 1 for program in population.translate(1200)[0])
        assert Population.from_bytes(population.to_bytes()).to_bytes() == population.to_bytes()
    assert 40 < read < 360
