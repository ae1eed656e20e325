"""The SPARQL inside a continuous query: the text as rdflib gets to see it, and where in it the user's is.

rdflib's grammar takes the text apart; this module says what is wrong with it in terms of the text
that the user wrote.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import pyoxigraph as ox
import rdflib
from pyparsing import ParseBaseException, ParseResults
from rdflib.plugins.sparql.algebra import translateQuery, traverse
from rdflib.plugins.sparql.parser import GroupGraphPattern, Query
from rdflib.plugins.sparql.parserutils import CompValue

from ensue.errors import QueryError, QuerySyntaxError
from ensue.query.language_cursor import blank
from ensue.query.language_select import overridden, ungrouped
from ensue.query.language_shape import narrow
from ensue.query.tree import HIDDEN
from ensue.rdflib_grammar import deep_calls, parsed
from ensue.rules.growth import bounded
from ensue.rules.lexer import Source, Token


@dataclass(frozen=True, slots=True)
class Inner:
    """The SPARQL of a query. `tokens` are those left to rdflib, `starts` says where in `text` each is."""

    source: Source
    text: str
    tokens: tuple[Token, ...]
    starts: tuple[int, ...]


def inner(
    source: Source,
    tokens: list[Token],
    ours: set[Token],
    *,
    replaced: Mapping[Token, str] | None = None,
    lead: str = "",
) -> Inner:
    """What is left of a query without the tokens that are ours, and without comments.

    `replaced` are tokens in whose place another text stands, `lead` is one that stands before all.

    >>> from ensue.query.language_cursor import Cursor
    >>> source = Source("FROM <urn:g> ASK # really?", "q.rq")
    >>> tokens = Cursor(source).tokens
    >>> inner(source, tokens, set(tokens[:2])).text
    '             ASK          '
    """
    text, end = lead, 0
    left, starts = [], []
    others = replaced or {}
    for token in tokens:
        text += blank(source.text[end : token.start])
        end = token.start + len(token.text)
        if token in ours:
            text += blank(token.text)
        elif token in others:
            text += others[token] or blank(token.text)
        else:
            left.append(token)
            starts.append(len(text))
            text += as_sparql(token)
    return Inner(source, text + blank(source.text[end:]), tuple(left), tuple(starts))


_ESCAPE = re.compile(r"\\u(.{4})|\\U(.{8})|\\.|\t", re.DOTALL)
_ESCAPED = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def as_sparql(token: Token) -> str:
    """A token as rdflib gets to see it; mostly of the same length."""
    if token.is_word("WINDOW"):
        return "GRAPH "
    if token.is_word("TRUE", "FALSE"):
        return token.text.lower()  # A keyword in any case, to SPARQL.
    # rdflib reads \u in a pass before its parser, which would shift places and spoil "\\u0041"; its parser
    # does not know \u, and takes a tab for some spaces even inside strings.
    return _ESCAPE.sub(_plain, token.text) if token.kind in ("iri", "string") else token.text


def _plain(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    character = chr(int(code, 16)) if code else found[0]
    return _ESCAPED.get(character, character)


def algebra(query: Inner, prefixes: dict[str, str], base: str) -> CompValue:
    """What rdflib makes of a query.

    >>> from ensue.query.language_cursor import Cursor
    >>> source = Source("ASK { ?s a ex:C }", "q.rq")
    >>> found = algebra(inner(source, Cursor(source).tokens, set()), {"ex": "urn:e#"}, "file:///")
    >>> found.name, found.p.p.name
    ('AskQuery', 'BGP')
    """
    try:
        with _literals_as_written(), deep_calls():
            tree = parsed(Query, query.text)
            _keep_filters(tree)
            narrow(tree)
            # Of two prefixes for one namespace rdflib would forget the first.
            tree[1] = traverse(tree[1], visitPost=partial(_resolved, prefixes))
            found = translateQuery(tree, base).algebra
            _order_star(query, found)
        _check_meaning(query, prefixes, base)
        return found
    except RecursionError as problem:
        place = query.source.place(query.tokens[0].start)
        raise QueryError("this query is nested too deeply", place=place, hint="split it") from problem
    except ParseBaseException as problem:
        index = _index(query, problem.loc)
        whole = problem.msg == "Expected end of text"  # a query, and something behind it
        raise _syntax_error(query, index if whole else _deepest(query, index)) from problem
    except QueryError:
        raise
    except Exception as problem:
        # rdflib has no error class of its own: what it cannot translate fails in one way or another.
        place = query.source.place(query.tokens[0].start)
        what = f"this query parses but cannot be translated: {problem}"
        raise QueryError(what, place=place, hint="write it in a simpler way") from problem


def _resolved(prefixes: Mapping[str, str], node: Any) -> rdflib.URIRef | None:
    """The IRI of a prefixed name; None, which keeps it, for any other node of the tree."""
    if not isinstance(node, CompValue) or node.name != "pname":
        return None
    return rdflib.URIRef(prefixes[node.prefix or ""] + (node.localname or ""))


def _keep_filters(parsed: Any) -> None:
    """Wrap conditions such as FILTER(false) into `!!`: rdflib would leave out what is false to Python."""
    if isinstance(parsed, CompValue) and parsed.name == "Filter" and not _core(parsed.expr):
        parsed["expr"] = CompValue("UnaryNot", expr=CompValue("UnaryNot", expr=parsed.expr))
    if isinstance(parsed, dict):
        parsed = list(parsed.values())
    if isinstance(parsed, list | tuple | ParseResults):
        for part in parsed:
            _keep_filters(part)


def _core(expression: Any) -> Any:
    """What is left of an expression when rdflib has taken away the levels of its grammar."""
    while isinstance(expression, CompValue) and list(expression) in (["expr"], ["string"]):
        expression = next(iter(expression.values()))
    return expression


def in_scope(node: Any) -> set[rdflib.Variable]:
    """The variables that a pattern of rdflib's algebra can give a value to, as SPARQL's `*` has them."""
    if not isinstance(node, CompValue):
        return set()
    if node.name == "BGP":
        return {term for triple in node.triples for term in triple if isinstance(term, rdflib.Variable)}
    if node.name == "Project":
        return set(node.PV)
    if node.name == "values":
        return {variable for row in node.res for variable in row}
    found = in_scope(node.get("p")) | in_scope(node.get("p1"))
    if node.name != "Minus":
        found |= in_scope(node.get("p2"))
    own = [node.get("var"), node.get("term")]
    return found.union(variable for variable in own if isinstance(variable, rdflib.Variable))


def _order_star(query: Inner, found: CompValue) -> None:
    """Give SELECT * its variables, in the order of the text.

    rdflib has them in any order, has some that are out of scope, and not those of VALUES at the end.
    """
    words = [token.text.upper() for token in query.tokens[:200]]
    start = words.index("SELECT") if "SELECT" in words and found.name == "SelectQuery" else len(words)
    if "*" in words[start + 1 : start + 2] or "*" in words[start + 2 : start + 3]:
        # By the text, as some of it may stand for what the user wrote.
        first = {name[1]: name.start() for name in reversed(list(re.finditer(r"[?$](\w+)", query.text)))}
        project = found.p
        while project.name != "Project":
            project = project.p
        seen = (name for name in in_scope(project.p) if not name.startswith(HIDDEN))
        found["PV"] = project["PV"] = sorted(seen, key=lambda name: first[str(name)])


_switch = Lock()
_log = logging.getLogger("rdflib.term")


@contextmanager
def _literals_as_written() -> Iterator[None]:
    """Keep `01` from becoming `1`: they are two terms, and only one of them is in the pattern.

    rdflib has but a global switch for it, so whoever uses it takes turns. Nor shall it log that
    `"x"^^xsd:int` is no number: that is a term like any other.
    """
    with _switch:
        before = rdflib.NORMALIZE_LITERALS, _log.disabled
        rdflib.NORMALIZE_LITERALS, _log.disabled = False, True
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS, _log.disabled = before


def _index(query: Inner, offset: int) -> int:
    """Which token is at, or next after, an offset of the text."""
    at = bisect_right(query.starts, offset)
    inside = at > 0 and offset < query.starts[at - 1] + len(as_sparql(query.tokens[at - 1]))
    return at - 1 if inside else at


def _deepest(query: Inner, index: int) -> int:
    """Which token the error is at: rdflib names the beginning of the outermost pattern that it is in.

    So the group that opens next is parsed by itself, and if it is at fault the error is in there.
    """
    while (opening := _next_group(query, index)) is not None:
        start, end = query.starts[opening], query.starts[_closing(query, opening)] + 1
        fault = _fault(query.text[start:end])
        if fault is None:
            break
        index = max(_index(query, start + fault), opening)
        if index == opening:
            index += 1  # it says no more than that the group is at fault
    return index


def _next_group(query: Inner, index: int) -> int | None:
    for at in range(index, len(query.tokens)):
        token = query.tokens[at]
        if token.is_op("{"):
            return at
        if token.kind == "op" and token.text in ".};":
            break
    return None


def _closing(query: Inner, opening: int) -> int:
    """The bracket that closes this one; the outer layer has made sure that there is one."""
    depth = 0
    for at in range(opening, len(query.tokens)):
        depth += query.tokens[at].is_op("{") - query.tokens[at].is_op("}")
        if depth == 0:
            return at
    return len(query.tokens) - 1


def _fault(group: str) -> int | None:
    try:
        parsed(GroupGraphPattern, group)
    except ParseBaseException as problem:
        return problem.loc
    except Exception:
        return None  # it has been reported as what it is
    return None


def _syntax_error(query: Inner, index: int) -> QuerySyntaxError:
    if index >= len(query.tokens):
        place = query.source.place(len(query.source.text.rstrip()))
        return QuerySyntaxError("this query ends too early", place=place, hint="is the WHERE part missing?")
    token = query.tokens[index]
    what = f"this is not SPARQL, from '{token.text[:40]}' on"
    return QuerySyntaxError(what, place=query.source.place(token.start), hint=_hint(query, index))


def _hint(query: Inner, index: int) -> str:
    token, before = query.tokens[index], query.tokens[index - 1] if index else None
    if before is not None and before.kind == "string" and token.kind in ("pname", "iri"):
        return f"a datatype follows ^^: {before.text[:40]}^^{token.text[:40]}"
    if token.kind in ("var", "iri", "pname"):
        return "a pattern is subject, predicate, object, with '.' between patterns"
    if token.is_word("FILTER", "BIND", "HAVING"):
        return f"its expression is not complete, or not in brackets: {token.text.upper()}(...)"
    if token.is_word("GROUP", "ORDER", "LIMIT", "OFFSET", "VALUES"):
        return "after the WHERE part come GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET and VALUES, in this order"
    return "something is missing or misspelt here or just before"


def _check_meaning(query: Inner, prefixes: dict[str, str], base: str) -> None:
    """Refuse what breaks SPARQL's rules on variables: rdflib lets much of it pass, oxigraph does not.

    Either may have to evaluate the query, so both must take it.
    """
    try:
        _try_to_run(query.text, prefixes, base)
    except SyntaxError as problem:
        found = re.match(r"error at (\d+):(\d+)", str(problem))
        offset = Source(query.text, "").offset(int(found[1]), int(found[2])) if found else 0
        raise _meaning_error(query, _index(query, offset), str(problem)) from problem
    except (OSError, RuntimeError, ValueError):
        pass  # it parsed; that it cannot be evaluated here, for want of a function, is no fault of its


def _try_to_run(text: str, prefixes: dict[str, str], base: str) -> None:
    """Have oxigraph parse a query; an ASK is evaluated at once, so what it makes is bounded."""
    own = bounded(text)
    try:
        ox.Store().query(
            own.text,
            base_iri=base,
            prefixes=prefixes,
            custom_functions=dict(own.functions),
            custom_aggregate_functions=dict(own.aggregates),
        )
    except SyntaxError:
        # The same fault again, at its place in the text as it was.
        ox.Store().query(text, base_iri=base, prefixes=prefixes)


def _meaning_error(query: Inner, index: int, problem: str) -> QueryError:
    """An error at or before a token: oxigraph notices at the end of a group or of a query."""
    tokens = query.tokens[:index]
    loose = ungrouped(query.tokens)
    if loose is not None:
        what = f"{loose.text} is selected, but neither grouped nor inside an aggregate"
        hint = f"add it to GROUP BY, or select (SAMPLE({loose.text}) AS ?y)"
        return QueryError(what, place=query.source.place(loose.start), hint=hint)
    if "variable that is unbound" in problem:
        at = next((token for token in reversed(tokens) if token.is_word("SELECT")), query.tokens[0])
        what = "a variable is selected that is neither grouped nor inside an aggregate"
        hint = "add it to GROUP BY, or select (SAMPLE(?x) AS ?y)"
        return QueryError(what, place=query.source.place(at.start), hint=hint)
    for number in range(len(tokens) - 1, 0, -1):
        name = tokens[number].text[1:] if tokens[number - 1].is_word("AS") else None
        if name and any(token.kind == "var" and token.text[1:] == name for token in tokens[:number]):
            return _named_twice(query, tokens[number])
    taken = overridden(query.tokens) if "overrides" in problem else None
    if taken is not None:
        return _named_twice(query, taken)
    return _syntax_error(query, min(index, len(query.tokens) - 1))


def _named_twice(query: Inner, token: Token) -> QueryError:
    what = f"?{token.text[1:]} has a value before AS gives it one"
    return QueryError(what, place=query.source.place(token.start), hint="take another")
