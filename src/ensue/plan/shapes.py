"""Triple patterns up to renaming: what is left of one when only its terms count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from ensue.rules.tree import Pattern, Var

Term = str | None
"""A term as canonical text, or None where any may stand."""

Shape = tuple[Term, Term, Term]
ANY: Shape = (None, None, None)
"""The shape that every statement has."""


def shape_of(pattern: Pattern, binding: Mapping[Var, str] | None = None) -> Shape:
    """The shape of a pattern, with the values of variables that are bound.

    >>> shape_of(Pattern(Var("x"), "<urn:p>", Var("y")), {Var("y"): "<urn:b>"})
    (None, '<urn:p>', '<urn:b>')
    """
    # Written out, since plans ask for very many.
    s, p, o = pattern.s, pattern.p, pattern.o
    if binding:
        return (
            s if isinstance(s, str) else binding.get(s),
            p if isinstance(p, str) else binding.get(p),
            o if isinstance(o, str) else binding.get(o),
        )
    return (
        s if isinstance(s, str) else None,
        p if isinstance(p, str) else None,
        o if isinstance(o, str) else None,
    )


def overlap(one: Shape, other: Shape) -> bool:
    """Whether some statement has both shapes.

    >>> overlap((None, "<urn:p>", None), ("<urn:a>", None, None))
    True
    """
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def show(shape: Shape) -> str:
    """A shape for people.

    >>> show((None, "<urn:p>", None))
    '(* <urn:p> *)'
    """
    return f"({' '.join(term or '*' for term in shape)})"


def some(shapes: Sequence[Shape], most: int = 4) -> str:
    """Many shapes for people, of which they see some.

    >>> some([(None, "<urn:p>", None), (None, "<urn:q>", None)], 1)
    'one of 2 patterns: (* <urn:p> *) and 1 more'
    """
    listed = ", ".join(map(show, shapes[:most]))
    rest = f" and {len(shapes) - most} more" if len(shapes) > most else ""
    return f"one of {len(shapes)} patterns: {listed}{rest}" if len(shapes) != 1 else listed


def as_wide(shape: Shape) -> Iterator[Shape]:
    """Every shape that all statements of this shape have: itself, and with fewer terms."""
    s, p, o = ((term,) if term is None else (term, None) for term in shape)
    return product(s, p, o)


class Shapes:
    """A set of shapes; one is in it as soon as a wider one is.

    >>> some = Shapes()
    >>> some.add((None, "<urn:p>", "<urn:a>")), some.add((None, "<urn:p>", None))
    (True, True)
    >>> some.covers((None, "<urn:p>", "<urn:b>")), some.widest()
    (True, ((None, '<urn:p>', None),))
    """

    def __init__(self, shapes: Iterable[Shape] = ()) -> None:
        self._shapes = set(shapes)

    def add(self, shape: Shape) -> bool:
        """Take a shape in; False if it is covered already."""
        if self.covers(shape):
            return False
        self._shapes.add(shape)
        return True

    def update(self, others: Shapes) -> None:
        """Take all of others in."""
        self._shapes |= others._shapes

    def covers(self, shape: Shape) -> bool:
        """Whether every statement of this shape has one of the shapes here."""
        some = self._shapes
        s, p, o = shape
        # Written out, since plans ask so often; the likeliest first.
        return (
            shape in some
            or (None, p, None) in some
            or (None, p, o) in some
            or (s, p, None) in some
            or (s, None, o) in some
            or (s, None, None) in some
            or (None, None, o) in some
            or ANY in some
        )

    def widest(self) -> tuple[Shape, ...]:
        """The shapes that no other one covers, in order."""
        some = (
            shape
            for shape in self._shapes
            if not any(wider in self._shapes for wider in as_wide(shape) if wider != shape)
        )
        return tuple(sorted(some, key=lambda shape: tuple(term or "" for term in shape)))
