"""The smallest proof of a fact, searched backwards through what holds.

The stamp of a fact is the maximum over its derivations of the minimum over their premises. So of the facts
at least as fresh as the goal any proof will do: none ends later, and none of them ends earlier. Among these
the smallest is found: the size of a conclusion is 1 and the sizes of its premises, which is more than any
of them, so Knuth's generalisation of Dijkstra's algorithm applies, and a proof that goes in a circle is never
the smallest one.

It goes from the goal down, and first to where the least could still be gained: a fact that is not looked into
yet can be part of no proof that is smaller than what the facts around it take, and the two that it takes
itself. Where no such fact could make the best proof so far smaller, that one is the smallest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice
from math import inf

from ensue.errors import EnsueError
from ensue.maintain.program import UNBOUND, Binding, CompiledRule, conclude, match
from ensue.model import Triple
from ensue.proof.held import Held, Slots
from ensue.proof.proof import Proof
from ensue.rules.tree import Mint

LIMIT = 1_000_000
"""How many ways to conclude something are looked at for one proof."""

_DERIVED = 2
"""What a derived fact takes at least: itself and a premise."""


class ProofLimitError(EnsueError):
    """A search that was given up before it found anything."""


@dataclass(frozen=True, slots=True)
class Found:
    """A proof, and whether it is sure to be a smallest one."""

    proof: Proof
    smallest: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """One way to conclude a fact."""

    head: Triple
    rule: str
    premises: tuple[Triple, ...]


def prove(held: Held, goal: Triple, *, at_least: int | None = None, limit: int = LIMIT) -> Found:
    """A smallest proof of a fact that holds, of leaves that are `at_least` so fresh (None: as it is itself).

    Raises ProofLimitError if none is found in `limit` steps; one that is found by then may not be smallest.
    """
    stamp = held.stamp(goal)
    assert stamp is not None, "only what holds has a proof"
    search = _Search(held, goal, stamp if at_least is None else at_least, limit)
    smallest = search.run()
    return Found(search.proof(), smallest)


@dataclass(slots=True)
class _Search:
    """One search: what is known of the sizes of proofs so far."""

    held: Held
    goal: Triple
    at_least: int
    limit: int
    sizes: dict[Triple, int] = field(default_factory=dict)
    """The smallest known so far."""
    best: dict[Triple, _Way] = field(default_factory=dict)
    seen: set[Triple] = field(default_factory=set)
    """The facts that were looked into."""
    uses: dict[Triple, list[_Way]] = field(default_factory=dict)
    """What each fact is a premise for."""
    around: dict[Triple, int] = field(default_factory=dict)
    """What the rest of a proof of the goal takes at least that uses the fact."""
    queue: list[tuple[int, Triple]] = field(default_factory=list)

    def run(self) -> bool:
        """Search; whether it came to its end."""
        if not self._is_stated(self.goal):
            self._ask(self.goal, 0)
        looked = 0
        while self.queue:
            around, fact = heappop(self.queue)
            if fact in self.seen or around > self.around[fact]:
                continue
            if around + _DERIVED >= self.sizes.get(self.goal, inf):
                return True  # Nor can any of the others: they have more around them.
            looked += self._look_into(fact, self.limit - looked)
            if looked >= self.limit:
                return self._give_up()
        return True

    def proof(self) -> Proof:
        """The best that was found. Sizes fall from a fact to its premises, so this ends."""
        made: dict[Triple, Proof] = {}
        waiting = [self.goal]
        while waiting:
            fact = waiting[-1]
            way = self.best.get(fact)
            missing = [] if way is None else [each for each in way.premises if each not in made]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if fact not in made:
                made[fact] = self._leaf(fact) if way is None else self._step(way, made)
        return made[self.goal]

    def _leaf(self, fact: Triple) -> Proof:
        stated = self.held.statement(fact)
        assert stated is not None
        return Proof(self.held.text(fact), stated.stamp, source=stated.source)

    def _step(self, way: _Way, made: dict[Triple, Proof]) -> Proof:
        premises = tuple(made[each] for each in way.premises)
        return Proof(self.held.text(way.head), min(each.stamp for each in premises), way.rule, premises)

    def _give_up(self) -> bool:
        if self.goal in self.sizes:
            return False
        s, p, o = self.held.text(self.goal)
        raise ProofLimitError(
            f"no proof of {s} {p} {o} found among {self.limit:,} ways to conclude something",
            hint="raise the limit, or ask for a fact with fewer derivations",
        )

    def _is_stated(self, fact: Triple) -> bool:
        """Whether a fact is a leaf: then no proof of it is smaller, and its size is known from now on."""
        if fact not in self.sizes:
            stated = self.held.statement(fact)
            if stated is None or stated.stamp < self.at_least:
                return False
            self.sizes[fact] = 1
        return fact not in self.best

    def _ask(self, fact: Triple, around: int) -> None:
        """A fact may be part of a proof of the goal, the rest of which takes so much at least."""
        # As facts are looked into in the order of what is around them, that falls for none of those later.
        if fact not in self.seen and around < self.around.get(fact, inf):
            self.around[fact] = around
            heappush(self.queue, (around, fact))

    def _ask_premises(self, way: _Way) -> None:
        least = {each: 1 if self._is_stated(each) else _DERIVED for each in way.premises}
        all_of_it = self.around[way.head] + 1 + sum(least[each] for each in way.premises)
        for each in least:
            if least[each] == _DERIVED and all_of_it < self.sizes.get(self.goal, inf):
                self._ask(each, all_of_it - _DERIVED)

    def _look_into(self, fact: Triple, limit: int) -> int:
        """Find the ways to conclude a fact; how many were looked at."""
        self.seen.add(fact)
        found = list(islice(_ways(self.held, fact, self.at_least), limit))
        ways = [_Way(fact, rule, premises) for rule, premises in dict.fromkeys(found) if fact not in premises]
        for way in ways:
            for each in set(way.premises):
                self._is_stated(each)
                self.uses.setdefault(each, []).append(way)
        for way in ways:
            self._settle(way)
        for way in ways:
            self._ask_premises(way)
        return max(1, len(found))

    def _settle(self, way: _Way) -> None:
        """A way may have become a smaller one: so may what rests on it."""
        waiting = [way]
        while waiting:
            way = waiting.pop()
            if any(each not in self.sizes for each in way.premises):
                continue
            size = 1 + sum(self.sizes[each] for each in way.premises)
            if size < self.sizes.get(way.head, inf):
                self.sizes[way.head], self.best[way.head] = size, way
                waiting += self.uses.get(way.head, ())


def _ways(held: Held, goal: Triple, at_least: int) -> Iterator[tuple[str, tuple[Triple, ...]]]:
    """All ways to conclude a fact from others that are at least so fresh: a rule, and what it is met by."""
    for rule, head in held.ground.concluding(goal):
        binding: Binding = [UNBOUND] * rule.variables
        if match(head, goal, binding) and _unmint(held, rule, binding):
            for bound in _joined(held, rule, list(range(len(rule.premises))), binding, at_least):
                premises = tuple(_filled(premise, bound) for premise in rule.premises)
                if goal in conclude(rule, list(bound), held.dictionary):
                    yield rule.name, premises


def _unmint(held: Held, rule: CompiledRule, binding: Binding) -> bool:
    """Bind what a node of the goal was minted from; False if this rule cannot have minted it."""
    for made in rule.conditions:
        if isinstance(made.condition, Mint) and binding[made.target] != UNBOUND:
            origin = held.dictionary.minted_from(binding[made.target])
            if origin is None or origin[0] != made.condition.source or len(origin[1]) != len(made.args):
                return False
            for slot, term in zip(made.args, origin[1], strict=True):
                if slot < 0:
                    if binding[~slot] not in (UNBOUND, term):
                        return False
                    binding[~slot] = term
    return True


def _joined(
    held: Held, rule: CompiledRule, left: list[int], binding: Binding, at_least: int
) -> Iterator[Binding]:
    """All ways to match the premises that are left; the one with the fewest matches goes first."""
    if not left:
        yield binding
        return
    matches = [held.matching(_filled(rule.premises[at], binding), cut=rule.cut[at]) for at in left]
    chosen = min(range(len(left)), key=lambda at: len(matches[at]))
    rest = left[:chosen] + left[chosen + 1 :]
    for triple in matches[chosen]:
        extended = list(binding)
        if _is_fresh(held, triple, at_least) and match(rule.premises[left[chosen]], triple, extended):
            yield from _joined(held, rule, rest, extended, at_least)


def _is_fresh(held: Held, triple: Triple, at_least: int) -> bool:
    stamp = held.stamp(triple)
    return stamp is not None and stamp >= at_least


def _filled(pattern: Triple, binding: Binding) -> Slots:
    s, p, o = (slot if slot >= 0 else binding[~slot] for slot in pattern)
    return s, p, o
