"""`ProgramFunction`: a program as a Python function, in memory and in a file; and an evaluator that calls it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_not_negative, check_text, shown
from flexicase._files import write_atomically
from flexicase.push.evaluator import Evaluator, Failure, check_inputs
from flexicase.push.instructions import check_symbols
from flexicase.push.interpreter import Limits, RunState, check_limits, run
from flexicase.push.measures import ErrorMeasure, check_stack
from flexicase.push.program import Program, Value, check_sequence, check_type

#: What a file of a program says of itself.
FORMAT = "flexicase program"
VERSION = 1

_DEFAULT = Limits()


class ProgramFunction(Program):
    """A program that is called as a Python function: with its inputs, it returns its answer.

    The answer is read from the stacks however the run ended, and is None if it left none there.

    Args:
        code: The program, as text or as a value.
        outputs: Stacks whose tops are the answers; ``output`` is the printed text, ``output1`` … a slot. With several
            of them, a call returns a tuple.
        limits: Limits of a run.

    Attributes:
        steps: Number of steps of all calls so far.

    >>> hypotenuse = ProgramFunction("(in1 float_square in2 float_square float_add float_sqrt)", outputs=["float"])
    >>> hypotenuse(3.0, 4.0)
    5.0
    """

    __slots__ = ("limits", "outputs", "steps")

    def __init__(self, code: str | Value, outputs: Sequence[str], limits: Limits = _DEFAULT) -> None:
        super().__init__(code)
        self.outputs = check_outputs(outputs)
        self.limits = check_limits(limits)
        self.steps = 0

    @classmethod
    def from_program(cls, program: Program, outputs: Sequence[str], limits: Limits = _DEFAULT) -> ProgramFunction:
        """A program as a function.

        >>> ProgramFunction.from_program(Program("(in1 in1)"), ["integer"])(7)
        7
        """
        check_type(program, "program", Program)
        made = cls((), outputs, limits)
        made.native = program.native
        return made

    @classmethod
    def from_native(cls, native: _native.PushCode) -> Program:
        return Program.from_native(native)

    def __call__(self, *inputs: Value) -> Value:
        state = run(self, inputs, self.limits)
        self.steps += state.steps
        self._check(state, len(inputs))
        answers = tuple(state.output if stack == "output" else state.top(stack) for stack in self.outputs)
        return answers[0] if len(answers) == 1 else answers

    def _check(self, state: RunState, n_inputs: int) -> None:
        if state.termination == "missing_input":
            raise TypeError(f"the program reads more inputs than the {n_inputs} given")
        if state.termination == "unknown_instruction":
            raise ValueError("the program has an instruction that is not registered")
        if state.error is not None:
            raise state.error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program, its outputs and its limits to a JSON file, which is replaced in one step.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ProgramFunction("(in1 in2 integer_max)", ["integer"]).save(f"{folder}/larger.json")
        ...     larger = ProgramFunction.load(f"{folder}/larger.json")
        >>> larger(3, 5)
        5
        """
        if Program(str(self)).to_bytes() != self.to_bytes():
            raise ValueError("the program must have values that can be written as text; single-precision floats cannot")
        content = {
            "format": FORMAT,
            "version": VERSION,
            "program": str(self),
            "outputs": list(self.outputs),
            "limits": asdict(self.limits),
        }
        write_atomically(Path(path), (json.dumps(content, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ProgramFunction:
        """Read a file written by `save`. Nothing in it is run.

        Raises:
            ValueError: The file holds something else, or the program has an instruction that is not registered.
        """
        path = Path(path)
        try:
            content = json.loads(path.read_bytes().decode())
            if not isinstance(content, dict) or content.get("format") != FORMAT:
                raise ValueError("it must be a file written by ProgramFunction.save")
            if content.get("version") != VERSION:
                raise ValueError(f"version must be {VERSION}, got {shown(content.get('version'))}")
            text = check_text(content["program"], "program")
            function = cls(text, content["outputs"], Limits(**content["limits"]))
            check_symbols(function.code)
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise ValueError(f"{path}: {error}") from error
        return function

    def __reduce__(self) -> tuple[object, tuple[Any, ...]]:
        return ProgramFunction.from_program, (Program.from_native(self.native), self.outputs, self.limits)


def check_outputs(outputs: Any) -> tuple[str, ...]:
    """Stacks of answers, at least one, checked."""
    found = tuple(check_stack(stack) for stack in check_sequence(outputs, "outputs", "stacks"))
    if not found:
        raise ValueError("outputs must not be empty")
    return found


class _Evaluated(ProgramFunction):
    """A function whose runs may fail: failures are kept, and the answer is what they left."""

    __slots__ = ("failures",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.failures: list[Exception] = []

    def _check(self, state: RunState, n_inputs: int) -> None:
        if state.error is not None:
            self.failures.append(state.error)
        else:
            super()._check(state, n_inputs)


class FunctionEvaluator(Evaluator):
    """Evaluates programs by a Python function that calls them, such as a simulation.

    The function is called with a `ProgramFunction` and the inputs of a case, and returns one error, which is finite and
    not negative. It may call the program any number of times. An exception in it is passed on; one in an instruction
    written in Python ends only that call of the program and is reported as a warning.

    Args:
        inputs: The inputs of each case, of any type.
        evaluate: The function.
        outputs: Stacks whose tops are the answers of the program.
        limits: Limits of each call of the program.

    >>> def overshoot(controller, target):
    ...     position = 0
    ...     for _ in range(10):
    ...         position += controller(target, position) or 0
    ...     return abs(target - position)
    >>> evaluator = FunctionEvaluator([[5], [8]], overshoot, outputs=["integer"])
    >>> evaluator.errors([Program("(in1 in2 integer_sub)"), Program("(1)")]).tolist()
    [[0.0, 0.0], [5.0, 2.0]]
    """

    def __init__(
        self,
        inputs: Sequence[Sequence[Any]],
        evaluate: Callable[..., float],
        outputs: Sequence[str],
        limits: Limits = _DEFAULT,
    ) -> None:
        self.inputs = check_inputs(inputs)
        if not callable(evaluate):
            raise TypeError(f"evaluate must be a function of a program and the inputs, got {shown(evaluate)}")
        self.evaluate = evaluate
        self.function_outputs = check_outputs(outputs)
        n = len(self.inputs)
        super().__init__(
            [[]] * n, [None] * n, measures=[ErrorMeasure(self.function_outputs[0], _unused)], limits=limits
        )

    def outputs(self, program: Program, stack: str | None = None) -> list[Value]:
        raise TypeError("a program that a function evaluates has no single answer to a case")

    def _run_pairs(
        self, programs: list[_native.PushCode], individuals: NDArray[np.int64], cases: NDArray[np.int64], threads: int
    ) -> NDArray[np.float64]:
        errors = np.empty(individuals.size)
        failed: list[Failure] = []
        steps = 0
        for pair, (individual, case) in enumerate(zip(individuals.tolist(), cases.tolist(), strict=True)):
            function = _Evaluated((), self.function_outputs, self.limits)
            function.native = programs[individual]
            found = self.evaluate(function, *self.inputs[case])
            errors[pair] = check_not_negative(found, "the error that evaluate returns")
            steps += function.steps
            failed += [Failure(individual, case, error) for error in function.failures]
        with self._lock:
            self.steps += steps
        self._report(len(failed), failed)
        return errors


def _unused(answer: Value, target: Value) -> float:
    raise AssertionError("errors come from the function that evaluates")
