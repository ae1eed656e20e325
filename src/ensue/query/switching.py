"""Where a stream of events brings background: first, or again in mid-run, and up to a marker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensue.query.arrivals import Arrival, Arrivals
from ensue.query.splitting import Decode, Matcher, Pin, Splitter
from ensue.windows.events import EventWindow
from ensue.windows.frontier import Times


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """Statements of a stream, in order, and their numbers on it.

    >>> three = Numbered(Arrivals.of([1, 1, 2], [7] * 3, [5] * 3, [8, 9, 8], [0] * 3), np.array([4, 5, 6]))
    >>> three[1:].numbers.tolist(), three.without((2, 7, 5, 8, 0), every=False).numbers.tolist()
    ([5, 6], [4, 5])
    """

    arrivals: Arrivals
    numbers: Times

    @classmethod
    def joined(cls, parts: Sequence[Numbered]) -> Numbered:
        """One after the other."""
        numbers = [part.numbers for part in parts] or [np.zeros(0, np.int64)]
        return cls(Arrivals.joined([part.arrivals for part in parts]), np.concatenate(numbers))

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice | NDArray[np.bool_]) -> Numbered:
        """Some of them."""
        return Numbered(self.arrivals[part], self.numbers[part])

    def after(self, time: int) -> Numbered:
        """Those of a later time than this."""
        kept = self.arrivals.times > time
        return self if kept.all() else self[kept]

    def without(self, row: Arrival, *, every: bool) -> Numbered:
        """As if the newest (or `every`) copy of a statement had not come."""
        same = np.ones(len(self), np.bool_)
        for column, term in zip(self.arrivals.columns, row[1:], strict=True):
            same &= column == term
        if not every:
            same[np.flatnonzero(same)[:-1]] = False
        return self[~same] if same.any() else self


@dataclass(slots=True)
class Loading:
    """Background that is coming."""

    until: Matcher
    again: bool
    """Whether a marker has begun it, which is its first statement; otherwise it is what came first."""
    parts: list[Numbered] = field(default_factory=list)
    marker_gone: bool = False
    """Whether that statement was taken back: it is still where events are told apart from."""

    def retract(self, row: Arrival, *, every: bool) -> None:
        """Take back the newest (or `every`) copy of a statement."""
        whole = Numbered.joined(self.parts)
        marker, rest = whole[: self.again], whole[self.again :]
        left = rest.without(row, every=every)
        if every or len(left) == len(rest):
            self.marker_gone |= len(marker.without(row, every=True)) < len(marker)
        self.parts = [marker, left]


class Came(NamedTuple):
    """All of the background has come, and perhaps more."""

    background: Arrivals
    rest: Numbered
    """From the first event on."""
    looked: int
    """So many of the rest cannot begin background again: they are no later than what ended it."""
    before: int
    """How many statements of the stream came before the rest."""


class Switch:
    """Whether a stream brings background now or events, and where that changes."""

    def __init__(self, window: EventWindow, pin: Pin) -> None:
        """`pin` gives the number of a text, which it keeps for ever."""
        self._window, self._pin = window, pin
        self.loading: Loading | None = None
        """What is coming, if it is background."""
        self._again: Matcher | None = None
        if window.background_first:
            self._load(again=False)
        if self.loading is None:
            self._to_events()

    def _load(self, *, again: bool) -> None:
        if self._window.until is not None:
            self.loading = Loading(Matcher(self._window.until, self._pin), again)

    def _to_events(self) -> None:
        self.loading = None
        self._again = None if self._window.again is None else Matcher(self._window.again, self._pin)

    def begin(self, came: Numbered, looked: int) -> tuple[int, int]:
        """Begin with background if that comes among statements, of which the first ones were `looked` at.

        Gives up to where events come, and from where on there is more to look at: what the marker is among is
        taken, and cannot end the background.
        """
        matches = None if self._again is None else self._again(came.arrivals[looked:])
        if matches is None or not matches.any():
            return len(came), len(came)
        first = looked + int(matches.argmax())
        end = first + 1
        if self._window.by_element:
            first, end = _same_time(came, first)
        self._load(again=True)
        self.load_again(came[first:end])
        return first, end

    def load(self, came: Numbered, splitter: Splitter) -> Came | None:
        """Take in what comes; what there is once all has come, which is when events begin.

        The splitter says which event the marker is in, and is left as it was.
        """
        loading = self.loading
        assert loading is not None
        matches = loading.until(came.arrivals)
        loading.parts.append(came)
        if not matches.any():
            return None
        every = Numbered.joined(loading.parts)
        match = len(every) - len(came) + int(matches.argmax())
        cut = looked = match + 1
        if self._window.by_element:
            cut, looked = _same_time(every, match)
        else:
            events, _ = deepcopy(splitter).split(every.arrivals)
            # What the first marker begins is no event: with a match up to the next border it ends there.
            if events[match] and not (loading.again and events[match] == events[0]):
                cut = int((events == events[match]).argmax())
        self._to_events()
        before = int(every.numbers[cut]) - 1 if cut < len(every) else int(every.numbers[-1])
        background = every.arrivals[loading.marker_gone : cut]
        return Came(background, every[cut:], looked - cut, before)

    def load_again(self, came: Numbered) -> None:
        """Take in what has been looked at already."""
        assert self.loading is not None
        self.loading.parts.append(came)

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers in use."""
        if self.loading is None:
            return [] if self._again is None else [self._again.used_terms()]
        parts = [column for part in self.loading.parts for column in part.arrivals.terms]
        return [self.loading.until.used_terms(), *parts]

    def state(self, decode: Decode) -> dict[str, Any]:
        """What comes now, and what came of markers, as plain data."""
        marker = self._again if self.loading is None else self.loading.until
        return {
            "loading": self.loading is not None,
            "again": self.loading is not None and self.loading.again,
            "marker": None if marker is None else marker.state(decode),
        }

    def start_again(self, state: Mapping[str, Any], encode: Callable[[str], int]) -> None:
        """Go on from a state; of background nothing has come yet (see `load_again`)."""
        if state["loading"]:
            self._load(again=state["again"])
        else:
            self._to_events()
        self.resume(state, encode)

    def resume(self, state: Mapping[str, Any], encode: Callable[[str], int]) -> None:
        """The same, where what has come is there."""
        marker = self._again if self.loading is None else self.loading.until
        if marker is not None:
            marker.resume(state["marker"], encode)


def _same_time(came: Numbered, row: int) -> tuple[int, int]:
    """From which row to before which one the time of a row is."""
    times = came.arrivals.times
    return int(np.searchsorted(times, times[row])), int(np.searchsorted(times, times[row], "right"))


def together(known: Arrivals | None, more: Arrivals) -> Arrivals:
    """What was known and what is more, each statement once.

    >>> one, two = Arrivals.of([1], [7], [5], [8], [0]), Arrivals.of([2, 3], [7, 7], [5, 5], [8, 9], [0, 0])
    >>> together(one, two).o.tolist()
    [8, 9]
    """
    every = more if known is None else Arrivals.joined([known, more])
    _, first = np.unique(np.stack(every.columns, axis=1), axis=0, return_index=True)
    return every if len(first) == len(every) else every[np.sort(first)]
