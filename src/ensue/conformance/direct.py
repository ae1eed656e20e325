"""A query and a graph as SPARQL's regime for the OWL 2 Direct Semantics reads them.

There, a blank node that is a class expression, a list or an axiom is syntax: `[ owl:unionOf (:A :B) ]` in a
query is the union of A and B, whether or not the data mentions it, and no variable has it for a value.
Variables range over what the ontology names: IRIs, literals, and anonymous individuals. So

- the expressions of a query that the data does not have are defined beside it (that changes nothing else
  that follows from the data), and the query's blank node finds the definition like any other node, and
- the query is asked for those solutions only in which no variable is an expression.

Both are done to every query of that regime alike; queries of the other regimes are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import pyoxigraph as ox
from rdflib import BNode, Variable
from rdflib.term import Node

from ensue.plan.known import Statement
from ensue.query.algebra import nodes
from ensue.query.language_cursor import Cursor
from ensue.query.tree import ContinuousQuery
from ensue.rules.lexer import Source, Token

OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

MARKS = (
    *(f"{OWL}{name}" for name in ("onProperty", "onProperties", "intersectionOf", "unionOf", "oneOf")),
    *(f"{OWL}{name}" for name in ("complementOf", "datatypeComplementOf", "onDatatype", "inverseOf")),
    *(f"{OWL}{name}" for name in ("members", "distinctMembers", "annotatedSource", "sourceIndividual")),
    *(f"{RDF}{name}" for name in ("first", "rest")),
)
"""A blank node that has one of these is an expression, a list or an axiom."""

_PARTS = {
    *MARKS,
    *(f"{OWL}{name}" for name in ("someValuesFrom", "allValuesFrom", "hasValue", "hasSelf", "onClass")),
    *(f"{OWL}{name}" for name in ("cardinality", "minCardinality", "maxCardinality", "onDataRange")),
    *(f"{OWL}{name}" for name in ("qualifiedCardinality", "minQualifiedCardinality")),
    *(f"{OWL}{name}" for name in ("maxQualifiedCardinality", "withRestrictions")),
}
_PATH = "|".join(f"<{mark}>" for mark in MARKS)
_KINDS = {f"{OWL}Class", f"{OWL}Restriction", "http://www.w3.org/2000/01/rdf-schema#Datatype"}


def over_names(text: str) -> str:
    """A SPARQL query that gives those solutions in which no variable is an expression.

    >>> print(over_names("SELECT * { ?c a <urn:C> }").replace(_PATH, "..."))
    SELECT * { ?c a <urn:C>  FILTER NOT EXISTS { ?c ... [] FILTER(isBlank(?c)) } }
    """
    tokens = Cursor(Source(text, "query")).tokens
    end = next(
        at
        for at, depth in enumerate(_depths(tokens, "{", "}"))
        if at and depth == 0 and tokens[at].is_op("}")
    )
    filters = "".join(_restrictions(tokens[:end]))
    return text[: tokens[end].start] + filters + " " + text[tokens[end].start :]


def _depths(tokens: Iterable[Token], opening: str, closing: str) -> list[int]:
    """How many brackets are open after each token."""
    return list(accumulate(token.is_op(opening) - token.is_op(closing) for token in tokens))


def _restrictions(tokens: Sequence[Token]) -> Iterator[str]:
    """A FILTER for each variable. What `AS` names is made of others, so it is left out."""
    braces, brackets = _depths(tokens, "{", "}"), _depths(tokens, "(", ")")
    certain: dict[str, bool] = {}
    for at, token in enumerate(tokens):
        if token.kind == "var" and braces[at] and not tokens[at - 1].is_word("AS"):
            bound = braces[at] == 1 and brackets[at] == 0
            certain[token.text[1:]] = certain.get(token.text[1:], False) or bound
    for name, bound in certain.items():
        expression = f"EXISTS {{ ?{name} {_PATH} [] FILTER(isBlank(?{name})) }}"
        yield f" FILTER NOT {expression}" if bound else f" FILTER(!bound(?{name}) || NOT {expression})"


def definitions(query: ContinuousQuery, data: Sequence[Statement]) -> list[Statement]:
    """The class expressions of a query that the data lacks, as statements about new blank nodes."""
    found: list[Statement] = []
    for part in nodes(query.algebra):
        if part.name == "BGP":
            for expression in _expressions(part.triples):
                if not _has(data, expression):
                    found += expression
    return found


def _expressions(triples: Iterable[tuple[Node, Node, Node]]) -> Iterator[list[Statement]]:
    """Each class expression of a basic graph pattern that has no variable in it, with all its parts."""
    defining = [(s, p, o) for s, p, o in triples if isinstance(s, BNode) and _defines(p, o)]
    marked = {s for s, p, _ in defining if str(p) in MARKS}
    inner = {o for s, _, o in defining if s in marked}
    for root in dict.fromkeys(s for s, _, _ in defining if s in marked - inner):
        parts = list(_parts(root, [triple for triple in defining if triple[0] in marked]))
        if not any(isinstance(node, Variable) for triple in parts for node in triple):
            s_p_o = [tuple(map(_text, triple)) for triple in parts]
            yield [(s, p, o) for s, p, o in s_p_o]


def _defines(predicate: Node, value: Node) -> bool:
    return str(predicate) in _PARTS or (str(predicate) == f"{RDF}type" and str(value) in _KINDS)


def _parts(root: Node, defining: Sequence[tuple[Node, Node, Node]]) -> Iterator[tuple[Node, Node, Node]]:
    for s, p, o in defining:
        if s == root:
            yield s, p, o
            yield from _parts(o, defining)


def _text(node: Node) -> str:
    return f"_:query{node}" if isinstance(node, BNode) else node.n3()


def _has(data: Iterable[Statement], expression: Iterable[Statement]) -> bool:
    """Whether the data has an expression just like this one."""
    store = ox.Store()
    lines = "".join(f"{s} {p} {o} .\n" for s, p, o in data if not s.startswith('"'))
    store.extend(ox.parse(lines.encode(), format=ox.RdfFormat.N_TRIPLES, lenient=True))
    pattern = " . ".join(" ".join(triple) for triple in expression)
    return bool(store.query(f"ASK {{ {pattern} }}"))
