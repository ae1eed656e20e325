"""A maintainer over representatives: what comes is about them, what is read about all they stand for.

Another maintainer does the work. It holds a fact once for all the facts that it stands for, and these have
its stamp, since terms are in a class together only if they are equal for ever. Copies that stand for others
too are kept as they came: whoever takes a statement back means that one, and not the same of an equal term.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, cast

import numpy as np

from ensue.classes import Classes, Numbers
from ensue.dictionary import Dictionary
from ensue.maintain.contract import Maintainer
from ensue.maintain.kernel.folder import Folder
from ensue.maintain.log import CopyLog, NoLog
from ensue.maintain.rewrite.folding import LateChange
from ensue.maintain.snapshot import Snapshot
from ensue.model import NEVER, Change, Copies, Facts
from ensue.query.dataset import Pattern, Solutions
from ensue.terms import Kind


class Represented:
    """A maintainer that keeps facts about representatives alone, by another one.

    What a strategy can do besides the contract this one can do as well: it says None where the other cannot.
    """

    def __init__(self, inner: Maintainer, classes: Classes, dictionary: Dictionary) -> None:
        self.name = inner.name
        self.stamped = inner.stamped
        self._inner: Any = inner
        """Any: it may be able to do more than the contract says."""
        self._classes = classes
        self._dictionary = dictionary
        self._ground = Copies()
        self._log: CopyLog = CopyLog()
        """The copies that stand for more than themselves."""

    def load_background(self, copies: Copies) -> None:
        """Add statements that never expire."""
        self._ground.extend(copies)
        self._inner.load_background(self._classes.over_copies(copies))

    def admit(self, copies: Copies) -> None:
        """Let copies in."""
        over = self._classes.over_copies(copies)
        self._log.add(_some(copies, self._classes.touched(over)))
        self._inner.admit(over)

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        over = self._classes.over_copies(copies)
        touched = self._classes.touched(over)
        gone: int = self._inner.retract(_some(over, ~touched), every=every)
        for row in np.flatnonzero(touched).tolist():
            gone += self._take_back(_some(copies, [row]), _some(over, [row]), every=every)
        return gone

    def _take_back(self, one: Copies, over: Copies, *, every: bool) -> int:
        """Take one statement back: the copies of which the same is held come again, without it."""
        [(context, s, p, o, graph, _)] = one
        gone = 0
        while self._log.take_newest((context, s, p, o), graph) != NEVER:
            gone += 1
            if not every:
                break
        if gone:
            self._inner.retract(over, every=True)
            for pane in self._log.panes():
                self._inner.admit(self._like(over, pane))
        return gone

    def _like(self, one: Copies, pane: Copies) -> Copies:
        """The live copies of a pane of which the same is held as of a copy, over representatives."""
        over = self._classes.over_copies(pane)
        found = np.frombuffer(pane.stamp, np.int64) > self._log.threshold
        for name in ("context", "s", "p", "o", "graph"):
            found &= np.frombuffer(getattr(over, name), np.int32) == getattr(one, name)[0]
        return _some(over, found)

    def advance(self, threshold: int) -> Change:
        """Expire, and say what changed since the last call: found out when somebody looks."""
        self._log.expire(threshold)
        change: Change = self._inner.advance(threshold)
        expanded = self._classes.expanded
        return LateChange(lambda: (expanded(change.inserted), expanded(change.deleted)))

    def closure(self, context: int | None, threshold: int | None = None) -> Facts:
        """What holds in a context (without what the background holds), fresher than `threshold`."""
        return self._classes.expanded(self._inner.closure(context, threshold))

    def copies(self) -> Iterable[tuple[int, int, int, int, int, int]]:
        """The copies that have not expired: (context, s, p, o, graph, stamp)."""
        yield from self._log
        size, same, link = self._classes.size, self._classes.same, self._classes.link
        for context, s, p, o, graph, stamp in self._inner.copies():
            as_came = same if p == link else p
            if all(term >= len(size) or size[term] == 1 for term in (s, as_came, o)):
                yield context, s, as_came, o, graph, stamp

    def used_terms(self) -> Iterable[Iterable[int]]:
        """The columns of integers still in use."""
        batches = [self._ground, *self._log.panes()]
        columns = [column for each in batches for column in (each.s, each.p, each.o, each.graph)]
        return [*self._inner.used_terms(), *columns, self._classes.listed.tolist()]

    def snapshot(self) -> Snapshot:
        """The truth (the log of copies and the threshold), in terms, not in integers."""
        copies = Copies()
        for context, s, p, o, graph, stamp in self.copies():
            copies.append(context, s, p, o, stamp, graph)
        return Snapshot.take(self._dictionary, copies, self._ground, self._inner.snapshot().threshold)

    def restore(self, snapshot: Snapshot) -> None:
        """Forget everything and go on from a snapshot."""
        copies, self._ground = snapshot.read(self._dictionary)
        over, ground = map(self._classes.over_copies, (copies, self._ground))
        self._log = CopyLog()
        self._log.add(_some(copies, self._classes.touched(over)))
        self._log.expire(snapshot.threshold)
        self._inner.restore(Snapshot.take(self._dictionary, over, ground, snapshot.threshold))

    def statistics(self) -> dict[str, int]:
        """The other's counters: what is held, not what that stands for."""
        counters: dict[str, int] = self._inner.statistics()
        return counters

    # -- what some strategies can do besides ---------------------------------------------------------

    def watch(self, patterns: tuple[Pattern, ...]) -> None:
        """Keep the solutions of a basic graph pattern from now on, if the other can."""
        if hasattr(self._inner, "watch"):
            self._inner.watch(self._over(patterns))

    def solutions(self, patterns: tuple[Pattern, ...], context: int, threshold: int) -> Solutions | None:
        """The solutions that a context has above a threshold; None: nobody keeps them."""
        if not hasattr(self._inner, "solutions"):
            return None
        found: Solutions | None = self._inner.solutions(self._over(patterns), context, threshold)
        return None if found is None else self._expanded(patterns, found, {})[1]

    def solutions_apart(
        self, patterns: tuple[Pattern, ...], threshold: int
    ) -> tuple[Numbers, Solutions] | None:
        """The solutions of every context above a threshold, and whose each is; None: nobody keeps them."""
        if not hasattr(self._inner, "solutions_apart"):
            return None
        found = self._inner.solutions_apart(self._over(patterns), threshold)
        if found is None:
            return None
        columns, solutions = self._expanded(patterns, found[1], {_CONTEXTS: found[0]})
        return columns[_CONTEXTS], solutions

    def spare(self, *, only_answers: bool) -> None:
        """Keep to what the answers of watched patterns rest on, if the other can."""
        if hasattr(self._inner, "spare"):
            self._inner.spare(only_answers=only_answers)

    def held(self, context: int | None) -> Facts:
        """What is there of a context now, or (None) of all."""
        read = getattr(self._inner, "held", self._inner.closure)
        return self._classes.expanded(read(context))

    def settle(self, *, only_answers: bool) -> bytes | None:
        """Keep no log from now on; the same for those that can `adopt` each other's; None: it cannot."""
        if not hasattr(self._inner, "settle"):
            return None
        self._log = NoLog(self._log.threshold)
        inner: bytes = self._inner.settle(only_answers=only_answers)
        names = self._classes.pairs().tobytes() + bytes([self._classes.link >= 0])
        return blake2b(inner + names, digest_size=16).digest()

    def park(self, folder: Folder) -> dict[str, Any]:
        """Let everything lie in a folder from now on; what there is to know besides."""
        plain: dict[str, Any] = self._inner.park(folder)
        return plain

    def adopt(self, folder: Folder, plain: dict[str, Any]) -> None:
        """Go on with what another has put away."""
        self._log = NoLog(plain["threshold"])
        self._inner.adopt(folder, plain)

    def _over(self, patterns: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        """Patterns that name representatives."""
        stands, most = self._classes.representative, len(self._classes.representative)
        return cast(
            "tuple[Pattern, ...]",
            tuple(
                tuple(int(stands[slot]) if isinstance(slot, int) and slot < most else slot for slot in each)
                for each in patterns
            ),
        )

    def _expanded(
        self, patterns: tuple[Pattern, ...], found: Solutions, besides: dict[str, Numbers]
    ) -> tuple[dict[str, Numbers], Solutions]:
        """The solutions that solutions about representatives stand for, and columns beside them."""
        columns = {**besides, **found.columns, _STAMPS: found.stamps}
        columns = self._classes.expanded_columns(columns, found.columns)
        kinds = np.frombuffer(self._dictionary.kinds, np.uint8)
        for name in {p for _, p, _ in patterns if isinstance(p, str)}:
            # A blank node may be equal to a property, but it is none.
            seen = kinds[columns[name]] == Kind.IRI
            if not seen.all():
                columns = {other: column[seen] for other, column in columns.items()}
        named = {name: columns[name] for name in found.columns}
        return columns, Solutions(named, columns[_STAMPS])


_STAMPS, _CONTEXTS = " stamps", " contexts"
"""Columns beside those of variables, none of which can be called so."""


def _some(copies: Copies, which: Any) -> Copies:
    """Some of the copies: a mask, or row numbers."""
    integers = ("context", "s", "p", "o", "graph")
    columns = {
        name: array("i", np.frombuffer(getattr(copies, name), np.int32)[which].tobytes()) for name in integers
    }
    stamps = array("q", np.frombuffer(copies.stamp, np.int64)[which].tobytes())
    return Copies(**columns, stamp=stamps)


class _Representing:
    """A dictionary in which every member of a class has the number of its representative."""

    def __init__(self, dictionary: Dictionary, classes: Classes) -> None:
        self._names = dictionary
        self._classes = classes

    def encode(self, term: str) -> int:
        """The number of what stands for a term: for what rules compute."""
        [number] = self._classes.over(np.array([self._names.encode(term)]))
        return int(number)

    def __len__(self) -> int:
        return len(self._names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._names, name)


def represented(dictionary: Dictionary, classes: Classes) -> Dictionary:
    """The dictionary for a maintainer over representatives: what its rules compute is one of them, too.

    >>> d = Dictionary()
    >>> a, b = d.encode("<urn:a>"), d.encode("<urn:b>")
    >>> over = represented(d, Classes.of([(a, b)], first=min))
    >>> over.encode("<urn:b>") == a, over.decode(b)
    (True, '<urn:b>')
    """
    return cast("Dictionary", _Representing(dictionary, classes)) if len(classes) else dictionary
