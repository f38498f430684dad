"""The Push language: programs, genomes and a native engine that runs them."""

from flexicase.push.evaluate import Evaluator
from flexicase.push.generators import (
    RandomBoolean,
    RandomChar,
    RandomFloat,
    RandomInteger,
    RandomString,
    RandomTag,
    RandomTagged,
)
from flexicase.push.genome import Gene, Genome, Marker
from flexicase.push.instructions import Instruction, InstructionSet, instruction_table
from flexicase.push.limits import Limits
from flexicase.push.measures import Measure
from flexicase.push.program import Program
from flexicase.push.run import State, run
from flexicase.push.text import parse, unparse
from flexicase.push.trace import Step, Trace, trace
from flexicase.push.values import Big, Char, Single, Symbol

__all__ = [
    "Big",
    "Char",
    "Evaluator",
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
    "instruction_table",
    "parse",
    "run",
    "trace",
    "unparse",
]
