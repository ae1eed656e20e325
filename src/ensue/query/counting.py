"""What a reasoner has done so far and holds now, in numbers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from ensue.dictionary import Dictionary
from ensue.query.eventquery import EventQuery
from ensue.query.intake import Intake
from ensue.query.sources import Sources
from ensue.query.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Counting:
    """Counts over the parts of a reasoner."""

    dictionary: Dictionary
    sources: Sources
    intake: Intake
    timeline: Timeline

    def counters(self, streams: Collection[str], answers: int) -> dict[str, Any]:
        """What came and what was answered so far: cheap enough for every step."""
        came = {name: asdict(self.intake.counters(name)) for name in streams}
        queries = [running for running in self.timeline.queries if not running.query.violations]
        return {
            "streams": came,
            "admitted": sum(each["admitted"] for each in came.values()),
            "unkeyed": sum(running.unkeyed for running in queries),
            "outside": self.timeline.events.outside,
            "late": sum(self.intake.counters(name).late for name in streams),
            "waiting": len(self.intake),
            "frontier": self.intake.time,
            "terms": len(self.dictionary),
            "windows": sum(each.evaluations for each in queries if not isinstance(each, EventQuery)),
            "skipped": sum(running.skipped for running in queries),
            "events": sum(each.evaluations for each in queries if isinstance(each, EventQuery)),
            "answers": answers,
            "seconds": self.sources.stages.seconds(),
            **self._of_temporal(),
        }

    def held(self) -> dict[str, int]:
        """How much is held, and how much was done for it. Brings everything up to date first."""
        held = [source.statistics() for source in self.sources.materialisations.values()]
        summed = {
            name: sum(each.get(name, 0) for each in held) for name in ("facts", "derivations", "probes")
        }
        return {**summed, "background": len(self.sources.background), "scopes": len(held)}

    def derived(self) -> int:
        """How much of what is held was derived: looks at all of it."""
        return sum(source.derived() for source in self.sources.materialisations.values())

    def _of_temporal(self) -> dict[str, int]:
        """What temporal queries remember, and what became of what they did; nothing if there are none."""
        found: dict[str, int] = {}
        for running in self.timeline.queries:
            for name, count in (running.events.counters() if running.events else {}).items():
                found[name] = found.get(name, 0) + count
        return found
