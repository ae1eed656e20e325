"""One network for each key: what they share, and what they do not."""

from __future__ import annotations

import pytest

from ensue import NetworkRun, Networks, Reasoner
from ensue.errors import InputError, QueryError, RuleError, UsageError
from ensue.networks.network import Network
from ensue.networks.parse import load_network

P, A, B, C, G, H = "<urn:p>", "<urn:a>", "<urn:b>", "<urn:c>", "<urn:g>", "<urn:h>"
COUNT = """# element: statement
# arrives in: default
# partition by: {}
PREFIX : <urn:>
DELETE {{ :n :is ?n }} INSERT {{ :n :is ?m . ?x :had [ :number ?m ] }}
WHERE {{ ?x :p ?y . :n :is ?n BIND(?n + 1 AS ?m) }} ;
INSERT DATA {{ :n :is 0 }} ;
# rule: counted
SELECT ?x ?node ?m WHERE {{ ?x :had ?node . ?node :number ?m }} ;
# rule: forget
DELETE {{ ?x :p ?y }} WHERE {{ ?x :p ?y }}"""


def rows(results):
    return [(result.graph, result.close, *row) for result in results for row in result.answers.rows]


def number(term: str) -> int:
    return int(term.split('"')[1])


def test_each_graph_is_counted_by_itself_and_told_key_after_key():
    networks = Networks(COUNT.format("graph"))
    arriving = [(1, A, P, B, H), (1, B, P, A, G), (1, B, P, C, H), (1, A, P, B), (2, C, P, A, G)]
    found = rows(networks.push(arriving))
    told = [(key, time, x, number(m)) for key, time, x, _, m in found]
    assert told == [("", 1, A, 1), (G, 1, B, 1), (H, 1, A, 1), (H, 1, B, 2), (G, 2, C, 2)]
    nodes = [node for _, _, _, node, _ in found]
    assert len(set(nodes)) == 5, "nodes of two networks are two"
    assert networks.counters() | {"firings": 0} == {
        **{"elements": 5, "firings": 0, "most_rounds": 2, "quads": 2 * 5 + 3, "networks": 3, "unkeyed": 0}
    }


@pytest.fixture
def teams(tmp_path):
    path = tmp_path / "teams.nt"
    path.write_text(f"{A} <urn:team> {G} .\n{A} <urn:team> {H} .\n{B} <urn:team> {H} .\n")
    return path


def test_by_a_property_a_statement_is_of_the_keys_of_its_subject(teams):
    networks = Networks(COUNT.format("<urn:team>"), background=[teams])
    run = NetworkRun(networks, ["urn:s"])
    run.push("urn:s", [(1, A, P, C), (2, B, P, C), (3, C, P, A)])
    told = [(key, time, x, number(m)) for key, time, x, _, m in rows(run.end())]
    assert told == [(G, 1, A, 1), (H, 1, A, 1), (H, 2, B, 2)]
    assert (run.metrics()["unkeyed"], run.metrics()["admitted"]) == (1, 3)
    assert sum(p == "<urn:team>" for _, _, p, _ in networks) == 6, "each has all of the background"


def test_keys_are_in_the_background_and_come_on_no_stream(teams):
    networks = Networks(COUNT.format("<urn:team>"), background=[teams])
    with pytest.raises(InputError, match="a key on a stream, <urn:c> <urn:team> <urn:g>"):
        networks.push([(1, C, "<urn:team>", G)])


def test_without_keys_there_is_one():
    networks = Networks("INSERT DATA { <urn:a> <urn:p> <urn:b> } ; SELECT ?x WHERE { ?x ?p ?y }")
    assert rows(NetworkRun(networks, ["urn:s"]).end()) == [(None, 0, A)]
    assert rows(NetworkRun(Networks(COUNT.format("graph")), ["urn:s"]).end()) == []


def test_files_agree_on_keys_and_one_network_has_none(tmp_path):
    files = [tmp_path / "a.ru", tmp_path / "b.ru"]
    for file, key in zip(files, ("graph", "<urn:team>"), strict=True):
        file.write_text(f"# partition by: {key}\nSELECT ?x WHERE {{ ?x ?p ?y }}")
    with pytest.raises(RuleError, match="differ on what an element is, where it arrives, or on keys"):
        load_network(*files)
    with pytest.raises(
        UsageError, match=r"a is partitioned: a network for each key \(hint: take ensue.Networks"
    ):
        Network.from_files(files[0])


def test_a_reasoner_says_where_updates_go():
    with pytest.raises(QueryError, match=r"INSERT is an update, .* rule networks: .* ensue.NetworkRun"):
        Reasoner().register("INSERT { ?x <urn:p> ?y } WHERE { ?y <urn:p> ?x }")
