"""The expressions of FILTER and BIND: into built-in tests where these mean the same, else as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ensue.errors import Place, RuleError, did_you_mean
from ensue.rules import expressions
from ensue.rules.builtins import NAMESPACE, TESTS
from ensue.rules.sparql_skeleton import Item, Piece, adjacent
from ensue.rules.textlimits import MAX_OPERATORS
from ensue.rules.tree import Node, Var
from ensue.terms import XSD

CASTS = ("boolean", "date", "dateTime", "decimal", "double", "float", "integer", "string", "time")
"""The functions of XML Schema that an expression may call; SPARQL's own have no IRI."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A part of a piece that has a value."""

    piece: Piece
    span: range

    @property
    def items(self) -> tuple[Item, ...]:
        """Its items."""
        return self.piece.items[self.span.start : self.span.stop]

    @property
    def text(self) -> str:
        """As oxigraph reads it: names resolved, comments gone, with the base if it makes IRIs."""
        items = self.items
        parts = [item.text for item in items[:1]]
        for left, right in pairwise(items):
            # `?a<ex:b` is not `?a<<urn:b>`.
            grown = left.token.kind == "pname" or right.token.kind == "pname"
            parts += ["" if adjacent(left, right) and not grown else " ", right.text]
        text = "".join(parts)
        return expressions.with_base(text, self.piece.base) if self.piece.base and self._iris() else text

    def _iris(self) -> list[int]:
        """The items that are calls of IRI() or URI()."""
        return [index for index in self.span if self.piece.items[index].token.is_word("IRI", "URI")]

    def variables(self) -> dict[Var, int]:
        """The variables in it, in order, each with the item where it first stands."""
        found: dict[Var, int] = {}
        for index in self.span:
            token = self.piece.items[index].token
            if token.kind == "var":
                found.setdefault(Var(token.text[1:]), index)
        return found

    def constant(self) -> str | None:
        """The term, if the expression is one."""
        return self.items[0].term if len(self.items) == 1 else None

    def check(self) -> None:
        """Raise if oxigraph could not evaluate it."""
        place = self.place
        operators = sum(item.token.kind == "op" and item.token.text not in "()," for item in self.items)
        if operators > MAX_OPERATORS:
            hint = "name alternatives with IN, or split the rule"
            raise RuleError(f"more than {MAX_OPERATORS} operators in an expression", place=place, hint=hint)
        for index in self.span:
            self._check_call(index)
        for index in self._iris() if self.piece.base is None else ():
            self._check_absolute(index)
        if problem := expressions.problem(self.text):
            raise RuleError(f"this expression has no value: {problem}", place=place)

    def _check_call(self, index: int) -> None:
        called = self.piece.items[index]
        is_call = called.token.kind in ("iri", "pname") and index + 1 in self.piece.partner
        if is_call and called.term not in [f"<{XSD}{name}>" for name in CASTS]:
            what = f"there is no function {called.term}"
            hint = f"besides SPARQL's own there are xsd:{', xsd:'.join(CASTS)}"
            if str(called.term).startswith(f"<{NAMESPACE}"):
                what = f"{called.term} cannot be called here"
                hint = "built-ins stand by themselves: FILTER(test(?x)), BIND(function(?x) AS ?y)"
            raise RuleError(what, place=self.piece.place_of(index), hint=hint)

    def _check_absolute(self, index: int) -> None:
        """Raise if IRI() is called with a text that is no IRI without a BASE."""
        given = self.piece.items[index + 2] if index + 2 < len(self.piece.items) else None
        alone = self.piece.partner.get(index + 1) == index + 3
        if given is None or not alone or given.token.kind != "string":
            return
        if expressions.value(f"IRI({given.term})", (), ()) is None:
            what, hint = f"{given.term} is a relative IRI", "write the whole IRI, or declare a BASE"
            raise RuleError(what, place=self.piece.place_of(index), hint=hint)

    def call(self) -> Call | None:
        """The built-in that this calls, if it does nothing else."""
        inner = _unwrap(self)
        items = inner.items
        called = items[0].term if items and items[0].token.kind in ("iri", "pname") else None
        whole = len(items) > 2 and inner.piece.partner.get(inner.span.start + 1) == inner.span.stop - 1
        if called is None or not whole or not called.startswith(f"<{NAMESPACE}"):
            return None
        args = [_node(item) for item in items[2:-1:2]]
        commas = [item.token.is_op(",") for item in items[3:-1:2]]
        if not all(commas) or None in args or len(items) % 2:
            hint = "its arguments are variables, IRIs and literals"
            raise RuleError(f"{called} cannot be called with this", place=self.place, hint=hint)
        return Call(called[1 + len(NAMESPACE) : -1], tuple(arg for arg in args if arg is not None))

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.piece.place_of(min(self.span.start, len(self.piece.items) - 1))


