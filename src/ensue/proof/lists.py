"""Rules over lists as plain rules over the statements that make the lists.

`ensue.plan.unfold` leaves out of a rule what the background is sure to meet, since the rule is to run fast.
A proof has to say it: so here what binds a list, and its rdf:first and rdf:rest, are premises.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ensue.plan.instances import Instances
from ensue.plan.known import Closed, Known
from ensue.plan.rdflists import SHAPES, Lists
from ensue.plan.shapes import shape_of
from ensue.plan.unfold import has_lists
from ensue.rules.lists import anchors
from ensue.rules.tree import Pattern, Premise, Rule, RuleSet


def over_statements(rules: RuleSet, background: Closed) -> RuleSet:
    """The rules as plain ones over a closed background; those without lists stay as they are.

    >>> from ensue.plan.rdflists import FIRST, NIL, REST
    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules("[r: (?c <urn:of> ?l), member(?l, ?t), (?y <urn:is> ?t) -> (?y <urn:is> ?c)]")
    >>> stated = [("<urn:C>", "<urn:of>", "_:l"), ("_:l", FIRST, "<urn:A>"), ("_:l", REST, NIL)]
    >>> [rule] = over_statements(rules, Closed.of(stated)).rules
    >>> len(rule.premises), str(rule.premises[-1])
    (4, '(?y <urn:is> <urn:A>)')
    """
    if not has_lists(rules):
        return rules
    listing = [rule for rule in rules.rules if rule.lists]
    known = Known(background, [shape_of(anchor.pattern) for rule in listing for anchor in anchors(rule)])
    lists = Lists(background.having(SHAPES))
    every = [
        each for rule in rules.rules for each in (instances(rule, known, lists) if rule.lists else [rule])
    ]
    return replace(rules, rules=tuple(dict.fromkeys(every)))


def instances(rule: Rule, known: Known, lists: Lists) -> Iterable[Rule]:
    """What one rule over lists becomes, with all that it rests on among its premises."""
    for plain, rests_on in Instances(rule, lists).grounded(known):
        said = (Premise(Pattern(*statement), cut=True) for statement in rests_on)
        yield replace(plain, premises=tuple(dict.fromkeys([*said, *plain.premises])))
