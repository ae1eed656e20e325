"""Conditions: rules that conclude that something is wrong. Standard library only.

A condition concludes a *violation*, `?x violation:NAME ?y`, where NAME is the condition's name and `?x` and
`?y` are the terms that tell most. A violation is a fact like any other, with a stamp, but it is said about
the data and not in it: no premise matches it and no query sees it. Inside a closure its predicate is a
literal, which no query, no output and no RDF has for a predicate; what is left to do is to keep premises
`?x ?p ?y` from matching it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ensue.errors import RuleError
from ensue.rules.tree import Each, Guard, Pattern, Rule, RuleSet, Var
from ensue.terms import VIOLATION, literal

_DATATYPE = VIOLATION.rstrip(":")
_START, _END = f"<{VIOLATION}", f'"^^<{_DATATYPE}>'


def is_violation(predicate: object) -> bool:
    """Whether a predicate of a rule, in text, is that of violations.

    >>> is_violation("<urn:ensue:violation:cax-dw>"), is_violation("<urn:p>"), is_violation(Var("p"))
    (True, False, False)
    """
    return isinstance(predicate, str) and predicate.startswith(_START)


def is_condition(rule: Rule) -> bool:
    """Whether a rule concludes violations."""
    return any(is_violation(conclusion.p) for conclusion in rule.conclusions)


def has_conditions(rules: RuleSet) -> bool:
    """Whether some violation may come of rules."""
    stated = any(is_violation(axiom.p) for axiom in rules.axioms)
    return stated or any(map(is_condition, rules.rules))


def without_conditions(rules: RuleSet) -> RuleSet:
    """The rules that close: where nobody asks what is wrong, conditions cost nothing.

    >>> wrong = Rule("c", (), (Pattern("<urn:a>", "<urn:ensue:violation:c>", "<urn:b>"),))
    >>> without_conditions(RuleSet("R", (wrong,))).rules
    ()
    """
    if not has_conditions(rules):
        return rules
    closing = tuple(rule for rule in rules.rules if not is_condition(rule))
    return replace(rules, rules=closing, axioms=tuple(a for a in rules.axioms if not is_violation(a.p)))


def check(rule: Rule) -> None:
    """Raise RuleError where a premise asks for a violation, or a condition concludes something else, too."""
    of_lists = (pattern for each in rule.lists if isinstance(each, Each) for pattern in each.patterns)
    for pattern in (*(premise.pattern for premise in rule.premises), *of_lists):
        if is_violation(pattern.p):
            raise RuleError(
                f"rule '{rule.name}': no premise can match {pattern}, which says what is wrong with the data",
                place=rule.place,
                hint="repeat the premises of the condition that concludes it",
            )
    if is_condition(rule) and not all(is_violation(conclusion.p) for conclusion in rule.conclusions):
        raise RuleError(
            f"rule '{rule.name}' concludes violations and other facts",
            place=rule.place,
            hint="write two rules with the same premises",
        )


# -- inside a closure ------------------------------------------------------------------------------


def within(rules: RuleSet) -> RuleSet:
    """Rules as a closure is made by: violations have predicates that no premise matches.

    >>> from ensue.rules.tree import Premise
    >>> x, p, y = Var("x"), Var("p"), Var("y")
    >>> any_fact = (Premise(Pattern(x, p, y)),)
    >>> wrong = Rule("wrong", any_fact, (Pattern(x, "<urn:ensue:violation:c>", y),))
    >>> print(*within(RuleSet("R", (wrong,))).rules)
    [wrong: (?x ?p ?y), notLiteral(?p) -> (?x "c"^^<urn:ensue:violation> ?y)]
    """
    if not has_conditions(rules):
        return rules
    made = tuple(_guarded(replace(rule, conclusions=_hidden(rule.conclusions))) for rule in rules.rules)
    return replace(rules, rules=made, axioms=_hidden(rules.axioms))


def hidden(predicate: str) -> str:
    """The predicate that a violation has inside a closure.

    >>> hidden("<urn:ensue:violation:cax-dw>")
    '"cax-dw"^^<urn:ensue:violation>'
    """
    return literal(predicate[len(_START) : -1], datatype=_DATATYPE)


def name_of(predicate: str) -> str | None:
    """The condition's name, of a predicate inside a closure; None if it is none of a violation.

    >>> name_of('"cax-dw"^^<urn:ensue:violation>'), name_of("<urn:p>")
    ('cax-dw', None)
    """
    return predicate[1 : -len(_END)] if predicate.startswith('"') and predicate.endswith(_END) else None


def _hidden(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    return tuple(replace(each, p=hidden(each.p)) if is_violation(each.p) else each for each in patterns)  # type: ignore[arg-type]


def _guarded(rule: Rule) -> Rule:
    predicates = dict.fromkeys(each.pattern.p for each in rule.premises if isinstance(each.pattern.p, Var))
    guards = tuple(Guard("notLiteral", (predicate,)) for predicate in predicates)
    return replace(rule, conditions=(*guards, *rule.conditions)) if guards else rule
