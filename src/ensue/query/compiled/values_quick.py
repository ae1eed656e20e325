"""What an expression gives as far as the integers and kinds of terms say, without reading a literal.

`?x = <urn:a>`, `?x != ?y`, `isIRI(?x)`, `BOUND(?x)` and what `&&`, `||` and `!` make of them. Where two
literals meet, the verdict is open: then oxigraph is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Literal, URIRef, Variable

from ensue.dictionary import Dictionary
from ensue.query.compiled.unparse import inner, items, unparse
from ensue.query.dataset import Integers
from ensue.terms import Kind


class Verdict(IntEnum):
    """What an expression gives for a binding."""

    FALSE = 0
    TRUE = 1
    ERROR = 2
    OPEN = 3


Verdicts = NDArray[np.int8]
Operand = str
"""A variable with its question mark, or the canonical text of a term."""


@dataclass(frozen=True, slots=True)
class Bound:
    """`BOUND(?x)`."""

    variable: Operand


@dataclass(frozen=True, slots=True)
class Is:
    """`isIRI(?x)` and its like."""

    operand: Operand
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Equal:
    """`?x = ?y`, or `sameTerm(?x, ?y)`."""

    left: Operand
    right: Operand
    same_term: bool


@dataclass(frozen=True, slots=True)
class Not:
    """`!part`."""

    part: Shape


@dataclass(frozen=True, slots=True)
class Among:
    """`?x IN (...)`, where the list has nothing but terms."""

    operand: Operand
    terms: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """`part || part || ...`."""

    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """Anything else."""


Shape = Bound | Is | Equal | Among | Not | AnyOf | Open


def shape_of(node: Any) -> Shape | None:
    """The shape of an expression of rdflib's algebra; None if it says nothing.

    >>> from rdflib.plugins.sparql.parser import Expression
    >>> shape_of(Expression.parse_string("?x != ?y")[0])
    Not(part=Equal(left='?x', right='?y', same_term=False))
    >>> shape_of(Expression.parse_string("?x > ?y || ?z")[0])
    """
    found = _shape(node)
    return None if _is_open(found) else found


def _is_open(shape: Shape) -> bool:
    if isinstance(shape, Not):
        return _is_open(shape.part)
    if isinstance(shape, AnyOf):
        return all(map(_is_open, shape.parts))
    return isinstance(shape, Open)


_KINDS = {
    "Builtin_isIRI": (Kind.IRI,),
    "Builtin_isURI": (Kind.IRI,),
    "Builtin_isBLANK": (Kind.BLANK,),
    "Builtin_isLITERAL": (Kind.PLAIN, Kind.TYPED),
}


def _shape(node: Any) -> Shape:
    node = inner(node)
    if not isinstance(node, CompValue):
        return Open()
    match node.name:
        case "ConditionalOrExpression":
            return AnyOf(tuple(_shape(part) for part in [node["expr"], *node["other"]]))
        case "ConditionalAndExpression":
            return Not(AnyOf(tuple(Not(_shape(part)) for part in [node["expr"], *node["other"]])))
        case "UnaryNot":
            return Not(_shape(node["expr"]))
        case "RelationalExpression":
            return _relation(node)
        case "Builtin_BOUND":
            return Bound(unparse(node["arg"]))
        case "Builtin_sameTerm":
            return _equal(node["arg1"], node["arg2"], same_term=True)
    if node.name in _KINDS and _is_simple(node["arg"]):
        return Is(unparse(node["arg"]), _KINDS[node.name])
    return Open()


def _relation(node: CompValue) -> Shape:
    left, right = node["expr"], node["other"]
    match node["op"]:
        case "=":
            return _equal(left, right)
        case "!=":
            return Not(_equal(left, right))
        case "IN" if items(right):
            return _among(left, items(right))
        case "NOT IN" if items(right):
            return Not(_among(left, items(right)))
    return Open()


def _among(left: Any, members: list[Any]) -> Shape:
    terms = [inner(member) for member in members]
    if _is_simple(left) and all(isinstance(term, URIRef | Literal) for term in terms):
        return Among(unparse(left), tuple(map(unparse, terms)))
    return AnyOf(tuple(_equal(left, term) for term in terms))


def _equal(left: Any, right: Any, *, same_term: bool = False) -> Shape:
    left, right = inner(left), inner(right)
    if _is_simple(left) and _is_simple(right):
        return Equal(unparse(left), unparse(right), same_term)
    return Open()


def _is_simple(node: Any) -> bool:
    return isinstance(inner(node), Variable | URIRef | Literal)


class Judge:
    """Says what shapes give for rows of bindings."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._constants: dict[Operand, int] = {}

    def verdicts(self, shape: Shape, columns: Mapping[str, Integers], length: int) -> Verdicts:
        """The verdict on each row."""

        def terms(operand: Operand) -> Integers:
            return self._terms(operand, columns, length)

        match shape:
            case Bound(variable):
                return np.not_equal(terms(variable), 0).astype(np.int8)
            case Is(operand, kinds):
                return self._is(terms(operand), kinds)
            case Equal(one, other, same_term):
                return self._equal(terms(one), terms(other), same_term=same_term)
            case Not(part):
                return _NEGATED[self.verdicts(part, columns, length)]
            case Among(operand, members):
                return self._among(terms(operand), members)
            case AnyOf(parts):
                found = np.full(length, Verdict.FALSE, np.int8)
                for part in parts:
                    found = _EITHER[found, self.verdicts(part, columns, length)]
                return found
        return np.full(length, Verdict.OPEN, np.int8)

    def _terms(self, operand: Operand, columns: Mapping[str, Integers], length: int) -> Integers:
        if operand.startswith("?"):
            return columns[operand[1:]]
        return np.full(length, self._constant(operand), np.int32)

    def _constant(self, text: Operand) -> int:
        if text not in self._constants:
            self._constants[text] = self._dictionary.pin(text)
        return self._constants[text]

    def _kinds(self, terms: Integers) -> Integers:
        return np.frombuffer(self._dictionary.kinds, np.uint8)[terms]

    def _is(self, terms: Integers, kinds: tuple[Kind, ...]) -> Verdicts:
        found = np.isin(self._kinds(terms), kinds).astype(np.int8)
        found[terms == 0] = Verdict.ERROR
        return found

    def _among(self, terms: Integers, members: tuple[Operand, ...]) -> Verdicts:
        """What `_equal` would give for one member or another."""
        numbers = np.array([self._constant(text) for text in members], np.int32)
        own, theirs = self._kinds(terms), self._kinds(numbers)
        found: Verdicts = np.isin(terms, numbers).astype(np.int8)
        some, typed = bool((theirs >= Kind.PLAIN).any()), bool((theirs == Kind.TYPED).any())
        found[((own == Kind.TYPED) & some) | ((own == Kind.PLAIN) & (found == Verdict.FALSE) & typed)] = (
            Verdict.OPEN
        )
        found[terms == 0] = Verdict.ERROR
        return found

    def _equal(self, left: Integers, right: Integers, *, same_term: bool) -> Verdicts:
        one, other = self._kinds(left), self._kinds(right)
        found: Verdicts = np.equal(left, right).astype(np.int8)
        # Two texts can have one value ("1" and "01"), and one text can differ from itself (NaN).
        found[(one == Kind.TRIPLE) & (other == Kind.TRIPLE)] = Verdict.OPEN
        typed = (one == Kind.TYPED) & (other >= Kind.PLAIN), (one >= Kind.PLAIN) & (other == Kind.TYPED)
        found[typed[0] & typed[1] if same_term else typed[0] | typed[1]] = Verdict.OPEN
        found[(left == 0) | (right == 0)] = Verdict.ERROR
        return found


_NEGATED = np.array([Verdict.TRUE, Verdict.FALSE, Verdict.ERROR, Verdict.OPEN], np.int8)


def _either(left: Verdict, right: Verdict) -> Verdict:
    for strongest in (Verdict.TRUE, Verdict.OPEN, Verdict.ERROR):
        if strongest in (left, right):
            return strongest
    return Verdict.FALSE


_EITHER = np.array([[_either(left, right) for right in Verdict] for left in Verdict], np.int8)
