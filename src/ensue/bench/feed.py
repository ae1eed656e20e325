"""Statements to maintainers and back, by the column: what is timed must not be the feeding.

`Stepper` drives several maintainers through the same steps side by side, and after each step checks
that they hold the same closure and report the same change: a fast wrong answer is no figure.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.maintain.contract import Maintainer
from ensue.model import BACKGROUND, FOREVER, Change, Copies, Facts

Ids = npt.NDArray[np.int32]
"""Statements as rows of (s, p, o)."""

CONTEXT = 1
_MIXERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9))


class DisagreementError(EnsueError):
    """Two maintainers that must agree do not."""


@dataclass(frozen=True, slots=True)
class Digest:
    """A set of facts as a count and a sum over its hashes: equal sets have equal digests.

    >>> one, two = Facts.of([(1, 5, 6, 7, 9), (1, 5, 6, 8, 9)]), Facts.of([(1, 5, 6, 8, 2), (1, 5, 6, 7, 2)])
    >>> Digest.of(one) == Digest.of(two), Digest.of(one).count
    (True, 2)
    """

    count: int
    sum: int

    @classmethod
    def of(cls, facts: Facts) -> Digest:
        """The digest of the facts' statements (their stamps are not looked at)."""
        mixed = np.zeros(len(facts), np.uint64)
        for column, mixer in zip((facts.s, facts.p, facts.o), _MIXERS, strict=True):
            mixed = (mixed ^ np.asarray(column, np.uint64)) * mixer
            mixed ^= mixed >> np.uint64(29)
        return cls(len(facts), int(mixed.sum(dtype=np.uint64)))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one maintainer: how long it took, and what it changed."""

    seconds: float
    inserted: int
    deleted: int
    held: int
    """Facts in the closure after the step, without the background's."""


def encode(statements: Iterable[tuple[str, str, str]], dictionary: Dictionary) -> Ids:
    """Statements as rows of integers.

    >>> encode([("<urn:a>", "<urn:p>", "<urn:a>")], Dictionary()).tolist()
    [[1, 2, 1]]
    """
    number = dictionary.encode
    flat = array("i", [number(term) for statement in statements for term in statement])
    return np.frombuffer(flat, np.int32).reshape(-1, 3) if flat else np.zeros((0, 3), np.int32)


def copies_at(ids: Ids, first: int) -> Copies:
    """Copies in one context whose stamps are sequence numbers from `first` on.

    >>> list(copies_at(np.array([[5, 6, 7]], np.int32), first=9))
    [(1, 5, 6, 7, 0, 9)]
    """
    return _copies(ids, CONTEXT, np.arange(first, first + len(ids), dtype=np.int64))


def background_of(ids: Ids) -> Copies:
    """Copies that never expire."""
    return _copies(ids, BACKGROUND, np.full(len(ids), FOREVER, np.int64))


def _copies(ids: Ids, context: int, stamps: npt.NDArray[np.int64]) -> Copies:
    same = np.zeros(len(ids), np.int32)
    return Copies(
        context=_array("i", same + np.int32(context)),
        s=_array("i", ids[:, 0]),
        p=_array("i", ids[:, 1]),
        o=_array("i", ids[:, 2]),
        graph=_array("i", same),
        stamp=_array("q", stamps),
    )


def _array(code: str, column: npt.NDArray[np.int32] | npt.NDArray[np.int64]) -> array[int]:
    made: array[int] = array(code)
    made.frombytes(np.ascontiguousarray(column).tobytes())
    return made


class Stepper:
    """Maintainers over one dictionary and a count window, moved together.

    `unchecked` ones are timed but not compared (one without rules holds other facts).
    """

    def __init__(
        self, maintainers: Mapping[str, Maintainer], window: int, unchecked: Iterable[str] = ()
    ) -> None:
        self._maintainers = dict(maintainers)
        self._window = window
        self._unchecked = frozenset(unchecked)
        self._next = 1

    def load(self, background: Ids) -> None:
        """Give the background to all."""
        for maintainer in self._maintainers.values():
            maintainer.load_background(background_of(background))

    def step(self, ids: Ids) -> dict[str, Step]:
        """Admit these statements and let the oldest beyond the window go."""
        first, self._next = self._next, self._next + len(ids)
        threshold = self._next - 1 - self._window
        steps, digests = {}, {}
        for name, maintainer in self._maintainers.items():
            seconds, change = timed_step(maintainer, copies_at(ids, first), threshold)
            held = Digest.of(maintainer.closure(CONTEXT))
            steps[name] = Step(seconds, len(change.inserted), len(change.deleted), held.count)
            if name not in self._unchecked:
                digests[name] = (held, Digest.of(change.inserted), Digest.of(change.deleted))
        check_equal(digests)
        return steps


def timed_step(maintainer: Maintainer, copies: Copies, threshold: int) -> tuple[float, Change]:
    """Admit and advance: the seconds, and the change.

    What earlier steps left to the cycle collector is collected before the clock starts.
    """
    gc.collect()
    begin = perf_counter()
    maintainer.admit(copies)
    change = maintainer.advance(threshold)
    return perf_counter() - begin, change


def check_equal(digests: Mapping[str, Sequence[Digest]]) -> None:
    """Raise DisagreementError unless all have the same digests."""
    (reference, expected), *others = digests.items()
    for name, found in others:
        if found != expected:
            raise DisagreementError(
                f"{name} and {reference} disagree: {found} against {expected} (closure, inserted, deleted)",
                hint="this is a bug in a maintainer: please report the command and its seed",
            )
