"""The Push language: programs, genomes and a native engine that runs them."""

from flexicase.push.evaluator import Evaluator, Failure
from flexicase.push.genome import (
    Gene,
    Genome,
    Marker,
    RandomBoolean,
    RandomChar,
    RandomFloat,
    RandomInteger,
    RandomString,
    RandomTag,
    RandomTagged,
)
from flexicase.push.instructions import Instruction, InstructionSet, instruction, instruction_table, remove_instruction
from flexicase.push.interpreter import Limits, State, Step, Trace, run, trace
from flexicase.push.measures import Measure
from flexicase.push.program import Big, Char, Program, Single, Symbol, parse, parse_all, unparse

__all__ = [
    "Big",
    "Char",
    "Evaluator",
    "Failure",
    "Gene",
    "Genome",
    "Instruction",
    "InstructionSet",
    "Limits",
    "Marker",
    "Measure",
    "Program",
    "RandomBoolean",
    "RandomChar",
    "RandomFloat",
    "RandomInteger",
    "RandomString",
    "RandomTag",
    "RandomTagged",
    "Single",
    "State",
    "Step",
    "Symbol",
    "Trace",
    "instruction",
    "instruction_table",
    "parse",
    "parse_all",
    "remove_instruction",
    "run",
    "trace",
    "unparse",
]
