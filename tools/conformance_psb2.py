"""Checks of records of benchmark problems: cases, programs with their errors, random constants, settings and genes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from conformance_values import Record, records, same, value_of
from flexicase import problems
from flexicase.problems import Cases, Problem
from flexicase.push import (
    Evaluator,
    Program,
    RandomChar,
    RandomFloat,
    RandomInteger,
    RandomTag,
    RandomTagged,
    RandomVector,
    RandomWords,
    Symbol,
    to_text,
)
from flexicase.push.draws import RANDOM_DRAWS
from flexicase.push.program import Value

#: Problems whose inputs Clojush numbers from the last one.
REVERSED = ("gcd", "mastermind", "substitution-cipher")
#: Functions such as the sine may differ in their last bits: the units in the last place that a result may be off, and
#: the number of results that may be off by more.
ULPS, FAR = 1000, 2
TAGS = (RandomTag, RandomTagged)
#: Our names of the instruction lists in problems.json.
LISTS = {"L": "2023", "P": "psb2"}


def case_of(record: Record, name: str) -> tuple[tuple[Value, ...], Value]:
    """The inputs, ``in1`` first, and the right answer of a recorded case.

    >>> case_of({"input1": 4, "input2": 6, "output1": 2}, "gcd")
    ((6, 4), 2)
    """
    inputs = [value for key, value in record.items() if key.startswith("input")]
    outputs = [value for key, value in record.items() if key.startswith("output")]
    if name == "word-stats":
        inputs *= 2
    ordered = tuple(inputs[::-1] if name in REVERSED else inputs)
    return ordered, outputs[0] if len(outputs) == 1 else tuple(outputs)


def check_case(record: Record, path: Path) -> str:
    """Whether a problem has another answer to a recorded case."""
    name = path.name.partition("-edge")[0].partition("-random")[0]
    inputs, expected = case_of(record, name)
    found = problems.load(name).cases([inputs]).expected[0]
    return "" if same(expected, found) else f"answer to {inputs!r:.100}: expected {expected!r}, found {found!r}"


@cache
def _evaluators(name: str, folder: Path) -> dict[str, Evaluator]:
    """Evaluators of the fixed cases, and of the random cases that programs were run on."""
    problem = problems.load(name)
    rows = {record["problem"]: record["random_rows"] for record in records(next(folder.glob("problems.json*")))}
    found = {}
    for kind in ("edge", "random"):
        cases = [case_of(record, name) for record in records(folder / f"{name}-{kind}.json.gz")]
        if kind == "random":
            cases = [cases[row] for row in rows[name]]
        found[kind] = problem.evaluator(Cases([given for given, _ in cases], [answer for _, answer in cases]), "2023")
    return found


def check_errors(record: Record, folder: Path) -> str:
    """What differs between the outputs and errors of a program and the recorded ones."""
    program = Program(value_of(record["program"]))
    for kind, evaluator in _evaluators(record["problem"], folder).items():
        outputs = _outputs(evaluator, program)
        expected = [value_of(item) for item in record[f"{kind}_outputs"]]
        wrong = [i for i, (a, b) in enumerate(zip(expected, outputs, strict=True)) if not same(a, b)]
        far = [i for i in wrong if not same(expected[i], outputs[i], ULPS)]
        if len(far) > FAR or (wrong and not record.get("libm")):
            i = wrong[0]
            return f"{kind} output {i}: expected {expected[i]!r}, found {outputs[i]!r}"
        errors = evaluator.errors([program], threads=1)[0]
        for i, error in enumerate(errors.tolist()):
            if i not in wrong and error != record[f"{kind}_errors"][i]:
                return f"{kind} error {i}: expected {record[f'{kind}_errors'][i]}, found {error}"
    return ""


def _outputs(evaluator: Evaluator, program: Program) -> list[Value]:
    """The answers, ordered by case, then by measure."""
    columns = [evaluator.outputs(program, measure.stack) for measure in evaluator.measures]
    return [answer for case in zip(*columns, strict=True) for answer in case]


def random_constants(problem: Problem) -> list[Any]:
    """The generators of random constants of a problem, without tags."""
    return [g for g in problem.generators if isinstance(g, RANDOM_DRAWS) and not isinstance(g, TAGS)]


def check_constants(record: Record) -> str:
    """Whether a problem's random constant is another one than the recorded draws."""
    problem = problems.load(record["problem"])
    generator = random_constants(problem)[record["constant_generator"] - 1]
    entries = problem.genes("2023").count(generator)
    if entries != record["entries"]:
        return f"entries of {generator}: expected {record['entries']}, found {entries}"
    samples = [value_of(item) for item in record["samples"]]
    outside = [sample for sample in samples if not can_draw(generator, sample)]
    return f"{generator} cannot be {outside[0]!r}" if outside else ""


