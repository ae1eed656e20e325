"""What a network does, rule by rule: order, newness, elements, loops."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from ensue.errors import InputError, RuleError, UsageError
from ensue.networks.loops import Limit, UnsettledError
from ensue.networks.network import Network
from ensue.networks.parse import load_network
from ensue.networks.run import NetworkRun
from ensue.terms import XSD
from ensue.windows.frontier import Disorder

P, Q, A, B, C = "<urn:p>", "<urn:q>", "<urn:a>", "<urn:b>", "<urn:c>"
PREFIX = "PREFIX : <urn:>\n"


def network(text: str, **settings) -> Network:
    return Network(PREFIX + text, **settings)


def rows(results) -> list[tuple]:
    return [row for result in results for row in result.answers.rows]


def held(network: Network) -> set[str]:
    return {" ".join(term.replace("urn:", "") for term in quad if term) for quad in network}


class TestNewness:
    def test_a_row_is_given_when_it_becomes_true_and_not_again(self):
        n = network("SELECT ?x ?z WHERE { ?x :p ?y . ?y :p ?z }")
        assert rows(n.push([(1, A, P, B)])) == []
        assert rows(n.push([(2, B, P, C)])) == [(A, C)]
        assert rows(n.push([(3, B, P, C), (4, A, P, B)])) == []

    def test_what_goes_and_comes_back_is_new_again(self):
        n = network("DELETE { ?x :p ?y } WHERE { ?x :q ?y . ?x :p ?y } ; SELECT ?x WHERE { ?x :p ?y }")
        assert rows(n.push([(1, A, P, B)])) == [(A,)]
        n.push([(2, A, Q, B)])
        assert rows(n.push([(3, A, P, B)])) == []  # it goes before the query's turn comes
        n = network("SELECT ?x WHERE { ?x :p ?y } ; DELETE { ?x :p ?y } WHERE { ?x :q ?y . ?x :p ?y }")
        assert rows(n.push([(1, A, P, B), (2, A, Q, B), (3, A, P, B)])) == [(A,), (A,)]

    def test_distinct_rows_are_given_when_the_first_solution_comes(self):
        n = network("SELECT DISTINCT ?x WHERE { ?x :p ?y }")
        assert rows(n.push([(1, A, P, B), (2, A, P, C), (3, B, P, C)])) == [(A,), (B,)]

    def test_not_exists_becomes_true_when_the_last_one_goes(self):
        n = network(
            """SELECT ?x WHERE { ?x :p ?y FILTER NOT EXISTS { ?z :blocks ?x } } ;
               DELETE { ?z :blocks ?x } WHERE { ?z :frees ?x . ?z :blocks ?x }"""
        )
        blocks, frees = "<urn:blocks>", "<urn:frees>"
        assert rows(n.push([(1, B, blocks, A), (2, C, blocks, A), (3, A, P, B)])) == []
        assert rows(n.push([(4, B, frees, A)])) == []
        assert rows(n.push([(5, C, frees, A)])) == [(A,)]

    def test_optional_gives_a_row_when_more_is_known(self):
        n = network("SELECT ?x ?w WHERE { ?x :p ?y OPTIONAL { ?x :q ?w } }")
        assert rows(n.push([(1, A, P, B)])) == [(A, None)]
        assert rows(n.push([(2, A, Q, C)])) == [(A, C)]

    def test_every_firing_makes_a_node_of_its_own(self):
        n = network("INSERT { ?x :has [ :of ?y ] } WHERE { ?x :p ?y }")
        n.push([(1, A, P, B), (1, A, P, C), (2, A, P, B)])
        made = [o for _, _, p, o in n if p == "<urn:has>"]
        assert len(made) == len(set(made)) == 2

    def test_a_node_that_arrives_is_never_one_that_was_made(self):
        n = network("INSERT { ?x :has [] } WHERE { ?x :p ?y }")
        n.push([(1, A, P, B), (2, "_:network-1", P, C)])
        assert {o for _, _, p, o in n if p == "<urn:has>"}.isdisjoint(s for _, s, p, _ in n if p == P)


class TestOrder:
    def test_a_rule_sees_what_rules_before_it_have_done(self):
        first = "INSERT { ?x :q ?y } WHERE { ?x :p ?y }"
        second = "INSERT { ?x :alone ?y } WHERE { ?x :p ?y FILTER NOT EXISTS { ?x :q ?y } }"
        n, m = network(f"{first} ; {second}"), network(f"{second} ; {first}")
        for each in (n, m):
            each.push([(1, A, P, B)])
        assert not any(p == "<urn:alone>" for _, _, p, _ in n)
        assert any(p == "<urn:alone>" for _, _, p, _ in m)

    def test_a_rule_fires_for_all_its_solutions_at_once(self):
        # One by one, the first would take away what the others rest on.
        n = network("DELETE { ?s ?p ?o } WHERE { ?x :q :all . ?s ?p ?o }")
        n.push([(1, A, P, B), (2, B, P, C), (3, A, Q, "<urn:all>")])
        assert len(n) == 0

    def test_delete_comes_before_insert(self):
        n = network("DELETE { ?x :p ?y } INSERT { ?x :p ?y ; :q ?y } WHERE { ?x :p ?y }")
        n.push([(1, A, P, B)])
        assert held(n) == {"<a> <p> <b>", "<a> <q> <b>"}

    def test_data_is_stated_once_before_the_first_element(self):
        n = network("INSERT DATA { :a :p :b GRAPH :g { :b :p :c } } ; DELETE DATA { :a :p :b }")
        assert len(n) == 0
        n.start(0)
        assert held(n) == {"<g> <b> <p> <c>"}

    def test_rows_come_in_the_order_of_rules_then_of_terms(self):
        n = network("SELECT ?x WHERE { ?x :p ?y } ; SELECT ?y WHERE { ?x :p ?y }")
        assert rows(n.push([(1, B, P, C), (1, A, P, B)])) == [(A,), (B,), (B,), (C,)]


class TestElements:
    TEXT = "INSERT { ?x :first true } WHERE { ?x :p ?y FILTER NOT EXISTS { ?z :first true } }"

    def test_what_has_one_time_arrives_at_once(self):
        n = network(self.TEXT)
        n.push([(1, A, P, B), (1, B, P, C), (2, C, P, A)])
        assert sum(p == "<urn:first>" for _, _, p, _ in n) == 2

    def test_or_statement_by_statement_where_the_file_says_so(self):
        n = network("# element: statement\n" + self.TEXT)
        n.push([(1, A, P, B), (1, B, P, C), (2, C, P, A)])
        assert sum(p == "<urn:first>" for _, _, p, _ in n) == 1

    def test_statements_arrive_in_their_graph_or_in_the_default_one(self):
        n = network("SELECT ?x WHERE { GRAPH ?g { ?x :p ?y } }")
        assert rows(n.push([(1, A, P, B, "<urn:g>"), (2, B, P, C)])) == [(A,)]
        n = network("# arrives in: default\nSELECT ?x WHERE { ?x :p ?y }")
        assert rows(n.push([(1, A, P, B, "<urn:g>"), (2, B, P, C)])) == [(A,), (B,)]

    def test_background_is_there_before_the_first_element(self, tmp_path):
        file = tmp_path / "b.ttl"
        file.write_text("<urn:b> <urn:p> <urn:c> .")
        n = network("SELECT ?x ?z WHERE { ?x :p ?y . ?y :p ?z }", background=[file])
        assert rows(n.push([(1, A, P, B)])) == [(A, C)]

    def test_files_that_differ_on_elements_are_refused(self, tmp_path):
        for element in ("time", "statement"):
            (tmp_path / f"{element}.ru").write_text(
                f"# element: {element}\n# rule: {element}\n{PREFIX}{self.TEXT}"
            )
        with pytest.raises(RuleError, match=r"statement\.ru: the files differ"):
            load_network(tmp_path / "time.ru", tmp_path / "statement.ru")


class TestNamedGraphs:
    def test_quads_move_between_graphs(self):
        n = network("DELETE { ?s ?p ?o } INSERT { GRAPH :kept { ?s ?p ?o } } WHERE { ?s ?p ?o }")
        n.push([(1, A, P, B)])
        assert held(n) == {"<kept> <a> <p> <b>"}

    def test_a_variable_graph_is_any_but_the_default_one(self):
        n = network("INSERT { ?x :in ?g } WHERE { GRAPH ?g { ?x :p ?y } }")
        n.push([(1, A, P, B), (2, A, P, C, "<urn:g>"), (3, B, P, C, "<urn:h>")])
        assert {each for each in held(n) if "<in>" in each} == {"<a> <in> <g>", "<b> <in> <h>"}


class TestBuiltIns:
    def test_those_of_rules_can_be_called(self):
        n = network(
            """SELECT ?y ?t WHERE { ?x :p ?y BIND(<urn:ensue:datatype>(?y) AS ?t)
                                    FILTER(<urn:ensue:isLiteral>(?y)) }"""
        )
        assert rows(n.push([(1, A, P, B), (2, A, P, '"x"')])) == [('"x"', f"<{XSD}string>")]


class TestLoops:
    def test_a_rule_that_keeps_itself_going_is_stopped_with_its_bindings(self):
        n = network(
            "# rule: up\nINSERT { ?x :n ?m } WHERE { ?x :n ?n BIND(?n + 1 AS ?m) }", limit=Limit(rounds=50)
        )
        with pytest.raises(
            UnsettledError, match=r"<text>:3:1: the network does not settle: after 50 rounds"
        ) as stopped:
            n.push([(7, A, "<urn:n>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')])
        assert stopped.value.cycle == ("up",)
        (binding,) = stopped.value.bindings["up"]
        assert binding["?x"] == A
        assert binding["?n"].startswith('"50"')
        assert "time 7" in str(stopped.value)
        assert "NOT EXISTS" in str(stopped.value)

    def test_the_circle_is_told_in_order_without_those_that_stand_by(self):
        n = network(
            """# rule: begin
               INSERT { ?x :a ?y } WHERE { ?x :p ?y } ;
               # rule: there
               DELETE { ?x :a ?y } INSERT { ?x :b ?y } WHERE { ?x :a ?y } ;
               # rule: watch
               SELECT ?x WHERE { ?x :b ?y } ;
               # rule: back
               DELETE { ?x :b ?y } INSERT { ?x :a ?y } WHERE { ?x :b ?y }""",
            limit=Limit(rounds=9),
        )
        with pytest.raises(
            UnsettledError, match=r"in a circle, (there -> back -> there|back -> there -> back);"
        ):
            n.push([(1, A, P, B)])

    def test_what_multiplies_is_stopped_by_its_firings(self):
        n = network(
            "INSERT { [] :p ?x } WHERE { ?x :p ?y } ; INSERT { [] :p ?x } WHERE { ?x :p ?y }",
            limit=Limit(firings=500),
        )
        with pytest.raises(UnsettledError, match="after 500 firings"):
            n.push([(1, A, P, B)])
        with pytest.raises(UsageError, match="was stopped"):
            n.push([(2, A, P, B)])

    def test_much_work_that_ends_is_not_a_loop(self):
        n = network("INSERT { ?x :q ?y } WHERE { ?x :p ?y }", limit=Limit(rounds=1, firings=1_000))
        n.push([(1, f"<urn:{at}>", P, B) for at in range(1_000)])
        assert len(n) == 2_000

    def test_a_limit_of_nothing_is_refused(self):
        with pytest.raises(UsageError, match="a limit of 0 rounds"):
            Limit(rounds=0)


class TestStreams:
    TEXT = "# element: statement\nSELECT ?x WHERE { ?x :p ?y }"

    def test_what_comes_out_of_order_arrives_in_order(self):
        run = NetworkRun(network(self.TEXT), ["urn:s", "urn:t"], disorder=Disorder(5))
        run.push("urn:s", [(3, A, P, B), (1, B, P, B), (4, C, P, B)])
        assert list(run.advance()) == []  # urn:t has said nothing yet
        run.push("urn:t", [(9, B, P, C)])
        run.push("urn:s", [(9, A, P, C)])
        assert rows(run.advance()) == [(B,), (A,)]  # up to 3
        assert rows(run.end()) == [(C,), (A,), (B,)]

    def test_any_order_within_the_disorder_gives_the_same(self):
        statements = [(at, f"<urn:{at}>", P, B) for at in range(20)]
        text = "SELECT ?x ?n WHERE { ?x :p ?y . :next :is ?n }"
        text += " ; DELETE { :next :is ?n } INSERT { :next :is ?x } WHERE { ?x :p ?y . :next :is ?n }"
        text += " ; INSERT DATA { :next :is :none }"
        wanted = None
        for turned in (
            statements,
            [*statements[3::-1], *statements[4:]],
            [*statements[:10], *statements[:9:-1]],
        ):
            run = NetworkRun(
                network("# element: statement\n" + text, limit=Limit(rounds=50)),
                ["urn:s"],
                disorder=Disorder(20),
            )
            run.push("urn:s", turned)
            found = [(result.close, result.answers.rows) for result in run.end()]
            wanted = wanted or found
            assert found == wanted

    def test_what_is_late_is_refused_where_that_is_asked_for(self):
        run = NetworkRun(network(self.TEXT), ["urn:s"], disorder=Disorder(0, "error"))
        run.push("urn:s", [(5, A, P, B)])
        with pytest.raises(InputError, match="late"):
            run.push("urn:s", [(3, A, P, B)])

    def test_without_anything_on_the_streams_the_background_is_looked_at(self, tmp_path):
        file = tmp_path / "b.ttl"
        file.write_text("<urn:b> <urn:p> <urn:c> .")
        run = NetworkRun(network(self.TEXT, background=[file]), ["urn:s"])
        assert rows(run.end()) == [(B,)]

    def test_an_unknown_stream_is_refused(self):
        with pytest.raises(UsageError, match="there is no stream <urn:z>"):
            NetworkRun(network(self.TEXT), ["urn:s"]).push("urn:z", [])


class TestMemory:
    def test_events_that_are_deleted_leave_nothing_behind(self):
        n = network(
            """# element: statement
               DELETE { ?s ?p ?o } WHERE { ?x a :End . ?s ?p ?o } ;
               INSERT { ?x :made [ :of ?y ] } WHERE { ?x :p ?y FILTER NOT EXISTS { ?x :q ?y } } ;
               SELECT DISTINCT ?x WHERE { ?x :made ?m OPTIONAL { ?x :q ?z } FILTER(?x != :a) }"""
        )
        end = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<urn:End>"

        def events(numbers: range) -> int:
            for at in numbers:
                first, last = (f"<urn:x{at}>", P, f"<urn:y{at}>", None), (f"<urn:z{at}>", *end, None)
                assert rows(n.arrive(at, [first, last])) == [(first[0],)]
            assert len(n) == 0
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            once = events(range(500))
            assert events(range(500, 2_000)) < once + 2_000
        finally:
            tracemalloc.stop()
