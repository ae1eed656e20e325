"""The regimes that ship with Ensue: what is in them, how they share rules, and how users use them."""

from __future__ import annotations

import json

import pytest
from rules.closing import closure

from ensue.cli.main import main
from ensue.errors import RuleError, RuleSyntaxError
from ensue.rules import shipped
from ensue.rules.catalogue import STUDIED, STUDY, Regime, overlap
from ensue.rules.flat import flat
from ensue.rules.load import load_rules, parse_rules, regime_names
from ensue.rules.same import form, unique
from ensue.terms import RDF, RDFS

SPARQL = [name for name, file in shipped.regimes().items() if file.name.endswith(".ru")]
TYPE = f"<{RDF}type>"


def counted(name):
    regime = Regime.of(name)
    return len(regime.rules), len(regime.conditions), regime.axioms


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rdf", (2, 1, 0)),
        ("rdfs", (16, 1, 8)),
        ("rhodf", (16, 0, 5)),
        ("dstar", (16, 0, 0)),
        ("p", (21, 0, 0)),
        ("dstar+p", (37, 0, 0)),
        ("owl2rl", (58, 18, 43)),
        ("swclos2", (17, 7, 0)),
        ("sparkwave", (7, 0, 0)),
        ("rdf-axioms", (1, 0, 8)),
        ("rdfs-axioms", (2, 0, 46)),
        ("datatype-axioms", (0, 0, 32)),
        ("pdsv", (40, 0, 0)),
        ("rdfs-jena", (11, 0, 0)),
    ],
)
def test_how_much_is_in_a_regime(name, expected):
    assert counted(name) == expected


def test_the_counts_of_the_study():
    found = {name: counted(name)[0] for name in STUDY}
    assert {name: (found[name], STUDY[name]) for name in STUDY if found[name] != STUDY[name]} == {
        "rhodf": (16, 15)
    }
    rows = overlap([Regime.of(name) for name in STUDIED])
    conditions = [row for row in rows if row.is_condition]
    # The study counts dt-diff as a rule: 100 and 21.
    assert (len(rows) - len(conditions), len(conditions)) == (99, 22)
    assert [row.names for row in conditions if "dt-diff" in row.names.get("owl2rl", ())]
    core = [row for row in rows if {"rdfs", "rhodf", "dstar", "owl2rl"} <= row.names.keys()]
    assert len(core) == 6


@pytest.mark.parametrize("name", [name for name in SPARQL if not name.endswith("axioms")])
def test_what_regimes_share_is_written_once(name):
    """No rule of a regime says what a rule of another says that is written elsewhere."""
    places = {}
    for other in (each for each in SPARQL if not each.endswith("axioms")):
        for rule in Regime.of(other).rules:
            places.setdefault(rule.form(), set()).add(rule.place)
    for rule in Regime.of(name).rules:
        assert len(places[rule.form()]) == 1, rule.name


@pytest.mark.parametrize("name", SPARQL)
def test_a_regime_written_out_says_the_same(name):
    file = shipped.regimes()[name]
    one = load_rules(name)
    other = parse_rules(flat(file.read_text("utf-8"), file.name), f"{name}.ru", name=name)
    assert [str(rule) for rule in one.rules] == [str(rule) for rule in other.rules]
    assert {*one.axioms} == {*other.axioms}


def test_two_regimes_together_have_what_they_share_once():
    together = load_rules("rdfs", "owl2rl")
    assert len({form(rule) for rule in together.rules}) == len(together.rules)
    names = {rule.name for rule in together.rules}
    assert "rdfs9" in names
    assert "cax-sco" not in names


def test_rules_that_make_nodes_are_not_taken_for_the_same():
    rules = parse_rules(
        """[a: (?x <urn:p> ?y), makeTemp(?n) -> (?n <urn:q> ?x)]
           [b: (?x <urn:p> ?y), makeTemp(?n) -> (?n <urn:q> ?x)]"""
    )
    assert len(unique(rules.rules)) == 2


