"""Which rules are links, so that they can be applied to statements before these are joined with anything.

A rule is linear if background alone matches all its premises but one. Then it becomes links, unless it looks
at values, makes nodes, or asks for the same term twice: such a rule is left to whoever joins. So is a rule
that is a link, but that may have to be applied to what those conclude.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ensue.maintain.kernel.links import WIDTH, ground
from ensue.maintain.kernel.network import Network, TooMuchFollows, implied_by
from ensue.maintain.program import compile_rules
from ensue.plan.cuts import Cuts, goal_of
from ensue.plan.epsilon import EpsilonTable, make_table
from ensue.plan.heads import Head
from ensue.plan.known import Closed, Texts
from ensue.plan.report import Report
from ensue.plan.shapes import Shape, overlap, shape_of
from ensue.rules.tree import Pattern, Rule, RuleSet
from ensue.rules.violations import is_condition

MOST_LINKS = 1_000_000
"""A rule with more matches of its cut premises is about data."""
MOST_ROWS = 8_000_000
"""So much may follow from all keys together."""


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """Rules, divided into what is done by a table and what is left. Background is closed: none has axioms."""

    table: EpsilonTable
    links: RuleSet
    """The rules that the table does, with what is taken for schema cut."""
    left: RuleSet
    """The rules that are not done by the table alone."""
    assumed: tuple[Shape, ...]
    """It holds only as long as no stream brings a statement of one of these shapes."""
    reports: tuple[Report, ...]


@dataclass(frozen=True, slots=True)
class _Fate:
    """What becomes of a rule, and why so."""

    rule: Rule
    heads: tuple[Head, ...]
    given: Pattern | None
    """The premise that streams match, of a link."""
    links: np.ndarray[tuple[int, ...], np.dtype[np.int32]]
    is_left: bool
    why: str

    def as_link(self) -> Rule:
        """The rule with all premises cut but the one that streams match."""
        premises = (replace(each, cut=each.pattern is not self.given) for each in self.rule.premises)
        return replace(self.rule, premises=tuple(premises))

    def __str__(self) -> str:
        return f"{'+' if self.given else '-'} {self.rule.name}: {self.why}"


def find(rules: RuleSet, background: Closed) -> Linear:
    """Divide rules over a background that is closed under them; raises TooMuchFollows.

    >>> from ensue.plan.known import close
    >>> from ensue.rules.load import load_rules
    >>> rules = load_rules("transitive-isin")
    >>> found = find(rules, close(rules, []))
    >>> len(found.table), [rule.name for rule in found.left.rules]
    (0, ['R'])
    """
    cuts = Cuts.of(rules, background)
    fates = _with_those_that_stay(_fate(rule, heads, cuts, background) for rule, heads in cuts.by_rule())
    dictionary = background.dictionary
    network = Network(implied_by(fate.links for fate in fates), bytes(dictionary.kinds))
    for key in network.implied:
        network.reached(key, MOST_ROWS)
    table = make_table(network, Texts(dictionary))
    done = [head for fate in fates if fate.given or not fate.is_left for head in fate.heads]
    assumed = cuts.assumed_by(goal_of(cut) for head in done for cut in cuts.inferred(head))
    left = tuple(fate.rule for fate in fates if fate.is_left)
    links = tuple(fate.as_link() for fate in fates if fate.given)
    line = f"{sum(fate.given is not None for fate in fates)} of {len(fates)} rules are links"
    size = f"{len(table.keys):,} entries with {len(table):,} conclusions"
    report = Report("epsilon network", f"{line}; {size}", tuple(map(str, fates)))
    links_alone, rest = (replace(rules, rules=some, axioms=()) for some in (links, left))
    return Linear(table, links_alone, rest, assumed, (report,))


_NONE = np.zeros((0, WIDTH), np.int32)


def _fate(rule: Rule, heads: tuple[Head, ...], cuts: Cuts, background: Closed) -> _Fate:
    premises = cuts.marked(rule, heads)
    live = [at for at, premise in enumerate(premises) if not premise.cut]
    if not live:
        return _Fate(rule, heads, None, _NONE, False, "all its premises are schema: its work is done")
    if is_condition(rule):
        return _Fate(rule, heads, None, _NONE, True, "left: what it concludes is no statement")
    if len(live) > 1:
        return _Fate(rule, heads, None, _NONE, True, f"left: it joins {len(live)} statements")
    program = compile_rules(RuleSet("", (replace(rule, premises=premises),)), background.dictionary)
    kinds = np.frombuffer(bytes(background.dictionary.kinds), np.uint8)
    links = ground(program.rules[0], live[0], np.stack(background.columns, axis=1), kinds, MOST_LINKS)
    if links is None:
        return _Fate(
            rule, heads, None, _NONE, True, "left: linear, but no link (it looks at more than kinds)"
        )
    given = premises[live[0]].pattern
    return _Fate(rule, heads, given, links, False, f"linear: {len(links):,} links")


def _with_those_that_stay(fates: Iterable[_Fate]) -> list[_Fate]:
    """The same, where a link is left as well if it may have to be applied to what is concluded later."""
    found = list(fates)
    waiting = [fate for fate in found if fate.is_left and not is_condition(fate.rule)]
    while waiting:
        made = [shape_of(conclusion) for conclusion in waiting.pop().rule.conclusions]
        for number, fate in enumerate(found):
            if fate.given is None or fate.is_left:
                continue
            given = shape_of(fate.given)
            if len(fate.links) and any(overlap(shape, given) for shape in made):
                stays = replace(fate, is_left=True, why=f"{fate.why}; left as well, for what others conclude")
                found[number] = stays
                waiting.append(stays)
    return found


__all__ = ["Linear", "TooMuchFollows", "find"]
