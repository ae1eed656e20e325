"""A reasoner that goes step by step, and that another can go on with where it was.

What is needed to go on is the truth (`state`, `memories`, and a log of the steps that still matter), from
which `resume` makes everything else again; or the truth and a folder of arrays (`park`), which `adopt` goes
on with as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ensue.events.engine import EventEngine
from ensue.knowledge import Knowledge
from ensue.maintain.kernel.flatdictionary import FlatDictionary
from ensue.model import NEVER
from ensue.query.arrivals import Arrivals, Batch
from ensue.query.background import Background
from ensue.query.background_image import BackgroundImage
from ensue.query.log import Logged, Mark, first_needed
from ensue.query.output import Result
from ensue.reasoner import Reasoner
from ensue.rules.tree import RuleSet

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder
    from ensue.plan.plans import Plans


_IN_TIME = "\nin time"
"""Behind the name of a temporal query: what its expressions remember. No query is called so."""


def _unheard(stream: str, time: int) -> None:
    """Statements that come once more were known before."""


class Resumable(Reasoner):
    """A reasoner, its steps, and what it takes to go on from between two of them."""

    _basis: str | None = None
    _make_dictionary = FlatDictionary
    _can_plan_anew = False  # There is nothing to make another plan's state of: no copies are kept.

    def __init__(self, *args: Any, image: BackgroundImage | None = None, **options: Any) -> None:
        """As a `Reasoner`; `image`: the background is what another one had, whatever the knowledge says."""
        self._image = image
        super().__init__(*args, **options)
        self._image = None
        self._timeline.take_made()  # What queries construct is kept from now on.

    def _make_background(self, rules: RuleSet, knowledge: Knowledge, equality: str) -> Background:
        if self._image is not None:
            self.terms.restore(self._image.terms)
        return Background(rules, self.dictionary, knowledge, self.strategy, equality, image=self._image)

    def image(self) -> BackgroundImage:
        """The background, with what was found out about it for the queries that are registered."""
        return self._background.image(self.terms.image())

    @property
    def terms(self) -> FlatDictionary:
        """The dictionary, whose arrays can be put away."""
        assert isinstance(self.dictionary, FlatDictionary)
        return self.dictionary

    # -- step by step ------------------------------------------------------------------------------

    def step(
        self,
        batches: Mapping[str, Batch],
        ended: Iterable[str] = (),
        heartbeats: Mapping[str, int] | None = None,
    ) -> list[Result]:
        """Take in what came at once, as a micro-batch brings it, and give the results that are due.

        Each statement is judged in its place among those of its stream, and stream after stream; heartbeats
        and ends (`ended` are streams that have ended) come behind all of them.
        """
        with self._guard.step():
            with self._sources.stages.of("feed"):
                grids = {stream: self._windows_over(stream) for stream in batches}
                self._put(batches, grids)
            for stream, time in (heartbeats or {}).items():
                self._intake.heartbeat(stream, time)
            for stream in ended:
                self._intake.end(stream)
                self._timeline.end(stream)
            results = list(self._results())
            for _, events in self._events_of():
                events.rest()
            return results

    def _events_of(self) -> list[tuple[str, EventEngine]]:
        """Who finds the occurrences of temporal queries, by the names of what they remember."""
        running = [(each.name + _IN_TIME, each.events) for each in self._timeline.queries]
        return [(name, events) for name, events in running if events is not None]

    def mark(self) -> Mark:
        """How far it has come: kept with each batch of a log of steps, for `resume`."""
        frontier = self._intake.frontier()
        return Mark(frontier["time"], self._timeline.numbers, frontier["streams"])

    def horizons(self) -> dict[str, tuple[int, int]]:
        """For each stream the time and the number at or below which nothing matters any more."""
        return {stream: self._timeline.horizon(stream) for stream in self._streams}

    def over_after(
        self, newest: Mapping[str, int], ended: Iterable[str], heartbeats: Mapping[str, int]
    ) -> dict[str, int]:
        """For each stream the time at or below which nothing will matter after a step.

        `newest` are the greatest times that the step brings; the others as for `step`. NEVER: who knows.
        """
        if not self._timeline.in_step:  # What has closed may be seen again.
            return dict.fromkeys(self._streams, NEVER)
        time = self._intake.reached(newest, ended, heartbeats)
        opens = {
            stream: [grid.window(grid.after(time)).open for grid in self._windows_over(stream)]
            for stream in self._streams
        }
        return {stream: min([time, *found]) for stream, found in opens.items()}

    def take_made(self) -> dict[str, Arrivals]:
        """What queries have constructed for others to read since the last call."""
        return self._timeline.take_made()

    def state(self) -> dict[str, Any]:
        """Everything but what is held of the streams and what queries remember, as plain data."""
        return {
            "intake": self._intake.state(),
            "timeline": self._timeline.state(),
            "horizons": self.horizons(),
            "answers": self.answers,
            "missing": self._admission.missing(),
        }

    def memories(self) -> dict[str, tuple[list[Any], Callable[[], dict[str, Any]]]]:
        """What each query remembers: its version, and a function that gives it as plain data."""
        found = {each.name: (each.version, each.state) for each in self._timeline.queries}
        decode = self.dictionary.decode_all
        return found | {
            name: (events.version, partial(events.state, decode)) for name, events in self._events_of()
        }

    def resume(
        self, state: Mapping[str, Any], memories: Mapping[str, Mapping[str, Any]], log: Sequence[Logged]
    ) -> None:
        """Go on where another reasoner with the same queries was, before anything has come.

        `log` are its steps in order, the last ones at least: those that are needed are found out by
        the horizons. What was admitted is let in again, in the same order, and nothing is evaluated.
        """
        timeline, intake = state["timeline"], state["intake"]
        marks = [*(step.mark for step in log), Mark(intake["frontier"]["time"], timeline["numbers"])]
        first = first_needed(marks, state["horizons"])
        for name, events in self._events_of():
            if name in memories:
                events.resume(memories[name], self.dictionary.encode_all)
        self._timeline.start_again(timeline, marks[first].numbers, memories)
        for number, (step, after) in enumerate(zip(log, marks[1:], strict=True)):
            self._step_again(step, after, admits=number >= first)
        self._timeline.resume(timeline)
        self._go_on(state, memories)

    def _step_again(self, step: Logged, after: Mark, *, admits: bool) -> None:
        """Let a step's statements in once more, judged as they were; `admits`: they still matter."""
        self._intake.go_back({"time": step.mark.frontier, "streams": step.mark.streams})
        moved = step.mark.frontier
        if admits:
            self._timeline.move_again(moved)

        def release(to: int) -> None:
            nonlocal moved
            for stream, _, arrivals in self._intake.release(to):
                if admits:
                    self._timeline.admit_again(stream, arrivals, moved)
            for _ in self._intake.passed(to):
                pass  # The schedules know.
            moved = to

        def before_late() -> None:
            release(self._intake.time)
            if admits:
                self._timeline.move_again(moved)

        for stream, batch in step.batches.items():
            self._intake.put(stream, batch, self._windows_over(stream), _unheard, before_late)
        release(after.frontier)
        for stream, arrivals in step.made.items() if admits else ():
            self._timeline.admit_again(stream, arrivals, step.mark.frontier)

    def _go_on(self, state: Mapping[str, Any], memories: Mapping[str, Mapping[str, Any]]) -> None:
        self._intake.resume(state["intake"])
        self.answers = state["answers"]
        self._admission.miss_again(state.get("missing", []))
        for running in self._timeline.queries:
            running.resume(memories.get(running.name, {}))

    # -- with arrays that are put away between steps -----------------------------------------------

    @property
    def plans(self) -> Plans:
        """What was found out about queries and background, for others to go by."""
        return self._background.plans

    def settle(self) -> None:
        """All queries are registered, and nothing has come: keep no log of copies from now on.

        Reasoners that give the same for `basis` then can adopt what each other has put away. Where
        answers are checked, the log is what they are checked by; and where a query sees windows later than
        they are read, what they held is kept as long as the background may change.
        """
        if self._check is not None or (self._updates and not self._timeline.in_step):
            return
        if self.dictionary.meter.budget.at_limit == "partial":
            return  # What is left out is derived from the copies later.
        settled = self._admission.settle()
        found = [each for each in settled if each is not None]
        self._keeps_copies = False
        if len(found) == len(settled):
            self.terms.pin_all()  # Whoever adopts knows these by the same integers.
            digest = blake2b(self.terms.fingerprint(), digest_size=16)
            for each in found:
                digest.update(each)
            digest.update(str(len(self._updates)).encode())
            self._basis = digest.hexdigest()

    @property
    def keeps_copies(self) -> bool:
        """Whether it could go on with another background."""
        return self._keeps_copies

    @property
    def basis(self) -> str | None:
        """What the integers and plans are; None if what is held cannot be put away."""
        return None if self.terms.has_minted else self._basis

    def park(self, folder: Folder) -> dict[str, Any]:
        """Let what is held lie in a folder from now on; what there is to know besides it and the truth."""
        self.terms.park(folder.under("terms"))
        self._intake.park(folder.under("waiting"))
        return self._timeline.park(folder)

    def adopt(
        self,
        state: Mapping[str, Any],
        memories: Mapping[str, Mapping[str, Any]],
        folder: Folder,
        plain: dict[str, Any],
    ) -> None:
        """Go on where another reasoner of the same `basis` was, with what it has put away."""
        self.terms.adopt(folder.under("terms"))
        self._intake.adopt(folder.under("waiting"))
        self._timeline.adopt(state["timeline"], folder, plain)
        self._go_on(state, memories)
