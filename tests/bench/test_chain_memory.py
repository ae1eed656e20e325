"""Memory over a chain's events: what is counted is right, and (at length) memory stays flat."""

from __future__ import annotations

import json

import pytest

from ensue.bench import chain_memory, over_time


@pytest.mark.parametrize("kind", [chain_memory.AGAIN, chain_memory.NEW])
def test_readings_count_the_chains(kind, capsys):
    events, keys, batch = 2000, 10, 100
    chain_memory.main(kind, events, keys, batch, 1)
    readings = [over_time.Reading(*json.loads(line)) for line in capsys.readouterr().out.splitlines()]
    assert [each.events for each in readings] == list(range(0, events + 1, batch))
    every = [each for some in chain_memory.batches(kind, events, keys, batch, 1) for each in some]
    half = events // 100
    wanted = 0
    for at, (first, key, kind_of, _, _) in enumerate(every):
        if kind_of == "<urn:kind:0>":
            later = every[at + 1 : at + 1 + half]
            wanted += sum(each[1:3] == (key, "<urn:kind:1>") and each[0] > first for each in later)
    assert readings[-1].answers == wanted


@pytest.mark.long
def test_memory_over_a_million_events_is_flat():
    [table] = chain_memory.measure(1_000_000, 20_000, 20_000, 1).tables
    assert all(row["% between"] < 5 for row in table.rows), table.rows
