"""What is wrong with what holds: the violations in a closure.

A rule that concludes `?x violation:NAME ?y` is a condition (`ensue.rules.violations`). What it concludes is
in the closure with the others, out of sight of premises and queries, and is found here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ensue.dictionary import Dictionary
from ensue.model import FOREVER, Facts
from ensue.rules.violations import name_of
from ensue.terms import VIOLATION, Kind


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """One condition that is not met, by which terms, and the stamp of that."""

    condition: str
    subject: str
    object: str
    stamp: int = FOREVER

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
        return {"violation": self.condition, "terms": list(self.terms)}

    def __str__(self) -> str:
        return f"{self.condition}: {' '.join(self.terms)}"


@dataclass(frozen=True, slots=True)
class Reported:
    """A violation in a window: that it is there, or is new in it or gone from it."""

    violation: Violation
    window: str | None = None
    """Which window, in the words of queries; None: the background violates a condition by itself, for ever."""
    change: Literal["new", "gone"] | None = None
    open: int | None = None
    close: int | None = None
    until: int | Literal["forever"] | None = "forever"
    """The close of the first window without it if nothing more arrives; None: nobody keeps track."""

    def json(self) -> dict[str, Any]:
        """As `ensue run --violations` tells it."""
        about = {"window": self.window, "change": self.change, "open": self.open, "close": self.close}
        found = self.violation.json() | {name: value for name, value in about.items() if value is not None}
        return found | ({} if self.until is None else {"until": self.until})


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
    names: dict[int, str | None] = {}
    for _context, s, p, o, stamp in facts:
        if kinds[p] == Kind.TYPED:
            if p not in names:
                names[p] = name_of(decode(p))
            if (name := names[p]) is not None:
                yield Violation(name, decode(s), decode(o), stamp)