def test_a_file_of_ones_own_uses_rules(tmp_path):
    own = tmp_path / "own.ru"
    own.write_text(
        """PREFIX ex: <urn:ex:>
        # use: sub-class-instance as up
        # rule: mine
        INSERT { ?x a ex:Thing } WHERE { ?x ex:p ?y }
        # use: owl2rl/prp-key as key
        # use: in-disjoint-classes as never-both
        # use: rdf-axioms"""
    )
    rules = load_rules(own)
    names = [rule.name for rule in rules.rules]
    assert names == ["up", "mine", "key", "never-both", "rdf-n-1", "rdf-n-2", "rdf-n-3"]
    assert str(rules.rules[0].place).startswith("shared/hierarchy.ru:")
    assert rules.rules[3].conclusions[0].p == "<urn:ensue:violation:never-both>"
    assert len(rules.axioms) == 8


def test_bracketed_rules_use_rules_too():
    rules = parse_rules(
        "# use: domain as d\n[r: (?x <urn:p> ?y) -> (?y <urn:p> ?x)] // use: range", "r.rules"
    )
    assert [rule.name for rule in rules.rules] == ["d", "r"]


@pytest.mark.parametrize(
    ("directive", "error", "message"),
    [
        ("# use: no-such-rule", RuleError, "r.ru:1:1: there is no rule 'no-such-rule'"),
        ("# use: domian", RuleError, "did you mean 'domain'"),
        ("# use: owl3/cax-sco", RuleError, "there is no regime 'owl3'"),
        ("# use: owl2rl/cax-sko", RuleError, "regime 'owl2rl' has no rule 'cax-sko' .*'cax-sco'"),
        ("# use: rdfs as mine", RuleError, "'rdfs' is a regime: its rules keep their names"),
        ("# use:", RuleSyntaxError, "this names no rule to use"),
        ("# use: domain as", RuleSyntaxError, "this names no rule to use"),
        ("# use: /etc/passwd", RuleSyntaxError, "this names no rule to use"),
        ("# use: ../../secret.ru", RuleError, "there is no regime '..'|this names no rule"),
        ("# use: domain as r\n# use: range as r", RuleError, "a second rule is called 'r'"),
    ],
)
def test_a_directive_that_makes_no_sense(directive, error, message, tmp_path, monkeypatch):
    (tmp_path / "secret.ru").write_text("INSERT { ?x a <urn:C> } WHERE { ?x <urn:p> ?y }")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        parse_rules(directive, "r.ru")


def test_a_file_beside_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "secret.ru").write_text("# rule: secret\nINSERT { ?x a <urn:C> } WHERE { ?x <urn:p> ?y }")
    monkeypatch.chdir(tmp_path)
    for name in ("secret", "secret.ru", "./secret.ru"):
        with pytest.raises(RuleError):
            parse_rules(f"# use: {name}", "r.ru")


# -- what single regimes say -----------------------------------------------------------------------------


def test_container_membership_properties_by_occurrence():
    found = closure(load_rules("rdfs", "rdfs-axioms"), [("<urn:bag>", f"<{RDF}_3>", "<urn:x>")]).statements
    assert (f"<{RDF}_3>", TYPE, f"<{RDFS}ContainerMembershipProperty>") in found
    assert ("<urn:bag>", f"<{RDFS}member>", "<urn:x>") in found
    assert not any(f"{RDF}_4" in term or f"{RDF}_03" in term for triple in found for term in triple)


def test_a_literal_has_one_stand_in_under_d_star():
    stated = [("<urn:a>", "<urn:p>", '"x"'), ("<urn:b>", "<urn:q>", '"x"')]
    found = closure(load_rules("dstar"), stated).statements
    nodes = {o for s, p, o in found if (s, p) in {("<urn:a>", "<urn:p>"), ("<urn:b>", "<urn:q>")}} - {'"x"'}
    assert len(nodes) == 1
    assert (nodes.pop(), TYPE, f"<{RDFS}Literal>") in found


