"""Statements closed under rules, with the lists among them; what follows, and what is wrong."""

from __future__ import annotations

from typing import NamedTuple

from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.model import BACKGROUND, Copies
from ensue.plan.known import Closed
from ensue.plan.unfold import has_lists, unfold
from ensue.violations import violations_in


class Closure(NamedTuple):
    """What holds (literals may be subjects), and the violations as (condition, subject, object)."""

    statements: set
    violations: set


def closure(rules, statements, strategy="recompute"):
    dictionary = Dictionary()
    encode = dictionary.encode
    stated = Copies.background([(encode(s), encode(p), encode(o)) for s, p, o in statements])

    def close(plain):
        nonlocal facts
        maintainer = make(strategy, plain, dictionary)
        maintainer.load_background(stated)
        facts = maintainer.closure(BACKGROUND)
        return Closed(dictionary, facts.s, facts.p, facts.o)

    facts = None
    if has_lists(rules):
        unfold(rules, close)
    else:
        close(rules)
    text = dictionary.decode
    every = {(text(s), text(p), text(o)) for _, s, p, o, _ in facts}
    wrong = {(each.condition, each.subject, each.object) for each in violations_in(facts, dictionary)}
    return Closure({each for each in every if each[1][0] == "<"}, wrong)
