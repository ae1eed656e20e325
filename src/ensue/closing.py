"""Statements closed under rules, once: what `ensue reason` does between reading and writing.

The rules that cannot fire are left out, those over lists are unfolded, equal terms are kept once, and what
follows is said of all of them again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ensue.classes import Classes
from ensue.dictionary import Dictionary
from ensue.errors import BudgetError
from ensue.maintain.budget import least
from ensue.model import FOREVER, Copies, Facts
from ensue.plan.equality import equality_of, with_all_axioms
from ensue.plan.known import close_plainly
from ensue.plan.representatives import EQUALITIES, settle
from ensue.plan.selective import select
from ensue.query.partial import Partial
from ensue.rules.tree import RuleSet

Say = Callable[[str], None]
"""Tells a person what was done, line by line."""


def _silent(_line: str) -> None:
    """For those who do not ask."""


def close_once(
    rules: RuleSet,
    stated: Copies,
    dictionary: Dictionary,
    *,
    strategy: str = "expiration",
    equality: str = EQUALITIES[0],
    representatives: bool = False,
    say: Say = _silent,
) -> Facts:
    """What is stated and all that follows; with `representatives`, of one of several equal terms.

    Where that exceeds the budget and may be partial, it is what follows under some of the rules.

    >>> from ensue.rules.load import load_rules
    >>> from ensue.writing import lines_of
    >>> d = Dictionary()
    >>> a, b, c, isin = map(d.encode, ("<urn:a>", "<urn:b>", "<urn:c>", "<http://example.org/isIn>"))
    >>> facts = close_once(load_rules("transitive-isin"), Copies.background([(a, isin, b), (b, isin, c)]), d)
    >>> print(*lines_of(facts, d).texts(), end="")
    <urn:a> <http://example.org/isIn> <urn:b> .
    <urn:a> <http://example.org/isIn> <urn:c> .
    <urn:b> <http://example.org/isIn> <urn:c> .
    """
    while True:
        try:
            return _closed(rules, stated, dictionary, strategy, equality, representatives, say)
        except BudgetError as exceeded:
            if dictionary.meter.budget.at_limit != "partial" or not rules.rules:
                raise
            without = least(rules.rules, exceeded.derived)
        rules = RuleSet(rules.name, tuple(r for r in rules.rules if r.name not in without), rules.axioms)
        say(f"partial: once more, {Partial(without)}")
        dictionary.meter.dropped()


def _closed(
    rules: RuleSet,
    stated: Copies,
    dictionary: Dictionary,
    strategy: str,
    equality: str,
    representatives: bool,
    say: Say,
) -> Facts:
    chosen = _chosen(rules, stated, dictionary, say)
    close = partial(close_plainly, strategy=None if strategy == "expiration" else strategy)
    found = settle(chosen, stated, dictionary, close, equality)
    if (unfolded := found.unfolded.report) is not None:
        for line in (unfolded.line, *unfolded.details):
            say(line)
    if found.report is not None:
        say(found.report.line)
    facts = close(found.unfolded.rules, stated, dictionary) if found.facts is None else found.facts
    if not representatives:
        return found.classes.expanded(facts)
    return _with_members(found.classes.without_links(facts), found.classes, rules, dictionary)


def _chosen(rules: RuleSet, stated: Copies, dictionary: Dictionary, say: Say) -> RuleSet:
    """The rules that may fire; all of them where terms are said to be equal, which may put any for any."""
    found = equality_of(rules)
    if found is not None and dictionary.encode(found.predicate) in stated.p:
        return rules
    selected = select(rules, stated, dictionary)
    say(selected.line)
    return with_all_axioms(selected.rules, rules)


def _with_members(facts: Facts, classes: Classes, rules: RuleSet, dictionary: Dictionary) -> Facts:
    """Facts about representatives, and who is equal to each."""
    found = equality_of(rules)
    pairs = classes.pairs()
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = np.full(len(pairs), 0 if found is None else dictionary.encode(found.predicate))
    every = ((facts.s, pairs[:, 0]), (facts.p, same), (facts.o, pairs[:, 1]))
    s, p, o = (np.concatenate([np.asarray(one, np.int32), other.astype(np.int32)]) for one, other in every)
    return Facts(np.zeros(len(s), np.int32), s, p, o, np.full(len(s), FOREVER))
