"""Rules over lists: what becomes of them over a background, and what stops where streams bring lists."""

from __future__ import annotations

import pytest
from plan.list_cases import EX, OWL, TYPE
from plan.list_reference import FIRST, NIL, REST

from ensue import Reasoner
from ensue.cli import main
from ensue.device.load import load_rules as load_device_rules
from ensue.dictionary import Dictionary
from ensue.errors import InputError, RuleError
from ensue.job import Job
from ensue.knowledge import Sent
from ensue.maintain import STRATEGIES, make
from ensue.model import Copies
from ensue.plan.known import close
from ensue.plan.unfold import unfold
from ensue.query.language import parse_query
from ensue.rules.load import load_rules, parse_rules
from ensue.rules.maintenance import maintenance_program

INT = "[int: (?c owl:intersectionOf ?l), each(?l, ?t, (?y rdf:type ?t)) -> (?y rdf:type ?c)]"
SCM = "[scm: (?c owl:intersectionOf ?l), member(?l, ?d) -> (?c rdfs:subClassOf ?d)]"
A, B, C, D = (f"<{EX}{name}>" for name in "ABCD")
INTERSECTION, SUB = f"<{OWL}intersectionOf>", "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


def listed(*members, name="l"):
    """A list, and the statements that make it."""
    nodes = [f"_:{name}{at}" for at in range(len(members))]
    statements = [
        statement
        for node, member, rest in zip(nodes, members, [*nodes, NIL][1:], strict=True)
        for statement in ((node, FIRST, member), (node, REST, rest))
    ]
    return [*nodes, NIL][0], statements


def unfolded(text, statements, dictionary=None):
    dictionary = Dictionary() if dictionary is None else dictionary
    return unfold(parse_rules(text), lambda plain: close(plain, statements, dictionary))


def lines(found):
    return [str(rule).replace(EX, "").replace(TYPE, "a") for rule in found.rules.rules]


AB, MAKES_AB = listed(A, B)
BACKGROUND = [(C, INTERSECTION, AB), *MAKES_AB]


# -- what rules become ----------------------------------------------------------------------------


def test_rules_without_lists_are_left_alone():
    rules = load_rules("rdfs-jena")
    found = unfold(rules, lambda plain: pytest.fail("closed in vain"))
    assert found.rules is rules
    assert (found.refused, found.report) == ((), None)


def test_what_needs_no_premise_any_more_is_an_axiom():
    found = unfolded(SCM, BACKGROUND)
    assert found.rules.rules == ()
    assert sorted(map(str, found.rules.axioms)) == [f"({C} {SUB} {A})", f"({C} {SUB} {B})"]


def test_an_intersection_of_nothing_concludes_nothing():
    assert lines(unfolded(INT, [(C, INTERSECTION, NIL)])) == []


def test_a_key_of_nothing_leaves_what_else_binds():
    key = "[key: (?c owl:hasKey ?l), (?x rdf:type ?c), (?y rdf:type ?c), each(?l, ?p, (?x ?p ?v), (?y ?p ?v))"
    found = unfolded(f"{key} -> (?x owl:sameAs ?y)]", [(C, f"<{OWL}hasKey>", NIL)])
    assert lines(found) == [f"[key: (?x a <C>), (?y a <C>) -> (?x <{OWL}sameAs> ?y)]"]


def test_fresh_variables_are_each_members_own():
    head, makes = listed("<urn:p>", "<urn:q>")
    found = unfolded(
        "[r: (?c <urn:keys> ?l), each(?l, ?p, (?x ?p ?v), (?v ?p ?x)) -> (?x rdf:type ?c)]",
        [(C, "<urn:keys>", head), *makes],
    )
    body = "(?x <urn:p> ?v.1), (?v.1 <urn:p> ?x), (?x <urn:q> ?v.2), (?v.2 <urn:q> ?x)"
    assert lines(found) == [f"[r: {body} -> (?x a <C>)]"]


@pytest.mark.parametrize(
    ("properties", "body"),
    [
        ([], "(?x a ?k) -> (?x <urn:path> ?x)"),
        (["<urn:p>"], "(?x a ?k), (?x <urn:p> ?y) -> (?x <urn:path> ?y)"),
        (
            ["<urn:p>", "<urn:p>"],
            "(?x a ?k), (?x <urn:p> ?chain0.1), (?chain0.1 <urn:p> ?y) -> (?x <urn:path> ?y)",
        ),
    ],
)
def test_a_chain_is_a_path(properties, body):
    head, makes = listed(*properties)
    found = unfolded(
        "[r: (?p <urn:along> ?l), (?x rdf:type ?k), chain(?l, ?x, ?y) -> (?x ?p ?y)]",
        [("<urn:path>", "<urn:along>", head), *makes],
    )
    assert lines(found) == [f"[r: {body}]"]


