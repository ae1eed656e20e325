"""Random jobs around one variable: star queries, and rules most of which keep what they say about a thing.

A case is one of those that compare engines. Some of what is drawn cannot be divided, so that refusing is
tested as well.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from plan.support import PREFIXES, rules_of
from query.equivalence.cases import Case, End, Push, Register, Statement

from ensue.plan.schema import SUB_CLASS, SUB_PROPERTY, TYPE
from ensue.rules.tree import RuleSet

LINKS = (":p", ":q", ":r")
CLASSES = (":C", ":D", ":E")
THINGS = tuple(f"<urn:{letter}>" for letter in "abcdefgh")
VALUES = (*THINGS[:4], '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', '"x"')

KEYED = (
    "(?x {p} ?y) -> (?x {q} ?y)",
    "(?x {p} ?y) -> (?y {q} ?x)",
    "(?x {p} ?y) -> (?x rdf:type {C})",
    "(?x {p} ?y), notLiteral(?y) -> (?y rdf:type {C})",
    "(?x {p} ?y), (?x {q} ?z) -> (?x {r} ?y)",
    "(?x {p} ?y), (?x rdf:type {C}) -> (?x rdf:type {D})",
    "(?x {p} ?y), (?p2 rdfs:subPropertyOf {q}), (?x ?p2 ?z) -> (?x {r} ?z)",
    "(?x ?l ?y), (?l rdfs:subPropertyOf ?m) -> (?x ?m ?y)",
    "(?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)",
)
NOT_KEYED = (
    "(?x {p} ?y), (?y {p} ?z) -> (?x {p} ?z)",
    "(?x {p} ?y), (?y {q} ?z) -> (?x {r} ?z)",
    "(?x {p} ?y) -> (:a {q} ?x)",
)


def make_star(seed: int, where: Callable[[Random], str] | None = None) -> Case:
    """The case of a seed; `where` makes patterns instead of `where_about`."""
    random, where = Random(f"star {seed}"), where or where_about
    streams = ("urn:s", "urn:t")[: random.choice((1, 1, 2))]
    actions: list[Register | Push | End] = [
        Register(_query(random, f"urn:q{number}", streams, where))
        for number in range(random.choice((1, 1, 2)))
    ]
    for stream in streams:
        if not any(f"<{stream}>" in action.text for action in actions):
            actions.append(Register(_query(random, f"urn:also:{stream}", (stream,), where)))
    pool = [statement(random) for _ in range(30)]
    times = dict.fromkeys(streams, 0)
    for _ in range(random.randint(10, 20)):
        stream = random.choice(streams)
        rows = []
        for _ in range(random.randint(1, 4)):
            times[stream] += random.choice((0, 0, 1, 2))
            rows.append((times[stream], random.choice(pool)))
        actions.append(Push(stream, tuple(rows)))
    background = tuple(_background(random) for _ in range(random.randrange(6)))
    return Case(seed, _rules(random), background, {}, 0, "(]", dict.fromkeys(streams, 0), (*actions, End()))


def _rules(random: Random) -> RuleSet:
    texts = random.choices(KEYED, k=random.randrange(5))
    if random.random() < 0.15:
        texts.append(random.choice(NOT_KEYED))
    filled = [text.format(**_names(random)) for text in texts]
    return rules_of("\n".join(f"[r{number}: {text}]" for number, text in enumerate(filled)))


def _names(random: Random) -> dict[str, str]:
    return {name: random.choice(LINKS) for name in "pqr"} | {name: random.choice(CLASSES) for name in "CDE"}


def statement(random: Random) -> Statement:
    """Something about a thing."""
    if random.random() < 0.25:
        return random.choice(THINGS), TYPE, _iri(random.choice(CLASSES))
    return random.choice(THINGS), _iri(random.choice(LINKS)), random.choice(VALUES)


def _background(random: Random) -> Statement:
    if random.random() < 0.4:
        return statement(random)
    predicate, names = random.choice(((SUB_PROPERTY, LINKS), (SUB_CLASS, CLASSES)))
    low, high = random.sample(names, 2)
    return _iri(low), predicate, _iri(high)


def _iri(name: str) -> str:
    return f"<urn:{name[1:]}>"


def _query(random: Random, name: str, streams: tuple[str, ...], where_of: Callable[[Random], str]) -> str:
    window = f"[RANGE {random.choice((5, 8, 12))}ms STEP {random.choice((3, 5))}ms]"
    head, where = _head(random), where_of(random)
    prefixes = PREFIXES.replace("@prefix", "PREFIX").replace("> . ", "> ")
    if random.random() < 0.3:
        relation = random.choice(("RSTREAM", "ISTREAM", "DSTREAM"))
        clause = f"FROM NAMED WINDOW <{name}/w> ON <{random.choice(streams)}> {window}"
        inside = f"WINDOW <{name}/w> {{ {where} }}"
        return f"{prefixes} REGISTER {relation} <{name}> AS {head[0]} {clause} WHERE {{ {inside} }}{head[1]}"
    clauses = " ".join(f"FROM STREAM <{stream}> {window}" for stream in streams)
    return f"{prefixes} REGISTER QUERY <{name}> AS {head[0]} {clauses} WHERE {{ {where} }}{head[1]}"


def _head(random: Random) -> tuple[str, str]:
    at = random.random()
    if at < 0.2:
        return "SELECT ?x (COUNT(*) AS ?n) (SAMPLE(?x) AS ?m)", " GROUP BY ?x"
    return (random.choice(("SELECT ?x", "SELECT DISTINCT ?x", "SELECT ?x ?y", "SELECT *", "SELECT *")), "")


def where_about(random: Random) -> str:
    """A pattern about ?x, most of the time."""
    parts = [_triple(random)]
    for number in range(random.choice((0, 1, 1, 2, 2))):
        one, other = _triple(random), _triple(random)
        shapes = (
            *(one, one, f"OPTIONAL {{ {one} }}", f"OPTIONAL {{ {one} {other} }}", f"MINUS {{ {one} }}"),
            *(f"FILTER EXISTS {{ {one} }}", f"FILTER NOT EXISTS {{ {one} }}"),
            *(f"{{ {one} }} UNION {{ {other} }}", f"{{ {one} }} UNION {{ VALUES ?y {{ :a 1 }} }}"),
            *(
                "FILTER(?x != :a)",
                f"BIND(STR(?x) AS ?s{number})",
                "VALUES ?x { :a :b :c :d }",
                "VALUES ?x { :a UNDEF }",
            ),
            f"{{ SELECT ?x (COUNT(*) AS ?k) {{ {one} }} GROUP BY ?x }}",
            f"{{ SELECT DISTINCT ?x {{ {one} }} }}",
            "?c rdfs:subClassOf ?d .",
        )
        parts.append(random.choice(shapes))
    return " ".join(parts)


def _triple(random: Random) -> str:
    other = random.choice(("?y", "?z", ":a", "1"))
    at = random.random()
    if at < 0.25:
        return f"?x rdf:type {random.choice((*CLASSES, '?y'))} ."
    if at < 0.4:
        return f"{random.choice(('?y', '?z', ':b'))} {random.choice(LINKS)} ?x ."
    if at < 0.45:
        return f"?y {random.choice(LINKS)} ?z ."
    path = random.choice((*LINKS * 3, "(:p|:q)", "^:p", "?l"))
    return f"?x {path} {other} ."
