"""Schema on a stream, made while the table of linear rules is at work and something has to grow.

The table then goes on without the rules that the schema spoils, but what it had begun it must finish: of
facts that it put no linear rule is asked again. Where arrays are full depends on how many facts there are.
"""

from __future__ import annotations

import pytest
from plan.support import expand, rules_of

from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.model import NEVER, Copies

RULES = """
[itself: (?c rdf:type rdfs:Class) -> (?c rdfs:subClassOf ?c)]
[class: (?x rdf:type ?c) -> (?c rdf:type rdfs:Class)]
[up: (?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]
[top: (?c rdf:type rdfs:Class) -> (?c rdfs:subClassOf :Top)]
[all: (?x rdf:type ?c) -> (?x rdf:type :Top)]
"""
KNOWN = (":Top rdfs:subClassOf :B", ":C rdfs:subClassOf :B", ":q rdf:type :B")


def closed(strategy: str, more: int) -> dict[tuple[str, ...], int]:
    """All facts with their stamps, among so many others."""
    dictionary = Dictionary()
    maintainer = make(strategy, rules_of(RULES), dictionary)
    maintainer.load_background(Copies.background(_encoded(dictionary, KNOWN)))
    others = (f":x{number} :p :y" for number in range(more))
    stream = [*others, ":b rdf:type :A", ":D rdf:type :A"]
    rows = enumerate(_encoded(dictionary, stream), 1)
    maintainer.admit(Copies.of([(1, *triple, time) for time, triple in rows]))
    maintainer.advance(NEVER)
    facts = maintainer.closure(1).stamps()
    return {tuple(map(dictionary.decode, fact[1:])): stamp for fact, stamp in facts.items()}


def _encoded(dictionary, statements):
    return [tuple(map(dictionary.encode, expand(text))) for text in statements]


@pytest.mark.parametrize("strategy", ["expiration", "recompute"])
def test_what_the_table_has_begun_it_finishes(strategy):
    for more in range(0, 40, 2):
        assert closed(strategy, more) == closed("rete", more), more
