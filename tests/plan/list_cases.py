"""Random ontologies with lists, and random rules over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from plan.list_reference import FIRST, NIL, RDF, REST

from ensue.rules.load import load_rules, parse_rules
from ensue.rules.tree import RuleSet

OWL, RDFS, EX = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#", "urn:ex:"
TYPE = f"<{RDF}type>"
CLASSES = [f"<{EX}{name}>" for name in "ABCD"]
PROPERTIES = [f"<{EX}{name}>" for name in "pqr"]
THINGS = [f"<{EX}{name}>" for name in "abc"] + ['"1"']

MORE_RULES = """
@prefix ex: <urn:ex:> .
[cls-int2: (?c owl:intersectionOf ?l), member(?l, ?d), (?y rdf:type ?c) -> (?y rdf:type ?d)]
[scm-uni:  (?c owl:unionOf ?l), member(?l, ?d) -> (?d rdfs:subClassOf ?c)]
[cax-adc:  (?d rdf:type owl:AllDisjointClasses), (?d owl:members ?l), pair(?l, ?s, ?t),
           (?x rdf:type ?s), (?x rdf:type ?t) -> (?x ex:clashes ?s), (?x ex:clashes ?t)]
[prp-adp:  (?d rdf:type owl:AllDisjointProperties), cut(?d owl:members ?l), pair(?l, ?p, ?q),
           (?x ?p ?y), (?x ?q ?y) -> (?x ex:clashes ?y)]
[sub:      (?c rdfs:subClassOf ?d), (?x rdf:type ?c) -> (?x rdf:type ?d)]
[alike:    (?c owl:equivalentClass ?d), (?d owl:intersectionOf ?l) -> (?c owl:intersectionOf ?l)]
[inherit:  (?c rdfs:subClassOf ?d), (?d ex:roles ?l) -> (?c ex:roles ?l)]
[from-one: (?p ex:pathFromA ?l), (?x rdf:type ?c), chain(?l, ?x, ?y) -> (?c ?p ?y)]
[both:     (?c ex:both ?l), each(?l, ?p, (?x ?p ?v)), chain(?l, ?x, ?y), notEqual(?x, ?y) -> (?x ex:is ?c)]
[of-lists: (?c ex:oneOfAll ?ls), member(?ls, ?l), member(?l, ?x) -> (?x rdf:type ?c)]
[roles:    (?c ex:roles ?l), (?x rdf:type ?c), each(?l, ?p, (?x ?p ?v), (?v rdf:type ?k))
           -> (?x ex:is ex:good)]