def test_what_the_background_has_is_no_premise_and_what_it_lacks_may_come():
    head, makes = listed("<urn:a>", "<urn:b>")
    different = "(?d rdf:type owl:AllDifferent), (?d owl:members ?l), pair(?l, ?x, ?y)"
    rule = f"[r: {different}, (?x ?p ?y) -> (?x <urn:no> ?y)]"
    members, mark = ("<urn:d>", f"<{OWL}members>", head), ("<urn:d>", TYPE, f"<{OWL}AllDifferent>")
    short = "(<urn:a> ?p <urn:b>) -> (<urn:a> <urn:no> <urn:b>)]"
    assert lines(unfolded(rule, [members, mark, *makes])) == [f"[r: {short}"]
    assert lines(unfolded(rule, [members, *makes])) == [f"[r: (<urn:d> a <{OWL}AllDifferent>), {short}"]
    cut = rule.replace("(?d rdf:type owl:AllDifferent)", "cut(?d rdf:type owl:AllDifferent)")
    assert lines(unfolded(cut, [members, mark, *makes])) == [f"[r: {short}"]
    assert lines(unfolded(cut, [members, *makes])) == []


def test_unfolding_and_closing_take_turns():
    inherit = "[up: (?c rdfs:subClassOf ?d), (?d <urn:roles> ?l) -> (?c <urn:roles> ?l)]"
    roles = "[roles: (?c <urn:roles> ?l), member(?l, ?p), (?x ?p ?y) -> (?x rdf:type ?c)]"
    head, makes = listed("<urn:p>", name="k")
    found = unfolded(SCM + inherit + roles, [*BACKGROUND, (A, "<urn:roles>", head), *makes])
    assert [line for line in lines(found) if line.startswith("[roles")] == [
        "[roles: (?x <urn:p> ?y) -> (?x a <A>)]",
        "[roles: (?x <urn:p> ?y) -> (?x a <C>)]",
    ]


def test_rules_that_may_make_lists_of_a_stream_are_named():
    others = (
        "[eq: (?a owl:sameAs ?b), (?a ?p ?o) -> (?b ?p ?o)] [cut: cut(?a <urn:p> ?b) -> (?a rdf:first ?b)]"
    )
    found = unfolded(INT + others + "[no: (?a <urn:p> ?b) -> (?b <urn:p> ?a)]", BACKGROUND)
    assert "not noticed: lists that rules make of what a stream brings (by eq)" in found.report.details


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({("_:l1", REST, NIL): None}, "it has no rdf:rest at _:l1"),
        ({("_:l1", FIRST, B): None}, "it has no rdf:first at _:l1"),
        ({("_:l1", REST, NIL): ("_:l1", REST, "_:l0")}, "it comes back to _:l0"),
        ({("_:l1", FIRST, B): ("_:l1", REST, "_:l0")}, "it has no rdf:first at _:l1"),
        (
            {("_:l0", REST, "_:l1"): ("_:l0", REST, "_:l1"), None: ("_:l0", REST, NIL)},
            "it has two rests at _:l0",
        ),
    ],
)
def test_a_list_that_is_none_is_left_out_and_told(change, why):
    statements = [change.get(each, each) for each in BACKGROUND] + [change.get(None)]
    found = unfolded(INT + SCM, [each for each in statements if each])
    assert (found.rules.rules, found.rules.axioms) == ((), ())
    assert {f"rule '{name}' leaves out the list _:l0: {why}" for name in ("int", "scm")} <= {
        *found.report.details
    }


def test_a_place_with_two_members_is_read_both_ways():
    found = unfolded(INT, [*BACKGROUND, ("_:l0", FIRST, D)])
    assert lines(found) == [
        "[int: (?y a <A>), (?y a <B>) -> (?y a <C>)]",
        "[int: (?y a <D>), (?y a <B>) -> (?y a <C>)]",
    ]


def test_too_many_ways_to_read_a_list_are_an_error():
    many = [(f"_:l{at}", FIRST, f"<urn:{at}-{n}>") for at in range(2) for n in range(150)]
    with pytest.raises(InputError, match="more than 10,000 ways"):
        unfolded(INT, [*BACKGROUND, *many])


# -- conditions ------------------------------------------------------------------------------------