def test_an_ill_typed_literal_is_inconsistent_in_rdf():
    integer = "<http://www.w3.org/2001/XMLSchema#integer>"
    found = closure(load_rules("rdf"), [("<urn:a>", "<urn:p>", f'"one"^^{integer}')])
    assert found.violations == {("D-ill-typed", f'"one"^^{integer}', integer)}


SWCLOS2 = [
    ("unsat-one-of", "<urn:x>", "<urn:C>"),
    ("unsat-domain", "<urn:x>", "<urn:p>"),
    ("unsat-range", "<urn:y>", "<urn:p>"),
    ("unsat-disjoint-equivalent", "<urn:C>", "<urn:D>"),
]


def test_the_conditions_of_swclos2_that_are_its_own():
    owl = "http://www.w3.org/2002/07/owl#"
    stated = [
        ("<urn:C>", f"<{owl}oneOf>", "<urn:l>"),
        ("<urn:l>", f"<{RDF}first>", "<urn:m>"),
        ("<urn:l>", f"<{RDF}rest>", f"<{RDF}nil>"),
        ("<urn:x>", TYPE, "<urn:C>"),
        ("<urn:x>", f"<{owl}differentFrom>", "<urn:m>"),
        ("<urn:C>", f"<{owl}disjointWith>", "<urn:D>"),
        ("<urn:D>", f"<{owl}equivalentClass>", "<urn:C>"),
        ("<urn:p>", f"<{RDFS}domain>", "<urn:D>"),
        ("<urn:p>", f"<{RDFS}range>", "<urn:C>"),
        ("<urn:x>", "<urn:p>", "<urn:y>"),
        ("<urn:y>", TYPE, "<urn:D>"),
    ]
    assert {*SWCLOS2} <= closure(load_rules("swclos2"), stated).violations


# -- the command line ------------------------------------------------------------------------------------


def test_list_names_all_regimes_and_explains(capsys):
    assert main(["rules", "list"]) == 0
    out = capsys.readouterr().out
    assert all(any(line.split()[:1] == [name] for line in out.splitlines()) for name in regime_names())
    assert "unique*" in out
    assert "100 + 21" in out
    assert "dt-diff is a condition here" in out


def test_list_as_json(capsys):
    assert main(["rules", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unique"] == {"rules": 99, "conditions": 22}
    assert {each["regime"]: each["rules"] for each in found["regimes"]}["owl2rl"] == 58


def test_show_prints_a_file_that_can_be_used(capsys, tmp_path):
    assert main(["rules", "show", "rdfs"]) == 0
    copy = tmp_path / "copy.ru"
    copy.write_text(capsys.readouterr().out)
    assert "# use:" not in copy.read_text()
    assert [str(rule) for rule in load_rules(copy).rules] == [str(rule) for rule in load_rules("rdfs").rules]
    assert main(["rules", "show", str(copy), "--rule", "rdfs9"]) == 0
    assert "rdfs9: a rule, written at" in capsys.readouterr().out
    assert main(["rules", "show", "owl2rl", "--rule", "cax-sco", "--json"]) == 0
    [rule] = json.loads(capsys.readouterr().out)
    assert (rule["name"], rule["shared"]) == ("cax-sco", True)


def test_diff_tells_what_is_common(capsys):
    assert main(["rules", "diff", "rdfs", "rhodf", "owl2rl"]) == 0
    out = capsys.readouterr().out
    assert "in rdfs, rhodf, owl2rl: 6" in out
    assert "  rdfs9   3b  cax-sco" in out
    assert main(["rules", "diff", "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["regimes"] == list(STUDIED)
    assert main(["rules", "diff", "rdfs"]) == 2
    assert main(["rules", "show", "rdfs", "--rule", "nothing"]) == 2
