"""How a fact is read off a statement, and which ways to do so are special cases of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from ensue.rules import builtins

Slot = str | int
"""A term, or a variable: the number of the position at which it first stands in the statement."""

Slots = tuple[Slot, Slot, Slot]


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on the parts of a statement (see `ensue.rules.builtins`)."""

    __test__ = False  # Not one of pytest's.

    name: str
    text: str
    variables: tuple[str, ...]
    """What a SPARQL expression calls the arguments."""
    args: tuple[Slot, ...]

    def at(self, slots: Slots) -> Test:
        """The same condition with other parts in the place of those of a statement."""
        return replace(self, args=tuple(slots[arg] if isinstance(arg, int) else arg for arg in self.args))

    def __str__(self) -> str:
        return f"{self.name}({self.text or ', '.join(map(str, self.args))})"


@dataclass(frozen=True, slots=True)
class Reading:
    """One alternative: a statement that has the pattern `raw` and passes the tests is read as `fact`."""

    raw: Slots
    fact: Slots
    """Numbers stand for the parts of the statement."""
    tests: frozenset[Test] = frozenset()

    def __str__(self) -> str:
        said = "it is" if self.fact == self.raw else _shown(self.fact)
        tests = "".join(f", if {test}" for test in sorted(map(str, self.tests)))
        return f"{_shown(self.raw)} as {said}{tests}"


def _shown(slots: Slots) -> str:
    return f"({' '.join(map(str, slots))})"


class Widest:
    """Readings of which none is a special case of another, in the order in which they came.

    >>> some = Widest()
    >>> some.add(Reading((0, "<urn:p>", "<urn:a>"), (0, "<urn:q>", "<urn:a>")))
    True
    >>> some.add(Reading((0, "<urn:p>", 2), (0, "<urn:q>", 2)))
    True
    >>> some.add(Reading((0, "<urn:p>", "<urn:b>"), (0, "<urn:q>", "<urn:b>")))
    False
    >>> print(*some.every())
    (0 <urn:p> 2) as (0 <urn:q> 2)
    """

    def __init__(self) -> None:
        self._readings: dict[tuple[Slots, Slots], list[frozenset[Test]]] = {}
        self._count = 0
        self._forms: set[tuple[int | None, ...]] = set()
        """Where there are variables: most forms do not occur, and need not be looked for."""

    def add(self, reading: Reading) -> bool:
        """Take one in; False if it, or one that is wider, is there."""
        if reading.tests in self._readings.get((reading.raw, reading.fact), ()) or self._covered(reading):
            return False
        self._readings.setdefault((reading.raw, reading.fact), []).append(reading.tests)
        self._forms.add(_form(reading.raw))
        self._count += 1
        return True

    def __len__(self) -> int:
        """How many came that none of those before them covered."""
        return self._count

    def every(self) -> tuple[Reading, ...]:
        """Those that no other one covers."""
        every = (Reading(*key, tests) for key, some in self._readings.items() for tests in some)
        return tuple(reading for reading in every if not self._covered(reading, but=reading))

    def _covered(self, reading: Reading, but: Reading | None = None) -> bool:
        for raw in _wider_statements(reading.raw):
            if _form(raw) not in self._forms:
                continue
            for fact in _read_alike(reading, raw):
                for tests in self._readings.get((raw, fact), ()):
                    if Reading(raw, fact, tests) != but and _passes(tests, reading):
                        return True
        return False


def _form(raw: Slots) -> tuple[int | None, ...]:
    return tuple(slot if isinstance(slot, int) else None for slot in raw)


def _wider_statements(raw: Slots) -> Iterator[Slots]:
    """The patterns with a variable of its own in some positions: all that this one matches, they match."""
    s, p, o = ((slot,) if slot == at else (slot, at) for at, slot in enumerate(raw))
    return product(s, p, o)


def _read_alike(reading: Reading, raw: Slots) -> Iterator[Slots]:
    """What wider readings of `raw` would have for the fact: the same, once the statement is `reading.raw`."""
    freed = [(at, was) for at, (slot, was) in enumerate(zip(raw, reading.raw, strict=True)) if slot != was]
    s, p, o = ((slot, *(at for at, was in freed if was == slot)) for slot in reading.fact)
    return product(s, p, o)


def _passes(tests: frozenset[Test], reading: Reading) -> bool:
    """Whether what the narrower reading reads passes the tests of a wider one."""
    if not tests:
        return True
    left = settled(test.at(reading.raw) for test in tests)
    return left is not None and left <= reading.tests


def settled(tests: Iterable[Test]) -> frozenset[Test] | None:
    """The tests that cannot be decided yet; None if one fails already.

    >>> here, not_here = (Test(name, "", (), ("<urn:a>",)) for name in ("notLiteral", "isLiteral"))
    >>> settled([here]), settled([here, not_here])
    (frozenset(), None)
    """
    left = []
    for test in tests:
        terms = tuple(arg for arg in test.args if isinstance(arg, str))
        if len(terms) < len(test.args):
            left.append(test)
        elif not builtins.holds(test.name, test.text, test.variables, terms):
            return None
    return frozenset(left)
