"""A stand-in for every maintainer: the oracle, asked anew at each step. For tiny sizes."""

from __future__ import annotations

from ensue.maintain.oracle import closure
from ensue.maintain.program import compile_rules
from ensue.model import BACKGROUND, NEVER, Change, Facts


class Naive:
    name = "naive"
    stamped = False

    def __init__(self, rules, dictionary):
        self._program = compile_rules(rules, dictionary)
        self._dictionary = dictionary
        self._copies = []
        self._facts = {}
        self._derivations = 0

    def load_background(self, copies):
        self._copies.append(copies)

    admit = load_background

    def advance(self, threshold):
        before, self._threshold = self._live(), threshold
        self._facts = closure(self._program, self._dictionary, self._copies, threshold)
        after = self._live()
        self._derivations += len(after - before)
        return Change(self._rows(after - before), self._rows(before - after))

    def closure(self, context, threshold=None):
        if not self._facts:
            self.advance(NEVER)
        return self._rows(fact for fact in self._facts if fact[0] == context)

    def statistics(self):
        facts = len(self._facts)
        return {
            "facts": facts,
            "derivations": self._derivations,
            "probes": self._derivations,
            "bytes": 40 * facts,
        }

    def used_terms(self):
        return [column for batch in self._copies for column in (batch.s, batch.p, batch.o)]

    def _live(self):
        return {fact for fact in self._facts if fact[0] != BACKGROUND}

    def _rows(self, facts):
        return Facts.of((*fact, self._facts.get(fact, 0)) for fact in facts)


class Forgetful(Naive):
    """Says nothing of what it deletes."""

    name = "forgetful"

    def advance(self, threshold):
        return Change(super().advance(threshold).inserted, Facts.of([]))
