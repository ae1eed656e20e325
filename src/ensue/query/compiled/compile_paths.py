"""Triple patterns with property paths, as plain ones.

`p/q`, `^p` and `p|q` can be written without paths, with the same solutions and as many of each: a
sequence goes through a node that nobody sees, an alternative is a UNION.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

from rdflib.paths import AlternativePath, InvPath, MulPath, SequencePath
from rdflib.term import BNode, Identifier

from ensue.query.compiled.unparse import NotCompiled

Triple = tuple[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Plain triple patterns, and alternatives: of each, one of several pieces."""

    plain: tuple[Triple, ...]
    alternatives: tuple[tuple[Pieces, ...], ...]


def pieces(triples: Iterable[Triple]) -> Pieces:
    """The triple patterns of a basic graph pattern, without paths.

    >>> from rdflib import URIRef, Variable
    >>> path = URIRef("urn:p") / ~URIRef("urn:q")
    >>> for s, p, o in pieces([(Variable("s"), path, Variable("o"))]).plain:
    ...     print(s, p, o)
    s urn:p path1
    o urn:q path1
    """
    numbers = count(1)
    return _together(_walk(*triple, numbers) for triple in triples)


def _together(parts: Iterable[Pieces]) -> Pieces:
    every = list(parts)
    return Pieces(
        tuple(triple for part in every for triple in part.plain),
        tuple(alternative for part in every for alternative in part.alternatives),
    )


def _walk(s: Any, path: Any, o: Any, numbers: Iterator[int]) -> Pieces:
    if isinstance(path, Identifier):
        return Pieces(((s, path, o),), ())
    if isinstance(path, InvPath):
        return _walk(o, path.arg, s, numbers)
    if isinstance(path, SequencePath):
        between = [BNode(f"path{next(numbers)}") for _ in path.args[1:]]
        nodes = pairwise([s, *between, o])
        steps = zip(nodes, path.args, strict=True)
        return _together(_walk(start, step, end, numbers) for (start, end), step in steps)
    if isinstance(path, AlternativePath):
        return Pieces((), (tuple(_walk(s, part, o, numbers) for part in path.args),))
    what = f"'{path.mod}'" if isinstance(path, MulPath) else "'!'"
    raise NotCompiled(f"a property path with {what}")
