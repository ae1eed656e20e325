"""What is wrong with what holds: the violations in a closure.

A rule that concludes `?x violation:NAME ?y` is a condition (`ensue.rules.violations`). What it concludes is
in the closure with the others, out of sight of premises and queries, and is found here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from ensue.dictionary import Dictionary
from ensue.model import Facts
from ensue.rules.violations import name_of
from ensue.terms import VIOLATION, Kind


@dataclass(frozen=True, slots=True)
class Responsible:
    """A statement that a violation rests on, who stated it, and when."""

    statement: tuple[str, str, str]
    source: str
    """"background", the regime of an axiom, or the IRI of a stream."""
    time: int | None
    """None: it holds always."""

    def json(self) -> dict[str, Any]:
        """As data, the statement as a line of N-Triples."""
        told = {} if self.time is None else {"time": self.time}
        return {"statement": f"{' '.join(self.statement)} .", "source": self.source, **told}


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """One condition that is violated, and by which terms."""

    condition: str
    subject: str
    object: str
    statements: tuple[Responsible, ...] = field(default=(), compare=False)
    """What it rests on; nothing where nobody has looked."""

    @property
    def fact(self) -> tuple[str, str, str]:
        """As the condition concludes it."""
        return self.subject, f"<{VIOLATION}{self.condition}>", self.object

    @property
    def terms(self) -> tuple[str, ...]:
        """Subject and object, where they are two."""
        return (self.subject,) if self.subject == self.object else (self.subject, self.object)

    def json(self) -> dict[str, Any]:
        """As data, terms in N-Triples."""
        found: dict[str, Any] = {"violation": self.condition, "terms": list(self.terms)}
        if self.statements:
            found["statements"] = [each.json() for each in self.statements]
        return found

    @property
    def since(self) -> int | None:
        """When the last of the statements came that it rests on; None: it holds always, or nobody knows."""
        return max((each.time for each in self.statements if each.time is not None), default=None)

    def __str__(self) -> str:
        return f"{self.condition}: {' '.join(self.terms)}"


@dataclass(frozen=True, slots=True)
class Reported:
    """A violation in a window: that it is there, or is new in it or gone from it."""

    violation: Violation
    window: str | None = None
    """Which window, in the words of queries; None: the background violates a condition by itself."""
    change: Literal["new", "gone"] | None = None
    open: int | None = None
    close: int | None = None
    until: int | Literal["forever"] | None = "forever"
    """The close of the first window without it if nothing more arrives; None: nobody keeps track."""

    def json(self) -> dict[str, Any]:
        """As `ensue run --violations` tells it."""
        about = {
            "window": self.window,
            "change": self.change,
            "open": self.open,
            "close": self.close,
            "since": self.violation.since,
            "until": self.until,
        }
        return self.violation.json() | {name: value for name, value in about.items() if value is not None}


def violations_in(facts: Facts, dictionary: Dictionary) -> list[Violation]:
    """The violations among the facts of a closure, in order of their text.

    >>> from ensue.maintain import make
    >>> from ensue.model import BACKGROUND, Copies
    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules("[no: (?x <urn:not> ?y), (?x <urn:is> ?y) -> (?x violation:both ?y)]")
    >>> d = Dictionary()
    >>> a, is_not, b, is_ = map(d.encode, ("<urn:a>", "<urn:not>", "<urn:b>", "<urn:is>"))
    >>> m = make("recompute", rules, d)
    >>> m.load_background(Copies.background([(a, is_not, b), (a, is_, b)]))
    >>> print(*violations_in(m.closure(BACKGROUND), d))
    both: <urn:a> <urn:b>
    """
    return sorted(_found(facts, dictionary))


def _found(facts: Facts, dictionary: Dictionary) -> Iterator[Violation]:
    decode, kinds = dictionary.decode, dictionary.kinds
    predicates = set(facts.p.tolist() if hasattr(facts.p, "tolist") else facts.p)
    names = {p: name_of(decode(p)) for p in predicates if kinds[p] == Kind.TYPED}
    if not names:  # Nearly always, and then there is nothing to look at.
        return
    for _context, s, p, o, _stamp in facts:
        if (name := names.get(p)) is not None:
            yield Violation(name, decode(s), decode(o))
