"""Rules in SPARQL: what they parse into, what is refused, and where."""

from __future__ import annotations

import pytest

from ensue.errors import NotMonotoneError, Place, RuleError, RuleSyntaxError, UnsafeRuleError
from ensue.rules.sparql import parse
from ensue.rules.sparql_skeleton import RULES
from ensue.rules.tree import Bind, Guard, Mint, Pattern, Premise, Rule, Var
from ensue.terms import RDF, RDFS, XSD

A, B, C, P, X, Y, Z = map(Var, "abcpxyz")
TYPE = f"<{RDF}type>"
PREFIX = "PREFIX e: <urn:e#> "


def one(text, **options):
    (rule,) = parse(PREFIX + text, **options).rules
    return rule


def body(where):
    """The premises and conditions of a rule with this WHERE; its template uses ?a alone."""
    rule = one(f"INSERT {{ ?a a e:T }} WHERE {{ {where} }}")
    return rule.premises, rule.conditions


def live(*patterns):
    return tuple(Premise(Pattern(*pattern)) for pattern in patterns)


def test_a_rule_is_premises_and_conclusions():
    rule = one("INSERT { ?a a ?c } WHERE { ?a e:p ?b . ?b rdfs:domain ?c }", file="f.ru", name="f")
    premises = live((A, "<urn:e#p>", B), (B, f"<{RDFS}domain>", C))
    assert rule == Rule("f-1", premises, (Pattern(A, TYPE, C),), (), Place("f.ru", 1, 20))


def test_construct_means_the_same():
    insert, construct = (one(word + " { ?a a ?b } WHERE { ?a e:p ?b }") for word in ("INSERT", "CONSTRUCT"))
    assert insert == construct
    assert one("CONSTRUCT WHERE { ?a e:p ?b }").conclusions == (Pattern(A, "<urn:e#p>", B),)


def test_many_rules_in_a_file():
    text = """# rule: prp-dom
    PREFIX e: <urn:e#>   # a ; in a comment
    INSERT { ?a a ?c ; e:says "a;b}" } WHERE { ?a e:p ?c } ;
    INSERT { ?a <urn:;#> ?c } WHERE { ?a e:p ?c } ;
    PREFIX f: <urn:f#>
    # rule: later.one
    CONSTRUCT { ?a e:p ?c } WHERE { ?a f:p ?c } ;
    """
    rules = parse(text, "f.ru", "f").rules
    assert [(rule.name, rule.place.line) for rule in rules] == [("prp-dom", 3), ("f-2", 4), ("later.one", 7)]
    assert rules[1].conclusions[0].p == "<urn:;#>"
    assert rules[2].premises[0].pattern.p == "<urn:f#p>"


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("01", f'"01"^^<{XSD}integer>'),
        ("-1.50", f'"-1.50"^^<{XSD}decimal>'),
        ("1e0", f'"1e0"^^<{XSD}double>'),
        ("TRUE", f'"true"^^<{XSD}boolean>'),
        ("'01'^^xsd:integer", f'"01"^^<{XSD}integer>'),
        ("'x'@EN-gb", '"x"@en-gb'),
        (r'"""a"b\\n\u0041\t"""', r'"a\"b\\nA\t"'),
        (r"e:a\,b", "<urn:e#a,b>"),
        (r"<urn:\u00e9>", "<urn:é>"),
    ],
)
def test_terms_keep_their_lexical_form(written, term):
    assert one(f"INSERT {{ ?a e:q {written} }} WHERE {{ ?a e:p {written} }}").conclusions[0].o == term
    assert body(f"?a e:p {written}")[0][0].pattern.o == term


def test_a_base_resolves_relative_iris():
    (rule,) = parse("BASE <http://x.org/a/> INSERT { ?a <b> ?a } WHERE { ?a <../c> ?a }").rules
    assert (rule.conclusions[0].p, rule.premises[0].pattern.p) == ("<http://x.org/a/b>", "<http://x.org/c>")


