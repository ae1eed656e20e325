"""The value of a SPARQL expression for given terms, as oxigraph has it.

Numbers are taken by value: `"01"^^xsd:integer` counts as 1 inside an expression. The text of an expression
that makes IRIs can begin with a declaration, `BASE <...>`, for relative ones (`with_base`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    QuerySolutions,
    RdfFormat,
    Store,
    Triple,
    Variable,
    parse,
)

from ensue.errors import RuleSyntaxError
from ensue.rules.growth import bounded, fits

_EMPTY = Store()
_VARIABLE = re.compile(r"\?(\w+)")
_REMEMBERED = 2_000
"""Longer terms are read anew each time: so many of them must not stay in memory."""
_BASE = re.compile(r"BASE <[^>]*> ")

Functions = Mapping[NamedNode, Callable[..., Any]]

Term = NamedNode | BlankNode | Literal | Triple


def holds(text: str, variables: tuple[str, ...], args: tuple[str, ...]) -> bool:
    """Whether a FILTER with this expression lets these terms pass; an error means no.

    >>> holds("?a < ?b", ("a", "b"), ('"x"', '"y"')), holds("?a < ?b", ("a", "b"), ('"x"', "_:y"))
    (True, False)
    """
    return any(True for _ in _bounded_solutions(_filter_query, text, variables, args))


def value(text: str, variables: tuple[str, ...], args: tuple[str, ...]) -> str | None:
    """The value of the expression for these terms, None for an error.

    >>> value("CONCAT(?a, '!')", ("a",), ('"x"',)), value("?a + 1", ("a",), ('"x"',))
    ('"x!"', None)
    """
    if bare := _VARIABLE.fullmatch(text):
        # As it is: oxigraph would rewrite the digits of a number.
        return dict(zip(variables, args, strict=True)).get(bare.group(1))
    for row in _bounded_solutions(_value_query, text, variables, args):
        found = row[len(variables)]
        return None if found is None else write_term(found)
    return None


def problem(text: str) -> str | None:
    """Why this text is no expression that can be evaluated, None if it is one.

    >>> problem("?a > 1"), problem("<urn:f>(?a)")
    (None, 'The custom function <urn:f> is not supported')
    """
    try:
        _solutions(_value_query(text, ()), (), ())
    except RuleSyntaxError as error:
        return error.what
    return None


def with_base(text: str, base: str) -> str:
    """The expression, with what IRI() and URI() in it resolve relative IRIs against.

    >>> value(with_base("IRI(?a)", "http://example.org/x/"), ("a",), ('"y"',))
    '<http://example.org/x/y>'
    """
    return f"BASE <{base}> {text}"


def split_base(text: str) -> tuple[str, str]:
    """The declaration of the base, as it stands before a query, and the expression alone.

    >>> split_base("BASE <urn:b> IRI(?a)"), split_base("?a")
    (('BASE <urn:b> ', 'IRI(?a)'), ('', '?a'))
    """
    end = found.end() if (found := _BASE.match(text)) else 0
    return text[:end], text[end:]


def _bounded_solutions(
    query: Callable[[str, tuple[str, ...]], str], text: str, variables: tuple[str, ...], args: tuple[str, ...]
) -> QuerySolutions:
    """The solutions for these terms; if what the expression makes of them can be too long, it is checked."""
    if fits(text, sum(map(len, args))):
        return _solutions(query(text, variables), variables, args)
    expression = bounded(text)
    return _solutions(query(expression.text, variables), variables, args, expression.functions)


def _solutions(
    query: str, variables: tuple[str, ...], args: tuple[str, ...], functions: Functions | None = None
) -> QuerySolutions:
    given = {Variable(name): read_term(arg) for name, arg in zip(variables, args, strict=True)}
    try:
        found = _EMPTY.query(query, substitutions=given, custom_functions=dict(functions or {}))
    except (SyntaxError, RuntimeError) as error:
        what = "not a SPARQL expression" if isinstance(error, SyntaxError) else str(error)
        raise RuleSyntaxError(what) from error
    assert isinstance(found, QuerySolutions)
    return found


def _given(variables: tuple[str, ...]) -> str:
    # What the terms are put in for must look bound: oxigraph's optimiser takes a variable that no
    # pattern holds for one without a value. These match nothing, so they change nothing.
    return " ".join(f"OPTIONAL {{ [] <urn:ensue:nothing> ?{name} }}" for name in variables)


@lru_cache(maxsize=1000)
def _filter_query(text: str, variables: tuple[str, ...]) -> str:
    projection = " ".join(f"?{name}" for name in variables) or "*"
    base, bare = split_base(text)
    return f"{base}SELECT {projection} WHERE {{ {_given(variables)} FILTER({bare}) }}"


@lru_cache(maxsize=1000)
def _value_query(text: str, variables: tuple[str, ...]) -> str:
    projection = " ".join(f"?{name}" for name in variables)
    result = "value"
    while result in text:
        result += "_"
    base, bare = split_base(text)
    return f"{base}SELECT {projection} ({bare} AS ?{result}) WHERE {{ {_given(variables)} }}"


def read_term(text: str) -> Term:
    """The term of a canonical text."""
    return _remembered_term(text) if len(text) <= _REMEMBERED else _read_term(text)


@lru_cache(maxsize=100_000)
def _remembered_term(text: str) -> Term:
    return _read_term(text)


def _read_term(text: str) -> Term:
    # oxigraph reads terms only inside a statement.
    statements = parse(f"<urn:s> <urn:p> {text} .", format=RdfFormat.N_TRIPLES, lenient=True)
    term: Term = next(iter(statements)).object  # an iterator of quads, untyped in its stubs
    return term


def write_term(term: Term) -> str:
    """The canonical text of a term.

    >>> write_term(read_term('"x"@EN'))
    '"x"@en'
    """
    return f"<<( {' '.join(map(write_term, term))} )>>" if isinstance(term, Triple) else str(term)
