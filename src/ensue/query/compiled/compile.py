"""From rdflib's algebra of a query to a plan. What the plan cannot say exactly is refused, with a reason.

`compile_paths.py` takes property paths apart, `compile_groups.py` mends aggregates, `compile_exists.py`
says which EXISTS are joins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Identifier, Variable

from ensue.dictionary import Dictionary
from ensue.query.compiled import plan as p
from ensue.query.compiled.arrange import arranged
from ensue.query.compiled.compile_exists import only_joins
from ensue.query.compiled.compile_groups import Names, is_sampled, named_keys, renamed, samples
from ensue.query.compiled.compile_paths import Pieces, Triple, pieces
from ensue.query.compiled.expressions import Expression, aggregate_call, expression
from ensue.query.compiled.unparse import NotCompiled, inner, term_text
from ensue.query.dataset import Slot
from ensue.query.tree import EVENTS, ContinuousQuery, Form

_SHORT_CONSTRUCT = re.compile(r"\bCONSTRUCT\s+WHERE\b", re.IGNORECASE)


def compile_query(query: ContinuousQuery, dictionary: Dictionary) -> p.Plan:
    """The plan of a query. Raises NotCompiled where only the other evaluator is exact.

    >>> from ensue.query.language import parse_query
    >>> query = parse_query("SELECT ?s FROM STREAM <urn:s> [RANGE 1s] { ?s <urn:p> ?o }")
    >>> compile_query(query, Dictionary()).root
    Project(child=Match(patterns=(('s', 1, 'o'),)), variables=('s',))
    """
    compiler = _Compiler(query, dictionary)
    if query.form is Form.DESCRIBE:
        raise NotCompiled("DESCRIBE")
    root = arranged(compiler.node(query.algebra.p, {}))
    if query.form is Form.SELECT:
        return p.Plan(query.form, root, tuple(map(str, query.algebra.PV)))
    return p.Plan(query.form, root, template=compiler.template() if query.form is Form.CONSTRUCT else ())


def compile_group(query: ContinuousQuery, tree: CompValue, dictionary: Dictionary) -> p.Node:
    """The operators of a part of a query's algebra; raises NotCompiled."""
    return _Compiler(query, dictionary).node(tree, {})


