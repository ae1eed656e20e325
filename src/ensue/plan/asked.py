"""The triple patterns of a query, and in which graph each of them stands.

f:timestamp asks for a triple, too, in whatever graph.

A property path is taken apart into its steps: nodes between them are variables that nobody sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, Protocol

from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Identifier, Variable

from ensue.query.algebra import timestamps
from ensue.query.compiled.unparse import term_text
from ensue.query.tree import ContinuousQuery, Form
from ensue.rules.tree import Node, Pattern, Var

Triple = tuple[Any, Any, Any]

EXISTS = ("Builtin_EXISTS", "Builtin_NOTEXISTS")


class AsksForEverything(Exception):  # noqa: N818 - no error: a reason to keep every statement
    """Why any statement at all can matter to a query."""


class Graphs(Protocol):
    """Some of the graphs of a query."""

    @property
    def default(self) -> bool:
        """Whether the default graph is one of them."""

    def graph(self, query: ContinuousQuery, term: Any) -> bool:
        """Whether `GRAPH term` is, or may be, one of them."""


@dataclass(frozen=True, slots=True)
class Fed:
    """Which graphs of a query get statements from outside: from streams that no query constructs."""

    default: bool
    windows: frozenset[str]
    any_window: bool
    """Whether a variable that goes through windows comes upon one of these."""

    @classmethod
    def of(cls, query: ContinuousQuery, constructed: Iterable[str] = ()) -> Fed:
        """The graphs of a query where other queries construct these streams."""
        made = frozenset(constructed)
        fed = [on for on in query.streams if on.stream not in made]
        names = frozenset(on.name for on in fed if on.name is not None)
        return cls(any(on.name is None for on in fed), names, bool(names))

    def graph(self, query: ContinuousQuery, term: Any) -> bool:
        """Whether `GRAPH term` is, or may be, one of them."""
        if not isinstance(term, Variable):
            return str(term) in self.windows
        return self.any_window and _goes_through_windows(query, term)


@dataclass(frozen=True, slots=True)
class OneWindow:
    """The graph of one window; None: the default graph."""

    name: str | None

    @property
    def default(self) -> bool:
        """Whether it is the default graph."""
        return self.name is None

    def graph(self, query: ContinuousQuery, term: Any) -> bool:
        """Whether `GRAPH term` is, or may be, this window."""
        if not isinstance(term, Variable):
            return str(term) == self.name
        return self.name is not None and _goes_through_windows(query, term)


def _goes_through_windows(query: ContinuousQuery, variable: Variable) -> bool:
    # Where RSP-QL has a variable for windows, any other one is for graphs alone.
    return query.relation is None or str(variable) in query.window_variables


def patterns(query: ContinuousQuery, within: Graphs | None = None) -> tuple[Pattern, ...]:
    """The patterns that stand in some graphs (None: all that streams feed); raises AsksForEverything.

    >>> from ensue.query.language import parse_query
    >>> text = "SELECT * FROM STREAM <urn:s> [RANGE 1s] { ?s <urn:p>/<urn:q>+ 5 MINUS { ?s ?p <urn:a> } }"
    >>> for pattern in patterns(parse_query(text)):
    ...     print(pattern)
    (?s <urn:p> ?/1)
    (?/2 <urn:q> ?/3)
    (?s ?p <urn:a>)
    """
    if query.form is Form.DESCRIBE:
        raise AsksForEverything("DESCRIBE asks for whatever is said of a thing")
    graphs = Fed.of(query) if within is None else within
    asked = _patterns(query.planned, query, graphs, graphs.default)
    return tuple(dict.fromkeys((*asked, *stamped(query))))


def stamped(query: ContinuousQuery) -> Iterator[Pattern]:
    """The patterns that f:timestamp asks for; raises AsksForEverything."""
    for args in timestamps(query):
        if len(args) != 3 or not all(isinstance(arg, Identifier) for arg in args):
            raise AsksForEverything("f:timestamp asks for a triple of which parts are computed")
        yield Pattern(*map(node_of, args))


def _patterns(tree: Any, query: ContinuousQuery, fed: Graphs, here: bool) -> Iterator[Pattern]:
    """The patterns in a part of the algebra that stands in one of the graphs, or does not."""
    if isinstance(tree, CompValue):
        if tree.name == "BGP":
            yield from steps(tree.triples) if here else ()
            return
        if tree.name in EXISTS:
            yield from _patterns(inside(tree), query, fed, here)
            return
        if tree.name == "Graph":
            here = fed.graph(query, tree.term)
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list | tuple):
        for part in tree:
            yield from _patterns(part, query, fed, here)


def inside(exists: CompValue) -> CompValue:
    """The algebra of what EXISTS is about: rdflib keeps it beside the items, which are as parsed."""
    pattern = vars(exists).get("graph")
    if not isinstance(pattern, CompValue) or not pattern.translated:
        raise AsksForEverything("EXISTS stands where its patterns cannot be told")
    return pattern


def steps(triples: Iterable[Triple]) -> Iterator[Pattern]:
    """The triple patterns of a basic graph pattern, paths taken apart; raises AsksForEverything."""
    numbers = count(1)
    for s, path, o in triples:
        if _can_be_empty(path) and all(isinstance(end, Variable | BNode) for end in (s, o)):
            raise AsksForEverything("a path that can be empty goes from every node to itself")
        yield from _steps(node_of(s), path, node_of(o), numbers)


def _steps(s: Node, path: Any, o: Node, numbers: Iterator[int]) -> Iterator[Pattern]:
    match path:
        case Identifier():
            yield Pattern(s, node_of(path), o)
        case InvPath():
            yield from _steps(o, path.arg, s, numbers)
        case SequencePath():
            nodes = [s, *(_hidden(numbers) for _ in path.args[1:]), o]
            for (start, end), step in zip(pairwise(nodes), path.args, strict=True):
                yield from _steps(start, step, end, numbers)
        case AlternativePath():
            for part in path.args:
                yield from _steps(s, part, o, numbers)
        case MulPath():
            yield from _steps(_hidden(numbers), path.path, _hidden(numbers), numbers)
        case NegatedPath():  # Some of the predicates may be meant backwards.
            yield Pattern(s, _hidden(numbers), o)
            yield Pattern(o, _hidden(numbers), s)
        case _:
            raise AsksForEverything(f"a path of an unknown kind: {type(path).__name__}")


def _can_be_empty(path: Any) -> bool:
    match path:
        case MulPath():
            return bool(path.zero) or _can_be_empty(path.path)
        case InvPath():
            return _can_be_empty(path.arg)
        case SequencePath():
            return all(map(_can_be_empty, path.args))
        case AlternativePath():
            return any(map(_can_be_empty, path.args))
        case _:
            return False


def _hidden(numbers: Iterator[int]) -> Var:
    return Var(f"/{next(numbers)}")


def node_of(term: Any) -> Node:
    """A term of the algebra as a node of a pattern; a blank node is a variable."""
    if isinstance(term, Variable):
        return Var(str(term))
    return Var(f"_:{term}") if isinstance(term, BNode) else term_text(term)


def template(query: ContinuousQuery) -> tuple[Pattern, ...]:
    """The triples that a CONSTRUCT makes; a variable whose name begins with `_:` is a new blank node.

    >>> from ensue.query.language import parse_query
    >>> made = "CONSTRUCT { ?s <urn:q> [] } FROM STREAM <urn:s> [RANGE 1s] { ?s <urn:p> ?o }"
    >>> [pattern.p for pattern in template(parse_query(made))]
    ['<urn:q>']
    """
    if query.form is not Form.CONSTRUCT:
        return ()
    triples = query.algebra.template
    if triples is None:  # The short form: what is matched is what is made.
        triples = query.algebra.p.p.triples
    return tuple(Pattern(node_of(s), node_of(p), node_of(o)) for s, p, o in triples)
