"""Every variable that a rule concludes or asks about is bound before."""

from __future__ import annotations

import pytest

from ensue.errors import Place, RuleError, UnsafeRuleError
from ensue.rules.safety import check, check_set
from ensue.rules.tree import Bind, Guard, Mint, Pattern, Premise, Rule, RuleSet, Var

X, Y, Z = map(Var, "xyz")
BODY = (Premise(Pattern(X, "<urn:p>", Y)),)


def rule(*conditions, head=Pattern(X, "<urn:q>", X), name="r"):  # noqa: B008
    return Rule(name, BODY, (head,), conditions, Place("f", 3, 1))


@pytest.mark.parametrize(
    "safe",
    [
        rule(head=Pattern(Y, X, Y)),
        rule(Bind("isDLiteral", (Y,), Z), Guard("notLiteral", (Z,)), head=Pattern(X, "<urn:q>", Z)),
        rule(Mint(Z, "r"), head=Pattern(Z, "<urn:q>", X)),
        rule(Mint(Z, "assignAnon", (Y,)), Guard("isBlank", (Z,))),
        rule(Bind("isDLiteral", (Y,), X)),
    ],
)
def test_safe(safe):
    check(safe)


@pytest.mark.parametrize(
    "unsafe",
    [
        rule(head=Pattern(X, "<urn:q>", Z)),
        rule(head=Pattern(X, Z, X)),
        rule(Guard("notLiteral", (Z,)), Bind("isDLiteral", (Y,), Z)),
        rule(Bind("isDLiteral", (Z,), Y)),
        rule(Mint(Y, "assignAnon", (Z,))),
    ],
)
def test_unsafe(unsafe):
    with pytest.raises(UnsafeRuleError, match=r"\?z") as raised:
        check(unsafe, {"z": Place("f", 3, 9)})
    assert raised.value.place == Place("f", 3, 9)


def test_without_a_place_of_the_variable_the_rules_place_must_do():
    with pytest.raises(UnsafeRuleError) as raised:
        check(rule(head=Pattern(X, "<urn:q>", Z)))
    assert raised.value.place == Place("f", 3, 1)


@pytest.mark.parametrize("predicate", ['"x"', "_:b", '"1"^^<urn:t>'])
def test_a_predicate_is_an_iri(predicate):
    with pytest.raises(RuleError, match="predicate"):
        check(rule(head=Pattern(X, predicate, X)))


def test_the_same_rule_twice_is_there_once():
    assert len(check_set(RuleSet("t", (rule(), rule()))).rules) == 1


def test_two_rules_that_make_nodes_cannot_share_a_name():
    one, other = rule(Mint(Z, "r")), rule(Mint(Z, "r"), head=Pattern(Z, "<urn:q>", X))
    with pytest.raises(RuleError, match="make nodes are called 'r'"):
        check_set(RuleSet("t", (one, other)))
    check_set(RuleSet("t", (rule(), rule(head=Pattern(Y, "<urn:q>", X)))))
