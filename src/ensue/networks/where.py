"""The WHERE part of a network's rule, from rdflib's tree of its skeleton to branches.

Of SPARQL's algebra that is: joins, GRAPH, UNION, VALUES, FILTER, BIND, OPTIONAL and (NOT) EXISTS. What
stands in the way of matching statement by statement is refused, with its place: variables that may or
may not have a value when a pattern is to be matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Variable

from ensue.errors import RuleError, UnsafeRuleError
from ensue.networks.tree import DEFAULT, Besides, Branch, Exists, Quad
from ensue.rules.builtins import BINDS
from ensue.rules.sparql_filters import Expression, requirements
from ensue.rules.sparql_reader import MAX_BRANCHES, Reader, triples
from ensue.rules.tree import Bind, Guard, Node, Var

_NOTHING = frozenset[Var]()


class Where(Reader):
    """Walks rdflib's tree of the skeleton of one piece."""

    def branches(self, tree: CompValue, values: CompValue | None = None) -> tuple[Branch, ...]:
        """The branches of a WHERE part, and of the VALUES behind it."""
        found = self.group(tree)
        if values:
            found = self._join(found, self._values(values))
        return tuple(found)

    def group(
        self, tree: CompValue, graph: Node = DEFAULT, around: frozenset[Var] = _NOTHING
    ) -> list[Branch]:
        """A group in a graph. Inside EXISTS, filters also see the variables `around` it."""
        if tree.name == "SubSelect":
            hint = "join the patterns of the subquery to the others"
            raise RuleError("a query inside a rule", place=self.place(tree), hint=hint)
        found = [Branch()]
        filters: list[Expression] = []
        tests: list[CompValue] = []
        for part in tree.part or ():
            if part.name == "Filter" and part.expr.name in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
                tests.append(part.expr)
            elif part.name == "Filter":
                filters.append(self.expression(part))
            elif part.name == "Bind":
                found = self._bind(found, self.expression(part), Var(str(part.var)), around)
            elif part.name == "OptionalGraphPattern":
                found = [self._with(branch, self._besides(branch, part, graph, around)) for branch in found]
            else:
                found = self._join(found, self._part(part, graph, around))
        for expression in filters:
            found = self._filter(found, expression, around)
        for test in tests:
            found = [self._with(branch, self._exists(branch, test, graph, around)) for branch in found]
        return found

    def quads(self, quads: CompValue) -> list[tuple[Any, Any, Any, Any]]:
        """The quads of a template, as rdflib has them."""
        found = [(None, *triple) for triple in triples(quads.triples)]
        for inner in quads.quadsNotTriples or ():
            found += [(inner.term, *triple) for triple in triples(inner.triples)]
        return found

    def quad(self, quad: tuple[Any, ...], made: Mapping[BNode, Var] | None = None) -> Quad:
        """A quad of a template; its blank nodes are these variables, or variables of WHERE."""
        made = made or {}
        graph, *triple = quad
        s, p, o = (
            made[node] if isinstance(node, BNode) and node in made else self.node(node) for node in triple
        )
        return Quad(DEFAULT if graph is None else self.node(graph), s, p, o)

    def _part(self, part: CompValue, graph: Node, around: frozenset[Var]) -> list[Branch]:
        match part.name:
            case "TriplesBlock":
                every = (self._triple(*triple, graph) for triple in triples(part.triples))
                return reduce(self._join, every, [Branch()])
            case "GroupOrUnionGraphPattern":
                return [branch for group in part.graph for branch in self.group(group, graph, around)]
            case "GraphGraphPattern":
                return self._graph(part, around)
            case "InlineData":
                return self._values(part)
        raise RuleError(f"{part.name} cannot be in a rule", place=self.place(part))

    def _graph(self, part: CompValue, around: frozenset[Var]) -> list[Branch]:
        name = self.node(part.term)
        found = self.group(part.graph, name, around)
        if isinstance(name, Var) and any(name not in branch.bound() for branch in found):
            what, hint = f"GRAPH {name} without a pattern in it", "put a pattern into each part of it"
            raise RuleError(what, place=self.variable_place(name), hint=hint)
        return found

    def _triple(self, s: Any, p: Any, o: Any, graph: Node) -> list[Branch]:
        first, last = self.node(s), self.node(o)
        found = []
        for steps in [[(self.node(p), False)]] if isinstance(p, Variable) else self.paths(p):
            nodes = [first, *(self.fresh() for _ in steps[1:]), last]
            ends = [
                (right, left) if backwards else (left, right)
                for (left, right), (_, backwards) in zip(pairwise(nodes), steps, strict=True)
            ]
            found.append(
                Branch(tuple(Quad(graph, a, step[0], b) for (a, b), step in zip(ends, steps, strict=True)))
            )
        return found

    def _join(self, left: list[Branch], right: list[Branch]) -> list[Branch]:
        if len(left) * len(right) > MAX_BRANCHES:
            what, hint = (
                f"more than {MAX_BRANCHES} branches",
                "UNION, VALUES and p|q multiply: split the rule",
            )
            raise RuleError(what, place=self.piece.place, hint=hint)
        for one in left:
            for other in right:
                self._check_loose(one.loose() & other.variables() | other.loose() & one.variables())
        return [one.joined(other) for one in left for other in right]

    def _values(self, tree: CompValue) -> list[Branch]:
        """VALUES: a branch for each row."""
        variables = [Var(str(variable)) for variable in tree.var or ()]
        found = []
        for row in tree.value or ():
            cells = [row] if isinstance(row, CompValue | str) else list(row)
            if len(cells) != len(variables):
                what = f"VALUES has {len(variables)} variables and a row of {len(cells)}"
                raise RuleError(what, place=self.place(cells) if cells else self.piece.place)
            terms = [(v, str(self.node(c))) for v, c in zip(variables, cells, strict=True) if c != "UNDEF"]
            found.append(Branch(parts=tuple(Bind("same", (term,), v) for v, term in terms)))
        if not found:
            raise RuleError("this rule can never fire: VALUES has no row", place=self.piece.place)
        return found

    def _besides(self, branch: Branch, part: CompValue, graph: Node, around: frozenset[Var]) -> Besides:
        inner = self.group(part.graph, graph, around | branch.valued())
        return Besides(tuple(inner))

    def _exists(self, branch: Branch, test: CompValue, graph: Node, around: frozenset[Var]) -> Exists:
        inner = self.group(test.graph, graph, around.union(branch.visible()))
        return Exists(tuple(inner), test.name == "Builtin_NOTEXISTS")

    def _bind(
        self, branches: list[Branch], expression: Expression, target: Var, around: frozenset[Var]
    ) -> list[Branch]:
        self._check_expression(branches, expression, around)
        if any(target in branch.visible() for branch in branches):
            place = self.piece.place_of(expression.span.stop + 1)
            what, hint = f"BIND to {target}, which is bound already", "use a new variable"
            raise RuleError(what, place=place, hint=hint)
        valued = all(around | branch.valued() >= expression.variables().keys() for branch in branches)
        if term := expression.constant():
            bind = Bind("same", (term,), target)
        elif valued and (called := expression.call()):
            functions = {name: arity for name, (arity, _) in BINDS.items()}
            bind = Bind(*called.checked(functions, expression.place, "BIND"), target)
        else:
            expression.check()
            bind = Bind("sparql", tuple(expression.variables()), target, expression.text)
        return [_with(branch, bind) for branch in branches]

    def _filter(self, branches: list[Branch], expression: Expression, around: frozenset[Var]) -> list[Branch]:
        self._check_expression(branches, expression, around)
        for asked in requirements(expression):
            test = Guard(asked.name, asked.args)
            if asked.name == "sparql" or any(test.variables() - around - b.valued() for b in branches):
                # As an expression it can also do without a value.
                asked.part.check()
                test = Guard("sparql", tuple(asked.part.variables()), asked.part.text)
            branches = [_with(branch, test) for branch in branches]
        return branches

    def _check_expression(
        self, branches: Iterable[Branch], expression: Expression, around: frozenset[Var]
    ) -> None:
        for index in expression.span:
            if self.piece.items[index].token.is_word("EXISTS"):
                what, hint = "EXISTS inside an expression", "write FILTER NOT EXISTS { } by itself"
                raise RuleError(what, place=self.piece.place_of(index), hint=hint)
        known = around.union(*(branch.visible() for branch in branches))
        for variable, index in expression.variables().items():
            if variable not in known:
                raise UnsafeRuleError(
                    f"nothing binds {variable} for this expression",
                    place=self.piece.place_of(index),
                    hint="FILTER sees its own { } only, BIND what stands before it",
                )

    def _with(self, branch: Branch, part: Exists | Besides) -> Branch:
        self._check_loose(branch.loose() & part.variables())
        return _with(branch, part)

    def _check_loose(self, loose: frozenset[Var]) -> None:
        """Refuse a variable in a pattern that an OPTIONAL elsewhere may have left without a value."""
        for variable in sorted(loose, key=str):
            what = f"{variable} may have no value outside its OPTIONAL, so no other pattern can hold it"
            hint = "bind it before OPTIONAL, or use it only in expressions and in what the rule does"
            raise RuleError(what, place=self.variable_place(variable), hint=hint)


def _with(branch: Branch, part: Guard | Bind | Exists | Besides) -> Branch:
    return replace(branch, parts=(*branch.parts, part))
