"""Conditions at random: every strategy has the same violations, and they change nothing else.

What has to hold is made in two steps that share nothing with a maintainer: the closure without conditions,
and then one round of the conditions over it. So a violation that a premise has matched shows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

import pytest

from ensue.dictionary import Dictionary
from ensue.maintain import PARTICULAR, STRATEGIES
from ensue.maintain.program import UNBOUND, CompiledRule, compile_rules, conclude, match
from ensue.model import FOREVER, Triple
from ensue.rules import violations
from ensue.rules.tree import Pattern, Premise, Rule, RuleSet, Var
from ensue.rules.violations import is_condition, name_of, without_conditions

from .cases import Case, make_case
from .linear import linear
from .replay import Expected, Statement, compare, expected
from .rulegen import CLASSES, TYPE

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = 36
S, P, O = Var("s"), Var("p"), Var("o")  # noqa: E741
ANYTHING = (Premise(Pattern(S, P, O)),)

Numbered = list[tuple[Triple, int]]
"""Facts with their stamps."""


def with_conditions(case: Case) -> Case:
    """The case with conditions, and with rules that would take notice if violations were facts."""
    random = Random(case.seed)
    some = [rule for rule in case.rules.rules if random.random() < 0.7]
    conditions = [_condition(rule, f"c{number}") for number, rule in enumerate(some)]
    if random.random() < 0.3:
        conditions.append(Rule("any", ANYTHING, (Pattern(S, _named("any"), P),)))
    looking = [Rule("looks", ANYTHING, (Pattern(S, TYPE, CLASSES[0]),))] if random.random() < 0.5 else []
    every = (*case.rules.rules, *looking, *conditions)
    return replace(case, rules=replace(case.rules, rules=every))


def _condition(rule: Rule, name: str) -> Rule:
    first = rule.conclusions[0]
    return replace(rule, name=name, conclusions=(Pattern(first.s, _named(name), first.o),))


def _named(name: str) -> str:
    return f"<urn:ensue:violation:{name}>"


def expected_with_violations(case: Case) -> list[Expected]:
    """The answers to a case with conditions."""
    answers = expected(replace(case, rules=without_conditions(case.rules)))
    conditions = [rule for rule in case.rules.rules if is_condition(rule)]
    found, before = [], frozenset()
    for answer in answers:
        grounds = dict.fromkeys(answer.background, FOREVER)
        wrong_there = {fact for fact, _ in _wrong(conditions, grounds, {}, case.nesting)}
        live = dict(answer.stamps)
        for context in {context for context, _ in answer.stamps}:
            facts = {fact: stamp for (at, fact), stamp in answer.stamps.items() if at == context}
            for fact, stamp in _wrong(conditions, grounds, facts, case.nesting):
                if fact not in wrong_there:
                    live[context, fact] = max(stamp, live.get((context, fact), stamp))
        deleted = frozenset(
            timed for timed in before - live.keys() if timed[1] not in answer.background | wrong_there
        )
        found.append(
            replace(
                answer,
                stamps=live,
                background=answer.background | wrong_there,
                inserted=frozenset(live) - before,
                deleted=deleted,
            )
        )
        before = frozenset(live)
    return found


def _wrong(
    conditions: list[Rule], grounds: Mapping[Statement, int], facts: Mapping[Statement, int], nesting: int
) -> Iterator[tuple[Statement, int]]:
    """What conditions conclude of facts over a background, in one round."""
    dictionary = Dictionary(nesting)
    ground, live = (_numbered(some, dictionary) for some in (grounds, facts))
    for rule in compile_rules(RuleSet("conditions", tuple(conditions)), dictionary).rules:
        for binding, stamp in _matches(rule, 0, [UNBOUND] * rule.variables, FOREVER, ground, live):
            for triple in conclude(rule, binding, dictionary):
                s, p, o = map(dictionary.decode, triple)
                yield (s, p, o), stamp


def _numbered(facts: Mapping[Statement, int], dictionary: Dictionary) -> Numbered:
    encode = dictionary.encode
    return [((encode(s), encode(p), encode(o)), stamp) for (s, p, o), stamp in facts.items()]


def _matches(
    rule: CompiledRule, at: int, binding: list[int], stamp: int, grounds: Numbered, facts: Numbered
) -> Iterator[tuple[list[int], int]]:
    if at == len(rule.premises):
        yield list(binding), stamp
        return
    for some in (grounds,) if rule.cut[at] else (grounds, facts):
        for fact, own in some:
            extended = list(binding)
            if match(rule.premises[at], fact, extended):
                yield from _matches(rule, at + 1, extended, min(stamp, own), grounds, facts)


def _cases(first: int = SEED, count: int = CASES) -> Iterator[Case]:
    for seed in range(first, first + count):
        case = make_case(seed)
        # A node is named after the rule that makes it: a condition that makes nodes is another rule.
        if not any(type(c).__name__ == "Mint" for rule in case.rules.rules for c in rule.conditions):
            yield with_conditions(case)


def test_every_strategy_has_the_same_violations():
    told = tried = 0
    for case in _cases():
        answers = expected_with_violations(case)
        tried += 1
        told += any(name_of(fact[1]) for answer in answers for _, fact in answer.stamps)
        for strategy in STRATEGIES.keys() - PARTICULAR:
            difference = compare(case, strategy, answers)
            assert difference is None, f"case {case.seed}: {difference}\n{case}"
    print(f"{tried} cases from seed {SEED} on, {told} of them with violations")
    assert told > tried / 2, "cases in which nothing is wrong show nothing"


def test_rewriting_has_them_too():
    for case in _cases(count=CASES // 3):
        some = linear(replace(case, rules=without_conditions(case.rules)))
        conditions = tuple(rule for rule in case.rules.rules if is_condition(rule))
        some = replace(some, rules=replace(some.rules, rules=some.rules.rules + conditions))
        answers = expected_with_violations(some)
        for strategy in ("rewrite", "hybrid"):
            difference = compare(some, strategy, answers)
            assert difference is None, f"case {case.seed}: {difference}\n{some}"


@pytest.mark.parametrize("strategy", ["recompute", "dred", "expiration", "rete"])
def test_a_premise_that_matches_violations_would_show(strategy, monkeypatch):
    """The planted mistake: nothing keeps `?s ?p ?o` from matching them."""
    answers = [(case, expected_with_violations(case)) for case in _cases(count=CASES // 2)]
    monkeypatch.setattr(violations, "_guarded", lambda rule: rule)
    assert any(compare(case, strategy, answer) is not None for case, answer in answers)
