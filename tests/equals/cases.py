"""Random rules with the axioms of equality, background with equal terms in it, and steps of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ensue.rules.load import parse_rules
from ensue.rules.tree import RuleSet
from ensue.terms import OWL, RDF, RDFS, XSD

PREFIXES = (
    f"@prefix : <urn:> . @prefix rdf: <{RDF}> . @prefix rdfs: <{RDFS}> . @prefix owl: <{OWL}> . "
    f"@prefix xsd: <{XSD}> .\n"
)
AXIOMS = """
[eq-sym: (?x owl:sameAs ?y) -> (?y owl:sameAs ?x)]
[eq-trans: (?x owl:sameAs ?y), (?y owl:sameAs ?z) -> (?x owl:sameAs ?z)]
[eq-rep-s: (?s owl:sameAs ?t), (?s ?p ?o) -> (?t ?p ?o)]
[eq-rep-p: (?p owl:sameAs ?q), (?s ?p ?o) -> (?s ?q ?o)]
[eq-rep-o: (?o owl:sameAs ?t), (?s ?p ?o) -> (?s ?p ?t)]
"""
OTHERS = (
    "[eq-ref: (?s ?p ?o) -> (?s owl:sameAs ?s), (?p owl:sameAs ?p), (?o owl:sameAs ?o)]",
    "[prp-fp: (?p rdf:type :Functional), (?x ?p ?y), (?x ?p ?z) -> (?y owl:sameAs ?z)]",
    "[prp-ifp: (?p rdf:type :Inverse), (?x ?p ?y), (?z ?p ?y), notEqual(?x, ?z) -> (?x owl:sameAs ?z)]",
    "[prp-dom: (?p rdfs:domain ?c), (?x ?p ?y) -> (?x rdf:type ?c)]",
    "[prp-spo1: (?p rdfs:subPropertyOf ?q), (?x ?p ?y) -> (?x ?q ?y)]",
    "[cax-sco: (?c rdfs:subClassOf ?d), (?x rdf:type ?c) -> (?x rdf:type ?d)]",
    "[join: (?x :p ?y), (?y :q ?z) -> (?x :r ?z)]",
    "[loop: (?x :p ?x) -> (?x rdf:type :A)]",
    "[named: (?x :q :a) -> (?x :r :b)]",
    "[cut: (?x :p ?y), cut(?y :q ?z) -> (?x :q ?z)]",
    "[iri: (?x :r ?y), isIRI(?y) -> (?y rdf:type :B)]",
    "[blank: (?x :r ?y), isBlank(?y) -> (?y rdf:type :C)]",
    "[thing: (?x :q ?y), notLiteral(?y) -> (?y :p ?x)]",
    "[other: (?x :q ?y), notEqual(?y, :c) -> (?x rdf:type :C)]",
    "[it: (?x :r ?y), equal(?y, :d) -> (?x rdf:type :A)]",
    "[typed: (?x ?p ?l), isDLiteral(?l, ?t) -> (?x :of ?t)]",
    "[made: (?x rdf:type :B), makeTemp(?n) -> (?x :q ?n), (?n :r ?x)]",
    "[all: (?c :all ?l), each(?l, ?t, (?x rdf:type ?t)) -> (?x rdf:type ?c)]",
)
AGAINST = "[differ: (?x :p ?y), (?x :p ?z), notEqual(?y, ?z) -> (?x rdf:type :C)]"
"""A rule under which no two terms can be kept as one: a member of a class differs from the others."""

THINGS = ("<urn:a>", "<urn:b>", "<urn:c>", "<urn:d>", "<urn:e>")
BLANKS = ("_:n", "_:m")
LITERALS = ('"1"', '"1"^^<urn:T>')
CLASSES = ("<urn:A>", "<urn:B>", "<urn:C>")
LINKS = ("<urn:p>", "<urn:q>", "<urn:r>")
SAME, TYPE, DOMAIN, BELOW, SUB = (
    f"<{OWL}sameAs>",
    f"<{RDF}type>",
    f"<{RDFS}domain>",
    f"<{RDFS}subClassOf>",
    f"<{RDFS}subPropertyOf>",
)
FIRST, REST, NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
LIST = (
    ("<urn:All>", "<urn:all>", "_:l"),
    ("_:l", FIRST, "<urn:A>"),
    ("_:l", REST, "_:k"),
    ("_:k", FIRST, "<urn:B>"),
    ("_:k", REST, NIL),
)

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Step:
    """What comes and what is taken back, and then the threshold rises."""

    admitted: tuple[tuple[Triple, int], ...]
    retracted: tuple[Triple, ...]
    every: bool
    threshold: int


@dataclass(frozen=True)
class Case:
    """Rules, background and steps."""

    rules: RuleSet
    background: tuple[Triple, ...]
    steps: tuple[Step, ...]


def random_case(seed: int) -> Case:
    random = Random(f"representatives {seed}")
    chosen = random.sample(OTHERS, random.randint(2, 8))
    rules = parse_rules(PREFIXES + AXIOMS + "\n".join(chosen), "case.rules", syntax="bracketed")
    background = [_statement(random, 0.35, 0.4) for _ in range(random.randrange(2, 12))]
    if any(text.startswith("[all") for text in chosen):
        background += LIST
    time, steps, came = 0, [], []
    for _ in range(4):
        time += random.randrange(1, 6)
        new = [_statement(random, 0.12, 0.1) for _ in range(random.randrange(1, 6))]
        admitted = tuple((triple, time - random.randrange(4)) for triple in new)
        back = tuple(random.sample(came, min(len(came), random.choice((0, 0, 1, 2)))))
        came += new
        steps.append(Step(admitted, back, random.random() < 0.3, time - random.randrange(3, 9)))
    floor = [max(step.threshold for step in steps[: k + 1]) for k in range(len(steps))]
    steps = [Step(s.admitted, s.retracted, s.every, t) for s, t in zip(steps, floor, strict=True)]
    return Case(rules, tuple(background), tuple(steps))


def _statement(random: Random, equal: float, schema: float) -> Triple:
    thing = (*THINGS, *BLANKS)
    if random.random() < equal:
        group = random.choice(
            (THINGS, THINGS, (*thing, *LITERALS), CLASSES, LINKS, (*LINKS, "<urn:T>"), (*LINKS, SAME))
        )
        return random.choice(group), SAME, random.choice(group)
    if random.random() < schema:
        kind = random.choice((DOMAIN, BELOW, SUB, TYPE, TYPE))
        if kind == TYPE:
            return random.choice(LINKS), TYPE, random.choice(("<urn:Functional>", "<urn:Inverse>"))
        of = CLASSES if kind == BELOW else LINKS
        return random.choice(of), kind, random.choice(LINKS if kind == SUB else CLASSES)
    if random.random() < 0.25:
        return random.choice(thing), TYPE, random.choice(CLASSES)
    return random.choice(thing), random.choice(LINKS), random.choice((*thing, *thing, *LITERALS))
