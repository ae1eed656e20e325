"""Continuous queries in C-SPARQL and RSP-QL, read into one tree.

Only the outer layer is ours: which streams, through which windows, when, and what happens to the
answers. `language_clauses.py` finds it among the tokens; what is left is SPARQL and goes to rdflib
(`language_sparql.py`); here the two are put together and checked against each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from pyoxigraph import NamedNode

from ensue.errors import QueryError, QuerySyntaxError, did_you_mean
from ensue.query.algebra import uses_timestamps
from ensue.query.language_clauses import CSPARQL, RSPQL, GraphPattern, Outline, WindowClause, outline
from ensue.query.language_cursor import Cursor
from ensue.query.language_events import find_events
from ensue.query.language_markers import EventClause, event_window
from ensue.query.language_select import written_out
from ensue.query.language_sparql import Inner, algebra, as_sparql, inner
from ensue.query.tree import ContinuousQuery, Form, Kind, Partition, Relation, StreamWindow
from ensue.rules.lexer import Source, Token
from ensue.rules.textlimits import check_limits

DEFAULT_BASE = "file:///"
"""What relative IRIs in a query without BASE are relative to. Streams are not: `<s>` is the stream `s`."""


def parse_query(text: str, file: str = "<text>", name: str = "query") -> ContinuousQuery:
    """The continuous query that a text is; `name` is for a text without REGISTER.

    >>> query = parse_query("SELECT ?s FROM STREAM <urn:s> [RANGE 10s STEP 1s] WHERE { ?s a ?c }")
    >>> query.name, str(query.form), query.streams[0].stream, query.streams[0].spec.range_ms
    ('query', 'SELECT', 'urn:s', 10000)
    """
    return _parse(text, file, name)


# A shard that is built anew registers the same queries again, and most of that time would go to the grammar.
@lru_cache(maxsize=256)
def _parse(text: str, file: str, name: str) -> ContinuousQuery:
    source = Source(text, file, QuerySyntaxError)
    cursor = Cursor(source)
    found = outline(cursor)
    check_limits(source, (token for token in cursor.tokens if token not in found.ours), "query")
    base = found.names.base or DEFAULT_BASE
    _check_languages(source, found)
    _check_stream_form(source, found)
    streams = tuple(_streams(source, found))
    default, named = (tuple(dict.fromkeys(_graphs(found, named))) for named in (False, True))
    _check_graph_names(source, found, {window.name for window in streams if window.name})
    _check_terms(source, found, [token for token in cursor.tokens if token not in found.ours])
    temporal = find_events(cursor, found, base)
    rest = temporal.rest if temporal else _sparql(source, cursor.tokens, found.ours)
    form = Form(found.first_form().text.upper())
    query = ContinuousQuery(
        name=_name(found, name),
        kind=_kind(found, form),
        form=form,
        streams=streams,
        relation=_relation(found),
        every_ms=found.registration.every_ms if found.registration else None,
        default_graphs=default,
        named_graphs=named,
        window_variables=frozenset(_variables(found, "WINDOW")),
        sparql=rest.text,
        base=base,
        prefixes=dict(found.names.prefixes),
        algebra=algebra(rest, found.names.prefixes, base),
        text=source.text,
        place=source.place(cursor.tokens[0].start),
        partition=_partition(source, found),
        events=temporal.events if temporal else None,
    )
    _check_within_events(query)
    return query


def _sparql(source: Source, tokens: list[Token], ours: set[Token]) -> Inner:
    left = [token for token in tokens if token not in ours]
    return inner(source, tokens, ours, replaced=written_out(source, left, as_sparql))


def _name(found: Outline, name: str) -> str:
    if found.registration is None:
        return name
    token = found.registration.name
    return token.text if token.kind == "word" else found.names.iri(token, relative=True)


def _kind(found: Outline, form: Form) -> Kind:
    """In RSP-QL every answer goes to a stream, but only triples are something that queries can read."""
    if found.registration is None or found.registration.how.is_word("QUERY"):
        return Kind.QUERY
    return Kind.STREAM if form is Form.CONSTRUCT else Kind.QUERY


def _relation(found: Outline) -> Relation | None:
    if found.registration is not None and found.registration.how.is_word(*Relation):
        return Relation(found.registration.how.text.upper())
    # RSP-QL without REGISTER: all answers, as RSTREAM has it.
    return Relation.RSTREAM if found.marks[0].language == RSPQL else None


def _check_languages(source: Source, found: Outline) -> None:
    for mark in found.marks:
        first = found.marks[0].language
        if mark.language != first:
            what = f"{mark.clause} is {mark.language}, but the query began in {first}"
            hints = {
                CSPARQL: "in C-SPARQL: REGISTER QUERY name AS ... FROM STREAM <iri> [...]",
                RSPQL: "in RSP-QL: REGISTER RSTREAM <name> AS ... FROM NAMED WINDOW <w> ON <iri> [...]",
            }
            raise QueryError(what, place=source.place(mark.token.start), hint=hints[first])
    if not found.windows:
        what, hint = "this query reads no stream", "add FROM STREAM <iri> [RANGE 10s STEP 1s]"
        raise QueryError(what, place=source.place(found.first_form().start), hint=hint)


def _check_stream_form(source: Source, found: Outline) -> None:
    form = found.first_form()
    registered = found.registration is not None and found.registration.how.is_word("STREAM")
    if registered and not form.is_word("CONSTRUCT"):
        what, hint = f"{form.text.upper()} yields no stream", "a stream needs CONSTRUCT; or REGISTER QUERY"
        raise QueryError(what, place=source.place(form.start), hint=hint)


def _streams(source: Source, found: Outline) -> Iterator[StreamWindow]:
    """The windows, each once: two on one stream are told apart by their names, or not at all."""
    seen: dict[tuple[str, str], Token] = {}
    for clause in found.windows:
        window = _window(source, found, clause)
        key = ("window", window.name) if window.name is not None else ("stream", window.stream)
        token = clause.name or clause.stream
        if key in seen:
            first = source.place(seen[key].start)
            what = f"the {key[0]} {token.text[:80]} is there twice, first at line {first.line}"
            hint = "keep the longer one, or give each window a name of its own"
            raise QueryError(what, place=source.place(token.start), hint=hint)
        seen[key] = token
        yield window


def _window(source: Source, found: Outline, clause: WindowClause) -> StreamWindow:
    name = _term(found, clause.name) if clause.name else None
    place = source.place(clause.stream.start)
    spec = clause.spec
    if isinstance(spec, EventClause):
        _check_events(source, found, spec)
        spec = event_window(source, found.names, spec, found.names.base or DEFAULT_BASE)
    return StreamWindow(found.names.iri(clause.stream, relative=True), spec, name, place)


def _check_events(source: Source, found: Outline, clause: EventClause) -> None:
    """A query over events is about one event at a time, and answered when that has ended."""
    what = None
    if len(found.windows) > 1:
        what, hint = (
            "an event is read alone",
            "one FROM STREAM; what else there is, as background: FROM <graph>",
        )
    elif found.registration is not None and found.registration.every_ms is not None:
        what, hint = "a query over events is answered as they end", "leave EVERY out"
    elif found.partition is not None:
        what, hint = "an event has no partitions", "leave PARTITION BY out, or take [EVENT GRAPH]"
    if what is not None:
        raise QueryError(what, place=source.place(clause.word.start), hint=hint)


def _check_within_events(query: ContinuousQuery) -> None:
    """Within an event there is no time: it is looked at once, when all of it is there."""
    if query.event_window is None:
        return
    what = None
    if query.events is not None:
        what, hint = "temporal operators need windows of time", "such as [RANGE 10 min STEP 1 min]"
    elif uses_timestamps(query):
        what, hint = "f:timestamp asks for times, and a stamp here is the number of an event", "leave it out"
    if what is not None:
        raise QueryError(what, place=query.streams[0].place, hint=hint)


def _term(found: Outline, token: Token) -> str:
    """The IRI that a token is in the SPARQL inside, where all IRIs are absolute."""
    return replace(found.names, base=found.names.base or DEFAULT_BASE).iri(token)


def _graphs(found: Outline, named: bool) -> Iterator[str]:
    return (_term(found, clause.graph) for clause in found.graphs if clause.named == named)


def _partition(source: Source, found: Outline) -> Partition | None:
    if found.partition is None:
        return None
    by = found.partition.by
    if by.is_word("GRAPH"):
        return Partition()
    _check_iri(source, found, by)
    return Partition(_term(found, by))


def _variables(found: Outline, word: str) -> set[str]:
    return {p.term.text[1:] for p in found.patterns if p.word.is_word(word) and p.term.kind == "var"}


def _check_graph_names(source: Source, found: Outline, windows: set[str]) -> None:
    """A name is a window's or a graph's, and each is read by its own keyword."""
    for clause in found.graphs:
        if clause.named and _term(found, clause.graph) in windows:
            what, hint = f"{clause.graph.text[:80]} is a window too", "give the window another name"
            raise QueryError(what, place=source.place(clause.graph.start), hint=hint)
    both = _variables(found, "WINDOW") & _variables(found, "GRAPH")
    for pattern in found.patterns:
        problem = _pattern_problem(found, pattern, windows, both)
        if problem is not None:
            what, hint = problem
            raise QueryError(what, place=source.place(pattern.term.start), hint=hint)


def _pattern_problem(
    found: Outline, pattern: GraphPattern, windows: set[str], both: set[str]
) -> tuple[str, str] | None:
    shown = pattern.term.text[:80]
    if pattern.term.kind == "var":
        if pattern.word.is_word("WINDOW") and pattern.term.text[1:] in both:
            return f"{shown} is a window here and a graph elsewhere", "take two variables: no name is both"
        return None
    name = _term(found, pattern.term)
    if pattern.word.is_word("WINDOW") and name not in windows:
        close = did_you_mean(name, sorted(windows))
        hint = close or f"add FROM NAMED WINDOW {shown} ON <stream> [RANGE PT10S STEP PT1S]"
        return f"no window {shown} is declared", hint
    if pattern.word.is_word("GRAPH") and name in windows and found.marks[0].language == RSPQL:
        return f"{shown} is a window, not a graph", f"write WINDOW {shown}"
    return None


def _check_terms(source: Source, found: Outline, tokens: list[Token]) -> None:
    """Find what stands for no term: the parsers behind this one would, too, but not say where it is."""
    declared = False
    for token in tokens:
        if token.kind == "string":
            found.names.literal(token)
        elif token.kind in ("iri", "pname") and not declared:
            _check_iri(source, found, token)
        declared = token.is_word("PREFIX")


def _check_iri(source: Source, found: Outline, token: Token) -> None:
    try:
        NamedNode(_term(found, token))
    except ValueError as problem:
        what = f"{token.text[:80]} is no IRI: {problem}"
        hint = "write the whole IRI, with %20 and the like for odd characters"
        raise QuerySyntaxError(what, place=source.place(token.start), hint=hint) from problem
