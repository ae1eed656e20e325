"""What rdflib's tree of a skeleton says, part by part: terms, places, expressions, the ways of a path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, URIRef, Variable

from ensue.errors import Place, RuleError
from ensue.rules.sparql_filters import Expression
from ensue.rules.sparql_lists import Triple
from ensue.rules.sparql_skeleton import Piece, Skeleton
from ensue.rules.tree import Node, Var

MAX_BRANCHES = 1000
"""How many rules one may become."""

Step = tuple[Node, bool]
"""One step of a property path: a predicate, and whether it is walked backwards."""


class Reader:
    """Reads parts of rdflib's tree of one piece."""

    def __init__(self, piece: Piece, skeleton: Skeleton) -> None:
        self.piece = piece
        self.expressions = [Expression(piece, span) for span in skeleton.expressions]
        self._blanks: dict[BNode, Var] = {}
        self._numbers = count(1)

    def node(self, part: Any) -> Node:
        """A term or a variable of the tree; a blank node is a variable without a name."""
        if isinstance(part, Variable):
            return Var(str(part))
        if isinstance(part, BNode):
            if part not in self._blanks:
                self._blanks[part] = self.fresh()
            return self._blanks[part]
        index = self._index(part)
        return f"<{part}>" if index is None else str(self.piece.items[index].term)

    def place(self, part: Any) -> Place:
        """Where a part of the tree stands, by the first term in it."""
        for term in _terms(part):
            index = self._index(term)
            if index is not None:
                return self.piece.place_of(index)
        return self.piece.place

    def _index(self, term: Any) -> int | None:
        """The number of the item that a term of the tree stands for; None for what rdflib put in."""
        if isinstance(term, URIRef):
            return int(term[2:]) if term.startswith("t:") else None
        return int(term.string)

    def fresh(self) -> Var:
        """A variable that nobody has named."""
        return Var(f"_:{next(self._numbers)}")

    def variable_place(self, variable: Var) -> Place:
        """Where a variable stands first."""
        tokens = (item.token for item in self.piece.items)
        starts = (token.start for token in tokens if token.kind == "var" and token.text[1:] == variable.name)
        return self.piece.source.place(next(starts))

    def paths(self, path: Any) -> list[list[Step]]:
        """The ways that a property path can be walked, each a sequence of steps."""
        if isinstance(path, URIRef):
            return [[(self.node(path), False)]]
        match path.name:
            case "PathAlternative":
                return [way for part in path.part for way in self.paths(part)]
            case "PathSequence":
                ways: list[list[Step]] = [[]]
                for part in path.part:
                    ways = [way + more for way in ways for more in self.paths(part)]
                    if len(ways) > MAX_BRANCHES:
                        raise RuleError("this path has too many ways", place=self.place(path))
                return ways
            case "PathEltOrInverse":
                return [[(p, not back) for p, back in reversed(way)] for way in self.paths(path.part)]
            case "PathElt" if not path.mod:
                return self.paths(path.part)
        if path.name == "PathNegatedPropertySet":
            what, hint = "a negated path cannot be in a rule", "use a variable and FILTER(?p != ...)"
        else:
            what, hint = (
                f"a path with '{path.mod}' cannot be in a rule",
                "write the steps as rules: they recurse",
            )
        raise RuleError(what, place=self.place(path), hint=hint)

    def expression(self, part: CompValue) -> Expression:
        """The expression of a FILTER or BIND."""
        inner: Any = part.expr
        while inner.name != "literal":
            inner = inner.expr
        return self.expressions[int(inner.string)]


def triples(blocks: Iterable[Iterable[Any]] | None) -> Iterator[Triple]:
    """The triples of rdflib's flat lists of terms."""
    for block in blocks or ():
        terms = list(block)
        yield from zip(terms[::3], terms[1::3], terms[2::3], strict=True)


def _terms(part: Any) -> Iterator[Any]:
    """The IRIs and literals in a part of rdflib's tree, in order."""
    if isinstance(part, URIRef) or (isinstance(part, CompValue) and part.name == "literal"):
        yield part
    elif isinstance(part, CompValue):
        for inner in part.values():
            yield from _terms(inner)
    elif not isinstance(part, str) and isinstance(part, Iterable):
        for inner in part:
            yield from _terms(inner)
