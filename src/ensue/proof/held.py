"""What proofs are searched in: everything that holds at one moment, with its stamps and who stated it.

A `Ground` is a closed background with the rules over it; a `Held` is what a window adds to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ensue.dictionary import Dictionary
from ensue.maintain.program import CompiledRule, compile_rules
from ensue.model import FOREVER, Facts, Triple
from ensue.plan.known import Closed
from ensue.proof.lists import over_statements
from ensue.proof.proof import Statement
from ensue.rules.tree import RuleSet

Slots = tuple[int, int, int]
"""A triple with negative numbers where anything may stand."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement's newest copy: its stamp, and who brought it."""

    stamp: int
    source: str


Statements = Mapping[Triple, Stated]


class Index:
    """Facts with stamps, by any of their terms.

    >>> some = Index({(1, 5, 2): 10, (1, 5, 3): 20, (4, 5, 3): 30})
    >>> some.matching((1, 5, -1)), some.matching((-1, -1, 3))
    ([(1, 5, 2), (1, 5, 3)], [(1, 5, 3), (4, 5, 3)])
    """

    def __init__(self, stamps: dict[Triple, int]) -> None:
        self.stamps = stamps
        self._by: dict[tuple[int, ...], dict[tuple[int, ...], list[Triple]]] = {}

    def matching(self, slots: Slots) -> Sequence[Triple]:
        """The facts that have these terms. An index is made when it is first asked for."""
        bound = tuple(at for at, term in enumerate(slots) if term >= 0)
        if len(bound) == 3:
            return [slots] if slots in self.stamps else []
        if bound not in self._by:
            index = self._by[bound] = {}
            for triple in self.stamps:
                index.setdefault(tuple(triple[at] for at in bound), []).append(triple)
        return self._by[bound].get(tuple(slots[at] for at in bound), [])


class Ground:
    """A closed background: what all windows over it have in common."""

    def __init__(
        self, rules: RuleSet, dictionary: Dictionary, facts: Facts, stated: Iterable[tuple[str, Triple]]
    ) -> None:
        """`facts` are closed under the rules; `stated` are those that need no proof, and who states them."""
        self.rules = rules
        self.dictionary = dictionary
        self.index = Index({(s, p, o): FOREVER for _, s, p, o, _ in facts})
        self.stated = {triple: Stated(FOREVER, source) for source, triple in stated}
        plain = over_statements(rules, Closed(dictionary, facts.s, facts.p, facts.o))
        program = compile_rules(plain, dictionary)
        for axiom in program.axioms:
            self.stated.setdefault(axiom, Stated(FOREVER, rules.name))
        self._heads: dict[int | None, list[tuple[CompiledRule, Triple]]] = {}
        for rule in program.rules:
            for head in rule.conclusions:
                self._heads.setdefault(head[1] if head[1] >= 0 else None, []).append((rule, head))

    def concluding(self, goal: Triple) -> Iterator[tuple[CompiledRule, Triple]]:
        """The rules that may conclude a fact, each with the conclusion that would be it."""
        for key in (goal[1], None):
            for rule, head in self._heads.get(key, ()):
                if all(slot < 0 or slot == term for slot, term in zip(head, goal, strict=True)):
                    yield rule, head


class Held:
    """What holds in one context over a background."""

    def __init__(self, ground: Ground, facts: Iterable[tuple[Triple, int]], stated: Statements) -> None:
        """`facts` are those that the background does not hold, with their stamps."""
        self.ground = ground
        self.dictionary = ground.dictionary
        self._live = Index(dict(facts))
        self._stated = stated

    def stamp(self, triple: Triple) -> int | None:
        """The stamp of a fact; None if it does not hold."""
        if triple in self.ground.index.stamps:
            return FOREVER
        return self._live.stamps.get(triple)

    def statement(self, triple: Triple) -> Stated | None:
        """Who states a fact; None: nobody does."""
        return self.ground.stated.get(triple) or self._stated.get(triple)

    def matching(self, slots: Slots, *, cut: bool) -> Sequence[Triple]:
        """The facts that have these terms; `cut`: of the background alone."""
        still = self.ground.index.matching(slots)
        if cut:
            return still
        live = self._live.matching(slots)
        return [*still, *live] if still and live else still or live

    def __iter__(self) -> Iterator[tuple[Triple, int]]:
        """Every fact with its stamp, the background's first."""
        yield from self.ground.index.stamps.items()
        yield from self.live

    @property
    def live(self) -> Iterable[tuple[Triple, int]]:
        """The facts that the background does not hold."""
        return self._live.stamps.items()

    def find(self, statement: Statement) -> Triple | None:
        """A statement in integers; None if it does not hold."""
        if any(term not in self.dictionary for term in statement):
            self._name_minted()
        if any(term not in self.dictionary for term in statement):
            return None
        s, p, o = map(self.dictionary.encode, statement)
        return (s, p, o) if self.stamp((s, p, o)) is not None else None

    def text(self, triple: Triple) -> Statement:
        """A fact in text."""
        s, p, o = map(self.dictionary.decode, triple)
        return s, p, o

    def near(self, statement: Statement, most: int = 3) -> list[Statement]:
        """Facts that have two terms in common with a statement that does not hold."""
        known = [self.dictionary.encode(term) if term in self.dictionary else None for term in statement]
        found: dict[Triple, None] = {}
        for free in (2, 0, 1):
            slots = [-1 if at == free else term for at, term in enumerate(known)]
            if None not in slots and len(found) < most:
                s, p, o = (term for term in slots if term is not None)
                found |= dict.fromkeys(self.matching((s, p, o), cut=False)[:most])
        return [self.text(triple) for triple in list(found)[:most]]

    def _name_minted(self) -> None:
        """Nodes that rules made get their labels when somebody asks for them: now."""
        depths = self.dictionary.depths
        for triple, _ in self:
            for term in triple:
                if depths[term]:
                    self.dictionary.decode(term)
