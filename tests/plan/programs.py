"""Random programs around one variable: rules, a stream, and a query of many forms, stars and chains.

A star is about ?x, a chain of two patterns about the ?y in its middle. Some programs cannot be divided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from plan.stars import KEYED, LINKS, NOT_KEYED, make_star, statement, where_about
from plan.support import PREFIXES, rules_of
from query.equivalence.cases import Case, End, Push, Register

from ensue.terms import XSD, literal

NUMBERS = tuple(
    literal(text, datatype=XSD + kind)
    for text, kind in (("0.1", "double"), ("1e16", "double"), ("-1e16", "double"), ("0.3", "double"))
) + tuple(literal(text, datatype=XSD + kind) for text, kind in (("1", "integer"), ("1.0", "decimal")))

HEADS = {
    "with the key": (("SELECT *", ""), ("SELECT ?x ?y", ""), ("SELECT DISTINCT ?x ?y", "")),
    "without the key": (("SELECT ?z", ""), ("SELECT REDUCED ?z", ""), ("SELECT (STR(?z) AS ?s)", "")),
    "distinct": (("SELECT DISTINCT ?z", ""), ("SELECT DISTINCT (STR(?z) AS ?s) ?w", "")),
    "ask": (("ASK", ""),),
    "order": (
        ("SELECT ?x ?y ?z", " ORDER BY ?z DESC(?y) ?x"),
        ("SELECT DISTINCT ?z", " ORDER BY DESC(?z)"),
    ),
    "limit": (
        ("SELECT ?x ?y ?z", " ORDER BY ?z LIMIT 3"),
        ("SELECT ?z", " ORDER BY DESC(?z) LIMIT 3 OFFSET 1"),
        ("SELECT ?z ?y", " LIMIT 2"),
        ("SELECT DISTINCT ?z", " LIMIT 2 OFFSET 1"),
        ("SELECT DISTINCT ?z", " ORDER BY ?y LIMIT 2"),
    ),
    "count": (
        ("SELECT (COUNT(*) AS ?n)", ""),
        ("SELECT (COUNT(DISTINCT *) AS ?n)", ""),
        ("SELECT (COUNT(DISTINCT ?z) AS ?n) (COUNT(?w) AS ?m)", ""),
        ("SELECT (COUNT(*) AS ?n)", " HAVING(COUNT(*) > 3)"),
    ),
    "groups": (
        ("SELECT ?z (COUNT(*) AS ?n)", " GROUP BY ?z"),
        ("SELECT ?z (COUNT(DISTINCT ?x) AS ?n)", " GROUP BY ?z HAVING(COUNT(*) > 1) ORDER BY DESC(?n) ?z"),
        ("SELECT (COUNT(*) + 1 AS ?n)", " GROUP BY (STR(?z))"),
        ("SELECT ?z (SUM(?y) AS ?n)", " GROUP BY ?z ORDER BY ?z LIMIT 2"),
    ),
    "numbers": (
        ("SELECT (SUM(?z) AS ?n) (AVG(?z) AS ?m)", ""),
        ("SELECT (MIN(?z) AS ?n) (MAX(?z) AS ?m)", ""),
        ("SELECT (SUM(?z) AS ?n) (MIN(?y) AS ?m)", " GROUP BY ?w"),
    ),
    "groups by the key": (
        ("SELECT {key} (COUNT(*) AS ?n)", " GROUP BY {key}"),
        ("SELECT (COUNT(*) AS ?n)", " GROUP BY {key}"),
        ("SELECT (MAX(?z) AS ?n)", " GROUP BY {key} HAVING(COUNT(*) > 1) ORDER BY {key} LIMIT 2"),
    ),
    "construct": (
        ("CONSTRUCT {{ ?x :made ?y }}", ""),
        ("CONSTRUCT {{ ?z :made ?y . :a :of ?z }}", ""),
        ("CONSTRUCT {{ ?y :made [ :of ?z ] }}", ""),
        ("CONSTRUCT {{ ?y :made ?z }}", " ORDER BY ?y LIMIT 2"),
    ),
    "by chance": (("SELECT (SAMPLE(?y) AS ?n)", ""), ("SELECT (GROUP_CONCAT(STR(?y)) AS ?n)", "")),
}
"""Heads and tails of queries, by kind; those of the last kind cannot be divided."""


@dataclass(frozen=True)
class Program:
    """A case with one query, and what kind of query that is."""

    case: Case
    kind: str
    relation: str | None
    is_chain: bool


def make_program(seed: int) -> Program:
    """The program of a seed."""
    random = Random(f"program {seed}")
    star = make_star(seed)
    streams = list(star.allowed)
    kind = random.choice(list(HEADS))
    is_chain = random.random() < 0.4
    relation = random.choice((None, "RSTREAM", "ISTREAM", "ISTREAM", "DSTREAM", "DSTREAM"))
    where = _chain(random) if is_chain else where_about(random)
    head, tail = (part.format(key="?y" if is_chain else "?x") for part in random.choice(HEADS[kind]))
    text = _text(random, head, where, tail, streams, relation)
    pushes = [_with_numbers(random, action) for action in star.actions if isinstance(action, Push)]
    # What is known anyway is known in every shard, and answers that rest on it alone are to be given once.
    known = (*star.background, *(statement(random) for _ in range(random.choice((0, 4, 8)))))
    case = replace(star, rules=_rules(random), background=known, actions=(Register(text), *pushes, End()))
    return Program(case, kind, relation, is_chain)


def _text(random: Random, head: str, where: str, tail: str, streams: list[str], relation: str | None) -> str:
    prefixes = PREFIXES.replace("@prefix", "PREFIX").replace("> . ", "> ")
    window = f"[RANGE {random.choice((9, 15, 25))}ms STEP {random.choice((3, 5))}ms]"
    if relation is None:
        clauses = " ".join(f"FROM STREAM <{stream}> {window}" for stream in streams)
        kind = "STREAM" if head.startswith("CONSTRUCT") else "QUERY"
        return f"{prefixes} REGISTER {kind} <urn:q> AS {head} {clauses} WHERE {{ {where} }}{tail}"
    clauses = " ".join(
        f"FROM NAMED WINDOW <urn:w{at}> ON <{stream}> {window}" for at, stream in enumerate(streams)
    )
    # One pattern in one window: a fact of one window is none of another.
    inside = f"WINDOW <urn:w{random.randrange(len(streams))}> {{ {where} }}"
    return f"{prefixes} REGISTER {relation} <urn:q> AS {head} {clauses} WHERE {{ {inside} }}{tail}"


def _chain(random: Random) -> str:
    """Two patterns that meet in ?y, and what else may be said about it."""
    p, q, r = random.choices(LINKS[: random.choice((1, 2, 3))], k=3)
    more = ("", "", f"OPTIONAL {{ ?y {r} ?w }}", f"MINUS {{ ?y {r} ?w }}", f"FILTER EXISTS {{ ?y {r} ?w }}")
    more += (
        f"FILTER NOT EXISTS {{ ?w {r} ?y }}",
        "FILTER(?x != ?z)",
        f"{{ ?y {r} ?w }} UNION {{ ?w {r} ?y }}",
    )
    return f"?x {p} ?y . ?y {q} ?z . {random.choice(more)}"


def _with_numbers(random: Random, push: Push) -> Push:
    """Some objects are numbers, of kinds whose sums depend on the order."""
    rows = (
        (time, (*s[:2], random.choice(NUMBERS)) if random.random() < 0.2 and "#type" not in s[1] else s)
        for time, s in push.rows
    )
    return replace(push, rows=tuple(rows))


def _rules(random: Random):
    texts = random.choices(KEYED, k=random.choice((0, 0, 1, 2, 3)))
    if random.random() < 0.1:
        texts.append(random.choice(NOT_KEYED))
    names = {name: random.choice(LINKS) for name in "pqr"} | dict.fromkeys("CDE", ":C")
    return rules_of("\n".join(f"[r{at}: {text.format(**names)}]" for at, text in enumerate(texts)))
