"""The order of a rule's joins: the most selective premise first (Coror's second phase)."""

from __future__ import annotations

from collections.abc import Sequence

from ensue.maintain.program import CompiledRule


def join_order(rule: CompiledRule, counts: Sequence[int]) -> list[int]:
    """Premise numbers in the order in which to join them; `counts` is what each matches.

    Begin with the premise that matches least; go on with the one that matches least among those
    that share a variable with what came before, so that no join is a cross product if it can be
    helped. Premises that match equally often go by their constants, then by how they are written.
    """
    left = list(range(len(rule.premises)))
    variables = [frozenset(slot for slot in premise if slot < 0) for premise in rule.premises]
    bound: frozenset[int] = frozenset()
    order: list[int] = []

    def rank(i: int) -> tuple[bool, int, int, int]:
        return bool(order) and not bound & variables[i], counts[i], len(variables[i]), i

    while left:
        chosen = min(left, key=rank)
        left.remove(chosen)
        order.append(chosen)
        bound |= variables[chosen]
    return order
