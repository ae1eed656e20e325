"""Random rules like those of RDFS: some make schema of anything, in vain or not."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from plan.support import expand, rules_of
from query.equivalence.cases import Case, End, Push, Register, Statement

from ensue.rules.tree import RuleSet

CORE = (
    "[up: (?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]",
    "[class: (?x rdf:type ?c) -> (?c rdf:type rdfs:Class)]",
    "[top: (?c rdf:type rdfs:Class) -> (?c rdfs:subClassOf :Top)]",
)
ANYTHING = (
    "[all: (?x ?p ?y) -> (?x rdf:type :Top)]",
    "[all: (?x ?p ?y) -> (?x rdf:type :Top), (?y rdf:type :Top)]",
    "[all: (?x rdf:type ?c) -> (?x rdf:type :Top)]",
    # These take nobody's place, or not always.
    "[all: (?x ?p ?y), notEqual(?x, ?y) -> (?x rdf:type :Top)]",
    "[all: (?x ?p ?y) -> (?y rdf:type :Top)]",
    "[all: cut(?x ?p ?y) -> (?x rdf:type :Top)]",
    "[all: (?x rdf:type ?c), (?c rdf:type :Big) -> (?x rdf:type :Top)]",
    "",
)
ABOVE = (
    "[above: (?c rdfs:subClassOf ?d), (?d rdfs:subClassOf ?e) -> (?c rdfs:subClassOf ?e)]",
    "[above: (?d rdfs:subClassOf ?e), (?c rdfs:subClassOf ?d) -> (?c rdfs:subClassOf ?e)]",
    "",
)
LOWER = (
    "[lower: (?c rdfs:subClassOf ?d) -> (?c rdf:type rdfs:Class)]",
    "[lower: (?c rdfs:subClassOf ?d), notEqual(?d, :B) -> (?c rdf:type rdfs:Class)]",
    "",
)
MORE = (
    "[itself: (?c rdf:type rdfs:Class) -> (?c rdfs:subClassOf ?c)]",
    "[domain: (?p rdfs:domain ?c), (?x ?p ?y) -> (?x rdf:type ?c)]",
    "[range: (?p rdfs:range ?c), (?x ?p ?y) -> (?y rdf:type ?c)]",
    "[over: (?p rdfs:subPropertyOf ?q), (?x ?p ?y) -> (?x ?q ?y)]",
    "[property: (?x ?p ?y) -> (?p rdf:type rdf:Property)]",
    "[under: (?p rdf:type rdf:Property) -> (?p rdfs:subPropertyOf ?p)]",
    "[wide: (?p rdf:type rdf:Property) -> (?p rdfs:domain :Top)]",
    "[wider: (?p rdf:type rdf:Property) -> (?p rdfs:domain :B)]",
    "[odd: (?c rdf:type rdfs:Class) -> (?c rdfs:subClassOf :B)]",
    "[far: (?p rdfs:domain ?c), (?c rdfs:subClassOf ?d) -> (?p rdfs:domain ?d)]",
    "[equal: (?c rdfs:subClassOf ?d), (?d rdfs:subClassOf ?c) -> (?c owl:equivalentClass ?d)]",
    "[tell: (?c rdfs:subClassOf ?d) -> (?c :narrower ?d)]",
    "[kind: (?x :r ?y), (?y rdfs:subClassOf ?d) -> (?x rdf:type ?d)]",
)
SCHEMA = (
    *(":A rdfs:subClassOf :B", ":B rdfs:subClassOf :C", ":C rdfs:subClassOf :A", ":A rdfs:subClassOf :Top"),
    *(":Top rdfs:subClassOf :Top", ":Top rdfs:subClassOf :B", ":A rdf:type rdfs:Class", ":B rdf:type :Big"),
    *(":p rdfs:domain :A", ":q rdfs:range :B", ":q rdfs:domain :Top", ":p rdfs:subPropertyOf :q"),
    *("rdf:type rdfs:range rdfs:Class", "rdfs:subClassOf rdfs:domain rdfs:Class", ":Top rdf:type rdfs:Class"),
    *(":r rdfs:subPropertyOf rdf:type", ":a rdf:type :A", ":D rdfs:subClassOf :D"),
)
ASKED = (
    *("?x a :B", "?x a :C ; :q ?y", "?x a :Top", "?x :q ?y", "?x a ?c . ?c rdfs:subClassOf :B"),
    *("?c rdfs:subClassOf ?d", "?c rdfs:subClassOf :Top", "?c a rdfs:Class", "?x a ?c", "?c :narrower ?d"),
    *("?x a :A OPTIONAL { ?x :p ?y . ?y a :B }", "?c owl:equivalentClass ?d", "?p rdfs:domain ?c . ?x ?p ?y"),
)


@dataclass(frozen=True)
class Closing:
    """Rules, a background, and statements with their times."""

    rules: RuleSet
    background: tuple[Statement, ...]
    stream: tuple[tuple[int, Statement], ...]


def make_closing(seed: int) -> Closing:
    """The rules and statements of a seed.

    >>> make_closing(3) == make_closing(3)
    True
    """
    random = Random(f"redundancy {seed}")
    texts = [*CORE, random.choice(ANYTHING[:3] * 3 + ANYTHING), random.choice(ABOVE[:2] * 2 + ABOVE)]
    texts += [random.choice(LOWER[:1] * 4 + LOWER), *random.sample(MORE, random.randrange(6))]
    random.shuffle(texts)
    known = random.sample(SCHEMA, random.randrange(len(SCHEMA)))
    times = sorted(random.randrange(1, 60) for _ in range(random.randrange(4, 14)))
    stream = tuple((time, expand(_statement(random))) for time in times)
    return Closing(rules_of("\n".join(texts)), tuple(map(expand, known)), stream)


def _statement(random: Random) -> str:
    if random.random() < 0.04:
        return random.choice(SCHEMA)
    x, y = random.choice((":a", ":b", ":c", ":D")), random.choice((":a", ":b", ":A"))
    classes = (":A", ":B", ":C", ":D", ":Top", "rdfs:Class")
    if random.random() < 0.5:
        return f"{x} rdf:type {random.choice(classes)}"
    return f"{x} {random.choice((':p', ':q', ':r'))} {y}"


def make_case(seed: int) -> Case:
    """The same with a query over a window that moves."""
    random = Random(f"asked {seed}")
    closing = make_closing(seed)
    prefixes = "PREFIX : <urn:> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"
    prefixes += " PREFIX owl: <http://www.w3.org/2002/07/owl#>"
    window = f"FROM STREAM <urn:s> [RANGE {random.choice((9, 20))}ms STEP 5ms]"
    text = f"{prefixes} REGISTER QUERY q AS SELECT * {window} WHERE {{ {random.choice(ASKED)} }}"
    actions = (Register(text), Push("urn:s", closing.stream), End())
    return Case(seed, closing.rules, closing.background, {}, 0, "(]", {"urn:s": 0}, actions)
