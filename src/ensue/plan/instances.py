"""The plain rules that a rule over lists stands for, given the lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, product
from math import prod
from typing import TypeGuard, cast

from ensue.errors import InputError
from ensue.plan.known import Known, Statement
from ensue.plan.rdflists import Lists, Places
from ensue.rules import builtins
from ensue.rules.lists import anchors, local, variables
from ensue.rules.tree import (
    Bind,
    Chain,
    Condition,
    Each,
    Guard,
    ListPremise,
    Member,
    Mint,
    Node,
    Pair,
    Pattern,
    Premise,
    Rule,
    Var,
)

MOST = 10_000
"""How many rules one rule may become over one list."""


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to read the lists of a rule, so far: what variables are, and the patterns that it adds."""

    terms: Mapping[Var, Node]
    patterns: tuple[Pattern, ...] = ()
    read: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The lists, each with the members that this way is about."""

    def of(self, node: Node) -> Node:
        """What stands for a node."""
        while isinstance(node, Var) and node in self.terms:
            node = self.terms[node]
        return node

    def fill(self, pattern: Pattern) -> Pattern:
        """A pattern with what stands for its variables."""
        return Pattern(*map(self.of, pattern))

    def being(self, node: Node, other: Node) -> Iterator[_Way]:
        """The same where two nodes are one: none if they cannot be."""
        one, two = self.of(node), self.of(other)
        if one == two:
            yield self
        elif isinstance(one, Var):
            yield replace(self, terms={**self.terms, one: two})
        elif isinstance(two, Var):
            yield replace(self, terms={**self.terms, two: one})

    def adding(self, patterns: Iterable[Pattern]) -> _Way:
        """The same with more patterns."""
        return replace(self, patterns=(*self.patterns, *patterns))

    def reading(self, head: str, *members: str) -> _Way:
        """The same, resting on these members of a list."""
        return replace(self, read=(*self.read, (head, members)))


@dataclass(slots=True)
class Instances:
    """What becomes of one rule."""

    rule: Rule
    lists: Lists
    unread: dict[str, None] = field(default_factory=dict)
    """Lists that are none, and why, in lines for people."""

    def all(self, known: Known) -> Iterator[Rule]:
        """The plain rules, as far as everything in them is bound."""
        return (rule for rule, _ in self._found(known))

    def grounded(self, known: Known) -> Iterator[tuple[Rule, list[Statement]]]:
        """The same, each with the statements that bind its lists and that make them."""
        bind_lists = anchors(self.rule)
        for rule, way in self._found(known):
            binding = (tuple(map(str, way.fill(anchor.pattern))) for anchor in bind_lists)
            made = (each for head, members in way.read for each in self.lists.statements(head, members))
            yield rule, list(dict.fromkeys(cast("Iterable[Statement]", (*binding, *made))))

    def _found(self, known: Known) -> Iterator[tuple[Rule, _Way]]:
        bind_lists = anchors(self.rule)
        for binding in known.ground([anchor.pattern for anchor in bind_lists], {}):
            for way in self._ways([_Way(dict(binding))]):
                rule = _instance(self.rule, bind_lists, way)
                if rule is not None:
                    yield rule, way

    def _ways(self, ways: Iterable[_Way]) -> Iterable[_Way]:
        for premise in self.rule.lists:
            ways = [more for way in ways for more in self._read(premise, way)]
        return ways

    def _read(self, premise: ListPremise, way: _Way) -> Iterator[_Way]:
        head = str(way.of(premise.of))
        places = self.lists.read(head)
        if isinstance(places, str):
            self.unread[f"rule '{self.rule.name}' leaves out the list {head}: {places}"] = None
            return
        match premise:
            case Member():
                for item in dict.fromkeys(item for place in places for item in place):
                    yield from way.reading(head, item).being(premise.item, item)
            case Pair():
                for first, second in _pairs(places):
                    for some in way.reading(head, first, second).being(premise.first, first):
                        yield from some.being(premise.second, second)
            case Each():
                yield from self._each(premise, way, head, places)
            case Chain():
                for properties in self._choices(head, places):
                    yield from self._chain(premise, way.reading(head, *properties), properties)

    def _choices(self, head: str, places: Places) -> Iterator[tuple[str, ...]]:
        """The lists that a list is, where places have more than one member."""
        if prod(map(len, places)) > MOST:
            raise InputError(
                f"the list {head} can be read in more than {MOST:,} ways, for the rule '{self.rule.name}'",
                hint="several of its places have many members each: one rdf:first is enough",
            )
        return product(*places)

    def _each(self, each: Each, way: _Way, head: str, places: Places) -> Iterator[_Way]:
        own = local(self.rule, each) - {each.item}
        for members in self._choices(head, places):
            found: list[Pattern] = []
            for number, member in enumerate(members, start=1):
                here: dict[Var, Node] = {v: Var(f"{v.name}.{number}") for v in own}
                inside = _Way({**here, each.item: member})
                found.extend(map(inside.fill, each.patterns))
            yield way.reading(head, *members).adding(found)

    def _chain(self, chain: Chain, way: _Way, properties: tuple[str, ...]) -> Iterator[_Way]:
        if not properties:
            yield from way.being(chain.end, chain.start)
            return
        at = self.rule.lists.index(chain)
        between = [Var(f"chain{at}.{number}") for number in range(1, len(properties))]
        nodes = pairwise([chain.start, *between, chain.end])
        yield way.adding(Pattern(s, p, o) for (s, o), p in zip(nodes, properties, strict=True))


def _pairs(places: Places) -> Iterable[tuple[str, str]]:
    return dict.fromkeys(pair for one, other in combinations(places, 2) for pair in product(one, other))


def _instance(rule: Rule, bind_lists: tuple[Premise, ...], way: _Way) -> Rule | None:
    """The rule as one way has it; None if it would conclude about what nothing binds, or never anything."""
    others = [premise for premise in rule.premises if premise not in bind_lists]
    premises = [replace(premise, pattern=way.fill(premise.pattern)) for premise in others]
    premises += [Premise(way.fill(pattern)) for pattern in way.patterns]
    found = {variable for premise in premises for variable in premise.pattern.variables()}
    conditions = _conditions(rule, way, sorted(found, key=str))
    conclusions = tuple(map(way.fill, rule.conclusions))
    if conditions is None or not _is_safe(found, conditions, conclusions):
        return None
    if not premises and conditions:
        premises = [Premise(way.fill(bind_lists[0].pattern), cut=True)]
    body = tuple(dict.fromkeys(premises)), conclusions, tuple(conditions)
    return Rule(rule.name, *body, rule.place, priority=rule.priority)


def _is_safe(found: set[Var], conditions: Iterable[Condition], conclusions: Iterable[Pattern]) -> bool:
    bound = set(found)
    for condition in conditions:
        target = set() if isinstance(condition, Guard) else {condition.target}
        if not condition.variables() - target <= bound:
            return False
        bound |= target
    return all(pattern.variables() <= bound for pattern in conclusions)


def _conditions(rule: Rule, way: _Way, found: list[Var]) -> list[Condition] | None:
    """The conditions, with terms put in; those that name variables get the terms from a `same` before."""
    every = _variables(rule)
    named = dict.fromkeys(v for c in rule.conditions if not _takes_terms(c) for v in _named(c, every))
    filled: list[Condition] = [Bind("same", (way.of(v),), v) for v in named if v in way.terms]
    for condition in rule.conditions:
        if _takes_terms(condition):
            args = tuple(map(way.of, condition.args))
            if any(isinstance(arg, Var) for arg in args):
                filled.append(replace(condition, args=args))
            elif not builtins.holds(condition.name, "", (), tuple(map(str, args))):
                return None
        elif isinstance(condition, Mint) and condition.key is None:
            # What is filled in is what the rule matched, too: a node is made of it all.
            key = [v for v in every if v in way.terms or v in found]
            more = [v for v in found if v not in key]
            filled.append(replace(condition, key=(*key, *more)))
        else:
            filled.append(condition)
    return filled


def _takes_terms(condition: Condition) -> TypeGuard[Guard]:
    """Whether terms can stand in a condition for its variables; an expression has them in its text."""
    return isinstance(condition, Guard) and not condition.text


def _named(condition: Condition, every: Iterable[Var]) -> Iterable[Var]:
    is_made_of_all = isinstance(condition, Mint) and condition.key is None
    return every if is_made_of_all else sorted(condition.variables(), key=str)


def _variables(rule: Rule) -> list[Var]:
    """What a rule matches, in an order that is always the same."""
    nodes = [node for premise in rule.premises for node in premise.pattern]
    nodes += [v for premise in rule.lists for v in sorted(variables(premise), key=str)]
    return list(dict.fromkeys(node for node in nodes if isinstance(node, Var)))
