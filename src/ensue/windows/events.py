"""Event windows: each event of a stream by itself, whole, and then gone.

The events of a stream are numbered from 1 in the order of the stream, and the stamp of a statement is the
number of its event. So an event window is a count window over events, of one event at a time: event n is
what has a stamp above n - 1. What an event is, markers say, or the elements of the stream.
"""

from __future__ import annotations

from dataclasses import dataclass

from ensue.windows.spec import CountWindow

Triple = tuple[str, str, str]
"""A triple pattern: terms in canonical text, and variables as `?x`."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A basic graph pattern that the statements of a stream are held against.

    It is matched at the statement with which all of it has come since it was matched last.

    >>> str(Marker((("?x", "<urn:p>", "?y"), ("?y", "<urn:q>", "<urn:a>"))))
    '{ ?x <urn:p> ?y . ?y <urn:q> <urn:a> }'
    """

    triples: tuple[Triple, ...]

    def __str__(self) -> str:
        return f"{{ {' . '.join(map(' '.join, self.triples))} }}"


@dataclass(frozen=True, slots=True)
class EventWindow(CountWindow):
    """One event: from a marker, up to one, or both; without markers, an element of the stream.

    An element is what has the same time and the same graph name.

    >>> str(EventWindow(starts=Marker((("?x", "<urn:p>", "?y"),)))), str(EventWindow())
    ('EVENT STARTS { ?x <urn:p> ?y }', 'EVENT GRAPH')
    """

    size: int = 1
    step: int = 1
    starts: Marker | None = None
    ends: Marker | None = None
    until: Marker | None = None
    """What comes before the first event that holds a match of this is background; None: nothing is."""
    again: Marker | None = None
    """From a match of this on the stream brings background again, until the other; None: it never does."""
    anew: bool = False
    """Whether what it brings then is all that it has brought; otherwise it is more."""
    background_first: bool = True
    """Whether what it brings first is background; otherwise nothing is before a match of `again`."""

    @property
    def by_element(self) -> bool:
        """Whether events are the elements of the stream."""
        return self.starts is None and self.ends is None

    def __str__(self) -> str:
        parts = ["EVENT GRAPH" if self.by_element else "EVENT"]
        parts += [f"STARTS {self.starts}"] if self.starts else []
        parts += [f"ENDS {self.ends}"] if self.ends else []
        return " ".join([*parts, *self._background()])

    def _background(self) -> list[str]:
        if self.until is None:
            return []
        until = f"UNTIL {self.until}"
        again = [] if self.again is None else [f"{'ANEW ' * self.anew}FROM {self.again}"]
        return ["BACKGROUND", *([until, *again] if self.background_first else [*again, until])]
