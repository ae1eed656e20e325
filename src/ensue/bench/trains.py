"""Trains, stations and commuters: the stream that figure 2 of the IMaRS paper asks about.

Stations are in cities and cities in regions, which is background. On the stream trains report the
station they stand in, and travellers the train they sit in and how long they still have to go. Not every
traveller is a commuter.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from ensue.streamfile import Timed
from ensue.terms import RDF, XSD

EX = "http://example.org/"
GRAPH = "http://mobileservice.org/meansOfTransportation.rdf"
STREAM = "http://mobileservice.org/positions.trdf"

QUERY = f"""\
REGISTER QUERY LongRides COMPUTE EVERY 1sec AS
PREFIX ex: <{EX}>
PREFIX xsd: <{XSD}>
SELECT DISTINCT ?user ?type ?x
FROM <{GRAPH}>
FROM STREAM <{STREAM}> [RANGE 10sec STEP 1sec]
WHERE {{
  ?user ex:isIn ?x .
  ?user a ex:Commuter .
  ?x a ?type .
  ?user ex:remainingTravelTime ?t .
  FILTER (?t >= "PT30M"^^xsd:duration)
}}
"""
"""Figure 2, for the stream and the graph made here. Durations are compared as XML Schema orders them."""

Statement = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Railway:
    """How much there is of everything."""

    regions: int = 2
    cities: int = 3
    """In each region."""
    stations: int = 2
    """In each city."""
    trains: int = 6
    travellers: int = 30
    seconds: int = 60
    seed: int = 1

    def background(self) -> list[Statement]:
        """Where stations are, and what everything is.

        >>> railway = Railway(regions=1, cities=1, stations=1, trains=1, travellers=2)
        >>> len(railway.background())
        7
        """
        found: list[Statement] = []
        for region in range(self.regions):
            found.append(_typed(f"region{region}", "Region"))
            for city in range(self.cities):
                here = f"city{region}_{city}"
                found += [_typed(here, "City"), _is_in(here, f"region{region}")]
                for name in self._stations_of(region, city):
                    found += [_typed(name, "Station"), _is_in(name, here)]
        found += [_typed(f"train{train}", "Train") for train in range(self.trains)]
        # Every third traveller is none that commutes.
        return found + [_typed(f"user{user}", "Commuter") for user in range(self.travellers) if user % 3]

    def stream(self) -> Iterator[Timed]:
        """The reports, in order of time."""
        rng = random.Random(self.seed)
        stations = [
            name
            for region in range(self.regions)
            for city in range(self.cities)
            for name in self._stations_of(region, city)
        ]
        seats = [rng.randrange(self.trains) for _ in range(self.travellers)]
        minutes = [rng.randrange(5, 90) for _ in range(self.travellers)]
        for second in range(1, self.seconds + 1):
            yield from sorted(self._second(1000 * second, rng, stations, seats, minutes))

    def _second(
        self, now: int, rng: random.Random, stations: list[str], seats: list[int], minutes: list[int]
    ) -> Iterator[Timed]:
        for train in range(self.trains):
            if rng.random() < 0.15:
                yield _report(now + rng.randrange(1000), *_is_in(f"train{train}", rng.choice(stations)))
        for user in range(self.travellers):
            if rng.random() < 0.02:  # Changes trains, and sets off on another journey.
                seats[user], minutes[user] = rng.randrange(self.trains), rng.randrange(5, 90)
            if rng.random() < 0.2:
                at = now + rng.randrange(1000)
                yield _report(at, *_is_in(f"user{user}", f"train{seats[user]}"))
                yield _report(at, *_remaining(f"user{user}", minutes[user]))
                minutes[user] = max(1, minutes[user] - 1)

    def _stations_of(self, region: int, city: int) -> list[str]:
        return [f"station{region}_{city}_{station}" for station in range(self.stations)]


def _typed(name: str, kind: str) -> Statement:
    return f"<{EX}{name}>", f"<{RDF}type>", f"<{EX}{kind}>"


def _is_in(name: str, place: str) -> Statement:
    return f"<{EX}{name}>", f"<{EX}isIn>", f"<{EX}{place}>"


def _remaining(user: str, minutes: int) -> Statement:
    return f"<{EX}{user}>", f"<{EX}remainingTravelTime>", f'"PT{minutes}M"^^<{XSD}duration>'


def _report(time: int, s: str, p: str, o: str) -> Timed:
    return time, s, p, o, None
