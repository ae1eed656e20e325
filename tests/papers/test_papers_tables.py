"""The rewritings of rule (R), against tables 3 and 6 as the paper prints them."""

from __future__ import annotations

import re

import pytest
from paper_cases import CLASSES, ODD

from ensue.errors import NotMonotoneError, RuleError, RuleSyntaxError, UnsafeRuleError, UsageError
from ensue.rules.maintenance import maintenance_program, parse

R = parse("(R) isIn(x, z) :- isIn(x, y), isIn(y, z)")

TABLE_3 = """\
isInNew(x, y) :- isIn(x, y), not isInDel(x, y)                      deltaNew1(isIn)
isInNew(x, y) :- isInRed(x, y)                                      deltaNew2(isIn)
isInNew(x, y) :- isInIns(x, y)                                      deltaNew3(isIn)
isIn+(x, y) :- isInIns(x, y), not isIn(x, y)                        delta+(isIn)
isIn-(x, y) :- isInDel(x, y), not isInIns(x, y), not isInRed(x, y)  delta-(isIn)
isInRed(x, z) :- isInDel(x, z), isInNew(x, y), isInNew(y, z)        deltaRed(R)
isInDel(x, z) :- isInDel(x, y), isIn(y, z)                          deltaDel(R)
isInDel(x, z) :- isIn(x, y), isInDel(y, z)                          deltaDel(R)
isInIns(x, z) :- isInIns(x, y), isInNew(y, z)                       deltaIns(R)
isInIns(x, z) :- isInNew(x, y), isInIns(y, z)                       deltaIns(R)"""

TABLE_6 = """\
isInNew(x, y)[T] :- isIn(x, y)[T], not isIn(x, y)[T1], T1 = (now - 1)      DeltaNew1(isIn)
isInNew(x, y)[T] :- isInIns(x, y)[T], not isInOld(x, y)[T]                 DeltaNew2(isIn)
isInOld(x, y)[T] :- isInIns(x, y)[T1], isIn(x, y)[T], T1 > T               DeltaOld1(isIn)
isInOld(x, y)[T] :- isInIns(x, y)[T1], isInIns(x, y)[T], T1 > T            DeltaOld2(isIn)
isIn-(x, y)[T] :- isIn(x, y)[T1], T1 = (now - 1), not isInIns(x, y)[T1]    Delta-1(isIn)
isIn-(x, y)[T] :- isInOld(x, y)[T]                                         Delta-2(isIn)
isIn++(x, y)[T] :- isInNew(x, y)[T], not isIn(x, y)[T1]                    Delta++(isIn)
isIn+(x, y)[T] :- isIn++(x, y)[T], not isInOld(x, y)[T1]                   Delta+(isIn)
isInIns(x, z)[T] :- isInIns(x, y)[T1], isInNew(y, z)[T2], T = min(T1, T2)  DeltaIns(R)
isInIns(x, z)[T] :- isInNew(x, y)[T1], isInIns(y, z)[T2], T = min(T1, T2)  DeltaIns(R)"""

PRINTED = {"volz": TABLE_3, "imars": TABLE_6}


@pytest.mark.parametrize("style", PRINTED)
def test_printed(style):
    assert str(maintenance_program(R, style, mended=False)) == PRINTED[style]


