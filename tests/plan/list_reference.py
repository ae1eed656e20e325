"""What rules over lists mean, evaluated as they are written: naive, and nothing of the unfolding in it.

The stamp of a fact is the maximum over its derivations of the minimum over the premises. All rules are
applied to all facts until nothing changes. A list is spelt out each time that it is asked for.
"""

from __future__ import annotations

from ensue.model import FOREVER
from ensue.rules.builtins import TESTS
from ensue.rules.tree import Chain, Each, Member, Pair, Var

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FIRST, REST, NIL = (f"<{RDF}{name}>" for name in ("first", "rest", "nil"))


def closure(rules, background, window=()):
    """Every fact that holds in a window of (stamp, statement) over a background, with its stamp.

    Cut premises see the closed background alone.
    """
    still = _close(rules, dict.fromkeys([*background, *map(tuple, rules.axioms)], FOREVER), None)
    facts = dict(still)
    for stamp, statement in window:
        facts[statement] = max(stamp, facts.get(statement, stamp))
    return still, _close(rules, facts, still)


def _close(rules, facts, still):
    facts = dict(facts)
    while True:
        found = [each for rule in rules.rules for each in _consequences(rule, facts, still or facts)]
        new = False
        for statement, stamp in found:
            if stamp > facts.get(statement, -1):
                facts[statement] = stamp
                new = True
        if not new:
            return facts


def _consequences(rule, facts, still):
    solutions = [({}, FOREVER)]
    for premise in rule.premises:
        solutions = _matches(premise.pattern, solutions, still if premise.cut else facts)
    # What gives variables a value goes first: the ends of an empty chain are the same, whatever they are.
    order = {Member: 0, Pair: 0, Each: 1, Chain: 2}
    for premise in sorted(rule.lists, key=lambda each: order[type(each)]):
        solutions = [
            after
            for before in solutions
            for spelling in _spellings(_of(premise.of, before[0]), facts, ())
            for after in _holds(premise, rule, before, spelling, facts)
        ]
    for binding, stamp in solutions:
        if all(_of(arg, binding) for guard in rule.conditions for arg in guard.args) and all(
            TESTS[guard.name][1](*(_of(arg, binding) for arg in guard.args)) for guard in rule.conditions
        ):
            for conclusion in rule.conclusions:
                statement = tuple(_of(node, binding) for node in conclusion)
                if None not in statement:
                    yield statement, stamp


def _spellings(node, facts, passed):
    """The ways to spell out a list; none if it is none."""
    if node == NIL:
        yield ()
    rests = {o for s, p, o in facts if (s, p) == (node, REST)}
    if node == NIL or node in passed or len(rests) != 1:
        return
    for rest in _spellings(rests.pop(), facts, (*passed, node)):
        for first in [o for s, p, o in facts if (s, p) == (node, FIRST)]:
            yield (first, *rest)


def _holds(premise, rule, before, spelling, facts):
    binding, stamp = before
    match premise:
        case Member(_, item):
            for member in spelling:
                yield from _same([(item, member)], binding, stamp)
        case Pair(_, one, other):
            for at, member in enumerate(spelling):
                for later in spelling[at + 1 :]:
                    yield from _same([(one, member), (other, later)], binding, stamp)
        case Each(_, item, patterns):
            yield from _each(item, patterns, rule, before, spelling, facts)
        case Chain(_, start, end):
            yield from _chain(start, end, before, spelling, facts)


def _each(item, patterns, rule, before, spelling, facts):
    own = {v for pattern in patterns for v in pattern.variables()} - _used_elsewhere(rule, patterns)
    solutions = [before]
    for member in spelling:
        solutions = [({**binding, item: member}, stamp) for binding, stamp in solutions]
        for pattern in patterns:
            solutions = _matches(pattern, solutions, facts)
        solutions = [({v: t for v, t in b.items() if v not in own}, stamp) for b, stamp in solutions]
    yield from solutions


def _chain(start, end, before, spelling, facts):
    if not spelling:
        binding, stamp = before
        known = _of(start, binding) or _of(end, binding)
        if known:
            yield from _same([(start, known), (end, known)], binding, stamp)
        return
    here, solutions = start, [before]
    for number, predicate in enumerate(spelling, start=1):
        there = end if number == len(spelling) else Var(f"on the way {number}")
        solutions = [
            (found, min(stamp, facts[statement]))
            for binding, stamp in solutions
            for statement in facts
            if statement[1] == predicate
            for found, _ in _same([(here, statement[0]), (there, statement[2])], binding, stamp)
        ]
        here = there
    for binding, stamp in solutions:
        yield {v: t for v, t in binding.items() if not v.name.startswith("on the way")}, stamp


def _used_elsewhere(rule, patterns):
    used = [node for premise in rule.premises for node in premise.pattern]
    used += [node for conclusion in rule.conclusions for node in conclusion]
    used += [arg for condition in rule.conditions for arg in condition.args]
    for other in rule.lists:
        if not isinstance(other, Each):
            used += [getattr(other, name) for name in other.__slots__]
        elif other.patterns is not patterns:
            used += [other.of, *(node for pattern in other.patterns for node in pattern)]
        else:
            used.append(other.of)
    return set(used)


def _matches(pattern, solutions, facts):
    return [
        (found, min(stamp, facts[statement]))
        for binding, stamp in solutions
        for statement in facts
        for found, _ in _same(zip(pattern, statement, strict=True), binding, stamp)
    ]


def _same(pairs, binding, stamp):
    found = dict(binding)
    for node, term in pairs:
        if (found.setdefault(node, term) if isinstance(node, Var) else node) != term:
            return
    yield found, stamp


def _of(node, binding):
    return binding.get(node) if isinstance(node, Var) else node
