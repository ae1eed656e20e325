"""Event contexts against one growing graph: how many events a second, and memory over time (INSTANS, 11).

Small events, orders of one item each, under RDFS: what kind of thing everything is has to be derived. Each
run is a process of its own, which makes its events as it goes, so that its memory is nobody else's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

from ensue.bench import over_time
from ensue.bench.harness import Chart, Result, Row, Table, progress
from ensue.bench.ontology import TYPE
from ensue.errors import EnsueError
from ensue.knowledge import Sent
from ensue.reasoner import Reasoner
from ensue.streamfile import Timed
from ensue.terms import RDFS, XSD

STREAM = "urn:orders"
STATEMENTS = 4
"""Of an event."""
MARKERS, ELEMENTS, GRAPH = "events by a marker", "events by graph", "one growing graph"
_SCHEMA = (
    ("<urn:Express>", f"<{RDFS}subClassOf>", "<urn:Order>"),
    ("<urn:price>", f"<{RDFS}domain>", "<urn:Item>"),
    ("<urn:item>", f"<{RDFS}range>", "<urn:Item>"),
)
_ASKED = "?order a <urn:Order> ; <urn:item> ?item . ?item a <urn:Item> ; <urn:price> ?p FILTER(?p >= 95)"


def measure(events: int, grown: int, batch: int) -> Result:
    """So many events as contexts, and `grown` of them in one graph."""
    rows: list[Row] = []
    memory: dict[str, list[tuple[float, float]]] = {}
    answers: dict[str, float] = {}
    for kind, count in ((MARKERS, events), (ELEMENTS, events), (GRAPH, min(grown, events))):
        progress(f"{kind}: {count:,} events")
        readings = over_time.readings(__name__, kind, count, batch)
        rows.append(over_time.row(kind, readings))
        memory[kind] = over_time.curve(readings)
        answers[kind] = readings[-1].answers / count
    if len(set(answers.values())) > 1 and grown >= events:
        raise EnsueError(f"answers differ: {answers}", hint="this is a mistake in the engine")
    title = f"event contexts against one growing graph, events of {STATEMENTS} statements under RDFS"
    return Result([Table(title, rows)], [Chart("memory over events", "events", "MB", memory)], _notes(rows))


def _notes(rows: Sequence[Row]) -> list[str]:
    return [
        f"{row['kind']}: {row['events/s of CPU']:,} events a second of one core; after a tenth of "
        f"{row['events']:,} events memory rises by {row['% more at most']} % at most"
        for row in rows
    ]


def orders(events: int, batch: int, *, named: bool) -> Iterator[list[Timed]]:
    """Events in batches; `named`: the statements of each in a graph of its own.

    >>> [len(some) for some in orders(3, 2, named=False)]
    [8, 4]
    """
    for first in range(0, events, batch):
        found: list[Timed] = []
        for number in range(first, min(events, first + batch)):
            order, item = f"<urn:order:{number}>", f"<urn:item:{number}>"
            graph = f"<urn:graph:{number}>" if named else None
            price = f'"{number * 7919 % 100}"^^<{XSD}integer>'
            found += [
                (number, order, TYPE, "<urn:Express>", graph),
                (number, order, "<urn:item>", item, graph),
                (number, item, "<urn:price>", price, graph),
                (number, order, "<urn:by>", f"<urn:customer:{number % 1000}>", graph),
            ]
        yield found


def query_of(kind: str, step: int) -> str:
    """The query: of the growing graph, what is new is given after every so many events."""
    if kind == GRAPH:
        return (
            f"REGISTER ISTREAM <urn:q> AS SELECT ?order ?p FROM NAMED WINDOW <urn:w> ON <{STREAM}> "
            f"[LANDMARK STEP {step}ms] WHERE {{ WINDOW <urn:w> {{ {_ASKED} }} }}"
        )
    window = "EVENT GRAPH" if kind == ELEMENTS else "EVENT STARTS { ?order a <urn:Express> }"
    return f"SELECT ?order ?p FROM STREAM <{STREAM}> [{window}] WHERE {{ {_ASKED} }}"


def main(kind: str, events: int, batch: int) -> None:
    """Answer the query over all events, and print readings."""
    reasoner = Reasoner("rdfs-jena", Sent(tuple((*each, None) for each in _SCHEMA)), t0=-1, fixed_schema=True)
    reasoner.register(query_of(kind, batch))
    done = answers = 0
    reasoner.plan()
    meter = over_time.Meter(events, batch)
    for some in orders(events, batch, named=kind == ELEMENTS):
        reasoner.feed(STREAM, some)
        answers += sum(len(result.answers.rows) for result in reasoner.advance())
        done += len(some) // STATEMENTS
        meter.read(done, answers)
    meter.end(answers + sum(len(result.answers.rows) for result in reasoner.end()))


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
