"""A reasoner that is replaced in mid-run, by another that goes on from what was written down."""

from __future__ import annotations

import json
import os
from collections import Counter
from random import Random

import pytest
from query.equivalence.cases import Case, Push, Register, make_case
from query.equivalence.history import parsed
from query.equivalence.replay import Engine, bag

from ensue.query.arrivals import Batch
from ensue.query.log import Logged, Mark, first_kept
from ensue.resumable import Resumable
from ensue.windows.report import Report

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_CASES", "60"))


class Run:
    """Goes through a case in steps, keeping what a checkpoint keeps: text, and plain data."""

    def __init__(self, case: Case, strategy: str, folder) -> None:
        self.case, self.strategy, self.folder = case, strategy, folder
        self.results, self.log, self.dropped, self.resumed = [], [], 0, 0
        self.reasoner = self._new()

    def _new(self):
        engine = Engine(self.case, self.strategy, "compiled", self.folder, Resumable)
        for action in self.case.actions:
            if isinstance(action, Register):
                report = Report(("close", "change", "content")[self.case.seed % 3])
                engine.reasoner.register(parsed(action.text), report=report)
        return engine.reasoner

    def step(self, batch, ended=()) -> None:
        reasoner = self.reasoner
        mark = reasoner.mark()
        self.results += reasoner.step(batches(reasoner, batch), ended)
        made = {stream: self._text(arrivals) for stream, arrivals in reasoner.take_made().items()}
        newest = max((row[0] for rows in batch.values() for row in rows), default=-(2**63))
        self.log.append((mark, newest, batch, made))
        marks = [*(entry[0] for entry in self.log), reasoner.mark()]
        kept = first_kept(marks, [entry[1] for entry in self.log], reasoner.horizons())
        self.dropped += kept
        del self.log[:kept]

    def _text(self, arrivals):
        decode = self.reasoner.dictionary.decode
        return [(t, decode(s), decode(p), decode(o), decode(g) if g else None) for t, s, p, o, g in arrivals]

    def replace(self) -> None:
        state = json.loads(json.dumps(self.reasoner.state()))
        memories = {k: json.loads(json.dumps(give())) for k, (_, give) in self.reasoner.memories().items()}
        self.reasoner = again = self._new()
        log = [
            Logged(
                Mark(mark.frontier, dict(mark.numbers), dict(mark.streams)),
                batches(again, batch),
                {stream: again.arrivals(rows) for stream, rows in made.items()},
            )
            for mark, _, batch, made in self.log
        ]
        again.resume(state, memories, log)
        self.resumed += 1


def batches(reasoner, batch):
    return {stream: Batch.of(reasoner.arrivals(rows)) for stream, rows in batch.items()}


def go(run: Run, random: Random | None) -> list:
    steps = [action for action in run.case.actions if isinstance(action, Push)]
    streams = run.reasoner.streams
    for number, action in enumerate(steps):
        if action.stream not in streams:
            continue
        run.step({action.stream: [(time, *statement, None) for time, statement in action.rows]})
        if random is not None and random.random() < 0.5:
            run.replace()
        if number == len(steps) - 2 and len(streams) > 1 and steps[-1].stream != streams[0]:
            run.step({}, [streams[0]])
    run.step({}, streams)
    return [(result.query, result.open, result.close, bag(result)) for result in run.results]


@pytest.mark.parametrize("strategy", ["expiration", "dred", "recompute", "rete"])
def test_nobody_can_tell_that_the_reasoner_was_replaced(strategy, tmp_path):
    counted = Counter()
    for seed in range(SEED, SEED + CASES):
        case = make_case(seed)
        whole, replaced = Run(case, strategy, tmp_path), Run(case, strategy, tmp_path)
        expected = go(whole, None)
        assert go(replaced, Random(seed)) == expected, f"seed {seed}"
        assert replaced.reasoner.metrics()["streams"] == whole.reasoner.metrics()["streams"], f"seed {seed}"
        counted["resumed"] += replaced.resumed
        counted["steps dropped from the log"] += replaced.dropped
        counted["with answers"] += sum(bool(answers) for *_, answers in expected)
    print(f"{CASES} cases from seed {SEED} on: {dict(counted)}")
    assert counted["resumed"] > CASES
    assert counted["steps dropped from the log"] > CASES
    assert counted["with answers"] > 3 * CASES
