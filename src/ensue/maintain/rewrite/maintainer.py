"""The strategies that fold rules into patterns.

`rewrite` keeps statements as they came, and matches every pattern by all its alternatives at once.
`rewrite-union` is what StreamQR does, for comparison: a query for each choice of alternatives, and the union
of what they give. `hybrid` (seed: Coror, section 7.1.2) materialises what joins, and folds in the rest.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import Place, StrategyError
from ensue.maintain.rewrite.folded import Folded, freshest
from ensue.maintain.rewrite.folding import Folding, World
from ensue.plan.rewrite import NotRewritable, check_linear
from ensue.query.compiled.operators import joined
from ensue.query.compiled.relation import Relation, concatenated
from ensue.query.dataset import Columns, Pattern
from ensue.rules.tree import RuleSet
from ensue.rules.violations import without_conditions

MOST_MEMBERS = 100_000
"""A union of more queries than this is refused."""


class Hybrid(Folding):
    """Joining rules, and what feeds them, by the kernel; all others in the patterns."""

    name = "hybrid"


class Rewrite(Folding):
    """All rules in the patterns: nothing is ever derived.

    >>> from ensue.model import Copies
    >>> from ensue.rules.tree import Pattern, Premise, Rule, Var
    >>> d, x, y = Dictionary(), Var("x"), Var("y")
    >>> inverse = Rule("inverse", (Premise(Pattern(x, "<urn:in>", y)),), (Pattern(y, "<urn:has>", x),))
    >>> m = Rewrite(RuleSet("R", (inverse,)), d)
    >>> a, within, b, has = map(d.pin, ("<urn:a>", "<urn:in>", "<urn:b>", "<urn:has>"))
    >>> m.admit(Copies.of([(1, a, within, b, 1000)]))
    >>> found = m.solutions((("who", has, "what"),), 1, threshold=0)
    >>> {name: d.decode(column[0]) for name, column in found.columns.items()}, m.statistics()["derivations"]
    ({'who': '<urn:b>', 'what': '<urn:a>'}, 0)
    """

    name = "rewrite"

    def __init__(self, rules: RuleSet, dictionary: Dictionary) -> None:
        for rule in without_conditions(rules).rules:
            try:
                check_linear(rule)
            except NotRewritable as reason:
                raise self._refusal(reason, rule.place) from reason
        super().__init__(rules, dictionary)

    def _watch(self, world: World, patterns: tuple[Pattern, ...]) -> None:
        for pattern in patterns:
            world.folded.readings(pattern)

    def _give_up(self, reason: NotRewritable) -> None:
        raise self._refusal(reason) from reason

    def _refusal(self, reason: NotRewritable, place: Place | None = None) -> StrategyError:
        return StrategyError(
            f"strategy '{self.name}' cannot fold all rules into the query: {reason}",
            place=place,
            hint="use --strategy hybrid or expiration; where a stream brings schema, what is otherwise "
            "looked up in the background joins, too",
        )


class RewriteUnion(Rewrite):
    """The baseline of the papers: a union of conjunctive queries, one for each choice of alternatives."""

    name = "rewrite-union"

    def _watch(self, world: World, patterns: tuple[Pattern, ...]) -> None:
        _check_size(world.folded, patterns)

    def _solve(self, folded: Folded, patterns: tuple[Pattern, ...], facts: Columns) -> Relation:
        _check_size(folded, patterns)
        matched = [folded.match_apart(pattern, facts) for pattern in patterns]
        members = (member for member in product(*matched) if all(part.length for part in member))
        nothing = [part.where(np.zeros(part.length, np.bool_)) for part, *_ in matched]
        return freshest(concatenated([joined(nothing), *map(joined, members)]))


def _check_size(folded: Folded, patterns: tuple[Pattern, ...]) -> None:
    counts = [len(folded.readings(pattern)) for pattern in patterns]
    if prod(counts) > MOST_MEMBERS:
        shown = " x ".join(f"{count:,}" for count in counts)
        raise StrategyError(
            f"the union of conjunctive queries would have {shown} = {prod(counts):,} members, "
            f"at most {MOST_MEMBERS:,} are evaluated",
            hint="use --strategy rewrite, which keeps alternatives with their patterns",
        )
