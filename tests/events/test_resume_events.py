"""A temporal query goes on, in another reasoner, from what was written down."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from ensue.query.arrivals import Batch
from ensue.resumable import Resumable
from ensue.windows.frontier import Disorder

from . import random_events


def replaced(reasoner: Resumable, new: Resumable) -> Resumable:
    """Another reasoner where this one was; nothing of the log is needed."""
    state = json.loads(json.dumps(reasoner.state()))
    memories = {name: json.loads(json.dumps(give())) for name, (_, give) in reasoner.memories().items()}
    new.resume(state, memories, [])
    return new


@pytest.mark.parametrize("seed", range(12))
def test_it_goes_on_with_what_another_remembers(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    asked = random_events.make_query(random)
    for _ in range(4):
        case = random_events.make_case(asked, random)
        case = random_events.in_order(case)
        rows = sorted(case.statements, key=lambda each: each[0])
        background = random_events.write_background(case, tmp_path)

        def make(case: random_events.Case = case, background: Path | None = background) -> Resumable:
            files = [] if background is None else [background]
            made = Resumable(background=files, disorder=Disorder(0))
            made.register(case.asked.text)
            return made

        reasoner, results = make(), []
        for time in sorted({row[0] for row in rows}):
            now = [(*row, None) for row in rows if row[0] == time]
            # A statement that still waits would have to be in the log.
            results += reasoner.step({"urn:s": Batch.of(reasoner.arrivals(now))}, heartbeats={"urn:s": time})
            reasoner = replaced(reasoner, make())
        results += reasoner.step({}, ended=["urn:s"])
        found = {(each.open, each.close): random_events.bag(case, each.answers.rows) for each in results}
        assert found == random_events.expected(case, rows, found), f"seed {seed}: {case}"
