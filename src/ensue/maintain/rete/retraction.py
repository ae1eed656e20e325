"""Taking copies back: stamped DRed on the network.

Overdelete: a fact falls if the copy or derivation that it owes its stamp to falls. Only facts whose
stamp is at most the retracted one are ever touched. Rederive: each fallen fact gets the freshest
stamp that copies or what remains still give it, and flows through the network anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ensue.dictionary import Dictionary
from ensue.maintain.program import UNBOUND, Binding, CompiledRule, conclude, match
from ensue.maintain.rete.memory import Memory
from ensue.maintain.rete.token import Fact
from ensue.maintain.rete.walk import Withdrawal
from ensue.model import FOREVER, NEVER, Triple


def overdelete(
    memory: Memory, ground: Memory, retracted: Iterable[tuple[Triple, int]], stated: Callable[[Triple], int]
) -> list[Triple]:
    """Take out every fact that may owe its stamp to the retracted (fact, stamp) pairs.

    `stated` is the stamp that the remaining copies give a fact.
    """
    walk = Withdrawal(memory, ground)
    fallen: dict[Triple, Fact] = {}
    walk.conclusions.extend(retracted)
    while walk.conclusions:
        triple, stamp = walk.conclusions.pop()
        fact = memory.facts.get(triple)
        if fact is None or triple in fallen or fact.stamp > stamp or stated(triple) >= fact.stamp:
            continue
        fallen[triple] = fact
        walk.flow(fact, memory.network.match(triple), NEVER)
        memory.leave(fact)
    # Only now: while walks went on, a fallen fact's stamp was needed to tell what rested on it.
    for fact in fallen.values():
        memory.forget(fact)
    return list(fallen)


class Rederivation:
    """The freshest derivation of a fact from what a context holds: the rules read backwards."""

    __slots__ = ("_dictionary", "_ground", "_memory")

    def __init__(self, memory: Memory, ground: Memory, dictionary: Dictionary) -> None:
        self._memory = memory
        self._ground = ground
        self._dictionary = dictionary

    def stamp(self, triple: Triple, at_least: int) -> int:
        """The stamp that derivations give a fact, or `at_least` if none gives a fresher one."""
        best = at_least
        for rule in self._memory.network.rules:
            for head in rule.conclusions:
                binding = [UNBOUND] * rule.variables
                if match(head, triple, binding):
                    premises = list(range(len(rule.premises)))
                    for found, stamp in self._bodies(rule, premises, binding, FOREVER):
                        if stamp > best and triple in conclude(rule, found, self._dictionary):
                            best = stamp
        return best

    def _bodies(
        self, rule: CompiledRule, premises: list[int], binding: Binding, stamp: int
    ) -> Iterator[tuple[Binding, int]]:
        """Every way to match the premises that are left."""
        if not premises:
            yield list(binding), stamp
            return
        chosen = max(premises, key=lambda i: sum(self._term(slot, binding) != UNBOUND for slot in rule.premises[i]))
        rest = [i for i in premises if i != chosen]
        for fact in self._candidates(rule, chosen, binding):
            extended = list(binding)
            if match(rule.premises[chosen], fact.values, extended):
                yield from self._bodies(rule, rest, extended, min(stamp, fact.stamp))

    def _candidates(self, rule: CompiledRule, number: int, binding: Binding) -> Iterator[Fact]:
        premise = rule.premises[number]
        network = self._memory.network
        positions = tuple(i for i, slot in enumerate(premise) if slot < 0 and binding[~slot] != UNBOUND)
        port = network.port(network.alpha(premise), positions)
        key = port.key(tuple(self._term(slot, binding) for slot in premise))
        for memory in (self._ground,) if rule.cut[number] else (self._ground, self._memory):
            found = memory.index(port).get(key)
            if found is not None:
                yield from found.values() if type(found) is dict else (found,)

    @staticmethod
    def _term(slot: int, binding: Binding) -> int:
        return slot if slot >= 0 else binding[~slot]
