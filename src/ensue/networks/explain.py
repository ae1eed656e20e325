"""How a network would run: what sets a rule off, how the rest is matched, and who may set off whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ensue.networks.order import ordered
from ensue.networks.tree import DEFAULT, NetworkFile, NetworkRule, Quad, Select
from ensue.rules.tree import Node, Var

_WHEN = {1: "comes", -1: "goes", 0: "comes or goes"}


def describe(file: NetworkFile) -> dict[str, Any]:
    """The network as plain data: what `ensue explain` shows.

    >>> from ensue.networks.parse import parse
    >>> rule = describe(parse("INSERT { ?y <urn:q> ?x } WHERE { ?x <urn:p> ?y . ?y a <urn:C> }"))["rules"][0]
    >>> rule["does"], rule["triggers"][1]["when"], rule["triggers"][1]["then"]
    ('INSERT 1', 'comes', ['?x <urn:p> ?y'])
    """
    return {
        "network": file.name,
        "element": file.element or "time",
        "arrives in": file.into or "own",
        "partition by": None if file.partition is None else str(file.partition),
        "rules": [_rule(rule, file.rules) for rule in file.rules],
    }


def _rule(rule: NetworkRule, rules: tuple[NetworkRule, ...]) -> dict[str, Any]:
    return {
        "name": rule.name,
        "place": str(rule.place),
        "does": _effect(rule),
        "triggers": list(_triggers(rule)),
        "may set off": [other.name for other in rules if _may_set_off(rule, other)],
    }


def _effect(rule: NetworkRule) -> str:
    effect = rule.effect
    if isinstance(effect, Select):
        return f"SELECT {'DISTINCT ' if effect.distinct else ''}{' '.join(map(str, effect.variables))}"
    parts = {"DELETE": len(effect.delete), "INSERT": len(effect.insert), "nodes made": len(effect.made)}
    return ", ".join(f"{what} {count}" for what, count in parts.items() if count)


def _triggers(rule: NetworkRule) -> Iterator[dict[str, Any]]:
    for branch in rule.branches:
        for at, (pattern, sign) in enumerate(branch.all_patterns()):
            own = at < len(branch.patterns)
            known = pattern.variables() if own else pattern.variables() & branch.bound()
            then = [str(task) for task in ordered(branch, known) if not own or task != pattern]
            yield {"pattern": str(pattern), "when": _WHEN[sign], "then": then}


def _may_set_off(rule: NetworkRule, other: NetworkRule) -> bool:
    """Whether something that a rule deletes or inserts can make a new solution of another, by its shape."""
    if isinstance(rule.effect, Select):
        return False
    made = frozenset(rule.effect.made)
    for branch in other.branches:
        for pattern, sign in branch.all_patterns():
            come = rule.effect.insert if sign >= 0 else ()
            gone = rule.effect.delete if sign <= 0 else ()
            if any(_unifies(quad, pattern, made) for quad in (*come, *gone)):
                return True
    return False


def _unifies(quad: Quad, pattern: Quad, made: frozenset[Var]) -> bool:
    if (quad.graph == DEFAULT) != (pattern.graph == DEFAULT):
        return False  # no variable stands for the default graph
    return all(_may_be(left, right, made) for left, right in zip(quad, pattern, strict=True))


def _may_be(node: Node, asked: Node, made: frozenset[Var]) -> bool:
    if isinstance(asked, Var):
        return True
    return node not in made if isinstance(node, Var) else node == asked


def lines(plan: dict[str, Any]) -> list[str]:
    """The same to be read."""
    found = [
        f"network: {plan['network']}",
        f"element: {plan['element']}",
        f"arrives in: {plan['arrives in']}",
    ]
    if plan["partition by"] is not None:
        found.append(f"partition by: {plan['partition by']}, a network for each key")
    for rule in plan["rules"]:
        found += ["", f"rule {rule['name']} ({rule['place']}): {rule['does']}"]
        for trigger in rule["triggers"]:
            found.append(f"  when {trigger['pattern']} {trigger['when']}")
            found += [f"    {task}" for task in trigger["then"]]
        if rule["may set off"]:
            found.append(f"  may set off: {', '.join(rule['may set off'])}")
    return found
