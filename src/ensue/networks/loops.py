"""Networks that never settle: who keeps whom going, and the error that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ensue.errors import EnsueError, UsageError
from ensue.maintain.budget import Budget, Meter, too_many_facts
from ensue.networks.join import Solution
from ensue.networks.tree import NetworkRule

_SHOWN = 3
"""How many bindings of a rule a message shows."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How much one element may set off before it is taken for a loop."""

    rounds: int = 10_000
    firings: int = 1_000_000
    budget: Budget = field(default_factory=Budget)
    """How much may be held; its own rounds are not those of a network."""

    def __post_init__(self) -> None:
        for name, value in (("rounds", self.rounds), ("firings", self.firings)):
            if value < 1:
                raise UsageError(f"a limit of {value} {name}", hint="it must be 1 or more")


class UnsettledError(EnsueError):
    """A network that goes on for ever: `cycle` are the rules that keep each other going, `bindings` what
    each of them fired for last, for the element of a `time`.
    """

    time: int = 0
    cycle: tuple[str, ...] = ()
    bindings: Mapping[str, Sequence[Mapping[str, str]]] = {}


class Trail:
    """Remembers, during an element, which rule made which fire last, and for what."""

    def __init__(self, rules: Sequence[NetworkRule], limit: Limit) -> None:
        self._rules, self._limit = rules, limit
        self._meter = Meter(limit.budget)
        self.begin(0)

    def another(self) -> Trail:
        """The same for another network by these rules."""
        return Trail(self._rules, self._limit)

    def begin(self, time: int) -> None:
        """Another element."""
        self._time = time
        self.rounds = self.firings = 0
        self._counts: Counter[int] = Counter()
        self._causes: dict[int, int | None] = {}
        self._last: dict[int, list[tuple[int, Solution]]] = {}

    def round(self) -> None:
        """Another round."""
        self.rounds += 1
        if self.rounds > self._limit.rounds:
            raise self._unsettled(f"{self._limit.rounds:,} rounds")

    def fired(self, rule: int, cause: int | None, fired: Sequence[tuple[int, Solution]]) -> None:
        """A rule fired for solutions (each with its branch) that an effect of `cause` brought about."""
        self.firings += len(fired)
        self._counts[rule] += len(fired)
        self._causes.pop(rule, None)  # so that the last one stands last
        self._causes[rule] = cause
        self._last[rule] = list(islice(fired, _SHOWN))
        if self.firings > self._limit.firings:
            raise self._unsettled(f"{self._limit.firings:,} firings")

    def look(self, held: int, work: int) -> None:
        """Refuse more statements than may be held, and more memory; `work` is what has just been done."""
        if held > self._limit.budget.max_facts:
            raise too_many_facts(self._limit.budget, held, self._fired())
        self._meter.memory(work, self._fired)

    def _fired(self) -> dict[str, int]:
        return {self._rules[rule].name: count for rule, count in self._counts.items()}

    def _unsettled(self, after: str) -> UnsettledError:
        cycle = self._cycle()
        told = cycle or list(self._causes)[-_SHOWN:]
        names = [self._rules[rule].name for rule in told]
        bindings = {self._rules[rule].name: self._bindings(rule) for rule in told}
        shown = "; ".join(f"{name}: {_text(rows)}" for name, rows in bindings.items())
        how = f"in a circle, {' -> '.join([*names, names[0]])}" if cycle else f"last {', '.join(names)}"
        what = (
            f"the network does not settle: after {after} for the element of time {self._time} "
            f"rules still fire, {how}; the last solutions were {shown}"
        )
        hint = "let a rule ask with NOT EXISTS for what it has done, or raise the limit if this is meant"
        error = UnsettledError(what, place=self._rules[told[0]].place, hint=hint)
        error.time = self._time
        error.cycle, error.bindings = tuple(names if cycle else ()), bindings
        return error

    def _cycle(self) -> list[int]:
        """From the rule that fired last back to what made it fire, until one comes up again."""
        path: list[int] = []
        rule = next(reversed(self._causes), None)
        while rule is not None and rule not in path:
            path.append(rule)
            rule = self._causes.get(rule)
        return [] if rule is None else path[path.index(rule) :][::-1]

    def _bindings(self, rule: int) -> list[dict[str, str]]:
        found = []
        for branch, solution in self._last[rule]:
            visible = self._rules[rule].branches[branch].visible()
            valued = zip(visible, solution, strict=True)
            found.append(
                {str(v): term for v, term in valued if term is not None and not v.name.startswith("_:")}
            )
        return found


def _text(rows: Sequence[Mapping[str, str]]) -> str:
    shown = (", ".join(f"{name} = {term}" for name, term in row.items()) or "no variables" for row in rows)
    return " | ".join(shown)
