"""pyshgp on the workload of ``push.py``: its own random programs of the same stacks and sizes."""

from __future__ import annotations

import collections
import collections.abc
import random
import time
from typing import Any, NamedTuple

STACKS = {"exec", "int", "bool", "vector_int"}


class Rate(NamedTuple):
    """Program runs and steps per CPU-second."""

    runs: float
    steps: float


def pyshgp_rate(inputs: list[list[Any]], programs: int, cases: int) -> Rate | None:
    """How fast pyshgp is; None if it cannot be imported.

    Args:
        inputs: The inputs of each case.
        programs: How many random programs of 100 to 300 genes to run.
        cases: On how many of the cases.
    """
    # pyshgp 0.1.8 takes names from collections that Python 3.10 took away.
    for name in ("Callable", "MutableSequence", "Sequence"):
        setattr(collections, name, getattr(collections.abc, name))
    try:
        from pyshgp.gp.genome import GeneSpawner, genome_to_code
        from pyshgp.push.config import PushConfig
        from pyshgp.push.instruction_set import InstructionSet
        from pyshgp.push.interpreter import PushInterpreter
        from pyshgp.push.program import Program, ProgramSignature
        from pyshgp.push.types import IntVector
    except ImportError:
        return None
    instructions = InstructionSet().register_core_by_stack(STACKS)
    spawner = GeneSpawner(2, instructions, [], [lambda: random.random() < 0.5])
    signature = ProgramSignature(arity=2, output_stacks=["bool"], push_config=PushConfig(step_limit=600))
    made = [
        Program(code=genome_to_code(spawner.spawn_genome((100, 300))), signature=signature) for _ in range(programs)
    ]
    interpreter = PushInterpreter(instructions)
    rows = [[IntVector(value) for value in case] for case in inputs[:cases]]
    start = time.process_time()
    for program in made:
        for case in rows:
            interpreter.run(program, case)
    seconds = time.process_time() - start

    steps = 0
    plain = interpreter.evaluate_atom

    def counted(*arguments: Any) -> Any:
        nonlocal steps
        steps += 1
        return plain(*arguments)

    interpreter.evaluate_atom = counted
    for program in made:
        for case in rows:
            interpreter.run(program, case)
    return Rate(programs * len(rows) / seconds, steps / seconds)