def test_blank_nodes_in_where_are_variables():
    blank = Var("_:1")
    assert body("?a e:p _:x . _:x e:q ?b") == (live((A, "<urn:e#p>", blank), (blank, "<urn:e#q>", B)), ())
    assert body("?a e:p [ e:q ?b ]") == body("?a e:p _:x . _:x e:q ?b")


def test_blank_nodes_in_a_template_are_made():
    rule = one("INSERT { ?a e:q _:x . _:x e:r [] } WHERE { ?a e:p ?b }", name="f")
    new = Var("_:new1"), Var("_:new2")
    assert rule.conditions == (Mint(new[0], "f-1#1"), Mint(new[1], "f-1#2"))
    assert rule.conclusions == (Pattern(A, "<urn:e#q>", new[0]), Pattern(new[0], "<urn:e#r>", new[1]))
    assert one("INSERT { ?a e:q _:x } WHERE { ?a e:p _:x }", name="f").conditions == (Mint(new[0], "f-1"),)


def test_insert_data_states_axioms():
    rules = parse(PREFIX + "INSERT DATA { e:a e:b 1, 2 . e:c a e:d } ; INSERT { e:x e:y e:z } WHERE { }")
    assert rules.rules == ()
    assert rules.axioms[2:] == (
        Pattern("<urn:e#c>", TYPE, "<urn:e#d>"),
        Pattern("<urn:e#x>", "<urn:e#y>", "<urn:e#z>"),
    )


def test_blank_nodes_of_axioms_belong_to_their_file_and_their_place():
    text = PREFIX + "INSERT DATA { _:a e:b [] . [] e:b _:a } ; INSERT DATA { _:a e:b e:c }"
    axioms = parse(text, "f.ru").axioms
    assert axioms == parse(text, "f.ru").axioms
    first, second, third = axioms
    assert first.s == second.o
    assert len({first.s, first.o, second.s, third.s}) == 4
    assert {axiom.s for axiom in axioms}.isdisjoint(axiom.s for axiom in parse(text, "g.ru").axioms)


@pytest.mark.parametrize(
    ("written", "guard"),
    [
        ("isIRI(?a)", Guard("isIRI", (A,))),
        ("(ISURI((?a)))", None),
        ("isLiteral(?a)", Guard("isLiteral", (A,))),
        ("isBlank(?a)", Guard("isBlank", (A,))),
        ("!isLiteral(?a)", Guard("notLiteral", (A,))),
        ("!(isLiteral(?a))", Guard("notLiteral", (A,))),
        ("!isIRI(?a)", None),
        ("sameTerm(?a, ?b)", Guard("equal", (A, B))),
        ("!sameTerm(?a, 'x')", Guard("notEqual", (A, '"x"'))),
        ("?a = e:x", Guard("equal", (A, "<urn:e#x>"))),
        ("<urn:x> != ?a", Guard("notEqual", ("<urn:x>", A))),
        ("!(?a = e:x)", Guard("notEqual", (A, "<urn:e#x>"))),
        ("!(?a != e:x)", Guard("equal", (A, "<urn:e#x>"))),
        ("!?a = e:x", None),
        ("?a = ?b", None),
        ("?a != 1", None),
        ("?a = 'x'", None),
    ],
)
def test_filters_become_builtins_where_these_mean_the_same(written, guard):
    ((found,),) = (body(f"?a e:p ?b FILTER({written})")[1],)
    assert found == guard if guard else found.name == "sparql"


def test_filters_that_are_no_builtins_keep_their_text_with_names_resolved():
    where = "?a e:p ?b, ?c FILTER(?b > 1 # because\n && ($c<e:x || REGEX(STR(?b), 'a;}')))"
    assert body(where)[1] == (
        Guard("sparql", (B,), "?b > 1"),
        Guard("sparql", (C, B), '?c< <urn:e#x> || REGEX(STR(?b), "a;}")'),
    )
    assert body("?a e:p ?b FILTER REGEX(?b, '^x')")[1] == (Guard("sparql", (B,), 'REGEX(?b, "^x")'),)


