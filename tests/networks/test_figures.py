"""Figures 3, 4, 7 and 8 of the INSTANS paper as rule networks. The files say what of the print was mended."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ensue.errors import UnsafeRuleError
from ensue.networks.network import Network
from ensue.networks.parse import load_network, parse
from ensue.networks.tree import NetworkFile
from ensue.terms import OWL, RDF, RDFS, XSD

FIGURES = Path(__file__).parent / "figures"
INSTANS = "http://instans.org/"
UB = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
TYPE, FIRST, REST, NIL = (f"<{RDF}{name}>" for name in ("type", "first", "rest", "nil"))


@cache
def figures(*numbers: int) -> NetworkFile:
    return load_network(*(FIGURES / f"figure{number}.ru" for number in numbers))


def figure(*numbers: int) -> Network:
    return Network(figures(*numbers))


def items(head: str, *members: str) -> list[tuple[str, str, str]]:
    """The statements of an RDF list, back to front: no element of it is there before its rest."""
    nodes = [f"_:{head}{at}" for at in range(len(members))]
    found = []
    for node, member, rest in zip(nodes, members, [*nodes[1:], NIL], strict=True):
        found += [(node, REST, rest), (node, FIRST, member)]
    return found[::-1]


def feed(network: Network, statements) -> list:
    return [
        row
        for s, p, o in statements
        for result in network.push([(0, s, p, o)])
        for row in result.answers.rows
    ]


def elements_of(network: Network, of: str) -> dict[str, str]:
    """The members of a list by their indexes, as the handler has written them down."""
    held = {(s, p): o for _, s, p, o in network}
    nodes = [o for _, s, p, o in network if (s, p) == (of, f"<{INSTANS}element>")]
    return {held[node, f"<{INSTANS}index>"]: held[node, f"<{INSTANS}value>"] for node in nodes}


def indexed(*members: str) -> dict[str, str]:
    return {f'"{at}"^^<{XSD}integer>': member for at, member in enumerate(members, start=1)}


class TestFigure3:
    RULE = ("<urn:rule>", f"<{INSTANS}listProperty>", f"<{OWL}unionOf>")

    @pytest.mark.parametrize("size", [1, 2, 3, 7])
    def test_a_list_becomes_elements_with_indexes(self, size):
        network, members = figure(3), [f"<urn:m{at}>" for at in range(size)]
        feed(network, [self.RULE, ("<urn:l>", f"<{OWL}unionOf>", "_:x0"), *items("x", *members)])
        assert elements_of(network, "<urn:l>") == indexed(*members)

    def test_the_order_of_arrival_does_not_matter(self):
        statements = [
            self.RULE,
            ("<urn:l>", f"<{OWL}unionOf>", "_:x0"),
            *items("x", "<urn:a>", "<urn:b>", "<urn:a>"),
        ]
        for turn in range(len(statements)):
            network = figure(3)
            feed(network, statements[turn:] + statements[:turn])
            assert elements_of(network, "<urn:l>") == indexed("<urn:a>", "<urn:b>", "<urn:a>")

    def test_nodes_are_made_once_though_the_rules_match_what_they_made(self):
        network = figure(3)
        statements = [self.RULE, ("<urn:l>", f"<{OWL}unionOf>", "_:x0"), *items("x", "<urn:a>", "<urn:b>")]
        feed(network, statements)
        held = set(network)
        feed(network, statements)  # all of it is there: nothing is new
        assert set(network) == held
        assert sum(p == f"<{INSTANS}element>" for _, _, p, _ in network) == 2

    def test_the_place_in_the_list_is_forgotten_when_it_ends_but_not_the_beginning(self):
        network = figure(3)
        feed(
            network,
            [self.RULE, ("<urn:l>", f"<{OWL}unionOf>", "_:x0"), *items("x", "<urn:a>", "<urn:b>", "<urn:c>")],
        )
        heads = [(s, o) for _, s, p, o in network if p == f"<{INSTANS}nexthead>"]
        (begins,) = [o for _, s, p, o in network if (s, p) == ("<urn:l>", "<urn:rule-init>")]
        assert heads == [(begins, "_:x0")]

    def test_as_printed_nothing_binds_the_node_that_is_to_go(self):
        text = (
            (FIGURES / "figure3.ru")
            .read_text()
            .replace("?rule ?ref .\n        ?ref :nexthead", "?rule [ :nexthead", 1)
        )
        text = text.replace(":listindex ?index .\n", ":listindex ?index ] .\n", 1)
        with pytest.raises(UnsafeRuleError, match=r"figure3.ru:\d+:\d+: nothing binds \?ref"):
            parse(text, "figure3.ru")


class TestFigure4:
    DISJOINT = (
        ("<urn:d>", TYPE, f"<{OWL}AllDisjointClasses>"),
        ("<urn:d>", f"<{OWL}members>", "_:x0"),
        *items("x", "<urn:A>", "<urn:B>", "<urn:C>"),
    )
    ERROR = '"cax-adc false: AllDisjointClasses have common subject"'

    def test_it_is_told_when_something_is_of_two_disjoint_classes(self):
        network = figure(3, 4)
        assert (
            feed(network, [*self.DISJOINT, ("<urn:z>", TYPE, "<urn:C>"), ("<urn:y>", TYPE, "<urn:B>")]) == []
        )
        assert feed(network, [("<urn:z>", TYPE, "<urn:A>")]) == [
            (self.ERROR, "<urn:d>", "<urn:A>", "<urn:C>")
        ]

    def test_the_same_two_classes_are_told_once(self):
        network = figure(3, 4)
        both = [(node, TYPE, kind) for node in ("<urn:y>", "<urn:z>") for kind in ("<urn:A>", "<urn:C>")]
        assert feed(network, [*self.DISJOINT, *both]) == [(self.ERROR, "<urn:d>", "<urn:A>", "<urn:C>")]

    def test_data_may_come_before_the_axiom(self):
        network = figure(3, 4)
        data = [("<urn:z>", TYPE, "<urn:A>"), ("<urn:z>", TYPE, "<urn:B>")]
        assert feed(network, [*data, *self.DISJOINT]) == [(self.ERROR, "<urn:d>", "<urn:A>", "<urn:B>")]


class TestFigure7:
    CONTROL = (f"<{INSTANS}control>", f"<{INSTANS}default#activegraph>", f"<{INSTANS}default#address>")
    DEPARTMENT = f"<{UB}Department>"

    def graphs(self, network: Network) -> dict[str, set[tuple[str, str, str]]]:
        found: dict[str, set[tuple[str, str, str]]] = {}
        for graph, *triple in network:
            found.setdefault(graph.strip("<>").removeprefix(INSTANS), set()).add(tuple(triple))
        return found

    def mode(self, network: Network) -> list[str]:
        return [o for graph, s, p, o in network if (graph, s, p) == self.CONTROL]

    def test_static_input_goes_to_its_graph_until_the_marker_comes(self):
        network = figure(7)
        schema = [("<urn:A>", f"<{RDFS}subClassOf>", "<urn:B>"), ("<urn:onto>", TYPE, f"<{OWL}Ontology>")]
        feed(network, schema)
        assert self.mode(network) == [f"<{INSTANS}static>"]
        assert self.graphs(network)["static"] == set(schema)
        assert "" not in self.graphs(network)
        marker = ("<urn:d0>", TYPE, self.DEPARTMENT)
        feed(network, [marker])
        assert self.mode(network) == [f"<{INSTANS}event>"]
        assert self.graphs(network)[""] == {marker}  # it is not eaten

    def test_an_event_is_forgotten_when_the_next_one_begins(self):
        network = figure(7)
        schema = ("<urn:A>", f"<{RDFS}subClassOf>", "<urn:B>")
        feed(network, [schema, ("<urn:d0>", TYPE, self.DEPARTMENT), ("<urn:x>", "<urn:p>", "<urn:y>")])
        assert len(self.graphs(network)[""]) == 2
        feed(network, [("<urn:file1>", TYPE, f"<{OWL}Ontology>")])
        assert self.graphs(network) == {
            "static": {schema},
            "control": {(*self.CONTROL[1:], f"<{INSTANS}event>")},
        }
        feed(network, [("<urn:d1>", TYPE, self.DEPARTMENT), ("<urn:z>", "<urn:p>", "<urn:y>")])
        assert len(self.graphs(network)[""]) == 2


class TestFigure8:
    CLASS = f"<{OWL}Class>"

    def test_simple4_has_each_ordered_pair_of_classes_once(self):
        network = figure(8)
        classes = [(f"<urn:{name}>", TYPE, self.CLASS) for name in "ABC"]
        feed(network, [*classes, ("<urn:x>", TYPE, "<urn:B>")])
        assert self.unions(network) == sorted(
            ("<urn:x>", f"<urn:{a}>", f"<urn:{b}>") for a, b in ("AB", "BA", "BC", "CB")
        )

    def test_what_is_of_both_classes_is_of_their_union_once(self):
        network = figure(8)
        kinds = [("<urn:x>", TYPE, "<urn:A>"), ("<urn:x>", TYPE, "<urn:B>")]
        network.push(
            [(0, *each) for each in [*kinds, *((f"<urn:{name}>", TYPE, self.CLASS) for name in "AB")]]
        )
        assert self.unions(network) == [("<urn:x>", "<urn:A>", "<urn:B>"), ("<urn:x>", "<urn:B>", "<urn:A>")]

    def unions(self, network: Network) -> list[tuple[str, str, str]]:
        held = {(s, p): o for _, s, p, o in network if p != TYPE}
        found = []
        for _, s, p, o in network:
            if p == TYPE and (head := held.get((o, f"<{OWL}unionOf>"))):
                found.append((s, held[head, FIRST], held[held[head, REST], FIRST]))
        return sorted(found)
