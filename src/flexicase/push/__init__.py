"""The Push language: programs, genomes and a native engine that runs them."""

from flexicase.push.draws import (
    RandomBoolean,
    RandomChar,
    RandomFloat,
    RandomInteger,
    RandomString,
    RandomTag,
    RandomTagged,
    RandomVector,
    RandomWords,
)
from flexicase.push.evaluator import Evaluator, Failure
from flexicase.push.function import FunctionEvaluator, ProgramFunction
from flexicase.push.genome import Gene, Genome, Marker
from flexicase.push.instructions import Instruction, InstructionSet, instruction, instruction_table, remove_instruction
from flexicase.push.interpreter import Limits, ProgramTrace, RunState, Step, execute, run, trace_program
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import BigInteger, Char, Float32, Program, Symbol, parse, parse_all, to_text

__all__ = [
    "BigInteger",
    "Char",
    "ErrorMeasure",
    "Evaluator",
    "Failure",
    "Float32",
    "FunctionEvaluator",
    "Gene",
    "Genome",
    "Instruction",
    "InstructionSet",
    "Limits",
    "Marker",
    "Program",
    "ProgramFunction",
    "ProgramTrace",
    "RandomBoolean",
    "RandomChar",
    "RandomFloat",
    "RandomInteger",
    "RandomString",
    "RandomTag",
    "RandomTagged",
    "RandomVector",
    "RandomWords",
    "RunState",
    "Step",
    "Symbol",
    "execute",
    "instruction",
    "instruction_table",
    "parse",
    "parse_all",
    "remove_instruction",
    "run",
    "to_text",
    "trace_program",
]
