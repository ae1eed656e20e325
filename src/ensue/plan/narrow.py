"""What the patterns of a query ask for, each narrowed by what the others say.

QSMat looks at patterns one by one. But `?x a ?c . ?c rdfs:subClassOf :Vehicle` asks for the types that are
vehicles, and for no others: a pattern that background alone can match is looked up in it beforehand, as a cut
premise of a rule is, and what its variables can be holds for all patterns that are joined with it. So does
what VALUES and FILTER fix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Identifier, URIRef, Variable

from ensue.plan.asked import EXISTS, Graphs, inside, node_of, patterns, steps
from ensue.plan.cuts import Cuts, Goal
from ensue.plan.heads import Binding
from ensue.plan.shapes import Shape, shape_of
from ensue.query.algebra import nodes
from ensue.query.compiled.unparse import term_text
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import Pattern, Var

_MOST = 10_000
"""More ways than this to match schema are not told apart."""

_Bindings = list[Binding]
_ANYTHING: _Bindings = [{}]


@dataclass
class Narrowed:
    """The shapes that a query asks for, and what is taken to be matched by background alone."""

    shapes: dict[Shape, Pattern] = field(default_factory=dict)
    """With a pattern that asks for it."""
    goals: list[Goal] = field(default_factory=list)


def narrowed(query: ContinuousQuery, within: Graphs, cuts: Cuts) -> Narrowed:
    """What a query asks of some of its graphs; raises AsksForEverything.

    >>> from ensue.plan.asked import OneWindow
    >>> from ensue.plan.known import Closed
    >>> from ensue.query.language import parse_query
    >>> from ensue.rules.tree import RuleSet
    >>> below = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
    >>> cuts = Cuts(RuleSet("none", ()), Closed.of([("<urn:near>", below, "<urn:at>")]))
    >>> query = parse_query(f"ASK FROM STREAM <urn:s> [RANGE 1s] {{ ?x ?p ?y . ?p {below} <urn:at> }}")
    >>> for pattern in narrowed(query, OneWindow(None), cuts).shapes:
    ...     print(pattern)
    ('<urn:near>', '<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>', '<urn:at>')
    (None, '<urn:near>', None)
    """
    walk = _Walk(query, within, cuts)
    every = [walk.over(pattern) for pattern in patterns(query, within)]
    if query.events is None:  # In time, what joins with nothing can still use up what would.
        walk.go(query.algebra.p, within.default, _ANYTHING)
    for pattern in every:
        if pattern not in walk.seen:  # Wherever it stands: nothing is known of its variables.
            walk.found.shapes.setdefault(shape_of(pattern), pattern)
    if walk.found.shapes.keys() == set(map(shape_of, every)):
        walk.found.goals.clear()  # Nothing rests on them.
    return walk.found


@dataclass
class _Walk:
    query: ContinuousQuery
    within: Graphs
    cuts: Cuts
    found: Narrowed = field(default_factory=Narrowed)
    seen: set[Pattern] = field(default_factory=set)

    def go(self, tree: Any, here: bool, known: _Bindings) -> None:
        """Look at a part of the algebra of which all solutions are joined with one of the bindings."""
        if not isinstance(tree, CompValue):
            return
        match tree.name:
            case "BGP":
                self._ask(steps(tree.triples) if here else (), self._joined(known, tree, here))
            case "Join":
                known = self._joined(known, tree, here)
                self.go(tree.p1, here, known)
                self.go(tree.p2, here, known)
            case "LeftJoin" | "Minus":
                known = self._joined(known, tree.p1, here)
                self.go(tree.p1, here, known)
                self.go(tree.p2, here, known)
                self._conditions(tree.get("expr"), here, self._joined(known, tree.p2, here))
            case "Union":
                self.go(tree.p1, here, known)
                self.go(tree.p2, here, known)
            case "Filter":
                known = self._joined(known, tree, here)
                self.go(tree.p, here, known)
                self._conditions(tree.expr, here, known)
            case "Extend":
                self.go(tree.p, here, known)
                self._conditions(tree.expr, here, known)
            case "Graph":
                self.go(tree.p, self.within.graph(self.query, tree.term), known)
            case "ToMultiSet":
                # The variables inside are others, but for those that a subquery gives.
                self.go(tree.p, here, _ANYTHING)
            case "AggregateJoin":
                self.go(tree.p.p, here, known)
            case "Project" | "Distinct" | "Reduced" | "OrderBy" | "Slice":
                self.go(tree.p, here, known)

    def over(self, pattern: Pattern) -> Pattern:
        """A pattern about those who stand for the terms that it names."""
        named = self.cuts.background.named
        return Pattern(*(named(node) if isinstance(node, str) else node for node in pattern))

    def _ask(self, asked: Iterable[Pattern], known: _Bindings) -> None:
        for pattern in map(self.over, asked):
            self.seen.add(pattern)
            for shape in dict.fromkeys(shape_of(pattern, binding) for binding in known):
                self.found.shapes.setdefault(shape, pattern)

    def _conditions(self, expression: Any, here: bool, known: _Bindings) -> None:
        for node in nodes(expression):
            if node.name in EXISTS:
                self.go(inside(node), here, known)

    def _joined(self, known: _Bindings, tree: Any, here: bool) -> _Bindings:
        """The bindings with what a part of the algebra says of all its solutions."""
        still = list(self._still(tree, here))
        found = known
        named = self.cuts.background.named
        for table in _tables(tree):
            over = [{variable: named(term) for variable, term in row.items()} for row in table]
            found = _fewer(_join(found, over), found)
        ground = self.cuts.known.ground
        grounded = (_visible(bound) for binding in found for bound in ground(still, binding))
        return _fewer(grounded, found) if still else found

    def _still(self, tree: Any, here: bool) -> Iterator[Pattern]:
        """The patterns that every solution matches, and that background alone can match."""
        for pattern in map(self.over, _certain(tree, self.within, self.query, here)):
            goal = Goal(shape_of(pattern))
            if self.cuts.holds(goal):
                if goal not in self.found.goals:
                    self.found.goals.append(goal)
                yield pattern


def _certain(tree: Any, within: Graphs, query: ContinuousQuery, here: bool) -> Iterator[Pattern]:
    """The plain patterns that every solution of a part of the algebra matches."""
    if not isinstance(tree, CompValue):
        return
    match tree.name:
        case "BGP" if here:
            plain = (triple for triple in tree.triples if isinstance(triple[1], Identifier))
            yield from (Pattern(*map(node_of, triple)) for triple in plain)
        case "Join":
            yield from _certain(tree.p1, within, query, here)
            yield from _certain(tree.p2, within, query, here)
        case "LeftJoin" | "Minus":
            yield from _certain(tree.p1, within, query, here)
        case "Filter" | "Extend":
            yield from _certain(tree.p, within, query, here)
        case "Graph":
            yield from _certain(tree.p, within, query, within.graph(query, tree.term))


def _tables(tree: Any) -> Iterator[_Bindings]:
    """What a part of the algebra says of the values of variables in all its solutions."""
    if not isinstance(tree, CompValue):
        return
    match tree.name:
        case "Join":
            yield from _tables(tree.p1)
            yield from _tables(tree.p2)
        case "LeftJoin" | "Minus":
            yield from _tables(tree.p1)
        case "Extend" | "Graph":
            yield from _tables(tree.p)
        case "Filter":
            yield from _fixed(tree.expr)
            yield from _tables(tree.p)
        case "ToMultiSet" if isinstance(tree.p, CompValue) and tree.p.name == "values":
            # rdflib has the bare word UNDEF among the terms.
            yield [
                {
                    Var(str(name)): term_text(term)
                    for name, term in row.items()
                    if isinstance(term, Identifier)
                }
                for row in tree.p.res
            ]


def _fixed(condition: Any) -> Iterator[_Bindings]:
    """What a condition says of variables: `?x = <iri>` and `?x IN (<iri>, ...)`, also joined by &&."""
    if not isinstance(condition, CompValue):
        return
    if condition.name == "ConditionalAndExpression":
        for part in (condition.expr, *condition.other):
            yield from _fixed(part)
    elif condition.name == "RelationalExpression" and isinstance(condition.expr, Variable):
        values = {"=": [condition.other], "IN": condition.other}.get(condition.op)
        if isinstance(values, list) and values and all(isinstance(value, URIRef) for value in values):
            yield [{Var(str(condition.expr)): term_text(value)} for value in values]


def _join(some: _Bindings, others: _Bindings) -> Iterator[Binding]:
    for one in some:
        for other in others:
            if all(one.get(variable, term) == term for variable, term in other.items()):
                yield one | other


def _visible(binding: Binding) -> Binding:
    """Without what belongs to one basic graph pattern: its blank nodes, and nodes between steps."""
    return {variable: term for variable, term in binding.items() if not variable.name.startswith(("/", "_:"))}


def _fewer(bindings: Iterable[Binding], otherwise: _Bindings) -> _Bindings:
    """Each once; the others where these are too many to tell apart."""
    found: dict[tuple[tuple[Var, str], ...], Binding] = {}
    for binding in bindings:
        found.setdefault(tuple(sorted(binding.items(), key=lambda item: item[0].name)), binding)
        if len(found) > _MOST:
            return otherwise
    return list(found.values())
