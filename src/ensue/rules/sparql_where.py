"""The WHERE part of a SPARQL rule, as branches: each will be a rule of its own.

UNION, `p|q` and VALUES make several branches; everything else joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, URIRef, Variable

from ensue.errors import RuleError, UnsafeRuleError
from ensue.rules.builtins import BINDS
from ensue.rules.lists import NAMESPACE, variables
from ensue.rules.sparql_filters import Call, Expression, Requirement, requirements
from ensue.rules.sparql_lists import Collections, Triple, is_member_path, predicate
from ensue.rules.sparql_reader import MAX_BRANCHES, Reader, triples
from ensue.rules.sparql_skeleton import Piece, Skeleton
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
    Var,
)

LIVE = "urn:ensue:live"
"""The graph of premises that streams may match although they look like schema."""

Mark = Callable[[Pattern], Premise]
"""What makes a premise of a pattern, with the mark of the graph that it stands in."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Premises and conditions that hold together. `fixed` variables have one term (VALUES, BIND)."""

    premises: tuple[Premise, ...] = ()
    conditions: tuple[Condition, ...] = ()
    lists: tuple[ListPremise, ...] = ()
    fixed: Mapping[Var, str] = field(default_factory=dict)
    bound: frozenset[Var] = frozenset()

    def joined(self, other: Branch) -> Branch | None:
        """Both at once; None if a variable would have two terms."""
        if any(self.fixed.get(variable, term) != term for variable, term in other.fixed.items()):
            return None
        return Branch(
            self.premises + other.premises,
            self.conditions + other.conditions,
            self.lists + other.lists,
            {**self.fixed, **other.fixed},
            self.bound | other.bound,
        )

    def given(self, condition: Condition, *binds: Var) -> Branch:
        """With one more condition, and the variables that it binds."""
        return replace(self, conditions=(*self.conditions, condition), bound=self.bound | set(binds))


