"""RDF lists as a background has them: rdf:first and rdf:rest, up to rdf:nil."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ensue.plan.shapes import Shape
from ensue.terms import RDF

FIRST, REST, NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"

SHAPES: tuple[Shape, ...] = ((None, FIRST, None), (None, REST, None))
"""What lists are made of."""

Places = tuple[tuple[str, ...], ...]
"""A list, place by place. A place has several members where equality has made more of one."""


class Lists:
    """The lists among some statements, read when they are asked for.

    >>> some = Lists([("_:l", FIRST, "<urn:a>"), ("_:l", REST, NIL), ("_:m", REST, "_:m")])
    >>> some.read("_:l"), some.read(NIL), some.read("_:m")
    ((('<urn:a>',),), (), 'it has no rdf:first at _:m')
    """

    def __init__(self, statements: Iterable[tuple[str, str, str]]) -> None:
        self._first: dict[str, dict[str, None]] = {}
        self._rest: dict[str, dict[str, None]] = {}
        for s, p, o in statements:
            (self._first if p == FIRST else self._rest).setdefault(s, {})[o] = None
        self._read: dict[str, Places | str] = {}

    def read(self, head: str) -> Places | str:
        """The places of a list; or why it is none, for people."""
        if head not in self._read:
            self._read[head] = self._places(head)
        return self._read[head]

    def statements(self, head: str, members: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        """What makes a list that can be read, as far as it is about some of its members.

        >>> list(Lists([("_:l", FIRST, "<urn:a>"), ("_:l", FIRST, "<urn:b>"), ("_:l", REST, NIL)])
        ...     .statements("_:l", ["<urn:b>"]))[0][-1]
        '<urn:b>'
        """
        wanted, node = set(members), head
        while node != NIL:
            firsts = sorted(self._first[node])
            for member in [first for first in firsts if first in wanted] or firsts[:1]:
                yield node, FIRST, member
            [rest] = self._rest[node]
            yield node, REST, rest
            node = rest

    def _places(self, head: str) -> Places | str:
        found: dict[str, tuple[str, ...]] = {}
        node = head
        while node != NIL:
            if node in found:
                return f"it comes back to {node}"
            if node not in self._first:
                return f"it has no rdf:first at {node}"
            rests = [*self._rest.get(node, ())]
            if len(rests) != 1:
                return f"it has {'two rests' if rests else 'no rdf:rest'} at {node}"
            found[node] = tuple(sorted(self._first[node]))
            (node,) = rests
        return tuple(found.values())
