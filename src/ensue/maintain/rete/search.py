"""Every way to match a rule's body with what the network holds, at any time: for rederivation and queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ensue.maintain.program import UNBOUND, Binding, CompiledRule, match
from ensue.maintain.rete.memory import Memory
from ensue.maintain.rete.token import Fact
from ensue.model import FOREVER


class Search:
    """A context and its background, to be searched. An index that a search needs is kept from then on."""

    __slots__ = ("_ground", "_memory", "rules")

    def __init__(self, memory: Memory, ground: Memory) -> None:
        self.rules = memory.network.rules
        self._memory = memory
        self._ground = ground

    def bodies(self, rule: CompiledRule, binding: Binding) -> Iterator[tuple[Binding, int]]:
        """The bindings that extend `binding` and match all premises, each with its stamp."""
        return self._extend(rule, range(len(rule.premises)), binding, FOREVER)

    def _extend(
        self, rule: CompiledRule, premises: Sequence[int], binding: Binding, stamp: int
    ) -> Iterator[tuple[Binding, int]]:
        if not premises:
            yield list(binding), stamp
            return
        known = [sum(_term(slot, binding) != UNBOUND for slot in rule.premises[i]) for i in premises]
        chosen = premises[known.index(max(known))]
        rest = [i for i in premises if i != chosen]
        for fact in self._candidates(rule, chosen, binding):
            extended = list(binding)
            if match(rule.premises[chosen], fact.values, extended):
                yield from self._extend(rule, rest, extended, min(stamp, fact.stamp))

    def _candidates(self, rule: CompiledRule, number: int, binding: Binding) -> Iterator[Fact]:
        premise = rule.premises[number]
        network = self._memory.network
        positions = tuple(i for i, slot in enumerate(premise) if slot < 0 and binding[~slot] != UNBOUND)
        port = network.port(network.alpha(premise), positions)
        key = port.key(tuple(_term(slot, binding) for slot in premise))
        for memory in (self._ground,) if rule.cut[number] else (self._ground, self._memory):
            found = memory.index(port).get(key)
            if found is not None:
                yield from found.values() if isinstance(found, dict) else (found,)


def _term(slot: int, binding: Binding) -> int:
    return slot if slot >= 0 else binding[~slot]
