"""Partial matches go at the end of their lifetime, whatever the operator and the strategy."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ensue import Reasoner
from ensue.events.tree import Allen, Strategy

RANGE, STEP, WITHIN = 40, 10, 25
OPTIONAL = ("OPTIONALSEQ", "EQUALSOPTIONAL")


def expressions(operator: str) -> list[str]:
    """The operator between intervals, by every strategy; with something that is not to be; repeated."""
    a, b = "{ ?x :a ?y . ?x :b ?y }", "{ ?x :a ?z . ?x :c ?z }"
    strategies = [""] if operator in OPTIONAL else [f"[{strategy}]" for strategy in Strategy]
    found = [f"{a} {operator} {strategy} {b}" for strategy in strategies]
    if operator == "SEQ":
        found += [f"{a} {operator} {strategy} NOT {{ ?x :d ?y }} SEQ {b}" for strategy in strategies]
        found += [f"{{ ?x :a ?n }}{{2,3}} {operator} {strategy} {b}" for strategy in strategies]
    return [f"{each} WITHIN {WITHIN}ms" if number % 2 else each for number, each in enumerate(found)]


def last_instant(start: int, within: int | None) -> int:
    """The close of the last window (close - RANGE, close] that holds a start, or WITHIN after it."""
    close = (start + RANGE - 1) // STEP * STEP
    return close if within is None else min(close, start + within)


def remembered(reasoner: Reasoner) -> list[tuple[int, int]]:
    """The start and the lifetime of every partial match."""
    [running] = reasoner._timeline.queries
    assert running.events is not None
    memories = running.events._memories()
    return [
        (start, until)
        for memory in memories
        for start, until in zip(memory.rows.start.tolist(), memory.until.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    "operator", ["SEQ", *(each for each in Allen if each is not Allen.BEFORE), *OPTIONAL]
)
def test_nothing_outlives_its_lifetime_and_that_ends_with_its_windows(operator: str) -> None:
    for number, where in enumerate(expressions(operator)):
        random = Random(number)
        # A strategy below WITHIN must not see it (docs/events.md, Memory); here none is below another.
        within = WITHIN if where.endswith("ms") else None
        reasoner, most, gone = Reasoner(), 0, 0
        reasoner.register(
            f"PREFIX : <urn:> ASK FROM STREAM :s [RANGE {RANGE}ms STEP {STEP}ms] WHERE {{ {where} }}"
        )
        for now in range(10, 210, 10):
            times = sorted(random.randint(now - 9, now) for _ in range(12))
            rows = [(t, f"<urn:{random.randrange(2)}>", f"<urn:{random.choice('abcd')}>") for t in times]
            reasoner.push("urn:s", [(*row, f"<urn:v{random.randrange(2)}>") for row in rows])
            list(reasoner.advance(to=now))
            held = remembered(reasoner)
            most = max(most, len(held))
            assert reasoner.counters()["overdue"] == 0, where
            for start, until in held:
                assert now < until <= last_instant(start, within), (
                    f"{where}: [{start}, until {until}] at {now}"
                )
        gone = reasoner.counters()["collected"] + reasoner.counters()["consumed"]
        list(reasoner.advance(to=200 + RANGE))
        assert remembered(reasoner) == [], where
        assert most > 5, where
        assert gone > 10, where


def test_without_collection_garbage_is_seen_to_be_overdue() -> None:
    """The counter can fail: it is not zero by itself."""
    reasoner = Reasoner(collects=False)
    reasoner.register(
        "PREFIX : <urn:> ASK FROM STREAM :s [RANGE 10ms] WHERE { { ?x :a ?y } SEQ { ?x :b ?z } }"
    )
    reasoner.push("urn:s", [(1, "<urn:x>", "<urn:a>", "<urn:y>")])
    list(reasoner.advance(to=50))
    assert reasoner.counters()["overdue"] == 1
    assert np.array(remembered(reasoner)).tolist() == [[1, 10]]
