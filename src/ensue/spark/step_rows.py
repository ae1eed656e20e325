"""What a step of a shard gives, as the rows of `processor.STEPPED`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

import pandas as pd

from ensue.query.output import Result
from ensue.spark.processor import ANSWERS, COUNTERS, FAILED, HELD, LETTERS
from ensue.spark.results import EVENTS, pack, pack_events
from ensue.spark.shard import Outcome


def step_rows(outcome: Outcome, shard: int) -> pd.DataFrame:
    """The rows of what the shard of a key gives."""
    rows: list[tuple[str, str | None, int, int, bytes]] = [
        (ANSWERS, result.query, result.open, result.close, pack(result))
        for result in outcome.results
        if not result.of_event
    ]
    for query, placed in _by_event(outcome.results).items():
        places, some = zip(*placed, strict=True)
        payload = pack_events(some, places if outcome.ordered else None)
        rows.append((EVENTS, query, some[0].open, some[-1].close, payload))
    if outcome.dead:
        rows.append((LETTERS, None, 0, 0, json.dumps(outcome.dead).encode()))
    if outcome.held is not None:
        rows.append((HELD, None, 0, 0, outcome.held))
    if outcome.failure is not None:
        time, message = outcome.failure
        rows.append((FAILED, None, time, time, message.encode()))
    else:
        counters = outcome.counters | {"worker": os.getpid()}
        rows.append((COUNTERS, None, 0, 0, json.dumps(counters).encode()))
    frame = pd.DataFrame(rows, columns=["kind", "query", "open", "close", "payload"])
    frame.insert(0, "shard", shard)
    return frame


def _by_event(results: Iterable[Result]) -> dict[str, list[tuple[int, Result]]]:
    """The results of queries over events, and of networks, each with its place among all."""
    found: dict[str, list[tuple[int, Result]]] = {}
    for place, result in enumerate(results):
        if result.of_event:
            found.setdefault(result.query, []).append((place, result))
    return found
