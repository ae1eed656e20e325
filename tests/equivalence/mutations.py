"""Mistakes that a maintainer could have: each is planted in a copy of the source, and must be caught.

A mutation replaces a piece of text that occurs exactly once in a file. Whoever changes that code
changes the mutation with it; the mistake to plant stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutation:
    """One mistake, in the strategy that the cases are replayed on."""

    mistake: str
    strategy: str
    file: str
    """Under ensue/maintain."""
    original: str
    replacement: str
    case: int = 1
    """One that shows it, to be tried first: the search for one takes long where few do."""

    def plant(self, package: Path) -> None:
        """Change a copy of the package."""
        path = package / "maintain" / self.file
        text = path.read_text(encoding="utf-8")
        found = text.count(self.original)
        assert found == 1, f"{self.file} has {self.original!r} {found} times: say anew where to plant it"
        changed = text.replace(self.original, self.replacement)
        compile(changed, path, "exec")  # A mistake that does not even parse is no mistake to catch.
        path.write_text(changed, encoding="utf-8")


RETE = (
    Mutation(
        "max for min: a binding is as fresh as the freshest fact in it",
        "rete",
        "rete/walk.py",
        "token.values + added, stamp if stamp < other else other)",
        "token.values + added, stamp if stamp > other else other)",
    ),
    Mutation(
        "a missed rise: a fresher copy of a fact changes nothing",
        "rete",
        "rete/memory.py",
        "elif fact.stamp >= stamp:",
        "elif fact.stamp >= NEVER:",
    ),
    Mutation(
        "a missed rise: a token that waits at a join keeps its old stamp",
        "rete",
        "rete/walk.py",
        "        token.stamp = stamp\n        return floor",
        "        return None",
    ),
    Mutation(
        "off by one: what has the very stamp of the threshold stays",
        "rete",
        "rete/memory.py",
        "while order and order[0] <= threshold:",
        "while order and order[0] < threshold:",
    ),
    Mutation(
        "what was renewed once never expires",
        "rete",
        "rete/memory.py",
        "                if item.stamp > threshold:\n                    self.schedule(item)",
        "                if item.stamp > threshold:\n                    continue",
    ),
    Mutation(
        "a missed rederivation: a fallen fact comes back only if it is stated",
        "rete",
        "rete/maintainer.py",
        "stamp = rederive(search, triple, stated(triple), self._dictionary)",
        "stamp = stated(triple)",
    ),
    Mutation(
        "background is replaced by a timed copy",
        "rete",
        "rete/maintainer.py",
        "if stamp > threshold and (s, p, o) not in ground:",
        "if stamp > threshold:",
    ),
    Mutation(
        "a fact that came and left within a step is reported as lost",
        "rete",
        "rete/memory.py",
        "        else:\n            self.gone[triple] = fact.stamp",
        "        self.gone[triple] = fact.stamp",
    ),
)

KERNEL = (
    Mutation(
        "max for min: a derivation is as fresh as the freshest of its premises",
        "expiration",
        "kernel/join.py",
        "so_far = min(",
        "so_far = max(",
    ),
    Mutation(
        "a missed rise: what rests on a renewed fact is not renewed",
        "expiration",
        "kernel/facts.py",
        "[row, STAMP] and _queue(store, row, view.stamps(store)[row, STAMP], how):",
        "[row, STAMP]:",
    ),
    Mutation(
        "a new fact is joined with fresher facts only",
        "expiration",
        "kernel/facts.py",
        "_queue(store, row, _NEVER, how)",
        "_queue(store, row, stamp, how)",
    ),
    Mutation(
        "a partner that merely rose is taken for one that will look for itself",
        "expiration",
        "kernel/join.py",
        "not (action == PUT and rows[row, FLAGS] & FRESH)",
        "not (action == PUT and rows[row, FLAGS] & QUEUED)",
        case=45,
    ),
    Mutation(
        "off by one: the pane of the threshold itself stays",
        "expiration",
        "kernel/facts.py",
        "while meta[PANES] and view.heap(store)[0] <= threshold:",
        "while meta[PANES] and view.heap(store)[0] < threshold:",
    ),
    Mutation(
        "a fact expires with its first stamp although it has risen",
        "expiration",
        "kernel/facts.py",
        "if view.stamps(store)[row, STAMP] > threshold and not",
        "if stamp > threshold and not",
    ),
    Mutation(
        "a missed rederivation: a suspect comes back only if it is stated",
        "expiration",
        "kernel/engine.py",
        "join.rederive(self._book, self._plans, at)), len(suspects))",
        "join.rederive(self._book, self._plans, at)), 0)",
        case=13,
    ),
    Mutation(
        "overdeletion passes over partners older than the fact that falls",
        "expiration",
        "kernel/join.py",
        "np.int64(view.suspects(store)[at]), _NEVER, DOUBT)",
        "np.int64(view.suspects(store)[at]), view.stamps(store)[view.suspects(store)[at], STAMP], DOUBT)",
    ),
    Mutation(
        "a cut premise matches the stream",
        "expiration",
        "kernel/join.py",
        "if context != 0 and not steps[step, CUT] and",
        "if context != 0 and",
        case=100,
    ),
    Mutation(
        "a join that found something in its context forgets the background",
        "expiration",
        "kernel/join.py",
        "if row == END and cursor[depth, SIDE] == 0:",
        "if row == END and cursor[depth, SIDE] == 2:",
    ),
    Mutation(
        "off by one: a hash slot that could just fill the hole is left behind it",
        "expiration",
        "kernel/tables.py",
        "if from_home >= from_hole:\n            slots[",
        "if from_home > from_hole:\n            slots[",
    ),
    Mutation(
        "a plan that schema on the stream wakes up is never listed again",
        "expiration",
        "kernel/join.py",
        "        if meta[STALE] and not ",
        "        if meta[STALE] > 1 and not ",
    ),
    Mutation(
        "what the epsilon table puts is not joined by the other rules",
        "expiration",
        "kernel/epsilon.py",
        "return PUT_ALONE if asking <= epsilon.plans else PUT_CLOSED",
        "return PUT_ALONE",
        case=5,
    ),
    Mutation(
        "an index that is asked for late lacks the facts that were there before",
        "expiration",
        "kernel/growing.py",
        "    chosen = (used[:, CONTEXT] > 0)",
        "    chosen = (used[:, CONTEXT] > 1)",
    ),
    Mutation(
        "a conclusion that repeats only one end of a premise is taken for its echo",
        "expiration",
        "kernel/echoes.py",
        "for case in range(1, 1 << len(pairs)):",
        "for case in range((1 << len(pairs)) - 1, 1 << len(pairs)):",
        case=7,
    ),
    Mutation(
        "what relates a thing to itself matches no premise",
        "expiration",
        "kernel/facts.py",
        "and not (alphas[i, DISTINCT] and s == o)",
        "and not s == o",
        case=41,
    ),
    Mutation(
        "a plan is tried for the objects that the background allows, whatever the stream brings",
        "expiration",
        "kernel/active.py",
        "                store.assumed[step[ALPHA]] = 1\n",
        "                pass\n",
        case=95,
    ),
    Mutation(
        "what has become background is reported as lost",
        "expiration",
        "kernel/maintainer.py",
        "if (BACKGROUND, *fact[1:]) not in ground}",
        "}",
        case=11,
    ),
)

OTHERS = (
    Mutation(
        "a fact that is overdeleted but still stated does not come back",
        "dred",
        "dred.py",
        "np.where(until == NEVER, NEVER, _HOLDS)",
        "np.full(len(until), NEVER)",
        case=13,
    ),
    Mutation(
        "off by one: a copy with the stamp of the threshold does not leave",
        "dred",
        "dred.py",
        "(c.stamp <= threshold)",
        "(c.stamp < threshold)",
    ),
    Mutation(
        "min for max: retraction takes the oldest copy",
        "recompute",
        "log.py",
        "max(copies, key=lambda copy: copy[0])",
        "min(copies, key=lambda copy: copy[0])",
        case=8,
    ),
    Mutation(
        "min for max: a fact is stated until its oldest copy goes",
        "expiration",
        "log.py",
        "return max((pane.stamp[row] for",
        "return min((pane.stamp[row] for",
    ),
)

MUTATIONS = (*RETE, *KERNEL, *OTHERS)