@pytest.mark.parametrize("written", ["isIRI(?a) && ?b = 1 || ?b = 2", "?b = 2 || isIRI(?a) && ?b = 1"])
def test_a_filter_with_or_stays_whole(written):
    assert body(f"?a e:p ?b FILTER({written})")[1][0].text == written
    assert len(body(f"?a e:p ?b FILTER(isBlank(?b) && ({written}))")[1]) == 2


def test_bind():
    where = "?a e:p ?b BIND(?b + 1 AS ?c) FILTER(?c > 3)"
    assert body(where)[1] == (Bind("sparql", (B,), C, "?b + 1"), Guard("sparql", (C,), "?c > 3"))


def test_a_fixed_variable_goes_into_the_patterns_and_stays_for_expressions():
    premises, conditions = body("?a e:p ?b VALUES ?b { e:x } BIND(01 AS ?c) FILTER(isIRI(?b) && ?b > ?c)")
    number = f'"01"^^<{XSD}integer>'
    assert premises == live((A, "<urn:e#p>", "<urn:e#x>"))
    assert conditions == (
        Bind("sparql", (), B, "<urn:e#x>"),
        Bind("sparql", (), C, number),
        Guard("isIRI", ("<urn:e#x>",)),
        Guard("sparql", (B, C), "?b > ?c"),
    )


def test_values_make_a_rule_per_row():
    text = "INSERT { ?a e:q ?y } WHERE { ?a e:p ?x VALUES (?x ?y) { (1 e:one) (UNDEF e:any) (2 UNDEF) } }"
    rules = parse(PREFIX + text, name="f").rules
    assert [(rule.name, rule.premises[0].pattern.o, rule.conclusions[0].o) for rule in rules] == [
        ("f-1-1", f'"1"^^<{XSD}integer>', "<urn:e#one>"),
        ("f-1-2", X, "<urn:e#any>"),
    ]


def test_values_alone_state_axioms():
    axioms = parse(PREFIX + "INSERT { ?x a e:T } WHERE { VALUES ?x { e:a e:b } }").axioms
    assert [axiom.s for axiom in axioms] == ["<urn:e#a>", "<urn:e#b>"]


def test_union_makes_a_rule_per_branch_with_the_conclusions_it_can_have():
    text = """INSERT { ?a e:x ?b ; e:y ?c ; a e:T } WHERE {
        ?a a e:S { ?a e:p ?b } UNION { ?a e:q ?c } FILTER(!BOUND(?b) || ?b > 1) }"""
    first, second = parse(PREFIX + text, name="f").rules
    assert [head.p for head in first.conclusions] == ["<urn:e#x>", TYPE]
    assert [head.p for head in second.conclusions] == ["<urn:e#y>", TYPE]
    assert first.conditions == (Guard("sparql", (B,), "!BOUND(?b) || ?b > 1"),)
    assert second.conditions == (Guard("sparql", (), "!BOUND(?b) || ?b > 1"),)
    assert (first.name, second.name) == ("f-1-1", "f-1-2")


@pytest.mark.parametrize(
    ("path", "premises"),
    [
        ("e:p/e:q", [(A, "<urn:e#p>", Var("_:1")), (Var("_:1"), "<urn:e#q>", B)]),
        ("^e:p", [(B, "<urn:e#p>", A)]),
        # b -p-> m <-q- a, walked from a
        ("^(e:p/^e:q)", [(A, "<urn:e#q>", Var("_:1")), (B, "<urn:e#p>", Var("_:1"))]),
    ],
)
def test_paths_without_repetition_are_written_out(path, premises):
    assert body(f"?a {path} ?b")[0] == live(*premises)


def test_alternative_paths_make_a_rule_each():
    rules = parse(PREFIX + "INSERT { ?a e:r ?b } WHERE { ?a (e:p|^e:q)/e:s ?b }").rules
    assert [len(rule.premises) for rule in rules] == [2, 2]


def test_the_live_graph_marks_what_streams_may_match():
    premises, _ = body("?x ?p ?y GRAPH <urn:ensue:live> { ?p rdfs:domain ?a }")
    assert [premise.live for premise in premises] == [False, True]