def conclusions(text, statements, predicate="<urn:q>"):
    """What follows, of one predicate, by every strategy: the same."""
    every = []
    for strategy in ("expiration", "recompute", "dred", "rete"):
        dictionary = Dictionary()
        found = unfolded(text, statements, dictionary)
        maintainer = make(strategy, found.rules, dictionary)
        maintainer.load_background(
            Copies.background(tuple(map(dictionary.encode, statement)) for statement in statements)
        )
        decoded = [tuple(map(dictionary.decode, row[1:4])) for row in maintainer.closure(0)]
        every.append(sorted(each for each in decoded if each[1] == predicate))
    assert every.count(every[0]) == len(every)
    return every[0]


def test_conditions_see_what_was_filled_in():
    head, makes = listed('"1"^^<urn:t>', '"x"', "<urn:a>")
    stated = [(C, "<urn:of>", head), *makes, ("<urn:s>", "<urn:p>", "<urn:o>")]
    of = "(?c <urn:of> ?l), member(?l, ?x), (?s <urn:p> ?o)"
    assert conclusions(f"[r: {of}, isIRI(?x) -> (?s <urn:q> ?x)]", stated) == [
        ("<urn:s>", "<urn:q>", "<urn:a>")
    ]
    assert conclusions(f"[r: {of}, isDLiteral(?x, ?t) -> (?s <urn:q> ?t)]", stated) == [
        ("<urn:s>", "<urn:q>", "<urn:t>")
    ]
    assert conclusions(
        "[r: (?c <urn:of> ?l), member(?l, ?x), isDLiteral(?x, ?t) -> (?c <urn:q> ?t)]", stated
    ) == [(C, "<urn:q>", "<urn:t>")]
    in_sparql = """INSERT { ?s <urn:q> ?x }
        WHERE { ?c <urn:of> ?l . ?l rdf:rest*/rdf:first ?x . ?s <urn:p> ?o FILTER(STRLEN(STR(?x)) > 2) }"""
    assert conclusions(in_sparql, stated) == [("<urn:s>", "<urn:q>", "<urn:a>")]


def test_what_conditions_name_may_be_the_end_of_an_empty_chain():
    stated = [(C, "<urn:of>", NIL), ("<urn:s>", "<urn:p>", "<urn:o>")]
    text = """INSERT { ?s <urn:q> ?e }
        WHERE { ?c <urn:of> ?l . ?s <urn:p> ?o . ?l <urn:ensue:list:chain> (?s ?e)
                FILTER(STRLEN(STR(?e)) > 2) }"""
    assert conclusions(text, stated) == [("<urn:s>", "<urn:q>", "<urn:s>")]


def test_a_node_is_made_of_the_list_and_the_member_too():
    head, makes = listed("<urn:a>", "<urn:b>")
    stated = [(C, "<urn:of>", head), (D, "<urn:of>", head), *makes]
    made = conclusions("[r: (?c <urn:of> ?l), member(?l, ?x), makeTemp(?n) -> (?n <urn:q> ?x)]", stated)
    assert len({node for node, _, _ in made}) == 4
    same = conclusions("[r: (?c <urn:of> ?l), member(?l, ?x), assignAnon(?x, ?n) -> (?n <urn:q> ?x)]", stated)
    assert len({node for node, _, _ in same}) == 2


def test_nodes_that_make_lists_come_to_an_end():
    head, makes = listed("<urn:a>")
    text = "[r: (?c <urn:of> ?l), member(?l, ?x), makeTemp(?n) -> (?n <urn:of> ?l), (?n <urn:q> ?x)]"
    assert 1 < len(conclusions(text, [(C, "<urn:of>", head), *makes])) < 20


# -- who refuses what ------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [*STRATEGIES])
def test_no_strategy_takes_a_rule_that_was_not_unfolded(strategy):
    with pytest.raises(RuleError, match=r"rule 'int' asks for the members of lists.*hint: unfold it"):
        make(strategy, parse_rules(INT), Dictionary())


def test_neither_do_maintenance_programs_and_devices(tmp_path):
    with pytest.raises(RuleError, match="rule 'int' asks for the members of lists"):
        maintenance_program(parse_rules(INT))
    (tmp_path / "int.rules").write_text(INT)
    with pytest.raises(RuleError, match=r"int.rules:1:1: rule 'int' asks for .*hint: write a plain rule"):
        load_device_rules([str(tmp_path / "int.rules")])


QUERY = """REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 10s STEP 10s] {}
    WHERE {{ ?x a <urn:ex:C> }}"""
TYPED = [(1000, "<urn:x>", TYPE, A), (2000, "<urn:x>", TYPE, B), (3000, "<urn:y>", TYPE, A)]


def knowledge(statements=BACKGROUND, **graphs):
    sent = {f"urn:{name}": tuple((*each, None) for each in graph) for name, graph in graphs.items()}
    return Sent(tuple((*each, None) for each in statements), sent)


def answers(reasoner, statements=TYPED):
    reasoner.push("urn:s", statements)
    return [sorted(result.answers.rows) for result in reasoner.advance(to=10_000)]


