"""All event windows of a job: each goes along its stream by itself, for all queries that have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ensue.dictionary import Dictionary
from ensue.model import FOREVER
from ensue.query.admission import Admission
from ensue.query.arrivals import Arrival, Arrivals
from ensue.query.eventquery import EventQuery
from ensue.query.eventtrack import Answered, EventTrack
from ensue.windows.events import EventWindow
from ensue.windows.frontier import Times
from ensue.windows.report import Report


class EventTracks:
    """The tracks, by stream and window."""

    def __init__(
        self,
        admission: Admission,
        dictionary: Dictionary,
        background_came: Callable[[str], None] | None = None,
    ) -> None:
        """`background_came` is told the name of the background that a stream has brought."""
        self._admission, self._dictionary = admission, dictionary
        self._background_came = background_came
        self._tracks: dict[tuple[str, EventWindow], EventTrack] = {}

    def add(self, query: EventQuery, report: Report) -> None:
        """Answer one more query."""
        key = query.query.streams[0].stream, query.window
        if key not in self._tracks:
            made = EventTrack(*key, self._admission, self._dictionary, self._background_came)
            self._tracks[key] = made
        self._tracks[key].add(query, report)

    def remove(self, query: EventQuery) -> None:
        """Answer a query no more."""
        key = query.query.streams[0].stream, query.window
        self._tracks[key].remove(query.name)
        if not len(self._tracks[key]):
            del self._tracks[key]

    def clear(self) -> None:
        """Answer none, and forget what came."""
        self._tracks = {}

    def admit(self, stream: str, arrivals: Arrivals, numbers: Times, now: int) -> list[Answered]:
        """Let statements of a stream in: see `EventTrack`."""
        return [each for track in self._of(stream) for each in track.admit(arrivals, numbers, now)]

    def pass_time(self, time: int) -> list[Answered]:
        """No more will come up to a time."""
        return [each for track in self._tracks.values() for each in track.pass_time(time)]

    def end(self, stream: str, time: int) -> list[Answered]:
        """No more will come on a stream at all; the newest time there is."""
        return [each for track in self._of(stream) for each in track.end(time)]

    def retract(self, stream: str, row: Arrival, *, every: bool) -> None:
        """Take a statement back from the events that are open."""
        for track in self._of(stream):
            track.retract(row, every=every)

    def before(self, stream: str) -> int:
        """How many statements of a stream came before the first that is held; FOREVER: it has no events."""
        return min((track.before for track in self._of(stream)), default=FOREVER)

    @property
    def outside(self) -> int:
        """How many statements were in no event."""
        return sum(track.outside for track in self._tracks.values())

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers in use."""
        return [column for track in self._tracks.values() for column in track.used_terms()]

    # -- going on from a checkpoint ----------------------------------------------------------------

    def state(self) -> list[dict[str, Any]]:
        """How far all have come, as plain data, without what is held: for `resume`."""
        return [track.state() for track in self._tracks.values()]

    def resume(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Go on from a state."""
        for track, saved in zip(self._tracks.values(), state, strict=True):
            track.resume(saved)

    def start_again(
        self, state: Sequence[Mapping[str, Any]], memories: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """The same, before what is held is let in again; `memories` are those of queries."""
        for track, saved in zip(self._tracks.values(), state, strict=True):
            track.start_again(saved, memories)

    def admit_again(self, stream: str, arrivals: Arrivals, numbers: Times, now: int) -> None:
        """Let in once more what was admitted after everything up to `now`: nothing is answered."""
        for track in self._of(stream):
            track.admit_again(arrivals, numbers, now)

    def _of(self, stream: str) -> list[EventTrack]:
        return [track for track in self._tracks.values() if track.stream == stream]
