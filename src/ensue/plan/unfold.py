"""Rules over RDF lists become plain rules: one for each list in the background, and each way to read it.

`(?c owl:intersectionOf ?l), each(?l, ?t, (?y rdf:type ?t)) -> (?y rdf:type ?c)` becomes, where C is the
intersection of A and B, `(?y rdf:type A), (?y rdf:type B) -> (?y rdf:type C)`. What binds the list is filled
in from the background, and so is what is sure to hold. Rules that are made so may make more schema, so
unfolding and closing take turns until nothing new appears.

Lists are those of the background: a stream that brings one, or says what a list is for, must be refused
(`Unfolded.refused`), since no rule was made for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from ensue.plan.heads import heads
from ensue.plan.instances import Instances
from ensue.plan.known import Closed, Known
from ensue.plan.rdflists import SHAPES, Lists
from ensue.plan.report import Report, counted
from ensue.plan.shapes import Shape, Shapes, shape_of
from ensue.rules.lists import anchors
from ensue.rules.tree import Premise, Rule, RuleSet


@dataclass(frozen=True, slots=True)
class Unfolded:
    """Plain rules, and what they rest on."""

    rules: RuleSet
    refused: tuple[Shape, ...] = ()
    """What no stream may bring: there is no other plan for it."""
    report: Report | None = None
    """None: there was nothing to unfold."""


def has_lists(rules: RuleSet) -> bool:
    """Whether there is something to unfold."""
    return any(rule.lists for rule in rules.rules)


def refused_by(rules: RuleSet) -> tuple[Shape, ...]:
    """What no stream may bring: lists, and what binds those that rules ask for."""
    found = Shapes(SHAPES if has_lists(rules) else ())
    for rule in rules.rules:
        for anchor in anchors(rule):
            found.add(shape_of(anchor.pattern))
    return found.widest()


def unfold(rules: RuleSet, closed: Callable[[RuleSet], Closed], stated: Closed | None = None) -> Unfolded:
    """The rules over what follows from them, where `closed` says what follows from plain rules.

    That is to be in the numbers of one dictionary, in which the rules that are given back hold, too: they may
    name nodes that rules made. The last that is closed is closed under them. Most lists are `stated` and
    none follows: whoever looks at those first closes once.

    >>> from ensue.plan.known import close
    >>> from ensue.plan.rdflists import FIRST, NIL, REST
    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules("[r: (?c <urn:all> ?l), each(?l, ?t, (?y <urn:is> ?t)) -> (?y <urn:is> ?c)]")
    >>> stated = [("<urn:C>", "<urn:all>", "_:l"), ("_:l", FIRST, "<urn:A>"), ("_:l", REST, "_:m")]
    >>> stated += [("_:m", FIRST, "<urn:B>"), ("_:m", REST, NIL)]
    >>> print(*unfold(rules, lambda plain: close(plain, stated)).rules.rules)
    [r: (?y <urn:is> <urn:A>), (?y <urn:is> <urn:B>) -> (?y <urn:is> <urn:C>)]
    """
    if not has_lists(rules):
        return Unfolded(rules)
    made: dict[Rule, dict[Rule, None]] = {rule: {} for rule in rules.rules if rule.lists}
    now = _together(rules, {})
    background = closed(now) if stated is None else stated
    while True:
        known = Known(background, [shape_of(anchor.pattern) for rule in made for anchor in anchors(rule)])
        lists = Lists(background.having(SHAPES))
        unread: dict[str, None] = {}
        for rule, found in made.items():
            instances = Instances(rule, lists)
            found |= dict.fromkeys(instances.all(known))
            unread |= instances.unread
        before, now = now, _together(rules, _without_what_holds(made, background))
        if now == before and background is not stated:
            refused = refused_by(rules)
            details = (*_counts(rules, now), *_makers(now, refused), *unread)
            return Unfolded(now, refused, Report("lists", _line(rules, now), details))
        background = closed(now)


def _together(rules: RuleSet, made: Mapping[Rule, Iterable[Rule]]) -> RuleSet:
    """The rules with those that were made of some in their places; what needs no premise is an axiom."""
    every = [each for rule in rules.rules for each in (made.get(rule, ()) if rule.lists else (rule,))]
    axioms = [conclusion for rule in every if not rule.premises for conclusion in rule.conclusions]
    plain = tuple(rule for rule in dict.fromkeys(every) if rule.premises)
    return replace(rules, rules=plain, axioms=(*rules.axioms, *dict.fromkeys(axioms)))


def _without_what_holds(made: Mapping[Rule, Iterable[Rule]], background: Closed) -> dict[Rule, list[Rule]]:
    """The rules that were made, without the statements among their premises that the background has.

    A statement that it does not have may still come on a stream, but not where a premise is cut.
    """
    grounds = {
        shape_of(premise.pattern)
        for found in made.values()
        for rule in found
        for premise in rule.premises
        if _is_ground(premise)
    }
    there = set(background.having(grounds))

    def shorter(rule: Rule) -> Rule | None:
        left = [premise for premise in rule.premises if shape_of(premise.pattern) not in there]
        if any(premise.cut and _is_ground(premise) for premise in left):
            return None
        # What conditions make, they make of a premise.
        return replace(rule, premises=tuple(left or rule.premises[:1] if rule.conditions else left))

    shortened = {rule: map(shorter, found) for rule, found in made.items()}
    return {rule: [each for each in found if each is not None] for rule, found in shortened.items()}


def _is_ground(premise: Premise) -> bool:
    return not premise.pattern.variables()


def _line(rules: RuleSet, unfolded: RuleSet) -> str:
    listing = sum(bool(rule.lists) for rule in rules.rules)
    plain = len(unfolded.rules) - (len(rules.rules) - listing)
    stated = len(unfolded.axioms) - len(rules.axioms)
    became = f"{counted(plain, 'plain rule')} and {counted(stated, 'statement')}"
    return f"{counted(listing, 'rule')} over lists became {became}"


def _counts(rules: RuleSet, unfolded: RuleSet) -> list[str]:
    names = Counter(rule.name for rule in unfolded.rules)
    return [f"{rule.name}: {names[rule.name]}" for rule in rules.rules if rule.lists]


def _makers(unfolded: RuleSet, refused: Iterable[Shape]) -> list[str]:
    """The rules that could make of a stream what it may not bring: that is not noticed, so it is said."""
    found = [
        head.rule
        for head in heads(unfolded.rules)
        if not all(premise.cut for premise in head.premises)
        and any(head.unify(shape) is not None for shape in refused)
    ]
    names = ", ".join(dict.fromkeys(found))
    return [f"not noticed: lists that rules make of what a stream brings (by {names})"] if names else []