MENDED_IMARS = """\
isInNew(x, y)[T] :- isIn(x, y)[T], not isInOld(x, y)[T], T > (now - 1)     DeltaNew1(isIn)
isInNew(x, y)[T] :- isInIns(x, y)[T], T > (now - 1), not isInOld(x, y)[T]  DeltaNew2(isIn)
isInOld(x, y)[T] :- isInIns(x, y)[T1], isIn(x, y)[T], T1 > T               DeltaOld1(isIn)
isInOld(x, y)[T] :- isInIns(x, y)[T1], isInIns(x, y)[T], T1 > T            DeltaOld2(isIn)
isInOld(x, y)[T] :- isIn(x, y)[T1], isInIns(x, y)[T], T1 > T               DeltaOld3(isIn)
isIn-(x, y)[T1] :- isIn(x, y)[T1], T1 <= (now - 1), not isInNew(x, y)[T2]  Delta-1(isIn)
isIn++(x, y)[T] :- isInNew(x, y)[T], not isIn(x, y)[T]                     Delta++(isIn)
isIn+(x, y)[T] :- isIn++(x, y)[T], not isIn(x, y)[T1]                      Delta+(isIn)
isInAll(x, y)[T] :- isIn(x, y)[T], T > (now - 1)                           DeltaAll1(isIn)
isInAll(x, y)[T] :- isInIns(x, y)[T], T > (now - 1)                        DeltaAll2(isIn)
isInIns(x, z)[T] :- isInIns(x, y)[T1], isInAll(y, z)[T2], T = min(T1, T2)  DeltaIns(R)
isInIns(x, z)[T] :- isInAll(x, y)[T1], isInIns(y, z)[T2], T = min(T1, T2)  DeltaIns(R)"""


def test_mended():
    assert str(maintenance_program(R, "imars")) == MENDED_IMARS
    added = set(str(maintenance_program(R, "volz")).splitlines()) - set(TABLE_3.splitlines())
    assert [" ".join(line.split()) for line in added] == [
        "isInRed(x, y) :- isInDel(x, y), isInStated(x, y) deltaStated(isIn)"
    ]


@pytest.mark.parametrize(("style", "number"), [("volz", 3), ("imars", 6)])
def test_the_paper_prints_the_same(style, number, shared_data):
    """The text of the paper itself, in ASCII, its slips of spacing and of the case of New undone."""
    papers = list((shared_data.parent / "seeds").glob("000_*.txt"))
    if not papers:
        pytest.skip("the IMaRS paper is not beside the third-party material")
    text = papers[0].read_text(encoding="utf-8").split(f"\nTable {number}. ")[1]
    rules = [line for line in text.splitlines() if re.match(r"isIn.*:-", line)][:10]
    assert [_ascii(rule) for rule in rules] == [
        str(clause) for clause in maintenance_program(R, style, mended=False).clauses
    ]


def _ascii(rule):
    rule = re.split(r"[δΔ]", rule.replace("\N{MINUS SIGN}", "-"))[0].strip()
    return rule.replace("[T ]", "[T]").replace("isInnew", "isInNew").replace("notisIn", "not isIn")


def lines(rules, style, **choice):
    return [f"{clause} -- {clause.origin}" for clause in maintenance_program(rules, style, **choice).clauses]


def test_each_rule_and_each_premise_has_its_clauses():
    made = lines(CLASSES.rules, "volz")
    of_rules = [line for line in made if "rdfs" in line.split(" -- ")[1]]
    assert of_rules[:3] == [
        "PRed(z, rdf:type, y) :- PDel(z, rdf:type, y), PNew(x, rdfs:subClassOf, y), PNew(z, rdf:type, x)"
        " -- deltaRed(rdfs9)",
        "PDel(z, rdf:type, y) :- PDel(x, rdfs:subClassOf, y), P(z, rdf:type, x) -- deltaDel(rdfs9)",
        "PDel(z, rdf:type, y) :- P(x, rdfs:subClassOf, y), PDel(z, rdf:type, x) -- deltaDel(rdfs9)",
    ]
    assert len(of_rules) == 2 * (1 + 2 + 2)
    top = "(<urn:C3>, rdfs:subClassOf, <urn:Top>)"
    assert f"PRed{top} :- PDel{top} -- deltaRed(axiom)" in made


