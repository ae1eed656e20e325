"""What one context holds in the network: its facts, the bindings that wait, and when they expire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from ensue.maintain.rete.network import Alpha, Join, Network, Port
from ensue.maintain.rete.token import Fact, Index, Token, Values, drop, put, size
from ensue.model import NEVER, Triple


class Memory:
    """The facts and tokens of one context, and the work that waits there.

    Facts are indexed for a port when a binding first asks there: no stream may ever bring the schema
    that would ask by predicate, and then that index is never made.
    """

    __slots__ = (
        *("_due", "_due_order", "agenda", "facts", "fresh", "gone", "indexes"),
        *("left", "network", "order", "right", "risen", "waiting"),
    )

    def __init__(self, network: Network, gone: dict[Triple, int] | None = None) -> None:
        self.network = network
        self.facts: dict[Triple, Fact] = {}
        self.right: dict[Port, Index[Fact]] = {}
        self.indexes: dict[Alpha, list[tuple[Port, Index[Fact]]]] = {}
        """The same indexes by alpha node."""
        self.left: dict[Join, Index[Token]] = {}
        self.waiting: dict[Alpha, list[tuple[Join, Index[Token]]]] = {}
        """The same tokens by the alpha node whose facts they wait for; not those that wait for background."""
        self.agenda: dict[int, list[Fact]] = {}
        self.order: list[int] = []
        """The stamps in the agenda, negated: a heap whose top is the largest stamp."""
        self.fresh: set[Triple] = set()
        self.gone: dict[Triple, int] = gone or {}
        """What came and what went (with the stamp it had) since the last step ended."""
        self.risen: set[Triple] = set()
        """What got a fresher stamp since then; some of it may have come, or gone, since then too."""
        self._due: dict[int, list[Fact | Token]] = {}
        self._due_order: list[int] = []

    def state(self, triple: Triple, stamp: int) -> None:
        """Let a fact hold with this stamp, or with the fresher one that it has."""
        fact = self.facts.get(triple)
        if fact is None:
            fact = self.facts[triple] = Fact(triple, stamp)
            self.schedule(fact)
            if self.gone.pop(triple, None) is None:
                self.fresh.add(triple)
        elif fact.stamp >= stamp:
            return
        else:
            self.risen.add(triple)
        fact.stamp = stamp
        batch = self.agenda.get(stamp)
        if batch is None:
            self.agenda[stamp] = [fact]
            heappush(self.order, -stamp)
        else:
            batch.append(fact)

    def next_batch(self) -> list[Fact]:
        """The waiting facts with the largest stamp. More of them may be appended while it is worked on.

        In falling order of stamp no fact's consequences are drawn twice in one go: what follows from
        a fact is never fresher than it.
        """
        return self.agenda[-self.order[0]]

    def batch_done(self) -> None:
        """Forget the batch that `next_batch` gave."""
        del self.agenda[-heappop(self.order)]

    def index(self, port: Port) -> Index[Fact]:
        """The facts that have flowed through a port's alpha node, by the port's key."""
        index = self.right.get(port)
        if index is None:
            index = self.right[port] = {}
            for fact in self.facts.values():
                triple = fact.values
                if fact.settled != NEVER and port.takes(triple):
                    put(index, port.key(triple), fact)
            self.indexes.setdefault(port.alpha, []).append((port, index))
        return index

    def enter(self, fact: Fact, alphas: Iterable[Alpha]) -> None:
        """Put a fact into the indexes of the alpha nodes that it matches."""
        triple = fact.values
        for alpha in alphas:
            for port, index in self.indexes.get(alpha, ()):
                if port.test is None or port.test(triple):
                    put(index, port.key(triple), fact)

    def leave(self, fact: Fact) -> None:
        """Take a fact out of those indexes."""
        triple = fact.values
        for alpha in self.network.match(triple):
            for port, index in self.indexes.get(alpha, ()):
                if port.test is None or port.test(triple):
                    drop(index, port.key(triple), triple)

    def forget(self, fact: Fact) -> None:
        """Let a fact hold no longer."""
        triple = fact.values
        del self.facts[triple]
        if triple in self.fresh:
            self.fresh.remove(triple)
        else:
            self.gone[triple] = fact.stamp
        fact.stamp = NEVER

    def tokens_of(self, join: Join) -> Index[Token]:
        """The tokens that wait at a join, by key."""
        index = self.left.get(join)
        if index is None:
            index = self.left[join] = {}
            if not join.port.cut:
                self.waiting.setdefault(join.port.alpha, []).append((join, index))
        return index

    def token(self, join: Join, key: object, values: Values) -> Token | None:
        """The token with this binding that waits at a join, if there is one."""
        found = self.tokens_of(join).get(key)
        if isinstance(found, dict):
            return found.get(values)
        return found if found is not None and found.values == values else None

    def schedule(self, item: Fact | Token) -> None:
        """Note when an item expires. One that is renewed later is moved when its old time comes."""
        due = self._due.get(item.stamp)
        if due is None:
            self._due[item.stamp] = [item]
            heappush(self._due_order, item.stamp)
        else:
            due.append(item)

    def expire(self, threshold: int) -> None:
        """Drop every fact and token with a stamp at or below `threshold`: only those are looked at."""
        order = self._due_order
        while order and order[0] <= threshold:
            for item in self._due.pop(heappop(order)):
                if item.stamp > threshold:
                    self.schedule(item)
                elif item.stamp == NEVER:  # withdrawn before its time
                    continue
                elif isinstance(item, Fact):
                    self.leave(item)
                    self.forget(item)
                else:
                    drop(self.left[item.join], item.join.left_key(item.values), item.values)

    def renewed(self) -> Iterator[Triple]:
        """What held when the last step ended, and has a fresher stamp now."""
        return (t for t in self.risen if t in self.facts and t not in self.fresh)

    def end_step(self) -> None:
        """Begin to note changes anew."""
        self.fresh.clear()
        self.gone.clear()
        self.risen.clear()

    def count_tokens(self) -> int:
        """How many tokens wait."""
        return sum(map(size, self.left.values()))
