"""Memory over time of a chain of two patterns: what is remembered of events that came has to go again.

Windows hold a fiftieth of all events, so that after a tenth of them everything has found its size. Keys come
again and again, or for a short time each: then terms have to go, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from random import Random

from ensue.bench import over_time
from ensue.bench.harness import Chart, Result, Table, progress
from ensue.reasoner import Reasoner
from ensue.streamfile import Timed

STREAM = "urn:events"
AGAIN, NEW = "keys that come again", "ever-new keys"
_WINDOWS = 50
"""So many windows, one after the other, hold all events; a chain may take half of one."""


def measure(events: int, keys: int, batch: int, seed: int) -> Result:
    """So many events of either kind, about so many keys at a time."""
    found = {}
    for kind in (AGAIN, NEW):
        progress(f"memory over {events:,} events, {kind}")
        found[kind] = over_time.readings(__name__, kind, events, min(keys, events // _WINDOWS), batch, seed)
    rows = [over_time.row(kind, every) for kind, every in found.items()]
    curves = {kind: over_time.curve(every) for kind, every in found.items()}
    notes = [
        f"a chain of 2, {row['kind']}: after a tenth of {row['events']:,} events memory stays within "
        f"{row['% between']} %"
        for row in rows
    ]
    title = "memory over time, a chain of 2"
    return Result(
        [Table(title, rows)], [Chart("memory over events of chains", "events", "MB", curves)], notes
    )


def batches(kind: str, events: int, keys: int, batch: int, seed: int) -> Iterator[list[Timed]]:
    """Events a millisecond apart.

    >>> [[(time, key) for time, key, *_ in some] for some in batches(NEW, 3, 1, 2, 1)]
    [[(0, '<urn:key:0>'), (1, '<urn:key:0>')], [(2, '<urn:key:1>')]]
    """
    random = Random(seed)
    for first in range(0, events, batch):
        found: list[Timed] = []
        for number in range(first, min(events, first + batch)):
            key = random.randrange(keys) + (number // 2 if kind == NEW else 0)
            what = f"<urn:kind:{random.randrange(2)}>"
            found.append((number, f"<urn:key:{key}>", what, f"<urn:value:{number % 100}>", None))
        yield found


def query_of(events: int) -> str:
    """The chains within windows that hold a fiftieth of all events."""
    half = max(1, events // _WINDOWS // 2)
    return (
        f"SELECT (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE {2 * half}ms STEP {half}ms] "
        f"WHERE {{ {{ ?key <urn:kind:0> ?v0 }} SEQ {{ ?key <urn:kind:1> ?v1 }} WITHIN {half}ms }}"
    )


def main(kind: str, events: int, keys: int, batch: int, seed: int) -> None:
    """Find the chains among all events, and print readings."""
    reasoner = Reasoner()
    reasoner.register(query_of(events))
    meter, done = over_time.Meter(events, batch), 0
    for some in batches(kind, events, keys, batch, seed):
        reasoner.feed(STREAM, some)
        for _ in reasoner.advance():
            pass
        done += len(some)
        meter.read(done, reasoner.counters()["composed"])
    for _ in reasoner.end():
        pass
    meter.end(reasoner.counters()["composed"])


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
