"""Which rules have to be materialised, and which can be folded into patterns (seed: Coror, section 7.1.2).

A rule that joins, or makes new terms, needs facts to be there when it looks for them. So does every linear
rule that can make such facts, and what makes facts for that one. What all others conclude is read by
queries alone, and need not be there: it is in their patterns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ensue.plan.known import Closed
from ensue.plan.rewrite import Rewriter, is_linear, live_premises, slots_of
from ensue.rules.tree import Rule


@dataclass(frozen=True, slots=True)
class Split:
    """Rules, parted. What has no live premise is in neither part: it is done in the background."""

    materialised: tuple[Rule, ...]
    folded: tuple[Rule, ...]


def split(rules: Iterable[Rule], background: Closed) -> Split:
    """Part rules over a closed background.

    >>> from ensue.rules.tree import Pattern, Premise, Var
    >>> x, y, z = (Var(name) for name in "xyz")
    >>> within, near, at = ([Premise(Pattern(x, f"<urn:{name}>", y))] for name in ("in", "near", "at"))
    >>> transitive = Rule("t", (*within, Premise(Pattern(y, "<urn:in>", z))), (Pattern(x, "<urn:in>", z),))
    >>> feeds = Rule("feeds", tuple(near), (Pattern(x, "<urn:in>", y),))
    >>> other = Rule("other", tuple(within), (Pattern(y, "<urn:has>", x),))
    >>> found = split([transitive, feeds, other], Closed.of([]))
    >>> [rule.name for rule in found.materialised], [rule.name for rule in found.folded]
    (['t', 'feeds'], ['other'])
    """
    live = [rule for rule in rules if live_premises(rule)]
    rewriter = Rewriter(tuple(rule for rule in live if is_linear(rule)), background)
    materialised = dict.fromkeys(rule for rule in live if not is_linear(rule))
    waiting = list(materialised)
    while waiting:
        wanted = map(slots_of, live_premises(waiting.pop()))
        feeding = {rule: None for raw in wanted for rule in rewriter.concluding(raw)}
        waiting += (rule for rule in feeding if rule not in materialised)
        materialised |= feeding
    return Split(tuple(materialised), tuple(rule for rule in rewriter.rules if rule not in materialised))
