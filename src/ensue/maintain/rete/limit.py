"""The budget as facts flow through the network. Standard library only."""

from __future__ import annotations

from ensue.dictionary import Dictionary
from ensue.maintain.budget import too_many_facts, too_many_rounds
from ensue.maintain.rete.network import Network


class Limit:
    """How many facts a context may have, and when to look at the memory of the process."""

    __slots__ = ("_budget", "_dictionary", "_meter", "_network", "_others", "_rounds", "_terms", "most")

    def __init__(self, network: Network, dictionary: Dictionary, others: int) -> None:
        """`others` are the facts of other contexts, and of the background."""
        self._network = network
        self._dictionary = dictionary
        self._meter, self._budget = dictionary.meter, dictionary.meter.budget
        self._others = others
        self._rounds, self._terms = 0, len(dictionary)
        self.most = self._budget.max_facts - others

    def round(self) -> None:
        """A round of conclusions from those of the last has ended: note whether it computed terms."""
        terms = len(self._dictionary)
        if terms > self._terms:
            self._rounds, self._terms = self._rounds + 1, terms
            if self._rounds > self._budget.max_rounds:
                raise too_many_rounds(self._budget, self._network.derived())

    def look(self, facts: int, work: int) -> None:
        """Refuse more facts than are allowed, and more memory."""
        if facts > self.most:
            raise too_many_facts(self._budget, facts + self._others, self._network.derived())
        self._meter.memory(work, self._network.derived)
