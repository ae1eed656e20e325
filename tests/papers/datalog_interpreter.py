"""A naive Datalog interpreter with stratified negation: short, slow, and close to the definition.

Rows are tuples of terms (canonical N-Triples text), with the stamp last where a predicate is timed.
It refuses what has no plain meaning: a program that negates through recursion, and a clause with a
variable that nothing binds.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping

from ensue.dictionary import Dictionary
from ensue.rules import builtins
from ensue.rules.maintenance.datalog import (
    Atom,
    Clause,
    Comparison,
    LastPassed,
    Literal,
    Min,
    Not,
    variables,
)
from ensue.rules.tree import Bind, Guard, Mint, Node, Var

Row = tuple[str | int, ...]
Binding = dict[Node, str | int]

SIGNS = {"=": operator.eq, ">": operator.gt, "<=": operator.le}


class NotStratifiedError(Exception):
    """The program negates a predicate that depends on the negation."""


class UnsafeError(Exception):
    """Nothing in the body binds a variable of the clause."""


class Relation:
    """The rows of one predicate, found by any of their places."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows = set(rows)
        self._indexes: dict[tuple[int, ...], dict[Row, list[Row]]] = {}

    def add(self, rows: Iterable[Row]) -> bool:
        new = set(rows) - self.rows
        self.rows |= new
        if new:
            self._indexes.clear()
        return bool(new)

    def find(self, places: tuple[int, ...], values: Row) -> Iterable[Row]:
        if places not in self._indexes:
            index = self._indexes[places] = {}
            for row in self.rows:
                index.setdefault(tuple(row[place] for place in places), []).append(row)
        return self._indexes[places].get(values, ())


class Interpreter:
    """Runs clauses over given rows. `now` is the moment of the step; `dictionary` mints nodes."""

    def __init__(self, clauses: Iterable[Clause], dictionary: Dictionary | None = None) -> None:
        self._plans = [(clause, plan(clause)) for clause in clauses]
        self._layers = strata(clause for clause, _ in self._plans)
        self._dictionary = dictionary or Dictionary()

    def run(self, given: Mapping[str, Iterable[Row]], now: int | None = None) -> dict[str, set[Row]]:
        """Every predicate's rows: what is given and all that follows."""
        self._now = now
        self._relations = {predicate: Relation(rows) for predicate, rows in given.items()}
        for layer in self._layers:
            mine = [(clause, body) for clause, body in self._plans if clause.head.predicate in layer]
            # Every clause fires in every round, so `sum` and not `any`, which would stop at the first.
            while sum(self._fire(clause, body) for clause, body in mine):
                pass
        return {predicate: relation.rows for predicate, relation in self._relations.items()}

    def _fire(self, clause: Clause, body: list[Literal]) -> bool:
        rows = [_row(clause.head, binding) for binding in self._solve(body, {})]
        return self._relation(clause.head.predicate).add(rows)

    def _relation(self, predicate: str) -> Relation:
        return self._relations.setdefault(predicate, Relation())

    def _solve(self, body: list[Literal], binding: Binding) -> Iterator[Binding]:
        if not body:
            yield binding
            return
        for extended in self._step(body[0], binding):
            yield from self._solve(body[1:], extended)

    def _step(self, literal: Literal, binding: Binding) -> Iterator[Binding]:
        """Every way to extend the binding so that the literal holds."""
        match literal:
            case Atom():
                yield from self._matches(literal, binding)
            case Not(atom):
                if not any(True for _ in self._matches(atom, binding)):
                    yield binding
            case Comparison(left, sign, right):
                value = self._stamp(right, binding)
                if left not in binding:
                    yield binding | {left: value}
                elif SIGNS[sign](binding[left], value):
                    yield binding
            case _:
                yield from self._condition(literal, binding)

    def _matches(self, atom: Atom, binding: Binding) -> Iterator[Binding]:
        nodes = _nodes(atom)
        known = {k: binding.get(n, n) for k, n in enumerate(nodes) if n in binding or not isinstance(n, Var)}
        for row in self._relation(atom.predicate).find(tuple(known), tuple(known.values())):
            extended = dict(binding)
            # A variable may stand twice in one atom, so what it got first is compared.
            if all(
                extended.setdefault(node, value) == value
                for node, value in zip(nodes, row, strict=True)
                if isinstance(node, Var)
            ):
                yield extended

    def _stamp(self, side: Var | Min | LastPassed, binding: Binding) -> int:
        if isinstance(side, LastPassed):
            assert self._now is not None, "the program asks for now"
            return self._now - 1
        return min(binding[v] for v in (side.stamps if isinstance(side, Min) else (side,)))

    def _condition(self, condition: Guard | Bind | Mint, binding: Binding) -> Iterator[Binding]:
        if isinstance(condition, Mint):
            numbers = tuple(self._dictionary.encode(str(binding[v])) for v in condition.key)
            node = self._dictionary.mint(condition.source, numbers)
            found = None if node is None else self._dictionary.decode(node)
        else:
            names = tuple(a.name for a in condition.args if isinstance(a, Var)) if condition.text else ()
            terms = tuple(str(binding.get(a, a)) for a in condition.args)
            if isinstance(condition, Guard):
                if builtins.holds(condition.name, condition.text, names, terms):
                    yield binding
                return
            found = builtins.value(condition.name, condition.text, names, terms)
        if found is not None and binding.get(condition.target, found) == found:
            yield binding | {condition.target: found}