def can_draw(generator: Any, value: Value) -> bool:
    """Whether a random constant can have a value.

    >>> can_draw(RandomInteger(0, 9), 10)
    False
    """
    match generator:
        case RandomInteger():
            return type(value) is int and generator.low <= value <= generator.high
        case RandomFloat():
            return type(value) is float and generator.low <= value < generator.high
        case RandomChar():
            return value in generator.characters
        case RandomVector():
            return generator.low <= len(value) <= generator.high and all(can_draw(generator.element, x) for x in value)
        case RandomWords():
            separators = "".join(characters for _, characters in generator.separators)
            ends = {*value[:1], *value[-1:]} & set(separators)
            pairs = {a + b for a, b in product(separators, repeat=2)}
            known = set(value) <= set(generator.letters + separators)
            return known and not ends and len(value) <= generator.high and not any(pair in value for pair in pairs)
    raise ValueError(f"no check of {generator}")


def check_problem(record: Record) -> str:
    """What differs between a problem and its recorded settings and genes."""
    problem = problems.load(record["problem"])
    for what, expected, found in _facts(record, problem):
        if expected != found:
            return f"{what}: expected {expected}, found {found}"
    return ""


def _facts(record: Record, problem: Problem) -> Iterable[tuple[str, Any, Any]]:
    tags = next(entry for entry in problem.generators if isinstance(entry, RandomTag))
    measure = problem.measures[0]
    error = {"rounded": f"rounded {measure.decimals}", "vector_difference": f"vector_difference {measure.per_element}"}
    random = [domain for domain in record["domains"] if domain["kind"] == "random"]
    fixed = [domain for domain in record["domains"] if domain["kind"] == "fixed"]
    sources = [(source.n_train, source.n_test) for source in problem.sources if source.can_draw]
    yield "stacks", sorted(record["stacks"]), sorted(problem.stacks)
    yield "stacks of tags", sorted(record["tag_stacks"]), sorted(tags.stacks)
    yield "own instructions", record["own_instructions"], list(problem.extra_instructions)
    yield "outputs", record["outputs"], problem.errors_per_case
    yield "result", record["result"], "slots" if measure.stack == "output1" else measure.stack
    yield "error", record["error"], error.get(str(measure.error), measure.error)
    yield "penalty", [record["penalty"]] * record["outputs"], [measure.penalty for measure in problem.measures]
    yield "random cases", [(domain["train"], domain["test"]) for domain in random], sources
    yield "fixed cases", sum(domain["size"] for domain in fixed), len(problem.fixed_cases())
    for name in ("max_points", "max_initial_genome"):
        yield name, record[name], getattr(problem.settings.variation, name)
    yield "steps", record["steps"], problem.settings.steps
    for letter, genes in record["genes"].items():
        yield from _genes(genes, problem.genes(LISTS[letter]), letter)  # type: ignore[arg-type]


def _genes(record: Mapping[str, Any], genes: tuple[Any, ...], letter: str) -> Iterable[tuple[str, Any, Any]]:
    counts = Counter(map(_entry, genes))
    inputs = sum(count for name, count in counts.items() if name.startswith("in") and name != "instruction")
    constants = len(genes) - inputs - counts["instruction"] - sum(isinstance(gene, TAGS) for gene in genes)
    instructions = [str(g) for g in genes if isinstance(g, Symbol) and _entry(g) == "instruction"]
    yield f"entries of {letter}", record["entries"], dict(counts)
    yield f"instructions of {letter}", sorted(record["instructions"]), sorted(instructions)
    sizes = [record[key] for key in ("inputs", "constants", "total")]
    yield f"sizes of {letter}", sizes, [inputs, constants, len(genes)]


def _entry(gene: Any) -> str:
    """What the recorded counts call an entry of the generator list."""
    if isinstance(gene, RANDOM_DRAWS):
        return "function"
    is_input = isinstance(gene, Symbol) and gene.startswith("in") and gene[2:].isdigit()
    return to_text(gene) if is_input or not isinstance(gene, Symbol) else "instruction"