def test_the_background_graph_makes_cut_premises():
    where = "?x ?p ?y GRAPH <urn:ensue:background> { ?p rdfs:domain ?a FILTER(isIRI(?a)) { ?a a e:C } }"
    premises, conditions = body(where)
    assert [premise.cut for premise in premises] == [False, True, True]
    assert conditions == (Guard("isIRI", (A,)),)
    rule = one("INSERT { ?a a e:T } WHERE { GRAPH <static> { ?a ?p ?y } }", background_graphs=("static",))
    assert rule.premises[0].cut


def test_a_list_is_its_nodes():
    assert len(body("?a e:p (1 ?b)")[0]) == 5


NOT_RULES = [
    ("DELETE { ?a a e:T } WHERE { ?a e:p ?b }", NotMonotoneError, 1, "leaves the rest alone"),
    ("DELETE DATA { e:a a e:T }", NotMonotoneError, 1, "leaves the rest alone"),
    (
        "INSERT { ?a a e:T } WHERE { ?a e:p ?b FILTER NOT EXISTS { ?b a e:T } }",
        NotMonotoneError,
        50,
        "turn false",
    ),
    (
        "INSERT { ?a a e:T } WHERE { ?a e:p ?b FILTER(?b > 1 || EXISTS { ?b a e:T }) }",
        NotMonotoneError,
        56,
        "",
    ),
    ("INSERT { ?a a e:T } WHERE { ?a e:p ?b MINUS { ?b a e:T } }", NotMonotoneError, 39, "turn false"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p ?b OPTIONAL { ?b a e:T } }", NotMonotoneError, 39, "turn false"),
    ("CONSTRUCT { ?a a e:T } WHERE { ?a e:p ?b } GROUP BY ?a", NotMonotoneError, 44, "all solutions"),
    ("CONSTRUCT { ?a a e:T } WHERE { ?a e:p ?b } LIMIT 5", NotMonotoneError, 44, "all solutions"),
    ("CONSTRUCT { ?a a e:T } WHERE { ?a e:p ?b } ORDER BY ?b", RuleError, 44, "no order"),
    ("INSERT { ?a a e:T } WHERE { { SELECT ?a { ?a e:p ?b } } }", RuleError, 31, "holds no query"),
    (
        "INSERT { ?a a e:T } WHERE { { SELECT (COUNT(?b) AS ?a) { ?b e:p 1 } } }",
        RuleError,
        31,
        "holds no query",
    ),
    ("SELECT * { ?a e:p ?b }", RuleError, 1, "does not say about what"),
    ("LOAD <urn:x>", RuleError, 1, "nothing else"),
    ("CLEAR ALL", NotMonotoneError, 1, "leaves the rest"),
    ("INSERT { ?a a e:T } WHERE { SERVICE <urn:x> { ?a e:p ?b } }", RuleError, 29, "nothing else"),
    ("INSERT { ?a a e:T } USING <urn:x> WHERE { ?a e:p ?b }", RuleError, 21, "nothing else"),
    (
        "INSERT { ?a e:q ?b } WHERE { ?a e:p ?c BIND(RAND() AS ?b) }",
        RuleError,
        45,
        "differs from call to call",
    ),
    (
        "INSERT { ?a e:q ?b } WHERE { ?a e:p ?c BIND(bnode() AS ?b) }",
        RuleError,
        45,
        "blank node in the template",
    ),
    ("INSERT { GRAPH e:g { ?a a e:T } } WHERE { ?a e:p ?b }", RuleError, 16, "into a GRAPH"),
    ("INSERT DATA { GRAPH e:g { e:a a e:T } }", RuleError, 21, "into a GRAPH"),
    ("INSERT { ?a a e:T } WHERE { GRAPH e:g { ?a e:p ?b } }", RuleError, 35, "not the background"),
    ("INSERT { ?a a e:T } WHERE { GRAPH ?g { ?a e:p ?b } }", RuleError, 35, "not the background"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p* ?b }", RuleError, 32, "path with '*'"),
    ("INSERT { ?a a e:T } WHERE { ?a (e:p/e:q)+ ?b }", RuleError, 33, "path with '+'"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p? ?b }", RuleError, 32, "path with '?'"),
    ("INSERT { ?a a e:T } WHERE { ?a !e:p ?b }", RuleError, 33, "negated path"),
    ("INSERT { ?a e:q ?b } WHERE { ?a e:p ?c BIND(1 AS ?c) }", RuleError, 50, "bound already"),
    ("INSERT { ?a e:q ?b } WHERE { ?a e:p ?b FILTER(e:f(?b)) }", RuleError, 47, "no function <urn:e#f>"),
    ("INSERT { ?a e:q ?b } WHERE { ?a e:p ?b FILTER(?b +) }", RuleError, 47, "not a SPARQL expression"),
    ("INSERT { ?a e:q ?b } WHERE { ?a e:p ?b FILTER() }", RuleError, 47, "not a SPARQL expression"),
    ("INSERT { ?a e:q ?b } WHERE { ?a e:p ?b VALUES ?b { } }", RuleError, 1, "never fire"),
    ("INSERT { ?a e:q ?b } WHERE { ?a e:p ?b VALUES ?b { 1 } VALUES ?b { 2 } }", RuleError, 1, "never fire"),
    ("INSERT { ?a e:q ?b } WHERE { ?a e:p ?b VALUES (?b ?a) { (1) } }", RuleError, 58, "a row of 1"),
    ("INSERT { } WHERE { ?a e:p ?b }", RuleError, 1, "concludes nothing"),
    ("INSERT { ?b e:q ?c } WHERE { { ?a e:p ?b } UNION { ?a e:p ?c } }", RuleError, 1, "concludes nothing"),
    ("INSERT { e:a e:b ?x } WHERE { BIND(1 + 1 AS ?x) }", RuleError, 1, "no premise"),
    ("INSERT { ?a e:q ?b } WHERE { ?a e:p ?c }", UnsafeRuleError, 17, "nothing binds ?b"),
    ("INSERT DATA { e:a e:q ?b }", UnsafeRuleError, 23, "nothing binds ?b"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p ?c FILTER(?b > 1) }", UnsafeRuleError, 46, "nothing binds ?b"),
    (
        "INSERT { ?a a e:T } WHERE { ?a e:p ?b { ?a e:q ?c FILTER(?b > 1) } }",
        UnsafeRuleError,
        58,
        "its own { }",
    ),
    (
        "INSERT { ?a a e:T } WHERE { ?a e:p ?b BIND(?c + 1 AS ?d) ?a e:q ?c }",
        UnsafeRuleError,
        44,
        "before it",
    ),
    ("INSERT { ?a a f:T } WHERE { ?a e:p ?c }", RuleSyntaxError, 15, "'f:' is not declared"),
    ("INSERT { ?a a <T> } WHERE { ?a e:p ?c }", RuleSyntaxError, 15, "relative IRI"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p }", RuleSyntaxError, 29, "from '?a' on"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p 1 { ?a ?b } }", RuleSyntaxError, 40, "from '?a' on"),
    ("INSERT { ?a a e:T } HERE { ?a e:p 1 }", RuleSyntaxError, 21, "from 'HERE' on"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p ?b BIND(1 ?x) }", RuleSyntaxError, 39, "from 'BIND' on"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p ?b FILTER(?b>1) HI }", RuleSyntaxError, 52, "from 'HI' on"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p ?b FILTER ?b }", RuleSyntaxError, 39, "from 'FILTER' on"),
    ("INSERT { ?a e:é '中' ?b } WHERE { ?a e:p ?b }", RuleSyntaxError, 21, "from '?b' on"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p ?b } }", RuleSyntaxError, 41, "closes nothing"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p ?b ", RuleSyntaxError, 27, "never closed"),
    ("INSERT { ?a a e:T } WHERE { ?a e:p (1] }", RuleSyntaxError, 38, "')' comes first"),
    ("INSERT { ?a a e:T }", RuleSyntaxError, 20, "ends too early"),
    ("HELLO", RuleSyntaxError, 1, "begins no rule"),
    ("PREFIX f <urn:f>", RuleSyntaxError, 1, "not complete"),
    ("BASE f:", RuleSyntaxError, 1, "not complete"),
]


