"""Where rules come from, and which syntax they are in."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ensue.dictionary import Dictionary
from ensue.errors import InputError, Place, RuleError, RuleSyntaxError, UsageError
from ensue.maintain.program import compile_rules
from ensue.rules.load import load_rules, parse_rules, regime_names

BRACKETED = "[r: (?a <urn:p> ?b) -> (?b <urn:p> ?a)]"
SPARQL = "INSERT { ?b <urn:p> ?a } WHERE { ?a <urn:p> ?b }"

RDFS_JENA = "rdfs2 rdfs3 rdfs5a rdfs5b rdfs6 rdfs7 rdfs8 rdfs9 rdfs10 rdf1and4 rdfs7b"
PDSV = (
    "rdfp1 rdfp2 rdfp3 rdfp4 rdfp5a rdfp5b rdfp6 rdfp7 rdfp8ax rdfp8bx rdfp9 rdfp10 rdfp11 rdfp12a rdfp12b "
    "rdfp12c rdfp13a rdfp13b rdfp13c rdfp14a rdfp14bx rdfp15 rdfp16 lg-rdfs1 lg-rdfs2D rdf1 rdfs2 rdfs3 "
    "rdfs4a rdfs4b rdfs5 rdfs6 rdfs7x rdfs8 rdfs9 rdfs10 rdfs11 rdfs12 rdfs13 rdf-svx"
)


@pytest.mark.parametrize(
    ("regime", "names"), [("rdfs-jena", RDFS_JENA), ("pdsv", PDSV), ("transitive-isin", "R")]
)
def test_the_regimes_have_the_rules_of_the_papers(regime, names):
    rules = load_rules(regime)
    assert rules.name == regime
    assert [rule.name for rule in rules.rules] == names.split()
    compile_rules(rules, Dictionary())


def test_every_regime_is_listed():
    entailment = {"rdf", "rdfs", "rhodf", "dstar", "p", "dstar+p", "owl2rl", "swclos2", "sparkwave"}
    axioms = {"rdf-axioms", "rdfs-axioms", "datatype-axioms", "owl2rl-axioms"}
    assert {*regime_names()} == entailment | axioms | {"pdsv", "rdfs-jena", "transitive-isin"}


def test_regimes_and_files_add_up(tmp_path):
    path = tmp_path / "my own.ru"
    path.write_text(SPARQL)
    rules = load_rules("transitive-isin", path, str(path))
    assert rules.name == "transitive-isin+my_own+my_own"
    assert [rule.name for rule in rules.rules] == ["R", "my_own-1"]
    assert rules.rules[1].place == Place(str(path), 1, 1)


def test_no_sources_no_rules():
    assert load_rules().rules == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rules", BRACKETED),
        ("a.ru", SPARQL),
        ("a.rq", SPARQL),
        ("a.sparql", SPARQL),
        ("a.txt", BRACKETED),
        ("a", "# a comment\n\n" + SPARQL),
        ("a", "// one\n @prefix a: <urn:a> .\n" + BRACKETED),
        ("bom.txt", "\ufeff" + BRACKETED),
        ("crlf.ru", "# x\r\n" + SPARQL + "\r\n"),
    ],
)
def test_the_syntax_is_told_by_ending_or_content(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert len(load_rules(path).rules) == 1


@pytest.mark.parametrize("name", ["a.rules", "a.ru", "a"])
def test_an_empty_file_has_no_rules(tmp_path, name):
    (tmp_path / name).write_text("\n# nothing\n")
    assert load_rules(tmp_path / name).rules == ()


def test_a_misspelt_regime():
    with pytest.raises(InputError, match=r"no such regime or file: 'rfds-jena' .*did you mean 'rdfs-jena'\?"):
        load_rules("rfds-jena")


def test_an_unknown_name_lists_the_regimes():
    with pytest.raises(InputError, match=r"the regimes are datatype-axioms, .* rdfs-jena, .*transitive-isin"):
        load_rules("zzz/zzz")


def test_a_name_that_no_file_can_have():
    with pytest.raises(InputError):
        load_rules("a\0b")


def test_a_path_is_never_a_regime(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        load_rules("./rdfs-jena")


def test_a_directory(tmp_path):
    with pytest.raises(InputError, match="directory") as raised:
        load_rules(tmp_path)
    assert raised.value.hint


def test_a_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.rules"
    path.write_bytes(b"# one\n# \xc3\xa9t\xe9\n")
    with pytest.raises(InputError, match="not UTF-8") as raised:
        load_rules(path)
    assert raised.value.place == Place(str(path), 2, 5)


def test_a_file_in_neither_syntax(tmp_path):
    (tmp_path / "x.txt").write_text("{}")
    with pytest.raises(InputError, match="neither"):
        load_rules(tmp_path / "x.txt")


def test_the_ending_goes_before_the_content():
    with pytest.raises(RuleSyntaxError):
        parse_rules(BRACKETED, "a.ru")
    assert parse_rules(BRACKETED, "a.ru", syntax="bracketed").rules


def test_an_unknown_syntax():
    with pytest.raises(UsageError, match="turtle"):
        parse_rules(BRACKETED, syntax="turtle")


def test_background_graphs_reach_the_parser(tmp_path):
    path = tmp_path / "r.ru"
    path.write_text("INSERT { ?x a ?c } WHERE { GRAPH <static> { ?p rdfs:domain ?c } ?x ?p ?y }")
    (rule,) = load_rules(path, background_graphs=["static"]).rules
    assert [premise.cut for premise in rule.premises] == [True, False]
    with pytest.raises(RuleError, match="<static> is not the background"):
        load_rules(path)


def test_nodes_of_rules_in_two_files_stay_apart(tmp_path):
    for folder, head in (("a", "p"), ("b", "q")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.ru").write_text(f"INSERT {{ ?a <urn:{head}> [] }} WHERE {{ ?a <urn:x> ?b }}")
    with pytest.raises(RuleError, match="make nodes"):
        load_rules(tmp_path / "a" / "r.ru", tmp_path / "b" / "r.ru")


def test_bracketed_rules_need_the_standard_library_only():
    code = "import sys, ensue.rules.load as l; l.load_rules('pdsv'); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"rdflib", "pyparsing", "pyoxigraph", "numpy"} & set(ran.stdout.split())
