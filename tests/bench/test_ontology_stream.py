from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest

from ensue.bench.firings import count_firings
from ensue.bench.ontologies import FILES, data_directory, load_ontology
from ensue.bench.ontology import TYPE, read_ontology
from ensue.bench.ontology_stream import (
    MAX_CHAIN,
    MAX_GROUP,
    MAX_IN,
    MAX_OUT,
    StreamWriter,
    literal_value,
    ontology_stream,
)
from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.model import Copies
from ensue.rules.load import load_rules
from ensue.terms import OWL, XSD

HERE = "<http://example.org/zoo#{}>".format
SAME_AS = f"<{OWL}sameAs>"
N = 2000


@pytest.fixture(scope="module")
def stream(zoo):
    return ontology_stream(zoo, N, seed=1)


def individuals(statement):
    return [term for term in (statement[0], statement[2]) if "/individual/" in term]


def test_a_seed_makes_the_stream_and_another_makes_another(zoo, stream):
    assert ontology_stream(zoo, N, seed=1) == stream
    assert ontology_stream(zoo, N, seed=2) != stream


def test_a_longer_stream_begins_with_the_shorter(zoo, stream):
    assert ontology_stream(zoo, 100, seed=1) == stream[:100]


def test_labels_of_blank_nodes_do_not_matter(zoo, stream):
    relabelled = [tuple(t.replace("_:", "_:z") if t[0] == "_" else t for t in row) for row in zoo]
    assert ontology_stream(relabelled, N, seed=1) == stream


def test_statements_are_distinct(stream):
    assert len(set(stream)) == N


def test_statements_are_connected(stream):
    neighbours = defaultdict(set)
    for statement in stream:
        for one in individuals(statement):
            neighbours[one].update(individuals(statement))
    reached, todo = set(), [individuals(stream[0])[0]]
    while todo:
        one = todo.pop()
        if one not in reached:
            reached.add(one)
            todo += neighbours[one]
    # The last scene is cut short, before its individual was linked.
    assert len(reached) >= len(neighbours) - 1


def properties(**kinds):
    """An ontology of one class and properties of these kinds: all links must go through few properties."""
    typed = [
        (HERE(name), TYPE, f"<{OWL}{kind}Property>") for name, of in kinds.items() for kind in ("Object", *of)
    ]
    return [*typed, (HERE("Thing"), TYPE, f"<{OWL}Class>")]


@pytest.mark.parametrize("kinds", [{}, {"one": ()}, {"one": ("Transitive",), "two": ()}])
def test_no_individual_is_a_hub(zoo, kinds):
    ontology = properties(**kinds) if kinds else zoo
    links = [statement for statement in ontology_stream(ontology, N, seed=1) if statement[1] != TYPE]
    assert max(Counter(s for s, _, _ in links).values()) <= MAX_OUT
    assert max(Counter(o for _, _, o in links if "/individual/" in o).values()) <= MAX_IN


def test_functional_properties_have_two_values_now_and_then_and_never_more():
    ontology = properties(one=("Functional",), two=("InverseFunctional",), three=())
    stream = ontology_stream(ontology, N, seed=1)
    values = Counter(s for s, p, _ in stream if p == HERE("one"))
    holders = Counter(o for _, p, o in stream if p == HERE("two"))
    for counted in (values, holders):
        assert max(counted.values()) == 2
        assert 0 < sum(n == 2 for n in counted.values()) < 0.2 * len(counted)


def test_restrictions_are_met_by_stated_links(stream):
    assert any((p, o) == (HERE("hasSex"), HERE("female")) for _, p, o in stream)
    leaves = {s for s, p, o in stream if (p, o) == (TYPE, HERE("Leaf"))}
    assert any(p == HERE("eats") and o in leaves for _, p, o in stream)


def longest_chain(links):
    after = defaultdict(set)
    for s, _, o in links:
        after[s].add(o)

    def longest(node):
        return max((1 + longest(o) for o in after.get(node, ())), default=0)

    return max(map(longest, list(after)))


