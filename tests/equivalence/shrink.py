"""A case that fails made small, and written so that a person can work through it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .cases import Admit, Case, Copy, Learn, Operation, Step


def smaller(case: Case) -> Iterator[Case]:
    """The case with one thing left out: the large things first."""
    for number, step in enumerate(case.steps):
        rest = case.steps[number + 1 :]
        yield replace(case, steps=case.steps[:number] + rest)
        for simpler in _simpler_steps(step):
            yield replace(case, steps=(*case.steps[:number], simpler, *rest))
    for number in range(len(case.rules.rules)):
        rules = case.rules.rules[:number] + case.rules.rules[number + 1 :]
        yield replace(case, rules=replace(case.rules, rules=rules))
    for number in range(len(case.background)):
        yield replace(case, background=case.background[:number] + case.background[number + 1 :])
    if case.rules.axioms:
        yield replace(case, rules=replace(case.rules, axioms=()))


def _simpler_steps(step: Step) -> Iterator[Step]:
    if step.then:
        yield replace(step, then="")
    for number, operation in enumerate(step.operations):
        rest = step.operations[number + 1 :]
        yield replace(step, operations=step.operations[:number] + rest)
        for simpler in _simpler_operations(operation):
            yield replace(step, operations=(*step.operations[:number], simpler, *rest))


def _simpler_operations(operation: Operation) -> Iterator[Operation]:
    """Without the first half, without the second half, without each one."""
    rows: tuple = operation.statements if isinstance(operation, Learn) else operation.copies
    name = "statements" if isinstance(operation, Learn) else "copies"
    half = len(rows) // 2
    for left in (rows[half:], rows[:half], *(rows[:n] + rows[n + 1 :] for n in range(len(rows)))):
        if 0 < len(left) < len(rows):
            yield replace(operation, **{name: left})


def render(case: Case) -> str:
    """The case as text: rules, background, and what happens, step by step."""
    lines = [str(rule) for rule in case.rules.rules]
    lines += [f"axiom {_short(statement)}" for statement in case.axioms]
    lines += [f"background {_short(statement)}" for statement in case.background]
    for number, step in enumerate(case.steps):
        lines.append(f"step {number}")
        lines += [f"  {line}" for operation in step.operations for line in _lines(operation)]
        lines.append(f"  advance to {step.threshold}" + (f", then {step.then}" if step.then else ""))
    return "\n".join(lines).replace("<urn:", "<")


def _lines(operation: Operation) -> Iterator[str]:
    if isinstance(operation, Learn):
        yield from (f"background {_short(statement)}" for statement in operation.statements)
    elif isinstance(operation, Admit):
        yield f"admit {', '.join(_copy(copy, f' @{copy.stamp}') for copy in operation.copies) or 'nothing'}"
    else:
        which = "every copy" if operation.every else "newest copy"
        yield f"retract {which} of {', '.join(map(_copy, operation.copies))}"


def _copy(copy: Copy, stamp: str = "") -> str:
    return f"{copy.context}:{_short(copy.statement)}{f' in {copy.graph}' if copy.graph else ''}{stamp}"


def _short(statement: tuple[str, str, str]) -> str:
    return f"({' '.join(statement)})"