def test_what_the_stream_cannot_change_is_left_alone():
    """Cut premises and conditions go through as they are, and give no clause and no stamp of their own."""
    made = lines(ODD.rules, "imars")
    assert [line for line in made if line.endswith("Ins(near)")] == [
        "PIns(z, <urn:isIn>, y)[T] :- PBackground(x, <urn:near>, y), PIns(z, <urn:isIn>, x)[T1], "
        "notLiteral(z), T = min(T1) -- DeltaIns(near)",
        "PIns(y, <urn:knows>, z)[T] :- PBackground(x, <urn:near>, y), PIns(z, <urn:isIn>, x)[T1], "
        "notLiteral(z), T = min(T1) -- DeltaIns(near)",
    ]
    assert "b = mint(self, x)" in str(made)
    assert "PBackgroundNew" not in str(made)


def test_every_predicate_has_its_clauses():
    made = maintenance_program(parse("p(x) :- q(x, a, b, c, d)"), "volz", mended=False)
    assert str(made.clauses[0]) == "pNew(x) :- p(x), not pDel(x)"
    assert str(made.clauses[5]).startswith("qNew(x1, x2, x3, x4, x5) :- q(x1, x2, x3, x4, x5), not qDel(")
    assert made.clauses[-1].origin == "deltaIns(R1)"


def test_variables_that_look_like_stamps_are_not_taken_for_stamps():
    made = maintenance_program(parse("p(T, y) :- q(T, y), r(y)"), "imars")
    assert str(made.clauses[-1]) == "pIns(T, y)[T_] :- qAll(T, y)[T_1], rIns(y)[T_2], T_ = min(T_1, T_2)"


def test_the_notation_reads_what_it_prints():
    for style in PRINTED:
        for rules in (R, CLASSES.rules):
            made = maintenance_program(rules, style)
            text = "\n".join(map(str, made.clauses))
            assert "\n".join(map(str, parse(text).clauses)) == text
    assert parse("% a comment\n\np(x) :- q(x, y), isDLiteral(y, x)").clauses == (
        parse("(R1) p(x) :- q(x, y), isDLiteral(y, x)").clauses
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("p(x) :- q(x", "1:12: expected ')' and found the end of the line"),
        ("p(x) :- ", "1:9: expected a predicate and found the end of the line"),
        ("p(x)\nq(x) :- ?x", "2:9: expected a name, a term or a sign and found '?'"),
        ("p(x) q(x)", "1:6: expected the end of the line and found 'q'"),
        ("p(x) :- q(x)[3]", "1:14: expected a name, a term or a sign and found '3'"),
        ("p(x)[T] :- T = min(T1, )", "1:24: expected a stamp and found ')'"),
    ],
)
def test_bad_syntax(text, where):
    with pytest.raises(RuleSyntaxError) as raised:
        parse(text, "here")
    assert str(raised.value).startswith(f"here:{where} (hint: ")


@pytest.mark.parametrize(
    ("text", "error", "what"),
    [
        ("p(x, y) :- q(x)", UnsafeRuleError, "here:1:1: R1: no premise binds y"),
        ("p(x) :- q(x), notLiteral(y)", UnsafeRuleError, "here:1:1: R1: no premise binds y"),
        ("p(x) :- q(x), not r(x)", NotMonotoneError, r"R1: 'not r\(x\)' cannot stand"),
        ("p(x)[T] :- q(x)[T]", NotMonotoneError, r"R1: 'p\(x\)\[T\]' cannot stand"),
        ("p(x) :- q(x)\np(x) :- q(x, x)", RuleError, r"here:2:1: R2: q\(x, x\) has 2 terms, and 1 elsewhere"),
        ("p(x) :- pIns(x)", RuleError, "the predicate pIns would be taken for a maintenance predicate of p"),
    ],
)
def test_rules_that_cannot_be_maintained(text, error, what):
    with pytest.raises(error, match=what) as raised:
        maintenance_program(parse(text, "here"))
    assert raised.value.hint
    assert raised.value.place is None or raised.value.place.file == "here"


def test_unknown_names():
    with pytest.raises(UsageError, match=r"unknown style 'dred'.*volz, imars"):
        maintenance_program(R, "dred")
    with pytest.raises(UsageError, match=r"unknown mend 'late'.*stated"):
        maintenance_program(R, "volz", mended=["late"])