@pytest.mark.parametrize(("text", "error", "column", "says"), NOT_RULES)
def test_what_no_rule_can_say_is_refused_with_its_place_and_a_reason(text, error, column, says):
    with pytest.raises(error) as raised:
        parse(f"PREFIX e: <urn:e#>\n{text}", "f.ru")
    assert type(raised.value) is error
    assert raised.value.place == Place("f.ru", 2, column)
    assert says in str(raised.value)


@pytest.mark.parametrize("word", RULES.refused)
def test_a_refused_word_is_free_inside_names_strings_and_comments(word):
    text = f"# {word}\nINSERT {{ ?{word} <urn:{word}> '{word}' }} WHERE {{ ?{word} e:{word} ?b }}"
    assert len(parse(PREFIX + text).rules) == 1


def test_places_are_right_in_the_second_rule():
    first = "PREFIX e: <urn:e#>\nINSERT { ?a a e:T } WHERE { ?a e:é ?b } ;\n\n"
    text = first + "  INSERT { ?a a e:U }\n  WHERE { ?a e:p }"
    with pytest.raises(RuleSyntaxError) as raised:
        parse(text, "f.ru")
    assert raised.value.place == Place("f.ru", 5, 11)


def test_two_rules_without_a_semicolon():
    text = "INSERT { ?a a ?b } WHERE { ?a ?p ?b }\nINSERT { ?b a ?a } WHERE { ?a ?p ?b }"
    with pytest.raises(RuleSyntaxError) as raised:
        parse(text, "f.ru")
    assert raised.value.place == Place("f.ru", 2, 1)
    assert "separated by ';'" in raised.value.hint


