"""Taking copies back: stamped DRed on the network.

Overdelete: a fact falls if the copy or derivation that it owes its stamp to falls. Only facts whose
stamp is at most the retracted one are ever touched. Rederive: each fallen fact gets the freshest
stamp that copies or what remains still give it, and flows through the network anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ensue.dictionary import Dictionary
from ensue.maintain.program import UNBOUND, conclude, match
from ensue.maintain.rete.memory import Memory
from ensue.maintain.rete.search import Search
from ensue.maintain.rete.token import Fact
from ensue.maintain.rete.walk import Withdrawal
from ensue.model import NEVER, Triple


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


def rederive(search: Search, triple: Triple, at_least: int, dictionary: Dictionary) -> int:
    """The stamp that derivations give a fact, or `at_least` if none gives a fresher one."""
    best = at_least
    for rule in search.rules:
        for head in rule.conclusions:
            binding = [UNBOUND] * rule.variables
            if match(head, triple, binding):
                for found, stamp in search.bodies(rule, binding):
                    if stamp > best and triple in conclude(rule, found, dictionary):
                        best = stamp
    return best
