"""Translation of genomes."""

from __future__ import annotations

import pytest

from flexicase import problems
from flexicase.gp.variation import OffspringGenerator
from flexicase.push import Gene, Genome, Marker, Program, Symbol
from flexicase.rng import Key


def gene(text: str) -> Gene:
    """A gene from item/close."""
    item, _, close = text.rpartition("/")
    return Gene(int(item) if item.isdigit() else Symbol(item), int(close))


@pytest.mark.parametrize(
    ("genes", "program"),
    [
        ("1/0 exec_dup/0 2/1 3/0", "(1 exec_dup (2) 3)"),
        ("exec_if/0 1/1 2/1 3/0", "(exec_if (1) (2) 3)"),
        ("exec_if/0 1/0 2/0", "(exec_if (1 2) ())"),
        ("exec_if/2 5/0", "(exec_if () () 5)"),
        ("exec_dup/1 4/3", "(exec_dup () 4)"),
        ("exec_do*range/0 exec_dup/0 1/2 2/0", "(exec_do*range (exec_dup (1)) 2)"),
        ("noop_open_paren/0 1/1", "(1)"),
        ("tag_exec_5/0 1/1 2/0", "(tag_exec_5 (1) 2)"),
        ("", "()"),
    ],
)
def test_translation_places_parentheses(genes: str, program: str) -> None:
    assert str(Genome(gene(text) for text in genes.split()).translate()) == program


def test_a_program_over_the_limit_becomes_empty() -> None:
    genome = Genome([Gene(1)] * 10)
    assert genome.translate(11).points == 11
    assert str(genome.translate(10)) == "()"


def test_silent_genes_are_left_out_with_their_closings() -> None:
    genes = [Gene(Symbol("exec_dup")), Gene(1, 1, True), Gene(2, 1, "no-op"), Gene(3)]
    assert str(Genome(genes).translate()) == "(exec_dup (exec_noop) 3)"


def test_plushy_markers() -> None:
    items = [Marker.CLOSE, Symbol("exec_dup"), 1, Marker.CLOSE, Marker.SKIP, Marker.CLOSE, 2]
    assert str(Genome.from_plushy(items).translate()) == "(exec_dup (1) 2)"


def test_translated_code_outlives_its_genome() -> None:
    """The program shares the strings of the genes; they must not be freed before it."""
    programs = [Genome([Gene(f"text {i}"), Gene([i, i])]).translate() for i in range(200)]
    assert [str(p) for p in programs] == [f'("text {i}" [{i} {i}])' for i in range(200)]


@pytest.mark.parametrize(
    ("program", "translated"),
    [
        ("(1 exec_if (2 (3)) () 4)", None),
        ("((1) exec_dup (exec_when (exec_if (1) ())) 2)", None),
        ('(tag_exec_5 (1) [1 2] "text")', None),
        ("()", None),
        ("(exec_dup 5 6)", "(exec_dup (5) 6)"),
        ("(exec_dup exec_if (1) (2) 3)", "(exec_dup (exec_if (1) (2)) 3)"),
        ("(exec_if (exec_if (1)) (2) 4)", "(exec_if (exec_if (1) ()) (2) 4)"),
        ("5", "(5)"),
    ],
)
def test_a_program_becomes_a_genome_that_translates_to_it(program: str, translated: str | None) -> None:
    """Individuals that a run starts with would mean something else."""
    assert str(Genome.from_program(Program(program)).translate()) == (translated or program)


def test_every_program_of_a_genome_comes_back() -> None:
    problem = problems.load("word-stats")
    genes = OffspringGenerator(problem.genes("2021"), problem.settings.variation)
    for program in genes.random(50, Key(1, 2)).translate(1200)[0]:
        assert str(Genome.from_program(program).translate()) == str(program)


def test_code_nested_deeper_than_the_stack_of_python_becomes_a_genome() -> None:
    deep = Program("(0 " + "(" * 5000 + "1" + ")" * 5001)
    assert Genome.from_program(deep).translate(10**6) == deep
