"""What events are, and what follows in each, by loops over plain tuples: the oracle for event contexts."""

from __future__ import annotations

IN, TYPE, SUB = "<urn:in>", "<urn:type>", "<urn:sub>"

RULES = f"""
[within: (?x {IN} ?y), (?y {IN} ?z) -> (?x {IN} ?z)]
[above: (?c {SUB} ?d), (?x {TYPE} ?c) -> (?x {TYPE} ?d)]
"""


def in_order(arrivals, disorder):
    """Arrivals (time, s, p, o, graph) in order of (time, arrival), without late ones; and how many were."""
    newest, kept, late = None, [], 0
    for statement in arrivals:
        if newest is not None and statement[0] < newest - disorder:
            late += 1
        else:
            kept.append(statement)
        newest = statement[0] if newest is None else max(newest, statement[0])
    return sorted(kept, key=lambda statement: statement[0]), late


def matches(marker, statement):
    """Whether a statement matches a triple pattern."""
    values = {}
    for slot, term in zip(marker, statement[1:4], strict=True):
        if not slot.startswith("?"):
            if slot != term:
                return False
        elif values.setdefault(slot, term) != term:
            return False
    return True


def split(stream, starts, ends):
    """The events of a stream in order, as lists of statements, and how many statements are in none."""
    if starts is None and ends is None:
        names = sorted({(time, graph or "") for time, _, _, _, graph in stream})
        return [[each for each in stream if (each[0], each[4] or "") == name] for name in names], 0
    events, is_open, outside = [], False, 0
    for statement in stream:
        begins = starts is not None and matches(starts, statement)
        if begins or (not is_open and (starts is None or (ends is None and not events))):
            events.append([])
            is_open = True
        if is_open:
            events[-1].append(statement)
        else:
            outside += 1
        if ends is not None and matches(ends, statement):
            is_open = False
    return events, outside


def switch(stream, starts, ends, until):
    """What of a stream is background, and the rest."""
    if until is None:
        return [], stream
    match = next((k for k, each in enumerate(stream) if matches(until, each)), None)
    if match is None:
        return stream, []
    if starts is None and ends is None:
        cut = next(k for k, each in enumerate(stream) if each[0] == stream[match][0])
        return stream[:cut], stream[cut:]
    events, _ = split(stream[: match + 1], starts, ends)
    inside = events and events[-1][-1] is stream[match]
    cut = match + 1 - len(events[-1]) if inside else match
    return stream[:cut], stream[cut:]


def closed(statements):
    """What follows under `RULES`, naively."""
    facts = {statement[1:4] for statement in statements}
    while True:
        found = {(x, IN, z) for x, p, y in facts if p == IN for v, q, z in facts if q == IN and v == y}
        found |= {(x, TYPE, d) for c, p, d in facts if p == SUB for x, q, e in facts if q == TYPE and e == c}
        if found <= facts:
            return facts
        facts |= found


QUERIES = {
    "SELECT ?x ?y { ?x <urn:in> ?y }": lambda facts: sorted((s, o) for s, p, o in facts if p == IN),
    "SELECT ?x ?c { ?x <urn:in> ?y ; <urn:type> ?c }": lambda facts: sorted(
        (s, c) for s, p, _ in facts if p == IN for x, q, c in facts if q == TYPE and x == s
    ),
    "SELECT ?x { ?x <urn:type> ?c MINUS { ?x <urn:in> ?y } }": lambda facts: sorted(
        (s,) for s, p, _ in facts if p == TYPE and not any(x == s and q == IN for x, q, _ in facts)
    ),
    "SELECT (COUNT(*) AS ?n) { ?x <urn:in> ?y }": lambda facts: [
        (f'"{sum(p == IN for _, p, _ in facts)}"^^<http://www.w3.org/2001/XMLSchema#integer>',)
    ],
    "ASK { ?x <urn:in> <urn:t0> }": lambda facts: [()] * any((p, o) == (IN, "<urn:t0>") for _, p, o in facts),
    "CONSTRUCT { ?y <urn:holds> ?x } { ?x <urn:in> ?y }": lambda facts: sorted(
        (o, "<urn:holds>", s) for s, p, o in facts if p == IN
    ),
}
"""Queries, and what each answers over closed facts."""


def answered(arrivals, disorder, window, query, background):
    """All results in order (first time, last time, sorted rows); how many are in no event, and late."""
    starts, ends, until = window
    stream, late = in_order(arrivals, disorder)
    brought, rest = switch(stream, starts, ends, until)
    events, outside = split(rest, starts, ends)
    still = [(0, *statement, None) for statement in background] + brought
    answer = QUERIES[query]
    return [(e[0][0], e[-1][0], answer(closed(still + e))) for e in events], outside, late
