"""Sensors and their observations: a stream of ever-new nodes, of which few are answers.

A class tree has kinds of observation, and leaf classes below each kind. Every sensor watches for one
kind and usually observes the others; the query asks for observations of the kind that their own sensor
watches for. None of its three patterns is rare by itself, so whoever answers it from scratch goes
through the window, in whatever order the patterns are joined. Most answers need a super-class and a
super-property: only every `STATED`-th of them, and of the other observations, states both outright.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ensue.bench.generate import n_triples
from ensue.bench.ontology import DOMAIN, RANGE, SUB_CLASS, SUB_PROPERTY, TYPE, Statement
from ensue.files import Timed
from ensue.terms import XSD

STREAM = "http://example.org/observations"
STEP_MS = 1000
EACH = 3
"""Statements of an observation: its class, its sensor, its result."""
STATED = 5
VALUES = 100
"""Few, so that each occurs in every step: a step then brings the same terms whatever the window holds."""

_NAMES = "http://example.org/sensors#"
_OBSERVATION, _SENSOR = f"<{_NAMES}Observation>", f"<{_NAMES}Sensor>"
_OBSERVED_BY, _MADE_BY = f"<{_NAMES}observedBy>", f"<{_NAMES}madeBy>"
_WATCHES_FOR, _HAS_RESULT = f"<{_NAMES}watchesFor>", f"<{_NAMES}hasResult>"


@dataclass(frozen=True, slots=True)
class Sensors:
    """How many sensors and classes there are, and how rare answers are."""

    rare: int = 1000
    """One observation in so many is of the kind that its sensor watches for."""
    sensors: int = 1000
    kinds: int = 8
    leaves: int = 4
    """Leaf classes below a kind."""
    seed: int = 1
    """Shifts which sensor observes what."""

    def background(self) -> list[Statement]:
        """The classes, the properties and the sensors.

        >>> len(Sensors(sensors=10, kinds=2, leaves=3).background())
        32
        """
        classes = [(kind(k), SUB_CLASS, _OBSERVATION) for k in range(self.kinds)]
        leaves = [(leaf(k, n), SUB_CLASS, kind(k)) for k in range(self.kinds) for n in range(self.leaves)]
        properties = [
            (_OBSERVED_BY, SUB_PROPERTY, _MADE_BY),
            (_OBSERVED_BY, RANGE, _SENSOR),
            (_MADE_BY, DOMAIN, _OBSERVATION),
            (_HAS_RESULT, DOMAIN, _OBSERVATION),
        ]
        typed = [(sensor(k), TYPE, _SENSOR) for k in range(self.sensors)]
        watching = [(sensor(k), _WATCHES_FOR, kind(self._watched(k))) for k in range(self.sensors)]
        return classes + leaves + properties + typed + watching

    def write_background(self, folder: str) -> Path:
        """The background as an N-Triples file in a folder."""
        file = Path(folder) / "sensors.nt"
        file.write_text("".join(f"{n_triples(statement)}\n" for statement in self.background()))
        return file

    def second(self, number: int, observations: int) -> list[Timed]:
        """The statements of one step, the first of which is number 1: so many new observations.

        >>> for statement in Sensors(rare=2, sensors=3).second(1, 1): print(statement[:3])
        (1, '<http://example.org/o/0>', '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>')
        (1, '<http://example.org/o/0>', '<http://example.org/sensors#madeBy>')
        (1, '<http://example.org/o/0>', '<http://example.org/sensors#hasResult>')
        """
        first = (number - 1) * observations
        made: list[Timed] = []
        for k in range(observations):
            n = first + k
            time = (number - 1) * STEP_MS + 1 + k * STEP_MS // observations
            node = f"<http://example.org/o/{n}>"
            by = self._observer(n)
            of = self._kind(n, by)
            stated = (n // self.rare if n % self.rare == 0 else n) % STATED == 0
            made += (
                (time, node, TYPE, kind(of) if stated else leaf(of, n % self.leaves), None),
                (time, node, _MADE_BY if stated else _OBSERVED_BY, sensor(by), None),
                (time, node, _HAS_RESULT, f'"{n % VALUES}"^^<{XSD}integer>', None),
            )
        return made

    def answers(self, first: int, end: int, of: int | None = None) -> set[tuple[str, ...]]:
        """What the query must give for a window with the observations from `first` to before `end`."""
        found: set[tuple[str, ...]] = set()
        for n in range(first + -first % self.rare, end, self.rare):
            by = self._observer(n)
            row = (f"<http://example.org/o/{n}>", sensor(by))
            if of is None:
                found.add((*row, kind(self._watched(by))))
            elif of == self._watched(by):
                found.add(row)
        return found

    def _observer(self, n: int) -> int:
        # A multiplier that shares no factor with round numbers of sensors: neighbours do not follow on.
        return (n * 7919 + self.seed) % self.sensors

    def _watched(self, sensor: int) -> int:
        return sensor % self.kinds

    def _kind(self, n: int, sensor: int) -> int:
        """What observation n is of: the kind that its sensor watches for if n is rare, else another."""
        other = 0 if n % self.rare == 0 else 1 + n // 3 % (self.kinds - 1)
        return (self._watched(sensor) + other) % self.kinds


def query(name: str, range_ms: int, of: int | None = None) -> str:
    """The query over a window of this range, for one kind or (None) for all: then the answer names it."""
    asked, named = ("?kind", " ?kind") if of is None else (kind(of), "")
    return f"""
        REGISTER QUERY {name} AS
        SELECT ?observation ?sensor{named}
        FROM STREAM <{STREAM}> [RANGE {range_ms}ms STEP {STEP_MS}ms]
        WHERE {{
          ?observation {TYPE} {asked} .
          ?observation {_MADE_BY} ?sensor .
          ?sensor {_WATCHES_FOR} {asked}
        }}"""


def sensor(k: int) -> str:
    """The node of a sensor."""
    return f"<http://example.org/sensor/{k}>"


def kind(k: int) -> str:
    """A kind of observation."""
    return f"<{_NAMES}Kind{k}>"


def leaf(k: int, n: int) -> str:
    """A leaf class below a kind."""
    return f"<{_NAMES}Kind{k}Leaf{n}>"
