"""Partial answers: what a scope goes without since its budget was exceeded, and until when.

A rule is left out whole, with all that follows from what it concludes: the rule of the lowest priority, and
among these the one that has derived most. Where no rule is left, the older half of the statements goes. So
what is derived is always the closure of some of the statements under some of the rules, which is a part of
what would be derived otherwise; and a maintainer under fewer rules is made by each strategy as any other is,
from the copies. All rules come back when what was held then has left the window, or half of it has; the
statements, when no window reaches back to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ensue.maintain.budget import least
from ensue.model import NEVER, Copies
from ensue.plan.specialise import Specialised
from ensue.rules.tree import Rule, RuleSet


@dataclass(frozen=True, slots=True)
class Partial:
    """What was left out: the rules, with how many facts each had derived then, and how many statements."""

    rules: Mapping[str, int]
    statements: int = 0

    @classmethod
    def together(cls, parts: Iterable[Partial | None]) -> Partial | None:
        """What was left out of any of several; None if nothing was.

        >>> Partial.together([None, Partial({"a": 2}), Partial({"a": 1}, 5)])
        Partial(rules={'a': 3}, statements=5)
        """
        found = [part for part in parts if part is not None]
        rules: Counter[str] = Counter()
        for part in found:
            rules.update(part.rules)
        return cls(dict(rules), sum(part.statements for part in found)) if found else None

    def json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"rules": dict(self.rules), "statements": self.statements}

    @classmethod
    def of_json(cls, plain: Mapping[str, Any] | None) -> Partial | None:
        """What `json` gave."""
        return None if plain is None else cls(plain["rules"], plain["statements"])

    def __str__(self) -> str:
        said = [f"rule {name} ({count:,} facts)" for name, count in self.rules.items()]
        said += [f"{self.statements:,} statements"] if self.statements else []
        return "without " + ", ".join(said)


class Shedding:
    """What one scope goes without."""

    def __init__(self) -> None:
        self._rules: dict[str, int] = {}
        self._all_back_at = NEVER
        """The newest stamp that was held when rules were left out."""
        self._held = 0
        """How many copies were held then."""
        self._statements: list[tuple[int, Partial]] = []
        """What is missing of the statements themselves, with the stamp up to which it is."""

    @property
    def is_active(self) -> bool:
        """Whether some rule is left out."""
        return bool(self._rules)

    def without(self, plan: Specialised) -> Specialised:
        """A plan without the rules that are left out."""
        rules = tuple(rule for rule in plan.rules.rules if rule.name not in self._rules)
        return replace(plan, rules=RuleSet(plan.rules.name, rules, plan.rules.axioms))

    def leave_out(self, rules: Sequence[Rule], derived: Mapping[str, int], held: Copies) -> Copies | None:
        """Go without more: the copies to go on with; None where there is nothing more to go without.

        `rules` are those under which the budget was exceeded, `derived` how many facts each has derived.
        """
        if not len(held):
            return None
        self._all_back_at = max(self._all_back_at, max(held.stamp))
        self._held = max(self._held, len(held))
        if rules:
            self._rules |= least(rules, derived)
            return held
        return self._newer_half(held)

    def may_return(self, threshold: int, live: Callable[[], int]) -> bool:
        """Whether to try with all rules again: `threshold` has been reached, and so many copies are live."""
        return self.is_active and (threshold >= self._all_back_at or 2 * live() <= self._held)

    def come_back(self) -> None:
        """Leave out no rule any more."""
        self._rules, self._all_back_at, self._held = {}, NEVER, 0

    def miss(self, stamp: int, partial: Partial) -> None:
        """Statements up to a stamp were made of partial answers: there may be more of them."""
        self._statements.append((stamp, partial))

    def missing(self) -> list[Any]:
        """The statements that are missing, as plain data."""
        return [[stamp, partial.json()] for stamp, partial in self._statements]

    def miss_again(self, missing: Iterable[Sequence[Any]]) -> None:
        """Go on from what `missing` gave."""
        self._statements = [(stamp, Partial(**partial)) for stamp, partial in missing]

    def at(self, threshold: int) -> Partial | None:
        """What is missing of what is above a threshold; None if it is complete."""
        self._statements = [each for each in self._statements if each[0] > threshold]
        rules = [Partial(self._rules)] if self._rules else []
        return Partial.together([*rules, *(partial for _, partial in self._statements)])

    def _newer_half(self, held: Copies) -> Copies:
        stamps = sorted(held.stamp)
        until = stamps[len(stamps) // 2]
        kept = Copies()
        for context, s, p, o, graph, stamp in held:
            if stamp > until:
                kept.append(context, s, p, o, stamp, graph)
        self._statements.append((until, Partial({}, len(held) - len(kept))))
        return kept
