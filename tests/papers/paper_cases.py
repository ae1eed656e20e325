"""The programs that the papers' rewritings are tried on: one recursive rule, two, and the odd ones."""

from __future__ import annotations

from itertools import permutations

from stepping import Case, Step

from ensue.rules.tree import Guard, Mint, Pattern, Premise, Rule, RuleSet, Var
from ensue.terms import RDF, RDFS

X, Y, Z, B = map(Var, "xyzb")
IS_IN, NEAR, KNOWS, WITNESS = "<urn:isIn>", "<urn:near>", "<urn:knows>", "<urn:witness>"
TYPE, SUBCLASS = f"<{RDF}type>", f"<{RDFS}subClassOf>"


def place(name):
    return f"<urn:{name}>"


def is_in(pair):
    """The statement that `is_in("AB")` stands for: A isIn B."""
    return (place(pair[0]), IS_IN, place(pair[1]))


def _rule(name, premises, conclusions, *conditions):
    return Rule(name, tuple(map(_premise, premises)), tuple(Pattern(*c) for c in conclusions), conditions)


def _premise(premise):
    return premise if isinstance(premise, Premise) else Premise(Pattern(*premise))


TRANSITIVE = Case(
    "transitive",
    RuleSet("isin", (_rule("R", [(X, IS_IN, Y), (Y, IS_IN, Z)], [(X, IS_IN, Z)]),)),
    background=(is_in("DE"),),
    statements=tuple(map(is_in, map("".join, permutations("ABCD", 2)))),
)

_CLASSES = [place(f"C{k}") for k in range(4)]
CLASSES = Case(
    "classes",
    RuleSet(
        "classes",
        (
            _rule("rdfs9", [(X, SUBCLASS, Y), (Z, TYPE, X)], [(Z, TYPE, Y)]),
            _rule("rdfs11", [(X, SUBCLASS, Y), (Y, SUBCLASS, Z)], [(X, SUBCLASS, Z)]),
        ),
        axioms=(Pattern(_CLASSES[3], SUBCLASS, place("Top")),),
    ),
    background=((_CLASSES[0], SUBCLASS, _CLASSES[1]), (place("a0"), TYPE, _CLASSES[0])),
    statements=(
        *((lower, SUBCLASS, upper) for lower, upper in permutations(_CLASSES, 2)),
        *((place(f"a{k}"), TYPE, c) for k in range(2) for c in _CLASSES),
    ),
)

ODD = Case(
    "odd",
    RuleSet(
        "odd",
        (
            # A cut premise, a condition, two conclusions, and a variable twice in one premise.
            _rule(
                "near",
                [Premise(Pattern(X, NEAR, Y), cut=True), (Z, IS_IN, X)],
                [(Z, IS_IN, Y), (Y, KNOWS, Z)],
                Guard("notLiteral", (Z,)),
            ),
            _rule("loop", [(X, IS_IN, Y), (Y, KNOWS, X)], [(X, KNOWS, X)]),
            _rule("self", [(X, KNOWS, X)], [(X, WITNESS, B)], Mint(B, "self")),
        ),
    ),
    background=((place("A"), NEAR, place("B")), (place("B"), NEAR, place("C"))),
    statements=(
        *((place(x), IS_IN, place(y)) for x in "ABD" for y in "ABC"),
        *((place(x), KNOWS, place(y)) for x in "ABC" for y in "AB"),
        (place("A"), NEAR, place("D")),
        ('"text"', IS_IN, place("A")),
    ),
)

CASES = (TRANSITIVE, CLASSES, ODD)

WINDOW = 10
FIGURE_4 = Case("figure 4", TRANSITIVE.rules, (), ())
_ENTERING = {1: ["AB"], 2: ["BC"], 3: ["CD"], 4: ["AE", "ED"]}
FIGURE_4_STEPS = [Step(s, tuple((is_in(pair), s) for pair in _ENTERING.get(s, []))) for s in range(1, 15)]
"""Seconds 1 to 14 of figure 4: what enters the window of 10 seconds in each."""
