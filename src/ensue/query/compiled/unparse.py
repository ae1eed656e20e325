"""rdflib's expression nodes as SPARQL text again, so that oxigraph can say what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Literal, URIRef, Variable

from ensue.terms import literal


class NotCompiled(Exception):  # noqa: N818 - no error: the other evaluator takes such a query
    """Why a query, or a part of one, is left to the other evaluator."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def term_text(term: Any) -> str:
    """The canonical text of an IRI or a literal of rdflib, its digits as they were written.

    >>> term_text(URIRef("urn:a")), term_text(Literal("chat", lang="FR"))
    ('<urn:a>', '"chat"@fr')
    """
    if isinstance(term, URIRef):
        return f"<{term}>"
    if isinstance(term, Literal):
        return literal(str(term), datatype=term.datatype, language=term.language)
    raise NotCompiled(f"a {type(term).__name__} in an expression")


def unparse(node: Any) -> str:
    """The SPARQL text of an expression in rdflib's algebra. Raises NotCompiled.

    >>> from rdflib.plugins.sparql.parser import Expression
    >>> unparse(Expression.parse_string("?a * ?b - ?c >= STRLEN(?a)")[0])
    '(((?a * ?b) - ?c) >= STRLEN(?a))'
    """
    if isinstance(node, Variable):
        return f"?{node}"
    if not isinstance(node, CompValue):
        return term_text(node)
    node = inner(node)
    if not isinstance(node, CompValue):
        return unparse(node)
    if node.name in _CHAINS:
        return _chain(node)
    if node.name == "RelationalExpression":
        return _relation(node)
    if node.name in _UNARY:
        return f"({_UNARY[node.name]} {unparse(node['expr'])})"
    if node.name == "Function":
        return f"{term_text(node['iri'])}({_list(part(node, 'expr') or ())})"
    if node.name.startswith("Builtin_"):
        return _builtin(node)
    raise NotCompiled(f"{node.name} in an expression")


def variables_of(node: Any) -> Iterator[str]:
    """The variables of an expression, in the order of its text; some more than once.

    >>> from rdflib.plugins.sparql.parser import Expression
    >>> list(variables_of(Expression.parse_string("IF(BOUND(?b), ?a, ?b)")[0]))
    ['b', 'a', 'b']
    """
    if isinstance(node, Variable):
        yield str(node)
    elif isinstance(node, CompValue):
        for name in _FIELDS:
            if name in node:
                yield from variables_of(node[name])
    elif isinstance(node, list):
        for part in node:
            yield from variables_of(part)


def items(node: Any) -> list[Any]:
    """The expressions of a list; rdflib has rdf:nil for the empty one."""
    return [] if isinstance(node, URIRef) else list(node)


def part(node: CompValue, name: str) -> Any:
    """A part of a node, None where it has none; `node.get` would then give the name."""
    return dict.get(node, name)


def inner(node: Any) -> Any:
    """What a node that only hands on another stands for: rdflib has one for each level of its grammar."""
    while isinstance(node, CompValue) and node.name in _LEVELS and "other" not in node:
        node = node["expr"]
    return node


_CHAINS = {
    "ConditionalOrExpression": "||",
    "ConditionalAndExpression": "&&",
    "AdditiveExpression": None,
    "MultiplicativeExpression": None,
}
"""Nodes of one expression and a list of others; the operator, or None where each has its own."""
_NESTED = 8
"""Operators of a chain that are written with brackets, to be read more easily."""
_LEVELS = {*_CHAINS, "RelationalExpression"}
_UNARY = {"UnaryNot": "!", "UnaryPlus": "+", "UnaryMinus": "-"}
_FIELDS = (
    *("expr", "other", "text", "arg", "arg1", "arg2", "arg3"),
    *("pattern", "start", "length", "replacement", "flags"),
)
"""Where rdflib keeps the parts of an expression: for every node, in the order of its text."""
_FRESH = {"RAND", "NOW", "UUID", "STRUUID", "BNODE"}


def _chain(node: CompValue) -> str:
    text = unparse(node["expr"])
    others = list(node["other"])
    own = _CHAINS[node.name]
    flat = len(others) > _NESTED  # the same, as it is read from the left, but not nested
    for operator, other in zip([own] * len(others) if own else node["op"], others, strict=True):
        text = f"{text} {operator} {unparse(other)}"
        if not flat:
            text = f"({text})"
    return f"({text})" if flat else text


def _relation(node: CompValue) -> str:
    left, operator, right = unparse(node["expr"]), node["op"], node["other"]
    if operator.endswith("IN"):
        return f"({left} {operator} ({_list(items(right))}))"
    return f"({left} {operator} {unparse(right)})"


def _builtin(node: CompValue) -> str:
    name = node.name.removeprefix("Builtin_")
    if name in _FRESH:
        raise NotCompiled(f"{name}() gives another value each time")
    if name.endswith("EXISTS"):
        raise NotCompiled("EXISTS inside an expression")
    if name in ("CONCAT", "COALESCE"):
        return f"{name}({_list(items(node['arg']))})"
    return f"{name}({_list(node[field] for field in _FIELDS if field in node)})"


def _list(nodes: Any) -> str:
    return ", ".join(map(unparse, nodes))
