"""The epsilon network: links closed into all that a fact implies by them, each once (seed: Sparkwave).

Its nodes are templates, made of parts of the given fact and of constants, each with the kinds that the
fact's subject and object must have for it. A link leads from every template of its key to another one, so
what follows from a fact is what can be reached from the template that is the fact itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ensue.maintain.kernel.layout import Array
from ensue.maintain.kernel.links import (
    ANY,
    KEY,
    OF_OBJECT,
    OF_SUBJECT,
    TEMPLATE,
    THE_OBJECT,
    THE_PREDICATE,
    THE_SUBJECT,
    WIDTH,
)
from ensue.maintain.kernel.plans import EVERY_KIND
from ensue.model import Triple
from ensue.terms import Kind

Key = tuple[int, int]
Guarded = tuple[Triple, int, int]
"""A template, and the kinds that the given fact's subject and object may have, as bits."""

Implied = Mapping[Key, Iterable[Guarded]]


def covers(one: Guarded, other: Guarded) -> bool:
    """Whether what one template stands for follows whenever that of the other does, if they are the same."""
    return one[1] & other[1] == other[1] and one[2] & other[2] == other[2]


class TooMuchFollows(Exception):  # noqa: N818 - no error: then there is no table
    """What follows from all keys is more than was allowed for."""


def implied_by(links: Iterable[Array]) -> dict[Key, set[Guarded]]:
    """Links by their keys, each once."""
    every = np.unique(np.concatenate([np.zeros((0, WIDTH), np.int32), *links]), axis=0)
    found: dict[Key, set[Guarded]] = {}
    keys, templates = every[:, KEY].tolist(), every[:, TEMPLATE].tolist()
    guards = every[:, OF_SUBJECT].tolist(), every[:, OF_OBJECT].tolist()
    for (p, o), (a, b, c), of_subject, of_object in zip(keys, templates, *guards, strict=True):
        found.setdefault((p, o), set()).add(((a, b, c), of_subject, of_object))
    return found


class Network:
    """All that follows, by the nodes that stand for it."""

    def __init__(self, implied: Implied, kinds: bytes | bytearray = b"") -> None:
        """`kinds` are those of the constants, by number."""
        self.implied = implied
        self._kinds = kinds
        self.nodes: list[Guarded] = []
        self._numbers: dict[Guarded, int] = {}
        self._next: list[list[int] | None] = []
        self._by_object = {predicate for predicate, o in implied if o != ANY}
        self._reached: dict[Key, list[int]] = {}
        self._size = 0

    def closed(self, key: Key) -> dict[Guarded, bool]:
        """All that follows from a fact of this key; True for what may imply more for some objects."""
        reached = (self.nodes[node] for node in self.reached(key))
        return {guarded: self.is_open(guarded) for guarded in reached}

    def is_open(self, guarded: Guarded) -> bool:
        """Whether what a template makes may imply more, by what its object is in the given fact."""
        _, p, o = guarded[0]
        return o < 0 and p in self._by_object

    def reached(self, key: Key, most: int | None = None) -> list[int]:
        """The numbers of the nodes that stand for what follows from a fact of this key.

        Raises TooMuchFollows if of all keys that were asked for more than `most` are reached.
        """
        if key not in self._reached:
            start = start_of(key)
            first = self._number((start, EVERY_KIND, EVERY_KIND))
            seen, waiting = {first}, [first]
            while waiting:
                more = [node for node in self._following(waiting.pop()) if node not in seen]
                seen.update(more)
                waiting += more
            self._reached[key] = [node for node in seen if self.nodes[node][0] != start]
            self._size += len(seen)
        if most is not None and self._size > most:
            raise TooMuchFollows
        return self._reached[key]

    def _number(self, guarded: Guarded) -> int:
        number = self._numbers.setdefault(guarded, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(guarded)
            self._next.append(None)
        return number

    def _following(self, node: int) -> list[int]:
        """What a node implies in one step, found out when it is first asked for."""
        found = self._next[node]
        if found is None:
            steps = dict.fromkeys(map(self._number, self._steps(self.nodes[node])))
            found = self._next[node] = [number for number in steps if number != node]
        return found

    def _steps(self, guarded: Guarded) -> Iterator[Guarded]:
        """What a template implies in one step, with what the given fact must be for it."""
        (s, p, o), of_subject, of_object = guarded
        for key in {(ANY, ANY), (p, ANY), (p, o if o >= 0 else ANY)}:
            for template, wanted_s, wanted_o in self.implied.get(key, ()):
                subject_kinds, object_kinds = of_subject, of_object
                for slot, wanted in ((s, wanted_s), (o, wanted_o)):
                    if wanted == EVERY_KIND:
                        continue
                    if slot == THE_SUBJECT:
                        subject_kinds &= wanted
                    elif slot == THE_OBJECT:
                        object_kinds &= wanted
                    elif not wanted >> self._kind(slot) & 1:
                        subject_kinds = 0
                if subject_kinds and object_kinds:
                    yield fill(template, s, p, o), subject_kinds, object_kinds

    def _kind(self, slot: int) -> int:
        return Kind.IRI if slot == THE_PREDICATE else self._kinds[slot]


def start_of(key: Key) -> Triple:
    """The template that is the fact itself."""
    return (THE_SUBJECT, THE_PREDICATE if key[0] == ANY else key[0], THE_OBJECT if key[1] == ANY else key[1])


def fill(template: Triple, s: int, p: int, o: int) -> Triple:
    """A template with these for the parts of the fact it is filled from."""
    parts = (0, s, p, o)  # THE_SUBJECT is -1, and so on.
    a, b, c = template
    return (a if a >= 0 else parts[-a], b if b >= 0 else parts[-b], c if c >= 0 else parts[-c])