[shared:   (?c ex:roles ?l), (?x rdf:type ?c), each(?l, ?p, (?x ?p ?v)) -> (?x ex:has ?v)]
"""

EQUAL_MEMBERS = "[equal: (?x owl:sameAs ?y), (?n rdf:first ?x) -> (?n rdf:first ?y)]"
"""Lists whose places have several members: made of the background, and so for it alone."""


def every_rule(equal_members):
    given = load_rules(Path(__file__).parent.parent / "rules" / "lists" / "every-kind.rules")
    return given + parse_rules(MORE_RULES) + parse_rules(EQUAL_MEMBERS if equal_members else "")


@dataclass(frozen=True)
class Case:
    rules: RuleSet
    background: tuple
    window: tuple
    """(Stamp, statement)."""


def make_case(seed):
    random = Random(seed)
    streaming = seed % 3 > 0
    rules = every_rule(equal_members=not streaming and random.random() < 0.5)
    chosen = tuple(rule for rule in rules.rules if random.random() < 0.85)
    lists = _Lists(random)
    background = [*_axioms(random, lists), *_schema(random)]
    facts = [_fact(random) for _ in range(random.randint(8, 20))]
    window = []
    if streaming:
        window = [(random.randint(1, 9), fact) for fact in facts if random.random() < 0.7]
        window += [(random.randint(1, 9), mark) for mark in _marks() if random.random() < 0.2]
    else:
        background += [mark for mark in _marks() if random.random() < 0.7]
    background += [fact for fact in facts if fact not in {each for _, each in window}]
    return Case(replace(rules, rules=chosen), (*background, *lists.statements), tuple(window))


class _Lists:
    """Makes lists, of which some are none, and gives the same one twice now and then."""

    def __init__(self, random):
        self.random = random
        self.statements = []
        self._known = {}
        self._count = 0

    def of(self, members, most=4):
        kind = id(members)
        if kind in self._known and self.random.random() < 0.25:
            return self.random.choice(self._known[kind])
        head = self._new([self.random.choice(members) for _ in range(self.random.randint(0, most))])
        self._known.setdefault(kind, []).append(head)
        return head

    def _new(self, members):
        nodes = [f"_:l{self._count + at}" for at in range(len(members))]
        self._count += len(members)
        rests = [*nodes, NIL][1:]
        for node, member, rest in zip(nodes, members, rests, strict=True):
            self.statements += [(node, FIRST, member), (node, REST, rest)]
        if nodes and self.random.random() < 0.2:
            self._spoil(nodes, members)
        return (nodes or [NIL])[0]

    def _spoil(self, nodes, members):
        at = self.random.randrange(len(nodes))
        match self.random.randrange(5):
            case 0:
                self.statements.remove((nodes[at], FIRST, members[at]))
            case 1:
                self.statements.remove((nodes[at], REST, [*nodes[1:], NIL][at]))
            case 2:
                self.statements.append((nodes[at], REST, self.random.choice(["_:other", nodes[0], NIL])))
            case 3:
                self.statements.remove((nodes[-1], REST, NIL))
                self.statements.append((nodes[-1], REST, self.random.choice(nodes)))
            case 4:
                self.statements.append((nodes[at], FIRST, self.random.choice(members)))


def _axioms(random, lists):
    makers = {
        "owl:intersectionOf": (CLASSES, CLASSES),
        "owl:unionOf": (CLASSES, CLASSES),
        "owl:oneOf": (CLASSES, THINGS),
        "owl:propertyChainAxiom": (PROPERTIES, PROPERTIES),
        "ex:pathFromA": (PROPERTIES, PROPERTIES),
        "owl:hasKey": (CLASSES, PROPERTIES),
        "ex:both": (CLASSES, PROPERTIES),
        "ex:roles": (CLASSES, PROPERTIES),
    }
    for _ in range(random.randint(3, 8)):
        name, (subjects, members) = random.choice([*makers.items()])
        predicate = f"<{name.replace('owl:', OWL).replace('ex:', EX)}>"
        yield random.choice(subjects), predicate, lists.of(members)
    for number, members in enumerate([THINGS, CLASSES, PROPERTIES]):
        if random.random() < 0.4:
            yield f"_:d{number}", f"<{OWL}members>", lists.of(members)
    if random.random() < 0.2:
        inner = [lists.of(THINGS, 2) for _ in range(2)]
        yield random.choice(CLASSES), f"<{EX}oneOfAll>", lists.of(inner, 2)


def _marks():
    kinds = ("AllDifferent", "AllDisjointClasses", "AllDisjointProperties")
    return [(f"_:d{number}", TYPE, f"<{OWL}{kind}>") for number, kind in enumerate(kinds)]


def _schema(random):
    for name in ("subClassOf", "equivalentClass"):
        vocabulary = RDFS if name == "subClassOf" else OWL
        for _ in range(random.randint(0, 2)):
            yield random.choice(CLASSES), f"<{vocabulary}{name}>", random.choice(CLASSES)


def _fact(random):
    if random.random() < 0.5:
        return random.choice(THINGS[:-1]), TYPE, random.choice(CLASSES)
    predicate = f"<{OWL}sameAs>" if random.random() < 0.1 else random.choice(PROPERTIES)
    return random.choice(THINGS[:-1]), predicate, random.choice(THINGS)
