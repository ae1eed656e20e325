"""The rules that need Python, finished: they mint nodes or evaluate SPARQL expressions.

Compiled code hands over the solutions of their bodies. They are concluded by the column, so that a
condition costs one call per solution and nothing else does.
"""

from __future__ import annotations

import numpy as np

from ensue.dictionary import Dictionary
from ensue.maintain.kernel.columns import NO_FACTS, Columns
from ensue.maintain.kernel.layout import Array
from ensue.maintain.kernel.plans import is_native
from ensue.maintain.program import CompiledCondition, CompiledRule, Program, value_of
from ensue.model import by_column
from ensue.rules import builtins
from ensue.rules.tree import Guard, Mint


def conclude_all(program: Program, dictionary: Dictionary, solutions: Array, stamps: Array) -> Columns:
    """What the rules conclude from rows of (rule, context, binding...) with these stamps."""
    if not len(stamps):
        return NO_FACTS
    parts = [NO_FACTS]
    for number in np.unique(solutions[:, 0]):
        which = solutions[:, 0] == number
        parts += _conclude(program.rules[number], dictionary, solutions[which], stamps[which])
    return Columns.joined(parts)


def _conclude(rule: CompiledRule, dictionary: Dictionary, solutions: Array, stamps: Array) -> list[Columns]:
    context, body = solutions[:, 1], solutions[:, 2 : 2 + rule.body_variables]
    made = np.full((len(body), rule.variables - rule.body_variables), -1, np.int32)
    binding = np.concatenate([body, made], axis=1)
    for condition in rule.conditions:
        if is_native(condition, rule):
            continue  # Asked while the body was matched.
        holds = _apply(condition, binding, dictionary)
        binding, context, stamps = binding[holds], context[holds], stamps[holds]
    return [
        Columns(context, _column(s, binding), _column(p, binding), _column(o, binding), stamps)
        for s, p, o in rule.conclusions
    ]


def _apply(compiled: CompiledCondition, binding: Array, dictionary: Dictionary) -> Array:
    """Write the condition's values into the binding; which rows it holds for."""
    arguments = [_column(slot, binding) for slot in compiled.args]
    if isinstance(compiled.condition, Mint):
        values = _mint(dictionary, compiled.condition.source, arguments, len(binding))
    else:
        tuples = (
            zip(*(column.tolist() for column in arguments), strict=True) if arguments else [()] * len(binding)
        )
        every = list(tuples)
        known = _values(compiled, list(dict.fromkeys(every)), dictionary)
        values = [known[args] for args in every]
    holds = np.array([value is not None for value in values], np.bool_)
    if compiled.target >= 0:
        found = np.array([-1 if value is None else value for value in values], np.int32)
        already = binding[:, compiled.target]
        holds &= (already == -1) | (already == found)
        binding[:, compiled.target] = found
    return holds


def _values(
    compiled: CompiledCondition, wanted: list[tuple[int, ...]], dictionary: Dictionary
) -> dict[tuple[int, ...], int | None]:
    """What a condition gives for each of some arguments; None where it does not hold."""
    condition = compiled.condition
    if isinstance(condition, Mint) or condition.text or not condition.args:
        return {args: value_of(compiled, args, dictionary) for args in wanted}
    columns = (dictionary.decode_all(column) for column in by_column(wanted, len(condition.args)))
    found = map(builtins.function(condition.name), *columns)
    if isinstance(condition, Guard):
        return {args: 0 if holds else None for args, holds in zip(wanted, found, strict=True)}
    encode = dictionary.encode
    return {args: None if term is None else encode(term) for args, term in zip(wanted, found, strict=True)}


def _mint(dictionary: Dictionary, source: str, arguments: list[Array], count: int) -> list[int | None]:
    """A node for each row of arguments; None where it would nest too deep."""
    of = np.full(count, dictionary.source(source), np.int32)
    keys, size = np.stack([of, *arguments], axis=1).tobytes(), of.itemsize * (1 + len(arguments))
    known, depth = np.frombuffer(dictionary.depths, np.uint8), np.zeros(count, np.int64)
    for argument in arguments:
        np.maximum(depth, known[argument], out=depth)
    depth += 1
    return dictionary.mint_all([keys[at : at + size] for at in range(0, len(keys), size)], depth.tolist())


def _column(slot: int, binding: Array) -> Array:
    return binding[:, ~slot] if slot < 0 else np.full(len(binding), slot, np.int32)
