"""Each mend is needed: the program with every mend but one goes wrong on a tiny example."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from datalog_interpreter import Interpreter, NotStratifiedError, Row, UnsafeError, strata
from paper_cases import CASES

from ensue.rules.maintenance import TABLES, maintenance_program, parse

R = parse("(R) isIn(x, z) :- isIn(x, y), isIn(y, z)")


@dataclass(frozen=True)
class Example:
    """What a step is given, and what a predicate then holds without the mend and with it.

    A row is written "AB" or, with its expiration time, "AB 11".
    """

    style: str
    mend: str
    given: dict[str, str]
    predicate: str
    wrong: str
    right: str
    close: int = 0


EXAMPLES = [
    # A C is derived and also stated. A B goes, and takes A C along.
    Example("volz", "stated", {"": "AB,BC,AC", "Del": "AB", "Stated": "BC,AC"}, "New", "BC", "BC,AC"),
    # A B was stated twice and one copy went.
    Example("volz", "stated", {"": "AB", "Del": "AB", "Stated": "AB"}, "-", "AB", ""),
    # The window moves by two seconds: 11 is no longer the last second that has passed.
    Example("imars", "expired-earlier", {"": "AB 11"}, "New", "AB 11", "", close=12),
    Example("imars", "expired-earlier", {"": "AB 11"}, "-", "", "AB 11", close=12),
    # Figure 4, second 4: A D, there until 11, is derived again from A E and E D.
    Example("imars", "replaced", {"": "AD 11", "Ins": "AE 14,ED 14"}, "New",
            "AD 11,AD 14,AE 14,ED 14", "AD 14,AE 14,ED 14", close=4),
    # A C is there until 12; B C makes a derivation of it that holds until 11 only.
    Example("imars", "staler", {"": "AB 11,AC 12", "Ins": "BC 13"}, "New",
            "AB 11,AC 11,AC 12,BC 13", "AB 11,AC 12,BC 13", close=3),
    # A B took until second 12 to arrive.
    Example("imars", "late", {"Ins": "AB 11"}, "New", "AB 11", "", close=12),
    # A B comes again in the second in which it would have gone.
    Example("imars", "renewed-in-time", {"": "AB 11", "Ins": "AB 21"}, "-", "AB 11", "", close=11),
    # Figure 4, second 4, again: A D is still there, so it is not deleted, and 14 must be written down.
    Example("imars", "no-loss", {"": "AD 11", "Ins": "AD 14"}, "-", "AD 11", "", close=4),
    Example("imars", "renewals", {"": "AD 11", "Ins": "AD 14"}, "++", "", "AD 14", close=4),
    # A D is new, and derived until 11 as well as until 14.
    Example("imars", "derived-twice", {"": "AB 11", "Ins": "BD 14,AE 14,ED 14"}, "+",
            "AE 14,BD 14,ED 14", "AD 14,AE 14,BD 14,ED 14", close=4),
]  # fmt: skip

REFUSED = {"stratified": NotStratifiedError, "unbound": UnsafeError}
"""Mends without which there is nothing to run."""


def rows(text: str) -> set[Row]:
    found = set()
    for fact in filter(None, text.split(",")):
        (x, y), *stamp = fact.split()
        found.add((x, y, *map(int, stamp)))
    return found


def all_but(style, *names):
    return [mend.name for mend in TABLES[style].mends if mend.name not in names]


def outcome(example, mended):
    interpreter = Interpreter(maintenance_program(R, example.style, mended).clauses)
    given = {f"isIn{suffix}": rows(text) for suffix, text in example.given.items()}
    return interpreter.run(given, now=example.close + 1).get(f"isIn{example.predicate}", set())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.mend}-{e.predicate}")
def test_without_the_mend_it_goes_wrong(example):
    assert outcome(example, all_but(example.style, example.mend)) == rows(example.wrong)
    assert outcome(example, True) == rows(example.right)


@pytest.mark.parametrize("mend", REFUSED)
def test_without_the_mend_it_cannot_be_run(mend):
    with pytest.raises(REFUSED[mend]):
        Interpreter(maintenance_program(R, "imars", all_but("imars", mend)).clauses)


def test_every_mend_has_its_example():
    named = {("imars", name) for name in REFUSED} | {(e.style, e.mend) for e in EXAMPLES}
    assert named == {(style, mend.name) for style, table in TABLES.items() for mend in table.mends}


def test_as_printed_a_staler_derivation_takes_the_fact_with_it():
    """What "staler" is about: two stamps for one fact, and the lower one ends both."""
    printed = Interpreter(maintenance_program(R, "imars", ["stratified", "unbound"]).clauses)
    stale = printed.run({"isIn": rows("AC 12,AC 11")}, now=12)
    assert "isInNew" not in stale or not stale["isInNew"], "A C should hold until 12"


def test_mended_programs_are_stratified():
    """And how: the strata that `imars.py` names."""
    assert strata(maintenance_program(R, "imars").clauses) == [
        {"isIn", "isInIns", "isInAll", "isInOld"},
        {"isInNew", "isIn++", "isIn+"},
        {"isIn-"},
    ]
    for case in CASES:
        for style in TABLES:
            strata(maintenance_program(case.rules, style).clauses)


def test_the_docs_name_every_mend(repository):
    page = (repository / "docs" / "maintenance-programs.md").read_text(encoding="utf-8")
    for table in TABLES.values():
        for mend in table.mends:
            assert f"| {mend.name} |" in page
            for text in [edit.new for edit in mend.edits if edit.function != "Ins"]:
                assert text.strip(", ").removeprefix("P[T], ").removeprefix("PIns[T], ") in page
            for added in mend.adds:
                assert f"`{added.text}`" in page


def test_table_3_is_stratified_as_it_is_printed():
    strata(maintenance_program(R, "volz", mended=False).clauses)
