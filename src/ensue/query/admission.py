"""Who gets a statement that is admitted: the scopes and logs that its stream is part of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ensue.events.engine import EventEngine
from ensue.model import FOREVER, NEVER
from ensue.query.arrivals import Arrival, Arrivals
from ensue.query.background import Background
from ensue.query.loose import StreamLog
from ensue.query.materialise import Materialisation
from ensue.query.partial import Partial
from ensue.query.running import RunningQuery
from ensue.query.scopeplans import ScopePlans
from ensue.query.scopes import Bound, Scope, background_name
from ensue.query.sources import Sources
from ensue.query.tree import StreamWindow
from ensue.windows.events import EventWindow
from ensue.windows.frontier import Times
from ensue.windows.registered import Axis
from ensue.windows.spec import CountWindow, Window

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder

_Movement = tuple[int, int, bool]
"""Where the closes of a window are: origin and step, and whether it is a landmark."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Above which threshold each scope, and each log by time and by number, holds what it is given."""

    scopes: Mapping[Scope, int]
    times: Mapping[str, int]
    numbers: Mapping[str, int]


class Admission:
    """Lets statements into the scopes and logs of the queries, and lets go of what none needs."""

    def __init__(self, plans: ScopePlans, sources: Sources) -> None:
        self._sources = sources
        self._newest: dict[tuple[Axis, str], int] = {}
        """How far each stream has been admitted: in time, and in number."""
        self._readers: dict[Scope, dict[_Movement, tuple[str, StreamWindow, Bound]]] = {}
        """For each scope who reads it, and through which window; the longest of each movement."""
        self._read_whole: set[Scope] = set()
        """The scopes of which a query reads more than the solutions of patterns that are watched."""
        self._offsets: dict[str, list[tuple[Scope, Materialisation]]] = {}
        self._kept = _Kept({}, {}, {})
        self._plans = plans
        self._events: list[RunningQuery] = []
        """The queries with temporal expressions."""

    def serve(self, running: RunningQuery) -> list[int]:
        """Keep what a query reads from now on; for each window the time up to which some is missing."""
        streams = running.query.streams
        missing = {on: self._log(on.stream) for on in running.loose}
        if running.events is not None:
            self._events.append(running)
            missing |= {on: self._newest.get(("time", on.stream), NEVER) for on in streams}
        for name, bound in running.bounds.items():
            self._plans.read(bound.scope, running.query, name)
            source = self._materialisation(bound.scope)
            self._reads(running, bound)
            source.readers_changed(only_answers=bound.scope not in self._read_whole)
            source.watch(running.watched(name))
            missing |= {on: source.missing(on.stream) for on in streams if on.name == name}
            if self._plans.may_refuse:
                _ = source.maintainer  # Made now, so that it refuses now.
        return [missing[on] for on in streams]

    def source(self, scope: Scope) -> Materialisation:
        """What those read who read a scope."""
        return self._sources.materialisations[scope]

    def start_over(self, background: Background) -> None:
        """The background is another from now on."""
        self._sources.background = background
        self._plans.start_over(background)
        for source in self._sources.materialisations.values():
            source.start_over()

    def drop_unused(self, queries: Sequence[RunningQuery]) -> None:
        """Forget what no query reads any more."""
        scopes = {bound.scope for running in queries for bound in running.bounds.values()}
        for scope in self._sources.materialisations.keys() - scopes:
            del self._sources.materialisations[scope]
        self._events = [running for running in queries if running.events is not None]
        logged = {on.stream for running in queries for on in running.loose}
        for stream in self._sources.logs.keys() - logged:
            del self._sources.logs[stream]
        self._readers = {}
        self._read_whole = set()
        self._plans.forget_readers()
        for source in self._sources.materialisations.values():
            source.unwatch()
        for running in queries:
            for name, bound in running.bounds.items():
                self._plans.read(bound.scope, running.query, name)
                self._reads(running, bound)
                self._sources.materialisations[bound.scope].watch(running.watched(name))
        for scope, source in self._sources.materialisations.items():
            source.readers_changed(only_answers=scope not in self._read_whole)
        self._index()

    def admit(self, axis: Axis, stream: str, arrivals: Arrivals) -> None:
        """Let statements in, stamped with their time or their number."""
        self.reach(axis, stream, int(arrivals.times.max()))
        sources = [source for scope, source in self._offsets.get(stream, ()) if scope.axis == axis]
        if sources or (axis == "time" and (stream in self._sources.logs or self._events)):
            self._plans.admits(stream, arrivals)
        for source in sources:
            source.admit(stream, arrivals)
        if axis == "time":
            if stream in self._sources.logs:
                self._sources.logs[stream].add(arrivals)
            for events in self._engines:
                events.admit(stream, arrivals)

    def miss(self, stream: str, time: int, partial: Partial) -> None:
        """What a stream brings at a time was made of partial answers, and there may be more of it."""
        for scope, source in self._offsets.get(stream, ()):
            at = time if scope.axis == "time" else self._newest.get((scope.axis, stream), 0) + 1
            source.miss(stream, at, partial)

    def missing(self) -> list[list[Any]]:
        """What is missing of the statements that scopes hold, as plain data; nothing where nothing is."""
        every = [source.shedding.missing() for source in self._sources.materialisations.values()]
        return every if any(every) else []

    def miss_again(self, missing: Iterable[list[Any]]) -> None:
        """Go on from what `missing` gave."""
        for source, found in zip(self._sources.materialisations.values(), missing, strict=False):
            source.shedding.miss_again(found)

    def admit_events(self, stream: str, window: EventWindow, arrivals: Arrivals, numbers: Times) -> None:
        """Let statements into the events of these numbers."""
        if len(arrivals):
            self._plans.admits(stream, arrivals)
            for source in self._over_events(stream, window):
                source.admit_events(stream, arrivals, numbers)

    def drop_events(self, stream: str, window: EventWindow, number: int) -> None:
        """Let go of the events up to a number, which have been answered."""
        for source in self._over_events(stream, window):
            source.forget(number)

    def retract_event(
        self, stream: str, window: EventWindow, number: int, row: Arrival, *, every: bool
    ) -> None:
        """Take a statement back from an event."""
        for source in self._over_events(stream, window):
            source.retract(row, every=every, event=number)

    def background_came(self, stream: str, window: EventWindow, arrivals: Arrivals) -> None:
        """A stream has brought background, and its events begin."""
        self._plans.background_came(background_name(stream, window), arrivals)
        for source in self._over_events(stream, window):
            source.background_came()

    def _over_events(self, stream: str, window: EventWindow) -> list[Materialisation]:
        return [source for scope, source in self._offsets.get(stream, ()) if scope.events == window]

    def reach(self, axis: Axis, stream: str, newest: int) -> None:
        """A stream has been admitted up to this time or number."""
        self._newest[axis, stream] = max(self._newest.get((axis, stream), NEVER), newest)

    def retract(self, stream: str, row: Arrival, *, every: bool) -> int:
        """Take back the newest (or `every`) copy of a statement wherever it is; say how many there were."""
        sources = (source for scope, source in self._offsets.get(stream, ()) if scope.events is None)
        found = [source.retract(row, every=every) for source in sources]
        if stream in self._sources.logs:
            found.append(self._sources.logs[stream].retract(row, every=every))
        return max(found, default=0)

    def forget(self, queries: Iterable[RunningQuery], now: dict[str, int]) -> None:
        """Let go of what no window to come will hold, if each query has come to its `now`."""
        keep = {
            scope: min(_keeps(on, bound, now[name]) for name, on, bound in readers.values())
            for scope, readers in self._readers.items()
            if scope.events is None  # Those are dropped when they have been answered.
        }
        times: dict[str, int] = {}
        numbers: dict[str, int] = {}
        for running in queries:
            here = now[running.name]
            if running.events is not None:
                running.events.advance(here)
                running.events.forget(_next_window(running.query.streams[0], here).open)
            for on in running.loose:
                if isinstance(on.spec, CountWindow):
                    last = self._newest.get(("count", on.stream), 0)
                    number = last - on.spec.size - on.spec.step
                    numbers[on.stream] = min(numbers.get(on.stream, FOREVER), number)
                else:
                    times[on.stream] = min(times.get(on.stream, FOREVER), _next_window(on, here).open)
        for scope, threshold in keep.items():
            self._sources.materialisations[scope].forget(threshold)
        for stream, log in self._sources.logs.items():
            log.forget(times.get(stream, FOREVER), numbers.get(stream, FOREVER))
        self._kept = _Kept(keep, times, numbers)

    def horizon(self, stream: str) -> tuple[int, int]:
        """The time and the number of a stream at or below which nothing is held, as of the last `forget`."""
        ends = {
            "time": self._kept.times.get(stream, FOREVER),
            "count": self._kept.numbers.get(stream, FOREVER),
        }
        for events in self._engines:
            known = events.written(stream)
            if known is not None:  # What has come since is not yet part of what it has written down.
                ends["count"] = min(ends["count"], known)
        for scope, threshold in self._kept.scopes.items():
            for of, offset in scope.offsets:
                if of == stream:
                    # A threshold near the ends of time must not wrap around.
                    ends[scope.axis] = min(ends[scope.axis], max(NEVER, threshold - offset))
        return ends["time"], ends["count"]

    def state(self) -> list[int]:
        """The threshold of each scope, for `resume`."""
        return [source.threshold for source in self._sources.materialisations.values()]

    def start_again(self, thresholds: Sequence[int], before: Mapping[str, int]) -> None:
        """Hold nothing of the streams, of which so many were admitted `before`: for `admit`."""
        for source, threshold in zip(self._sources.materialisations.values(), thresholds, strict=True):
            source.forget(threshold)
        for stream, log in self._sources.logs.items():
            log.start_again(before.get(stream, 0))
        for events in self._engines:
            events.start_again(before)

    def advance_events(self, now: int) -> None:
        """Everything up to some instant has been admitted again."""
        for events in self._engines:
            events.advance(now)

    @property
    def _engines(self) -> list[EventEngine]:
        return [running.events for running in self._events if running.events is not None]

    def settle(self) -> list[bytes | None]:
        """Let every scope settle, with no queries to come; None among them if one cannot be put away."""
        loose = [None] if self._sources.logs else []
        sources = self._sources.materialisations.items()
        return [
            *loose,
            *(source.settle(only_answers=scope not in self._read_whole) for scope, source in sources),
        ]

    def park(self, folder: Folder) -> dict[str, Any]:
        """Let what the scopes hold lie in a folder from now on; what there is to know besides."""
        sources = enumerate(self._sources.materialisations.values())
        scopes = [source.park(folder.under(f"scope{number}")) for number, source in sources]
        events = [each.park(folder.under(f"events{number}")) for number, each in enumerate(self._engines)]
        newest = [[*key, newest] for key, newest in self._newest.items()]
        return {"scopes": scopes, "events": events, "newest": newest}

    def adopt(self, folder: Folder, plain: dict[str, Any]) -> None:
        """Go on with what another has put away."""
        self._newest = {(axis, stream): newest for axis, stream, newest in plain["newest"]}
        sources = enumerate(self._sources.materialisations.values())
        for (number, source), scope in zip(sources, plain["scopes"], strict=True):
            source.adopt(folder.under(f"scope{number}"), scope)
        for number, (events, each) in enumerate(zip(self._engines, plain["events"], strict=True)):
            events.adopt(folder.under(f"events{number}"), each)

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers still in use."""
        closed = [source.used_terms() for source in self._sources.materialisations.values()]
        logged = [log.used_terms() for log in self._sources.logs.values()]
        return [column for columns in (*closed, *logged) for column in columns]

    def _materialisation(self, scope: Scope) -> Materialisation:
        known = self._sources.materialisations
        if scope not in known:
            missing = {stream: self._newest.get((scope.axis, stream), NEVER) for stream in scope.streams}
            known[scope] = Materialisation(
                scope, self._sources.dictionary, self._plans, self._sources.stages, missing
            )
            self._index()
        return known[scope]

    def _reads(self, running: RunningQuery, bound: Bound) -> None:
        """A query reads a scope. Of those whose windows move together, the longest decides what to keep."""
        if not running.reads_only_answers:
            self._read_whole.add(bound.scope)
        on = running.query.streams[bound.position]
        grid, readers = on.spec.grid, self._readers.setdefault(bound.scope, {})
        key = (grid.origin, grid.step, bound.least is None)
        if key not in readers or (bound.least or 0) > (readers[key][2].least or 0):
            readers[key] = (running.name, on, bound)

    def _log(self, stream: str) -> int:
        """Keep a log of a stream; the time up to which it is missing some."""
        if stream not in self._sources.logs:
            self._sources.logs[stream] = StreamLog(self._newest.get(("time", stream), NEVER))
        return self._sources.logs[stream].missing

    def _index(self) -> None:
        self._offsets = {}
        for scope, source in self._sources.materialisations.items():
            for stream, _ in scope.offsets:
                self._offsets.setdefault(stream, []).append((scope, source))


def _keeps(on: StreamWindow, bound: Bound, now: int) -> int:
    """The threshold above which the window that closes next may hold something."""
    # Not beyond now: a query that comes later may want what falls between two windows.
    return min(bound.threshold(_next_window(on, now)), now)


def _next_window(on: StreamWindow, now: int) -> Window:
    """The window that closes next."""
    grid = on.spec.grid
    return grid.window(grid.after(min(now, FOREVER - 1)))
