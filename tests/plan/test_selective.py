"""Selective loading: without the rules that are left out, the closure is the same."""

from __future__ import annotations

from random import Random

import pytest
from rules.closing import closure

from ensue.dictionary import Dictionary
from ensue.model import Copies
from ensue.plan.selective import select
from ensue.rules.load import load_rules, parse_rules
from ensue.terms import OWL, RDF, RDFS, XSD

TYPE = f"<{RDF}type>"
ONE, SHORT = f'"1"^^<{XSD}integer>', f'"1"^^<{XSD}short>'
SEED = Random().randrange(2**32)


def selected(rules, statements):
    dictionary = Dictionary()
    encode = dictionary.encode
    stated = Copies.background([(encode(s), encode(p), encode(o)) for s, p, o in statements])
    return select(rules, stated, dictionary)


def random_data(random):
    """A few statements, some of them schema in a few of OWL's words, and now and then a list or a literal."""
    things = [f"<urn:{name}>" for name in "abcd"] + ["_:n"]
    words = random.sample(
        [f"<{RDFS}{w}>" for w in ("subClassOf", "subPropertyOf", "domain", "range")]
        + [f"<{OWL}{w}>" for w in ("sameAs", "differentFrom", "inverseOf", "onProperty", "someValuesFrom")]
        + [f"<{OWL}{w}>" for w in ("hasValue", "allValuesFrom", "disjointWith", "equivalentClass", "unionOf")]
        + [f"<{OWL}{w}>" for w in ("maxCardinality", "intersectionOf", "propertyChainAxiom", "hasKey")],
        random.randint(0, 4),
    )
    classes = [
        f"<{OWL}{w}>" for w in ("FunctionalProperty", "TransitiveProperty", "Class", "Nothing", "Thing")
    ]
    numbers = [
        f'"{text}"^^<{XSD}{name}>' for text, name in (("1", "integer"), ("01", "int"), ("x", "integer"))
    ]
    found = set()
    for _ in range(random.randint(1, 7)):
        s, p, o = (
            random.choice(things),
            random.choice([*things[:4], *words, *words, TYPE]),
            random.choice(things),
        )
        if p == TYPE and random.random() < 0.5:
            o = random.choice(classes)
        elif random.random() < 0.2:
            o = random.choice(['"text"', *numbers])
        found.add((s, p, o))
    if random.random() < 0.5:
        first, second = random.choice(things), random.choice(things)
        found |= {("_:n", f"<{RDF}first>", first), ("_:n", f"<{RDF}rest>", "_:m")}
        found |= {("_:m", f"<{RDF}first>", second), ("_:m", f"<{RDF}rest>", f"<{RDF}nil>")}
    return sorted(found)


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("regime", ["owl2rl", "dstar+p", "swclos2"])
def test_the_closure_is_the_same(regime, number):
    print(f"seed {SEED}")
    random = Random(f"{SEED} {regime} {number}")
    rules = load_rules(regime)
    data = random_data(random)
    found = selected(rules, data)
    every, some = closure(rules, data), closure(found.rules, data)
    assert named(some.statements) == named(every.statements)
    assert some.violations == every.violations


def named(statements):
    """Statements without those about nodes that rules made: these have other names each time."""
    return {
        each
        for each in statements
        if not any(term.startswith("_:") and term[2:] not in "nm" for term in each)
    }


def test_equality_of_everything_with_itself_loads_no_rules_for_equality():
    data = [("<urn:a>", TYPE, "<urn:C>"), ("<urn:C>", f"<{RDFS}subClassOf>", "<urn:D>")]
    names = {rule.name for rule in selected(load_rules("owl2rl"), data).rules.rules}
    assert {"eq-ref", "cax-sco"} <= names
    assert not names & {"eq-sym", "eq-trans", "eq-rep-s", "eq-rep-p", "eq-rep-o", "prp-fp", "cls-maxc2"}
    data.append(("<urn:a>", f"<{OWL}sameAs>", "<urn:b>"))
    again = {rule.name for rule in selected(load_rules("owl2rl"), data).rules.rules}
    assert {"eq-sym", "eq-trans", "eq-rep-s", "eq-rep-o"} <= again
    assert "eq-rep-p" not in again, "no predicate of the data is the same as another one"


def test_all_rules_are_loaded_where_looking_takes_too_long():
    """Keys and a functional property may make anything the same as anything."""
    data = [
        ("<urn:a>", f"<{OWL}hasKey>", "<urn:d>"),
        ("<urn:b>", "<urn:d>", "<urn:b>"),
        ("<urn:c>", f"<{OWL}propertyChainAxiom>", "<urn:a>"),
        ("<urn:c>", "<urn:a>", "<urn:c>"),
        ("<urn:d>", TYPE, f"<{OWL}FunctionalProperty>"),
    ]
    rules = load_rules("owl2rl")
    found = selected(rules, data)
    assert found.rules == rules
    assert not found.left_out
    assert found.line.startswith(f"all {len(rules.rules)} rules are loaded")


@pytest.mark.parametrize(
    ("rule", "data", "kept"),
    [
        ("(?x <urn:p> ?y) -> (?y <urn:q> ?x)", [("<urn:a>", "<urn:p>", "<urn:b>")], True),
        ("(?x <urn:p> ?y) -> (?y <urn:q> ?x)", [("<urn:a>", "<urn:r>", "<urn:b>")], False),
        ("(?x <urn:p> <urn:C>) -> (?x <urn:q> ?x)", [("<urn:a>", "<urn:p>", "<urn:b>")], False),
        ("(?x <urn:p> ?y), isLiteral(?y) -> (?x <urn:q> ?x)", [("<urn:a>", "<urn:p>", "<urn:b>")], False),
        ("(?x <urn:p> ?y), isLiteral(?y) -> (?x <urn:q> ?x)", [("<urn:a>", "<urn:p>", '"b"')], True),
        ("(?x ?p ?y), simplerSpelling(?y, ?z) -> (?x ?p ?z)", [("<urn:a>", "<urn:p>", ONE)], False),
        ("(?x ?p ?y), simplerSpelling(?y, ?z) -> (?x ?p ?z)", [("<urn:a>", "<urn:p>", SHORT)], True),
        ("(?x <urn:p> ?y), (?y <urn:p> ?z) -> (?x <urn:p> ?z)", [("<urn:a>", "<urn:p>", "<urn:a>")], False),
        ("(?x <urn:p> ?y), notEqual(?x, ?y) -> (?y <urn:q> ?x)", [("<urn:a>", "<urn:p>", "<urn:a>")], False),
    ],
)  # fmt: skip
def test_one_rule(rule, data, kept):
    assert bool(selected(parse_rules(f"[r: {rule}]"), data).rules.rules) == kept


def test_rules_feed_rules():
    rules = parse_rules(
        """[one: (?x <urn:p> ?y) -> (?x <urn:q> ?y)] [two: (?x <urn:q> ?y) -> (?x <urn:r> ?y)]
           [three: (?x <urn:s> ?y) -> (?x <urn:p> ?y)] [four: -> (<urn:a> <urn:s> <urn:b>)]"""
    )
    assert [rule.name for rule in selected(rules, []).rules.rules] == ["one", "two", "three"]
    assert not selected(parse_rules("[one: (?x <urn:p> ?y) -> (?x <urn:q> ?y)]"), []).rules.rules
