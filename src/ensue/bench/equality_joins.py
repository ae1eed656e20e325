"""Equality in the joins of rules instead of in their conclusions: for comparison with the plain axioms.

Where terms are equal for a while only, no term can stand for others. But a fact need not be repeated for
each equal term either, if whoever looks for facts looks for equal terms: `(?x :p ?y), (?y :q ?z)` becomes
`(?x :p ?y), (?y sameAs ?y2), (?y2 :q ?z)`, and the axioms of replacement go (in the theory of the chase:
rules are *singularised*). Everything is equal to itself, so what is the same still joins. Stamps come out
the same, since the join is as old as the equality it goes through. Predicates and terms that rules name are
taken to be equal to themselves alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ensue.errors import UsageError
from ensue.plan.equality import axioms_of, equality_of
from ensue.rules.tree import Pattern, Premise, Rule, RuleSet, Var

_REPLACING = frozenset({"subject", "predicate", "object"})


def joining_equals(rules: RuleSet) -> RuleSet:
    """The rules with equality in their joins.

    >>> from ensue.bench.equality import RULES
    >>> from ensue.rules.load import parse_rules
    >>> more = "[r: (?x <urn:p> ?y), (?y <urn:q> ?z) -> (?x <urn:r> ?z)]"
    >>> found = joining_equals(parse_rules(RULES + more))
    >>> print(str(found.rules[-1]).replace("http://www.w3.org/2002/07/owl#", ""))
    [r: (?x <urn:p> ?y), (?y=1 <urn:q> ?z), (?y <sameAs> ?y=1) -> (?x <urn:r> ?z)]
    """
    found = equality_of(rules)
    if found is None:
        raise UsageError("these rules do not have the axioms of equality", hint="add eq-sym to eq-rep-o")
    replacing = {rule for rule in found.axioms if {kind for _, kind in axioms_of(rule)} <= _REPLACING}
    kept = (rule for rule in rules.rules if rule not in replacing)
    return replace(rules, rules=tuple(_joining(rule, found.predicate, rule in found.axioms) for rule in kept))


def _joining(rule: Rule, same: str, is_axiom: bool) -> Rule:
    if is_axiom:
        return rule
    patterns, equal = joins([premise.pattern for premise in rule.premises], same)
    premises = [replace(old, pattern=new) for old, new in zip(rule.premises, patterns, strict=True)]
    return replace(rule, premises=(*premises, *map(Premise, equal)))


def joins(patterns: Sequence[Pattern], same: str) -> tuple[list[Pattern], list[Pattern]]:
    """The patterns with a name for each place of a variable, and which of these names are equal."""
    predicates = {pattern.p for pattern in patterns}
    seen: dict[Var, int] = {}
    equal: list[Pattern] = []
    found = []
    for s, p, o in patterns:
        ends = []
        for node in (s, o):
            if isinstance(node, Var) and node not in predicates:
                seen[node] = seen.get(node, -1) + 1
                if seen[node]:
                    again = Var(f"{node.name}={seen[node]}")
                    equal.append(Pattern(node, same, again))
                    node = again
            ends.append(node)
        found.append(Pattern(ends[0], p, ends[1]))
    return found, equal