def strata(clauses: Iterable[Clause]) -> list[set[str]]:
    """The predicates in layers, lowest first: what a layer negates lies in a lower one."""
    edges: dict[tuple[str, str], bool] = {}
    for clause in clauses:
        for literal in clause.body:
            if isinstance(literal, Atom | Not):
                negated = isinstance(literal, Not)
                edge = clause.head.predicate, (literal.atom if negated else literal).predicate
                edges[edge] = edges.get(edge, False) or negated
    return _layers(edges)


def _layers(edges: Mapping[tuple[str, str], bool]) -> list[set[str]]:
    level = dict.fromkeys((predicate for edge in edges for predicate in edge), 0)
    changed = True
    while changed:
        changed = False
        for (head, body), negated in edges.items():
            if level[head] < level[body] + negated:
                level[head] = level[body] + negated
                changed = True
                if level[head] >= len(level):
                    raise NotStratifiedError(f"{head} depends on its own negation")
    return [{p for p in level if level[p] == layer} for layer in range(max(level.values(), default=0) + 1)]


def plan(clause: Clause) -> list[Literal]:
    """The body in an order in which every literal finds what it needs bound."""
    waiting, bound, ordered = list(clause.body), set(), []
    while waiting:
        ready = [lit for lit in waiting if not isinstance(lit, Atom) and _needs(lit, clause) <= bound]
        ready = ready or [lit for lit in waiting if isinstance(lit, Atom)]
        if not ready:
            raise UnsafeError(f"nothing binds a variable of {waiting[0]} in {clause}")
        ordered.append(ready[0])
        waiting.remove(ready[0])
        if not isinstance(ready[0], Not):
            bound |= set(variables(ready[0]))
    if not set(variables(clause.head)) <= bound:
        raise UnsafeError(f"nothing binds a variable of the head in {clause}")
    return ordered


def _needs(literal: Literal, clause: Clause) -> set[Var]:
    mine = set(variables(literal))
    match literal:
        case Not():
            # A variable that stands nowhere else means "some".
            others = [other for other in (clause.head, *clause.body) if other is not literal]
            return mine & {v for other in others for v in variables(other)}
        case Comparison(left, "=", _):
            return mine - {left}
        case Bind(target=target) | Mint(target=target):
            return mine - {target}
    return mine


def _nodes(atom: Atom) -> tuple[Node, ...]:
    return (*atom.args, atom.stamp) if atom.stamp else atom.args


def _row(head: Atom, binding: Binding) -> Row:
    return tuple(binding[node] if isinstance(node, Var) else node for node in _nodes(head))
