"""Translation of genomes."""

from __future__ import annotations

import pytest

from flexicase.push import Gene, Genome, Marker, Symbol


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
