"""The outer layer of a query: REGISTER, PREFIX, FROM, WINDOW, PARTITION, found among its tokens.

Everything here keeps its tokens: prefixes can be declared behind their first use, so names are
resolved, and clauses checked against each other, once the whole text has been seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ensue.errors import QueryError, QuerySyntaxError, did_you_mean
from ensue.query.language_cursor import Cursor
from ensue.query.language_markers import EventClause
from ensue.query.language_spans import time_span, window_spec
from ensue.query.tree import Form, Relation, WindowSpec
from ensue.rules.lexer import Names, Token, closing, follow_brackets

CSPARQL = "C-SPARQL"
RSPQL = "RSP-QL"

_REGISTER_HINT = "REGISTER QUERY name COMPUTED EVERY 1s AS, or REGISTER RSTREAM <name> AS"
_STREAM_HINT = "FROM STREAM <iri> [RANGE 10s STEP 1s]"
_WINDOW_HINT = "FROM NAMED WINDOW <w> ON <stream> [RANGE PT10S STEP PT1S]"
_GRAPH_HINT = f"FROM <graph>, FROM NAMED <graph>, {_STREAM_HINT} or {_WINDOW_HINT}"
_UPDATES = ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY")
_PARTITION_HINT = "PARTITION BY GRAPH or PARTITION BY <property>"
_OUTER = ("REGISTER", "FROM", "PARTITION", "PREFIX", "BASE")


@dataclass(frozen=True, slots=True)
class Registration:
    """`REGISTER how name EVERY every_ms AS`."""

    how: Token
    name: Token
    every_ms: int | None


@dataclass(frozen=True, slots=True)
class WindowClause:
    """`FROM STREAM` or `FROM NAMED WINDOW`; the stream of `FROM NAMED STREAM` is also the name."""

    stream: Token
    name: Token | None
    spec: WindowSpec | EventClause


@dataclass(frozen=True, slots=True)
class GraphClause:
    """`FROM <graph>` or `FROM NAMED <graph>`."""

    graph: Token
    named: bool


@dataclass(frozen=True, slots=True)
class PartitionClause:
    """`PARTITION BY by`: the word GRAPH, or the name of a property."""

    word: Token
    by: Token


@dataclass(frozen=True, slots=True)
class GraphPattern:
    """`GRAPH term { }` or `WINDOW term { }` inside the query."""

    word: Token
    term: Token


@dataclass(frozen=True, slots=True)
class Mark:
    """A clause that only one of the two languages has, and a token of it."""

    language: str
    clause: str
    token: Token


@dataclass(slots=True)
class Outline:
    """What the outer layer says. `ours` are the tokens that no SPARQL parser may see."""

    names: Names
    form: Token | None = None
    registration: Registration | None = None
    windows: list[WindowClause] = field(default_factory=list)
    graphs: list[GraphClause] = field(default_factory=list)
    partition: PartitionClause | None = None
    patterns: list[GraphPattern] = field(default_factory=list)
    ours: set[Token] = field(default_factory=set)
    marks: list[Mark] = field(default_factory=list)

    def first_form(self) -> Token:
        """The word that says what an answer is; `outline` has made sure that there is one."""
        assert self.form is not None
        return self.form


def outline(cursor: Cursor) -> Outline:
    """Go through the tokens of a query once.

    >>> from ensue.rules.lexer import Source
    >>> text = "REGISTER QUERY q AS SELECT * FROM STREAM <urn:s> [RANGE 1s TUMBLING] { ?s ?p 'FROM' }"
    >>> found = outline(Cursor(Source(text, "q.rq")))
    >>> found.registration.name.text, found.form.text, found.windows[0].stream.text
    ('q', 'SELECT', '<urn:s>')
    """
    found = Outline(Names(cursor.source))
    opened: list[Token] = []
    while cursor.token.kind != "end":
        first, start = cursor.token, cursor.at
        if not first.is_word(*_OUTER):
            _inner_token(cursor, found, opened)
            continue
        _outer_clause(cursor, found, opened)
        if not first.is_word("PREFIX", "BASE"):
            found.ours.update(cursor.tokens[start : cursor.at])
    if opened:
        hint = f"write '{closing(opened[-1])}' where it ends"
        raise cursor.error(f"'{opened[-1].text}' is never closed", opened[-1], hint)
    if found.form is None:
        raise cursor.unexpected("SELECT, ASK, CONSTRUCT or DESCRIBE", "what is the query to answer?")
    return found


def _outer_clause(cursor: Cursor, found: Outline, opened: list[Token]) -> None:
    token = cursor.token
    word = token.text.upper()
    if opened:
        raise cursor.error(f"{word} cannot be inside brackets", token, "write it before the WHERE part")
    if word not in ("FROM", "PARTITION") and found.form is not None:
        what = f"{word} comes too late"
        raise cursor.error(what, token, f"write it before {found.form.text.upper()}")
    match word:
        case "REGISTER":
            _register(cursor, found)
        case "FROM":
            _from(cursor, found)
        case "PARTITION":
            _partition(cursor, found)
        case _:
            _declaration(cursor, found.names)


def _inner_token(cursor: Cursor, found: Outline, opened: list[Token]) -> None:
    token = cursor.token
    if token.kind == "op":
        if token.text in "\"'":
            raise cursor.error("this text is never closed", token, f"write {token.text} where it ends")
        follow_brackets(cursor.source, token, opened, "query")
    elif token.is_word("GRAPH", "WINDOW"):
        _graph_pattern(cursor, found, opened)
    elif token.is_word("SERVICE"):
        what, hint = (
            "SERVICE is refused",
            "a query asks no other server, so that it is safe to run: load the data",
        )
        raise QueryError(what, place=cursor.source.place(token.start), hint=hint)
    elif token.is_word(*_UPDATES):
        what = f"{token.text.upper()} is an update, not a query"
        hint = "to derive facts, write a rule; updates are for rule networks: a file *.ru, ensue.NetworkRun"
        raise QueryError(what, place=cursor.source.place(token.start), hint=hint)
    elif not opened and found.form is None:
        if not token.is_word(*Form):
            raise _no_clause(cursor)
        found.form = token
    cursor.take()


def _no_clause(cursor: Cursor) -> QuerySyntaxError:
    close = did_you_mean(cursor.token.text.upper(), [*_OUTER, *Form])
    hint = close or f"{_REGISTER_HINT}; then SELECT, ASK, CONSTRUCT or DESCRIBE"
    return cursor.error(f"no clause begins with '{cursor.token.text[:40]}'", cursor.token, hint)


def _graph_pattern(cursor: Cursor, found: Outline, opened: list[Token]) -> None:
    """Leaves the cursor on GRAPH or WINDOW."""
    word, term = cursor.token, cursor.ahead(1)
    if term.kind not in ("iri", "pname", "var"):
        cursor.take()
        raise cursor.unexpected("an IRI or a variable", f"{word.text.upper()} <name> {{ }}")
    if not opened:
        hint = f"declare a window with {_WINDOW_HINT}; patterns are inside {{ }}"
        raise cursor.error(f"{word.text.upper()} cannot be outside the WHERE part", word, hint)
    if word.is_word("WINDOW"):
        found.marks.append(Mark(RSPQL, "WINDOW { }", word))
    found.patterns.append(GraphPattern(word, term))


def _register(cursor: Cursor, found: Outline) -> None:
    register = cursor.take()
    if found.registration is not None:
        raise cursor.error("a query is registered once", register, "one query per text")
    how = cursor.token
    if not how.is_word("QUERY", "STREAM", *Relation):
        close = how.kind == "word" and did_you_mean(how.text.upper(), ["QUERY", "STREAM", *Relation])
        raise cursor.unexpected("QUERY, STREAM, RSTREAM, ISTREAM or DSTREAM", close or _REGISTER_HINT)
    cursor.take()
    language = RSPQL if how.is_word(*Relation) else CSPARQL
    found.marks.append(Mark(language, f"REGISTER {how.text.upper()}", how))
    name = _name(cursor)
    every = None
    if cursor.token.is_word("COMPUTE", "COMPUTED", "EVERY"):
        found.marks.append(Mark(CSPARQL, "EVERY", cursor.token))
        cursor.skip_word("COMPUTE", "COMPUTED")
        cursor.expect("EVERY", "COMPUTED EVERY 1s")
        every = time_span(cursor)
    cursor.expect("AS", f"AS ends the registration: {_REGISTER_HINT}")
    found.registration = Registration(how, name, every)


def _name(cursor: Cursor) -> Token:
    """The name of the query. A keyword is a name too, unless the registration goes on behind it."""
    token, then = cursor.token, cursor.ahead(1)
    every = token.is_word("EVERY") and then.kind == "number"
    computed = token.is_word("COMPUTE", "COMPUTED") and then.is_word("EVERY")
    if every or computed or token.is_word("AS") or token.kind not in ("word", "iri", "pname"):
        raise cursor.unexpected("the name of the query", _REGISTER_HINT)
    return cursor.take_run("-.") if token.kind == "word" else cursor.take()


def _declaration(cursor: Cursor, names: Names) -> None:
    if cursor.take().is_word("BASE"):
        names.base = names.iri(cursor.expect_iri("an IRI", "such as BASE <http://example.org/>"))
        return
    prefix, hint = cursor.token, "such as PREFIX ex: <http://example.org/>"
    if prefix.kind != "pname" or prefix.text.index(":") != len(prefix.text) - 1:
        raise cursor.unexpected("a prefix and its colon", hint)
    cursor.take()
    if cursor.token.kind != "iri":
        raise cursor.unexpected("an IRI in < >", hint)
    names.prefixes[prefix.text[:-1]] = names.iri(cursor.take())


def _from(cursor: Cursor, found: Outline) -> None:
    cursor.take()
    named = cursor.skip_word("NAMED")
    word = cursor.token
    if word.is_word("STREAM"):
        cursor.take()
        found.marks.append(Mark(CSPARQL, "FROM STREAM", word))
        stream = cursor.expect_iri("the IRI of a stream", _STREAM_HINT)
        found.windows.append(WindowClause(stream, stream if named else None, window_spec(cursor)))
    elif word.is_word("WINDOW"):
        if not named:
            raise cursor.unexpected("NAMED", _WINDOW_HINT)
        cursor.take()
        found.marks.append(Mark(RSPQL, "FROM NAMED WINDOW", word))
        window = cursor.expect_iri("the name of the window", _WINDOW_HINT)
        cursor.expect("ON", _WINDOW_HINT)
        stream = cursor.expect_iri("the IRI of a stream", _WINDOW_HINT)
        found.windows.append(WindowClause(stream, window, window_spec(cursor)))
    else:
        graph = cursor.expect_iri("the IRI of a graph, STREAM or WINDOW", _from_hint(word))
        found.graphs.append(GraphClause(graph, named))
        if cursor.token.is_op("["):
            raise cursor.error("a graph has no window", cursor.token, f"for a stream: {_STREAM_HINT}")


def _partition(cursor: Cursor, found: Outline) -> None:
    word = cursor.take()
    if found.partition is not None:
        raise cursor.error("a query is partitioned once", word, "one key has to do")
    cursor.expect("BY", _PARTITION_HINT)
    by = cursor.token
    if by.is_word("GRAPH"):
        cursor.take()
    else:
        close = did_you_mean(by.text.upper(), ["GRAPH"]) if by.kind == "word" else None
        by = cursor.expect_iri("GRAPH or the IRI of a property", close or _PARTITION_HINT)
    found.partition = PartitionClause(word, by)


def _from_hint(word: Token) -> str:
    close = did_you_mean(word.text.upper(), ["STREAM", "NAMED", "WINDOW"]) if word.kind == "word" else None
    return close or _GRAPH_HINT