def test_two_rules_of_one_name():
    text = (
        "# rule: x\nINSERT { ?a a ?b } WHERE { ?a ?p ?b } ;\n# rule: x\nINSERT { ?b a ?a } WHERE { ?a ?p ?b }"
    )
    with pytest.raises(RuleError, match="second rule is called 'x'") as raised:
        parse(text, "f.ru")
    assert raised.value.place == Place("f.ru", 4, 1)


def test_too_many_branches():
    union = " UNION ".join("{ ?a e:p ?b }" for _ in range(40))
    with pytest.raises(RuleError, match="more than 1000 rules"):
        parse(PREFIX + f"INSERT {{ ?a a e:T }} WHERE {{ {union} {union} }}")


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("FILTER(" + "(" * 10_000 + "1" + ")" * 10_000 + ")", "nest more than 50 deep"),
        ("FILTER(" + "!" * 20_000 + "?b)", "more than 1000 operators"),
        ("FILTER(" + "+".join(["?b"] * 20_000) + ")", "more than 1000 operators"),
        ("BIND(" + "+".join(["?b"] * 20_000) + " AS ?x)", "more than 1000 operators"),
        ("{" * 10_000 + "}" * 10_000, "nest more than 50 deep"),
        ("{" * 45 + "}" * 45, "nested too deeply"),
        ("!" * 20_000, "not SPARQL"),
        ("?a " + "/".join(["(e:p|e:q)"] * 40) + " ?b", "too many ways"),
        ("(" * 100_000, "nest more than 50 deep"),
    ],
)
def test_a_bomb_does_not_go_off(where, says):
    with pytest.raises(RuleError, match=says) as raised:
        parse(f"{PREFIX} INSERT {{ ?a a e:T }} WHERE {{ ?a e:p ?b . {where} }}", "f.ru")
    assert raised.value.place.line == 1


def test_a_prefix_keeps_its_hash_where_there_is_a_base():
    names = "BASE <http://e.org/x> PREFIX p: <http://e.org/v#> PREFIX q: <#>"
    (rule,) = parse(f"{names} INSERT {{ ?x p:a ?y }} WHERE {{ ?x q:b ?y }}").rules
    assert rule.conclusions[0].p == "<http://e.org/v#a>"
    assert rule.premises[0].pattern.p == "<http://e.org/x#b>"