class Call(NamedTuple):
    """A call of a built-in by its IRI."""

    name: str
    args: tuple[Node, ...]

    def checked(self, arities: Mapping[str, int], place: Place, where: str) -> Call:
        """The same; raise RuleError if it is not one of these, or is called with more or less."""
        if self.name not in arities:
            named = ", ".join(sorted(arities))
            hint = did_you_mean(self.name, arities) or f"there are {named}"
            raise RuleError(f"there is no built-in '{self.name}' for {where}", place=place, hint=hint)
        if len(self.args) != arities[self.name]:
            takes = f"{self.name} takes {arities[self.name]} argument{'s' * (arities[self.name] > 1)} here"
            raise RuleError(f"{takes}, not {len(self.args)}", place=place)
        return self


class Requirement(NamedTuple):
    """A condition that is not yet one of a rule: a built-in with its arguments, or an expression."""

    name: str
    args: tuple[Node, ...]
    part: Expression


def requirements(whole: Expression) -> list[Requirement]:
    """The tests that together are a FILTER: the parts of `a && b`, as built-ins where they can be."""
    part = _unwrap(whole)
    ands = _at_top(part, "&&")
    if ands and not _at_top(part, "||"):
        bounds = [part.span.start - 1, *ands, part.span.stop]
        spans = [range(left + 1, right) for left, right in pairwise(bounds)]
        return [one for span in spans for one in requirements(Expression(part.piece, span))]
    if called := part.call():
        tests = {name: arity for name, (arity, _) in TESTS.items()}
        called = called.checked(tests, part.place, "FILTER")
        return [Requirement(called.name, called.args, part)]
    return [_builtin(part) or Requirement("sparql", tuple(part.variables()), part)]


def _unwrap(part: Expression) -> Expression:
    """Without the brackets around all of it."""
    while part.span and part.piece.partner.get(part.span.start) == part.span.stop - 1:
        part = Expression(part.piece, part.span[1:-1])
    return part


def _at_top(part: Expression, operator: str) -> list[int]:
    found, index = [], part.span.start
    while index < part.span.stop:
        if part.piece.items[index].token.is_op(operator):
            found.append(index)
        index = part.piece.partner.get(index, index) + 1
    return found


_KINDS = {"ISIRI": "isIRI", "ISURI": "isIRI", "ISLITERAL": "isLiteral", "ISBLANK": "isBlank"}
_OPPOSITE = {"isLiteral": "notLiteral", "equal": "notEqual", "notEqual": "equal"}


def _builtin(part: Expression) -> Requirement | None:
    """The built-in that means exactly this; None if none does."""
    negated = bool(part.span) and part.items[0].token.is_op("!")
    inner = Expression(part.piece, part.span[1:]) if negated else part
    bare = _unwrap(inner)
    # `! ?a = ?b` means `(! ?a) = ?b`, so what is negated without brackets must be a call.
    found = _call(bare) or (None if negated and bare == inner else _comparison(bare))
    if found is None:
        return None
    name, args = found
    if negated and name not in _OPPOSITE:
        return None
    return Requirement(_OPPOSITE[name] if negated else name, args, part)


def _call(part: Expression) -> tuple[str, tuple[Node, ...]] | None:
    items = part.items
    is_call = len(items) >= 4 and part.piece.partner.get(part.span.start + 1) == part.span.stop - 1
    if not is_call or items[0].token.kind != "word":
        return None
    called, args = items[0].token.text.upper(), [_node(item) for item in items[2:-1:2]]
    if called in _KINDS and len(items) == 4 and isinstance(args[0], Var):
        return _KINDS[called], (args[0],)
    if called == "SAMETERM" and len(items) == 6 and items[3].token.is_op(","):
        left, right = args
        return None if left is None or right is None else ("equal", (left, right))
    return None


def _comparison(part: Expression) -> tuple[str, tuple[Node, ...]] | None:
    """`=` and `!=` compare values; with an IRI on one side that is to compare terms."""
    items = part.items
    if len(items) != 3 or not (items[1].token.is_op("=") or items[1].token.is_op("!=")):
        return None
    left, right = _node(items[0]), _node(items[2])
    iris = [node for node in (left, right) if isinstance(node, str) and node.startswith("<")]
    if left is None or right is None or not iris:
        return None
    return "equal" if items[1].token.text == "=" else "notEqual", (left, right)


def _node(item: Item) -> Node | None:
    return Var(item.token.text[1:]) if item.token.kind == "var" else item.term
