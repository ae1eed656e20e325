"""How a fact flows through the network: the same way when it comes and when it is taken back.

A result is as old as the oldest fact in it. When a fact or token rises from an old stamp (the
*floor*) to a new one, partners at or below the floor cannot make anything rise: they are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable

from ensue.maintain.rete.limit import Limit
from ensue.maintain.rete.memory import Memory
from ensue.maintain.rete.network import Alpha, Join, Node
from ensue.maintain.rete.token import Fact, Index, Key, Token, Values, drop, put
from ensue.model import FOREVER, NEVER, Triple


class Walk:
    """Take facts of a context through the network, over a background that is closed already."""

    __slots__ = ("attempts", "facts", "ground", "known", "memory", "threshold")

    def __init__(self, memory: Memory, ground: Memory, threshold: int) -> None:
        self.memory = memory
        self.ground = ground
        self.facts = memory.facts
        self.known = ground.facts
        self.threshold = threshold
        self.attempts = 0

    def flow(self, fact: Fact, alphas: Iterable[Alpha], floor: int) -> None:
        """Draw what follows from a fact whose consequences up to the stamp `floor` are drawn already."""
        triple, stamp, waiting = fact.values, fact.stamp, self.memory.waiting
        if floor < self.threshold:
            floor = self.threshold
        for alpha in alphas:
            for entry in alpha.entries:
                self._emit(entry, entry.pick(triple), stamp)
            for port in alpha.ports:
                found = port.ground.get(port.key(triple))
                if found is not None and (port.test is None or port.test(triple)):
                    for token in found:
                        join = token.join
                        self._emit(join, token.values + join.pick(triple), stamp)
            for join, index in waiting.get(alpha, ()):
                self._meet(join, index, triple, stamp, floor)

    def _meet(self, join: Join, index: Index[Token], triple: Triple, stamp: int, floor: int) -> None:
        """Join a fact with the bindings of the context that wait for it."""
        port = join.port
        found = index.get(port.key(triple))
        if found is not None and (port.test is None or port.test(triple)):
            added = join.pick(triple)
            for token in found.values() if isinstance(found, dict) else (found,):
                other = token.stamp
                if other > floor:
                    self._emit(join, token.values + added, stamp if stamp < other else other)

    def _emit(self, node: Node, values: Values, stamp: int) -> None:
        """Pass a binding on: to conclusions, and to the joins where it waits for a further fact."""
        if node.test is not None and not node.test(values):
            return
        held = len(self.facts)
        if node.heads:
            full = values + node.constants
            for head in node.heads:
                self._conclude(head(full), stamp)
        if node.slow:
            for slow in node.slow:
                for triple in slow(values):
                    self._conclude(triple, stamp)
        node.derived += len(self.facts) - held
        if node.joins:
            for join in node.joins:
                self._arrive(join, values, stamp)

    def _arrive(self, join: Join, values: Values, stamp: int) -> None:
        """Let a binding wait at a join, and join it with the facts that are there."""
        key = join.left_key(values)
        floor = self._hold(join, key, values, stamp)
        if floor is None:
            return
        port, pick = join.port, join.pick
        found = self.ground.index(port).get(key)
        if found is not None:
            for fact in found.values() if isinstance(found, dict) else (found,):
                self._emit(join, values + pick(fact.values), stamp)
        found = None if port.cut else self.memory.index(port).get(key)
        if found is not None:
            if floor < self.threshold:
                floor = self.threshold
            for fact in found.values() if isinstance(found, dict) else (found,):
                other = fact.stamp
                if other > floor:
                    self._emit(join, values + pick(fact.values), stamp if stamp < other else other)

    def _hold(self, join: Join, key: Key, values: Values, stamp: int) -> int | None:
        """Keep a token; say which stamp it had (NEVER if it is new), or None if it does not rise."""
        raise NotImplementedError

    def _conclude(self, triple: Triple, stamp: int) -> None:
        """Do with a conclusion what this walk is for."""
        raise NotImplementedError


class Insertion(Walk):
    """Facts that came or rose: keep their tokens, let their conclusions hold."""

    __slots__ = ("_limit", "_tokens")

    def __init__(self, memory: Memory, ground: Memory, threshold: int, limit: Limit) -> None:
        super().__init__(memory, ground, threshold)
        self._limit = limit
        self._tokens = 0

    def settle(self) -> None:
        """Close the context under the rules: work until nothing waits."""
        memory, match, limit = self.memory, self.memory.network.match, self._limit
        while memory.order:
            batch = memory.next_batch()
            end = len(batch)
            for at, fact in enumerate(batch):
                if at == end:
                    limit.round()
                    end = len(batch)
                done = self.attempts + self._tokens
                floor = fact.settled
                if fact.stamp > floor:
                    fact.settled = fact.stamp
                    alphas = match(fact.values)
                    if floor == NEVER:
                        memory.enter(fact, alphas)
                    self.flow(fact, alphas, floor)
                    limit.look(len(self.facts), self.attempts + self._tokens - done)
            memory.batch_done()

    def _hold(self, join: Join, key: Key, values: Values, stamp: int) -> int | None:
        memory = self.memory
        token = memory.token(join, key, values)
        if token is None:
            token = Token(join, values, stamp)
            put(memory.tokens_of(join), key, token)
            memory.schedule(token)
            self._tokens += 1
            return NEVER
        floor = token.stamp
        if floor >= stamp:
            return None
        token.stamp = stamp
        return floor

    def _conclude(self, triple: Triple, stamp: int) -> None:
        # Most conclusions hold already, and this is where most of the time goes: find that out first.
        self.attempts += 1
        fact = self.facts.get(triple)
        if (fact is None or fact.stamp < stamp) and triple not in self.known:
            self.memory.state(triple, stamp)


class GroundInsertion(Insertion):
    """The background itself: no stamps, cut premises match, tokens go to the ports for all to find."""

    __slots__ = ("_seen",)

    def __init__(self, ground: Memory, limit: Limit) -> None:
        super().__init__(ground, ground, NEVER, limit)
        self._seen: set[tuple[Join, Values]] = set()

    def flow(self, fact: Fact, alphas: Iterable[Alpha], floor: int) -> None:
        """Draw what follows from a fact."""
        triple = fact.values
        for alpha in alphas:
            for entry in (*alpha.entries, *alpha.cut_entries):
                self._emit(entry, entry.pick(triple), FOREVER)
        for port in self.memory.network.ports_of(alphas):
            if port.test is None or port.test(triple):
                for token in tuple(port.ground.get(port.key(triple), ())):
                    self._emit(token.join, token.values + token.join.pick(triple), FOREVER)

    def _arrive(self, join: Join, values: Values, stamp: int) -> None:
        if (join, values) in self._seen:
            return
        self._seen.add((join, values))
        self._tokens += 1
        key = join.left_key(values)
        join.port.keep(key, Token(join, values, FOREVER))
        found = self.memory.index(join.port).get(key)
        if found is not None:
            for fact in tuple(found.values()) if isinstance(found, dict) else (found,):
                self._emit(join, values + join.pick(fact.values), FOREVER)

    def _conclude(self, triple: Triple, stamp: int) -> None:
        self.attempts += 1
        self.memory.state(triple, FOREVER)


class Withdrawal(Walk):
    """A fact that is taken back: drop the tokens that hold it, note what was concluded from it."""

    __slots__ = ("conclusions",)

    def __init__(self, memory: Memory, ground: Memory) -> None:
        super().__init__(memory, ground, NEVER)
        self.conclusions: list[tuple[Triple, int]] = []

    def _hold(self, join: Join, key: Key, values: Values, stamp: int) -> int | None:
        token = self.memory.token(join, key, values)
        if token is None:
            return None
        drop(self.memory.tokens_of(join), key, values)
        token.stamp = NEVER
        return NEVER

    def _conclude(self, triple: Triple, stamp: int) -> None:
        self.conclusions.append((triple, stamp))