class _Compiler:
    """Walks the algebra of one query."""

    def __init__(self, query: ContinuousQuery, dictionary: Dictionary) -> None:
        self._query = query
        self._dictionary = dictionary
        self._handlers: Mapping[str, Callable[[CompValue, Names], p.Node]] = {
            "BGP": self._basic,
            "Join": lambda tree, names: _join(self.node(tree.p1, names), self.node(tree.p2, names)),
            "LeftJoin": self._left_join,
            "Union": lambda tree, names: p.Union(self.node(tree.p1, names), self.node(tree.p2, names)),
            "Minus": lambda tree, names: p.Minus(self.node(tree.p1, names), self.node(tree.p2, names)),
            "Filter": lambda tree, names: p.Filter(
                self.node(tree.p, names), self._conditions(tree.expr, names)
            ),
            "Extend": self._extend,
            "Graph": self._graph,
            "ToMultiSet": self._multiset,
            "values": self._values,
            "AggregateJoin": self._aggregates,
            "Project": self._project,
            "Distinct": lambda tree, names: p.Distinct(self.node(tree.p, names)),
            "Reduced": lambda tree, names: self.node(tree.p, names),
            "OrderBy": self._order_by,
            "Slice": lambda tree, names: p.Slice(_settled(self.node(tree.p, names)), tree.start, tree.length),
        }

    def node(self, tree: CompValue, names: Names) -> p.Node:
        """The operator of a node, in a SELECT for which rdflib made up these names."""
        handler = self._handlers.get(tree.name)
        if handler is None:
            raise NotCompiled(f"{tree.name} in a pattern")
        return handler(tree, names)

    def template(self) -> p.Template:
        """The triples of CONSTRUCT; in its short form they are the pattern."""
        triples = self._query.algebra.template
        if triples is None and _SHORT_CONSTRUCT.search(self._query.sparql):
            triples = self._query.algebra.p.p.triples
        return tuple(self._slots(triple) for triple in triples or ())

    def _basic(self, tree: CompValue, _: Names) -> p.Node:
        events = [triple for triple in tree.triples if str(triple[1]).startswith(EVENTS)]
        if events:
            plain = [triple for triple in tree.triples if triple not in events]
            return _join(self._occurrences(events), self._basic(CompValue("BGP", triples=plain), {}))
        found = self._pieces(pieces(tree.triples))
        names = dict.fromkeys(slot for slot in _slots_of(found) if isinstance(slot, str))
        seen = tuple(name for name in names if not name.startswith("_:"))
        return found if len(seen) == len(names) else p.Project(found, seen)

    def _occurrences(self, triples: list[Triple]) -> p.Node:
        """What stands for temporal expressions, by number."""
        assert self._query.events is not None
        found: dict[int, list[str]] = {}
        for s, name, _ in triples:
            variables = found.setdefault(int(str(name).removeprefix(EVENTS)), [])
            variables += [str(s)] if isinstance(s, Variable) else []
        every: Iterator[p.Node] = (p.Occurrences(number, tuple(names)) for number, names in found.items())
        return reduce(_join, every)

    def _pieces(self, found: Pieces) -> p.Node:
        plain: p.Node = p.Match(tuple(self._slots(triple) for triple in found.plain))
        unions = (reduce(p.Union, map(self._pieces, branches)) for branches in found.alternatives)
        return reduce(_join, unions, plain)

    def _slots(self, triple: Triple) -> tuple[Slot, Slot, Slot]:
        s, predicate, o = triple
        return self._slot(s), self._slot(predicate), self._slot(o)

    def _slot(self, term: Any) -> Slot:
        if isinstance(term, Variable):
            return str(term)
        return f"_:{term}" if isinstance(term, BNode) else self._dictionary.pin(term_text(term))

    def _left_join(self, tree: CompValue, names: Names) -> p.Node:
        conditions = () if tree.expr.name == "TrueFilter" else self._conditions(tree.expr, names)
        return p.LeftJoin(self.node(tree.p1, names), self.node(tree.p2, names), conditions)

    def _conditions(self, tree: Any, names: Names) -> tuple[p.Condition, ...]:
        """What is joined by && in a condition, one by one: EXISTS can be compiled there."""
        tree = inner(tree)
        if isinstance(tree, CompValue) and tree.name == "ConditionalAndExpression":
            parts = [tree["expr"], *tree["other"]]
            return tuple(condition for part in parts for condition in self._conditions(part, names))
        if isinstance(tree, CompValue) and tree.name in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
            return (self._exists(tree),)
        return (self._expression(tree, names),)

    def _exists(self, tree: CompValue) -> p.Exists:
        # The attribute: rdflib leaves the item as it was parsed, and elsewhere than in FILTER both.
        pattern = tree.graph
        if not pattern.translated:
            raise NotCompiled("EXISTS elsewhere than in FILTER")
        found = self.node(pattern, {})
        child, conditions = (found.child, found.conditions) if isinstance(found, p.Filter) else (found, ())
        if not only_joins(child):
            raise NotCompiled("EXISTS of more than patterns, UNION and filters on what these bind")
        return p.Exists(child, conditions, wanted=tree.name == "Builtin_EXISTS")

    def _expression(self, tree: Any, names: Names) -> Expression:
        return expression(renamed(tree, names) if names else tree)

    def _extend(self, tree: CompValue, names: Names) -> p.Node:
        return p.Extend(self.node(tree.p, names), str(tree.var), self._expression(tree.expr, names))

    def _graph(self, tree: CompValue, names: Names) -> p.Node:
        child = self.node(tree.p, names)
        if not isinstance(tree.term, Variable):
            return p.InGraph(child, str(tree.term))
        variable = str(tree.term)
        if self._query.relation is None:
            return p.EachGraph(child, variable, p.Named.ALL)
        is_window = variable in self._query.window_variables
        return p.EachGraph(child, variable, p.Named.WINDOWS if is_window else p.Named.GRAPHS)

    def _multiset(self, tree: CompValue, _: Names) -> p.Node:
        if isinstance(tree.p, list):  # rdflib does not say which of the two it was.
            raise NotCompiled("VALUES without variables or without rows")
        return self.node(tree.p, {})

    def _values(self, tree: CompValue, _: Names) -> p.Node:
        variables = tuple(dict.fromkeys(variable for row in tree.res for variable in row))
        rows = (tuple(self._cell(row[variable]) for variable in variables) for row in tree.res)
        return p.Table(tuple(map(str, variables)), tuple(rows))

    def _cell(self, term: Any) -> int:
        # rdflib has the bare word UNDEF among the terms.
        return self._dictionary.pin(term_text(term)) if isinstance(term, Identifier) else 0

    def _aggregates(self, tree: CompValue, _: Names) -> p.Node:
        group = tree.p
        pattern, keys = named_keys(group)
        results = ((str(call.res), aggregate_call(call)) for call in tree.A if not is_sampled(call))
        return p.Group(self.node(pattern, {}), keys, tuple(results))

    def _project(self, tree: CompValue, _: Names) -> p.Node:
        return p.Project(self.node(tree.p, samples(tree.p)), tuple(map(str, tree.PV)))

    def _order_by(self, tree: CompValue, names: Names) -> p.Node:
        by = ((self._expression(one.expr, names), one.order == "DESC") for one in tree.expr)
        return p.OrderBy(self.node(tree.p, names), tuple(by))


def _join(left: p.Node, right: p.Node) -> p.Node:
    """A join, but not with the pattern that says nothing."""
    if left == p.Match():
        return right
    return left if right == p.Match() else p.Join((left, right))


def _settled(node: p.Node) -> p.Node:
    """What LIMIT and OFFSET count, in an order without ties."""
    match node:
        case p.Distinct(child):
            return p.Distinct(_settled(child))
        case p.Project(p.OrderBy(child, by), variables):
            return p.Project(p.OrderBy(child, by, tuple(sorted(variables))), variables)
        case p.Project(child, variables):
            return p.Project(p.OrderBy(child, (), tuple(sorted(variables))), variables)
        case _:
            return node


def _slots_of(node: p.Node) -> Iterator[Slot]:
    match node:
        case p.Match(patterns):
            yield from (slot for pattern in patterns for slot in pattern)
        case p.Join(parts):
            yield from (slot for part in parts for slot in _slots_of(part))
        case p.Union(left, right):
            yield from (*_slots_of(left), *_slots_of(right))