def test_links_of_a_transitive_property_form_short_chains(stream):
    links = [row for row in stream if row[1] == HERE("isIn")]
    assert 2 <= longest_chain(links) <= MAX_CHAIN
    ontology = properties(one=("Transitive",))
    only = [row for row in ontology_stream(ontology, N, seed=1) if row[1] == HERE("one")]
    assert 2 <= longest_chain(only) <= MAX_CHAIN


def test_links_that_are_transitive_and_symmetric_form_small_groups():
    group = {}
    ontology = properties(**{"with": ("Transitive", "Symmetric"), "likes": ()})
    for s, p, o in ontology_stream(ontology, 500, seed=1):
        if p == HERE("with"):
            merged = group.get(s, {s}) | group.get(o, {o})
            group.update(dict.fromkeys(merged, merged))
    assert 2 <= max(map(len, group.values())) <= MAX_GROUP


def test_domains_and_ranges_are_respected(zoo, stream):
    types = defaultdict(set)
    for s, p, o in stream:
        if p == TYPE:
            types[s].add(o)
    animals = {HERE(name) for name in ("Animal", "Quokka", "Beast")}
    eaters = [types[s] for s, p, _ in stream if p == HERE("eats") and types[s]]
    assert sum(bool(found & animals) for found in eaters) > 0.9 * len(eaters)
    writer = StreamWriter(read_ontology(zoo), random.Random(1))
    writer.write(N)
    assert writer.stretched < 0.1 * N


def test_literals_are_plain_and_typed(stream):
    ages = {o.partition("^^")[2] for _, p, o in stream if p == HERE("age")}
    names = {o.partition("^^")[2] for _, p, o in stream if p == HERE("name")}
    assert ages == {f"<{XSD}int>"}
    assert names == {"", f"<{XSD}integer>"}


def test_an_ontology_that_names_nothing_gives_nothing():
    assert ontology_stream([("<urn:a>", f"<{OWL}versionInfo>", '"1"')], 10, seed=1) == []


def test_every_applicable_rule_fires_on_the_zoo(zoo, stream):
    firings = count_firings(load_rules("pdsv"), zoo, stream[:300], lambda r, d: make("rete", r, d))
    assert [f.rule for f in firings if f.missed] == []
    fired = {f.rule for f in firings if f.stream}
    by_kind = {f"rdfp{k}" for k in ("1", "2", "3", "4", "8ax", "8bx", "14a", "14bx", "15", "16")}
    assert by_kind | {"lg-rdfs1", "lg-rdfs2D", "rdf-svx", "rdfs2", "rdfs3", "rdfs7x", "rdfs9"} <= fired
    reasons = {f.rule: f.reason for f in firings if not f.stream}
    assert reasons["rdfs12"] == "nothing matches (?v rdf:type rdfs:ContainerMembershipProperty)"
    assert reasons["rdfp12a"] == "only statements of the ontology itself match it"


def test_what_functional_properties_merge_stays_small(zoo, stream):
    dictionary = Dictionary()
    maintainer = make("rete", load_rules("pdsv"), dictionary)
    encode = dictionary.encode
    maintainer.load_background(Copies.background(tuple(map(encode, row)) for row in zoo))
    maintainer.admit(Copies.of((1, *map(encode, row), 1) for row in stream[:500]))
    maintainer.advance(0)
    same = dictionary.encode(SAME_AS)
    groups = Counter(s for _, s, p, _, _ in maintainer.closure(1) if p == same)
    assert 2 in groups.values()
    assert max(groups.values()) <= 4


def test_values_that_no_class_admits_still_have_their_datatype():
    assert literal_value(f"<{XSD}boolean>", 3) == f'"false"^^<{XSD}boolean>'


@pytest.mark.parametrize("name", [*FILES, "isin"])
def test_every_applicable_rule_fires_on_the_papers_ontologies(name):
    data = data_directory()
    if name in FILES and not (data / FILES[name]).exists():
        pytest.skip(f"third-party ontologies are not at {data}")
    ontology = load_ontology(name, data)
    stream = ontology_stream(ontology, 800, seed=1)
    firings = count_firings(load_rules("pdsv"), ontology, stream, lambda r, d: make("rete", r, d))
    assert [f.rule for f in firings if f.missed] == []