@pytest.mark.parametrize("strategy", ["expiration", "recompute", "dred", "rete"])
@pytest.mark.parametrize("prune", [True, False])
def test_queries_see_what_rules_over_lists_conclude(strategy, prune):
    reasoner = Reasoner(parse_rules(INT), knowledge(), strategy, prune=prune)
    reasoner.register(QUERY.format(""))
    assert answers(reasoner) == [[("<urn:x>",)]]


def test_lists_of_from_are_those_of_its_queries_alone():
    reasoner = Reasoner(parse_rules(INT), knowledge((), g=BACKGROUND))
    reasoner.register(QUERY.format("FROM <urn:g>"))
    reasoner.register(QUERY.format("").replace("QUERY q", "QUERY without"))
    assert answers(reasoner) == [[("<urn:x>",)], []]


LISTS_ON_STREAMS = [("_:n", FIRST, A), ("_:n", REST, NIL), (D, INTERSECTION, AB)]


@pytest.mark.parametrize("statement", LISTS_ON_STREAMS)
@pytest.mark.parametrize("options", [{}, {"prune": False}, {"fixed_schema": True}, {"strategy": "rete"}])
def test_a_list_on_a_stream_stops_the_job(statement, options):
    reasoner = Reasoner(parse_rules(INT), knowledge(), **options)
    reasoner.register(QUERY.format(""))
    with pytest.raises(
        InputError, match=r"the stream <urn:s> brings .*hint: put it into the background"
    ) as caught:
        answers(reasoner, [*TYPED, (4000, *statement)])
    assert statement[1] in caught.value.what


def test_a_list_that_a_query_constructs_stops_the_job_and_so_does_one_for_a_window_from_scratch():
    reasoner = Reasoner(parse_rules(INT), knowledge())
    construct = (
        "CONSTRUCT {{ ?x <{0}first> ?x }} FROM STREAM <urn:s> [RANGE 10s STEP 10s] WHERE {{ ?x a ?y }}"
    )
    reasoner.register("REGISTER STREAM <urn:t> AS " + construct.format(FIRST[1:-6]))
    reasoner.register(QUERY.format("").replace("urn:s", "urn:t"))
    with pytest.raises(InputError, match="the stream <urn:t> brings"):
        answers(reasoner)
    reasoner = Reasoner(parse_rules(INT), knowledge())
    reasoner.register(QUERY.format("FROM STREAM <urn:t> [RANGE TRIPLES 3]"))
    assert "from scratch" in str(reasoner.plan())
    with pytest.raises(InputError, match="the stream <urn:s> brings"):
        answers(reasoner, [(4000, *LISTS_ON_STREAMS[0])])


def test_streams_may_bring_lists_where_no_rule_asks_for_any():
    reasoner = Reasoner("rdfs-jena", knowledge())
    reasoner.register(QUERY.format(""))
    assert answers(reasoner, [*TYPED, (4000, *LISTS_ON_STREAMS[0])]) == [[]]


def test_a_list_in_from_named_is_refused():
    reasoner = Reasoner(parse_rules(INT), knowledge((), g=BACKGROUND))
    with pytest.raises(InputError, match=r"FROM NAMED <urn:g> brings .*hint: put it into the background"):
        reasoner.register(QUERY.format("FROM NAMED <urn:g>"))


def test_the_plan_tells_what_became_of_rules_over_lists():
    job = Job.of([parse_query(QUERY.format(""))], parse_rules(INT), knowledge())
    (scope,) = job.reasoner().plan()["scopes"]
    assert scope["passes"][0] == {
        "name": "lists",
        "line": "1 rule over lists became 1 plain rule and 0 statements",
        "details": ["int: 1"],
    }
    assert scope["rules"] == ["int"]


def test_reason_closes_files_under_rules_over_lists(tmp_path, capsys):
    (tmp_path / "r.rules").write_text(INT + SCM)
    (tmp_path / "d.ttl").write_text(
        f"@prefix : <{EX}> . @prefix owl: <{OWL}> . :C owl:intersectionOf (:A :B) . :x a :A, :B . :y a :A ."
    )
    for strategy in ("expiration", "rete"):
        files = ["--rules", str(tmp_path / "r.rules"), "--strategy", strategy, str(tmp_path / "d.ttl")]
        assert main(["reason", "--derived-only", *files]) == 0
        shown = capsys.readouterr()
        assert shown.out.splitlines() == [
            f"{C} {SUB} {A} .",
            f"{C} {SUB} {B} .",
            f"<{EX}x> {TYPE} {C} .",
        ]
        assert "2 rules over lists became 1 plain rule and 2 statements" in shown.err
