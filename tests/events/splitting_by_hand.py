"""What events are, and what follows in each, by loops over plain tuples: the oracle for event contexts."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

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


def matches(triples, statements):
    """Whether statements, one for each triple pattern, match all of them together."""
    values = {}
    for triple, statement in zip(triples, statements, strict=True):
        for slot, term in zip(triple, statement[1:4], strict=True):
            if (values.setdefault(slot, term) if slot.startswith("?") else slot) != term:
                return False
    return True


def marked(stream, triples):
    """For each statement whether all of a pattern has come with it, since that was so last."""
    found, seen = [], []
    for statement in stream if triples else ():
        seen.append(statement)
        found.append(any(matches(triples, some) for some in product(seen, repeat=len(triples))))
        if found[-1]:
            seen = []
    return found or [False] * len(stream)


class Window(NamedTuple):
    """An event window: its markers, as lists of triples or None."""

    starts: Any = None
    ends: Any = None
    until: Any = None
    again: Any = None
    anew: bool = False
    background_first: bool = True

    @property
    def by_element(self):
        return self.starts is None and self.ends is None


def split(stream, window, begin=0, end=None):
    """The events of a stream between two statements, as lists; and how many statements are in none."""
    starts, ends = window.starts, window.ends
    if window.by_element:
        part = stream[begin:end]
        names = sorted({(time, graph or "") for time, _, _, _, graph in part})
        return [[each for each in part if (each[0], each[4] or "") == name] for name in names], 0
    events, is_open, outside = [], False, 0
    marks = list(zip(stream, marked(stream, starts), marked(stream, ends), strict=True))
    for statement, begins, is_last in marks[begin:end]:
        if begins or (not is_open and (starts is None or (ends is None and not events))):
            events.append([])
            is_open = True
        if is_open:
            events[-1].append(statement)
        else:
            outside += 1
        is_open = is_open and not is_last
    return events, outside


def first_mark(stream, triples, begin):
    """Where all of a pattern has come for the first time from some statement on; None: nowhere."""
    found = marked(stream[begin:], triples)
    return begin + found.index(True) if True in found else None


def at_one_time(stream, row):
    """From which statement to before which one they have the time of one."""
    times = [each[0] for each in stream]
    return times.index(times[row]), len(times) - times[::-1].index(times[row])


def background_ends(stream, window, begin, match, again):
    """Before which statement the background ends that began with one, and that a match ends."""
    if window.by_element:
        return at_one_time(stream, match)[0]
    events, _ = split(stream, window, begin, match + 1)
    inside = events and events[-1][-1] is stream[match]
    if not inside or (again and events[-1][0] is stream[begin]):
        return match + 1
    return match + 1 - len(events[-1])


def stretches(stream, window):
    """The stretches of a stream, one after the other: whether it is background, its first, and its end."""
    loading = window.until is not None and window.background_first
    found, begin, behind = [], 0, 0
    while begin < len(stream):
        match = first_mark(stream, window.until if loading else window.again, behind)
        if match is None:
            return [*found, (loading, begin, len(stream))]
        end, behind = match, match + 1
        if window.by_element:
            end, behind = at_one_time(stream, match)
        if loading:
            end = background_ends(stream, window, begin, match, again=bool(found))
        found.append((loading, begin, end))
        begin, loading = end, not loading
    return found


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
    stream, late = in_order(arrivals, disorder)
    still = [(0, *statement, None) for statement in background]
    results, brought, outside = [], [], 0
    for is_background, begin, end in stretches(stream, window):
        if is_background:
            brought = ([] if window.anew else brought) + stream[begin:end]
            continue
        events, none = split(stream, window, begin, end)
        facts = [(e[0][0], e[-1][0], QUERIES[query](closed(still + brought + e))) for e in events]
        results, outside = results + facts, outside + none
    return results, outside, late