class Where(Reader):
    """Walks rdflib's tree of the skeleton of one piece."""

    def __init__(self, piece: Piece, skeleton: Skeleton, background: tuple[str, ...]) -> None:
        super().__init__(piece, skeleton)
        self.background = background

    def group(self, tree: CompValue, mark: Mark = Premise) -> list[Branch]:
        """A group. A FILTER sees all of its own group and nothing outside, a BIND what is before it."""
        found = [Branch()]
        filters: list[Expression] = []
        for part in tree.part or ():
            if part.name == "Filter" and part.expr.name == "Builtin_NOTEXISTS":
                found = self.join(found, self._each(part.expr.graph))
            elif part.name == "Filter":
                filters.append(self.expression(part))
            elif part.name == "Bind":
                found = self._bind(found, self.expression(part), Var(str(part.var)))
            else:
                found = self.join(found, self._part(part, mark))
        for expression in filters:
            found = self._filter(found, expression)
        return found

    def join(self, left: list[Branch], right: list[Branch]) -> list[Branch]:
        """Every branch with every other, as far as they agree."""
        if len(left) * len(right) > MAX_BRANCHES:
            hint = "UNION, VALUES and p|q multiply: split it"
            raise RuleError(
                f"this would be more than {MAX_BRANCHES} rules", place=self.piece.place, hint=hint
            )
        joined = (one.joined(other) for one in left for other in right)
        return self._some([branch for branch in joined if branch is not None])

    def values(self, tree: CompValue) -> list[Branch]:
        """VALUES: a branch for each row."""
        variables = [Var(str(variable)) for variable in tree.var or ()]
        return self._some([self._row(variables, row) for row in tree.value or ()])

    def _some(self, branches: list[Branch]) -> list[Branch]:
        if not branches:
            what = "this rule can never fire: VALUES, BIND and FILTER leave nothing"
            raise RuleError(what, place=self.piece.place)
        return branches

    def _part(self, part: CompValue, mark: Mark) -> list[Branch]:
        match part.name:
            case "TriplesBlock":
                return reduce(self.join, self._block(list(triples(part.triples)), mark), [Branch()])
            case "GroupOrUnionGraphPattern":
                return [branch for group in part.graph for branch in self.group(group, mark)]
            case "GraphGraphPattern":
                return self._graph(part)
            case "InlineData":
                return self.values(part)
        raise RuleError(f"{part.name} cannot be in a rule", place=self.place(part))

    def _graph(self, part: CompValue) -> list[Branch]:
        name = self.node(part.term)
        if name == f"<{LIVE}>":
            return self.group(part.graph, partial(Premise, live=True))
        if name not in {f"<{graph}>" for graph in self.background}:
            place = self.variable_place(name) if isinstance(name, Var) else self.place(part.term)
            declared = " or ".join(f"<{graph}>" for graph in self.background)
            hint = f"the background is {declared}; others are declared with background_graphs"
            raise RuleError(f"GRAPH {name} is not the background", place=place, hint=hint)
        return self.group(part.graph, partial(Premise, cut=True))

    def _row(self, variables: list[Var], row: Any) -> Branch:
        cells = [row] if isinstance(row, (CompValue, str)) else list(row)
        if len(cells) != len(variables):
            what = f"VALUES has {len(variables)} variables and a row of {len(cells)}"
            raise RuleError(what, place=self.place(cells) if cells else self.piece.place)
        terms = {v: str(self.node(cell)) for v, cell in zip(variables, cells, strict=True) if cell != "UNDEF"}
        return Branch(fixed=terms, bound=frozenset(terms))

    def _block(self, every: list[Triple], mark: Mark) -> Iterator[list[Branch]]:
        """What triples say, each by itself; those of a list that a premise is called with say nothing."""
        collections = Collections.among(every)
        calls = [(triple, name) for triple in every if (name := self._called(triple[1])) is not None]
        taken = {node for (_, _, o), _ in calls for node in collections.nodes(o)}
        for (s, _, o), name in calls:
            yield self._call(self.node(s), name, [collections.first[n] for n in collections.nodes(o)])
        for s, p, o in every:
            if not (isinstance(s, BNode) and s in taken) and self._called(p) is None:
                yield self._triple(s, p, o, mark)

    def _called(self, path: Any) -> URIRef | None:
        """The predicate of a path if it stands for a list premise."""
        found = predicate(path)
        return found if found is not None and str(self.node(found))[1:].startswith(NAMESPACE) else None

    def _call(self, of: Node, name: URIRef, args: list[Any]) -> list[Branch]:
        called = str(self.node(name))[1 + len(NAMESPACE) : -1]
        if called not in _CALLED:
            hint = f"there are {', '.join(_CALLED)}"
            raise RuleError(f"there is no list premise '{called}'", place=self.place(name), hint=hint)
        if len(args) != 2:
            hint = f"it is written ?list list:{called} (?x ?y)"
            raise RuleError(
                f"{called} takes two in brackets, not {len(args)}", place=self.place(name), hint=hint
            )
        return [_with_list(_CALLED[called](of, *map(self.node, args)))]

    def _each(self, group: CompValue) -> list[Branch]:
        """`each`, which the skeleton lets through as it is written, and no other NOT EXISTS."""
        members, inner = group.part
        ((of, _, item),) = triples(members.triples)
        branches = [branch for part in inner.expr.graph.part or () for branch in self._part(part, Premise)]
        if len(branches) != 1 or branches[0].lists:
            hint = "no p|q and no lists in it"
            raise RuleError("each member takes plain patterns", place=self.place(inner), hint=hint)
        patterns = tuple(premise.pattern for premise in branches[0].premises)
        return [_with_list(Each(self.node(of), Var(str(item)), patterns))]

    def _triple(self, s: Any, p: Any, o: Any, mark: Mark) -> list[Branch]:
        first, last = self.node(s), self.node(o)
        if is_member_path(p, self.node):
            return [_with_list(Member(first, last))]
        found = []
        for steps in [[(self.node(p), False)]] if isinstance(p, Variable) else self.paths(p):
            nodes = [first, *(self.fresh() for _ in steps[1:]), last]
            patterns = [
                Pattern(right, predicate, left) if backwards else Pattern(left, predicate, right)
                for (left, right), (predicate, backwards) in zip(pairwise(nodes), steps, strict=True)
            ]
            bound = frozenset(variable for pattern in patterns for variable in pattern.variables())
            found.append(Branch(tuple(map(mark, patterns)), bound=bound))
        return found

    def _bind(self, branches: list[Branch], expression: Expression, target: Var) -> list[Branch]:
        self._check_bound(branches, expression)
        if any(target in branch.bound for branch in branches):
            place = self.piece.place_of(expression.span.stop + 1)
            raise RuleError(
                f"BIND to {target}, which is bound already", place=place, hint="use a new variable"
            )
        if called := expression.call():
            condition = _bound_by(called, expression, target)
            return self._some([b.given(condition, target) for b in branches if _binds_all(b, condition)])
        if term := expression.constant():
            return self.join(branches, [Branch(fixed={target: term}, bound=frozenset([target]))])
        expression.check()
        found = []
        for branch in branches:
            args = tuple(v for v in expression.variables() if v in branch.bound)
            found.append(branch.given(Bind("sparql", args, target, expression.text), target))
        return found

    def _filter(self, branches: list[Branch], expression: Expression) -> list[Branch]:
        self._check_bound(branches, expression)
        for asked in requirements(expression):
            if asked.name == "sparql":
                asked.part.check()
            branches = self._some([kept for b in branches if (kept := _asked(b, asked)) is not None])
        return branches

    def _check_bound(self, branches: Iterable[Branch], expression: Expression) -> None:
        known = frozenset[Var]().union(*(branch.bound for branch in branches))
        for variable, index in expression.variables().items():
            if variable not in known:
                raise UnsafeRuleError(
                    f"nothing binds {variable} for this expression",
                    place=self.piece.place_of(index),
                    hint="FILTER sees its own { } only, BIND what stands before it",
                )


def _bound_by(called: Call, expression: Expression, target: Var) -> Bind | Mint:
    """The condition that gives a variable the value of a built-in."""
    functions = {name: arity for name, (arity, _) in BINDS.items()}
    name, args = called.checked({**functions, "assignAnon": 1}, expression.place, "BIND")
    if name != "assignAnon":
        return Bind(name, args, target)
    key = tuple(arg for arg in args if isinstance(arg, Var))
    if len(key) < len(args):
        raise RuleError(f"{name} takes a variable", place=expression.place)
    return Mint(target, name, key)


def _binds_all(branch: Branch, condition: Bind | Mint) -> bool:
    """Whether all that a condition asks about has a value in a branch."""
    return branch.bound.issuperset(condition.variables() - {condition.target})


def _asked(branch: Branch, asked: Requirement) -> Branch | None:
    """The branch with a test; None if the test needs a variable that has no value in it."""
    variables = [arg for arg in asked.args if isinstance(arg, Var)]
    if asked.name != "sparql":
        return branch.given(Guard(asked.name, asked.args)) if branch.bound.issuperset(variables) else None
    args = tuple(variable for variable in variables if variable in branch.bound)
    return branch.given(Guard("sparql", args, asked.part.text))


_CALLED: Mapping[str, type[Pair] | type[Chain]] = {"pair": Pair, "chain": Chain}


def _with_list(premise: ListPremise) -> Branch:
    inside = {premise.item} if isinstance(premise, Each) else set()
    return Branch(lists=(premise,), bound=frozenset(variables(premise) - inside))
