"""A shard whose background changes: whatever happens to its steps, the answers are those of one process.

A shard that keeps no copies is replaced by one that does for the step in which the change may fall; so what
is looked at is who goes through a change, who is adopted before and after it, and what is rebuilt.
"""

from __future__ import annotations

import os
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from random import Random

import pytest
from query.equivalence.cases import Change, Register
from query.equivalence.changes import changing
from query.equivalence.history import parsed
from query.equivalence.replay import Engine, update_of
from spark.test_shard import BLOCK, Job, Memory, Piece, answers, block

from ensue import job as jobs
from ensue.knowledge import Sent, Update
from ensue.model import NEVER
from ensue.resumable import Resumable
from ensue.rules.load import load_rules
from ensue.spark.job_shard import PackedJob, ShardOf
from ensue.spark.packed import Packed
from ensue.spark.shard import Cache, step
from ensue.spark.shelf import Shelf
from ensue.terms import RDFS

SEED = int(os.environ.get("ENSUE_SEED", "1"))


class Changing(Job):
    """A random case as micro-batches of pieces, whose changes are known from the start."""

    def __init__(self, seed, folder):
        super().__init__(seed, folder)
        self.case = changing(seed)
        self.updates = sorted(
            (update_of(each) for each in self.case.actions if isinstance(each, Change)), key=lambda u: u.at
        )

    @property
    def times(self):
        return [update.at for update in self.updates]

    def reasoner(self, since=NEVER, copies=False):
        if not hasattr(self, "updates"):
            return super().reasoner()
        # The background since a time, and the changes after it.
        case = replace(self.case.at(since), actions=self.case.actions)
        made = Engine(case, "expiration", "compiled", self.folder, Resumable).reasoner
        for action in self.case.actions:
            if isinstance(action, Register):
                made.register(parsed(action.text))
        for update in self.updates:
            if update.at > since:
                made.change(update)
        if not copies:
            made.settle()
        return made

    def in_one_process(self):
        """What one reasoner gives that keeps copies and is never replaced."""
        store, cache = Memory(), Cache()

        def make(*_):
            return self.reasoner(NEVER, copies=True)

        return [answers(step("shard", pieces, store, make, cache)) for pieces in self.batches]


@pytest.mark.parametrize("seed", [SEED + at for at in range(10)])
def test_whatever_happens_to_attempts_the_answers_are_those_of_one_process(seed, tmp_path):
    job, random = Changing(seed, tmp_path), Random(seed)
    expected = job.in_one_process()
    place = tmp_path / "shelf"
    place.mkdir()

    def workers():
        return [Cache(Shelf(place, "plan")) for _ in range(2)]

    store, caches, histories, seen = Memory(), workers(), [deepcopy(Memory().state)], Counter()
    number = 0
    while number < len(job.batches):
        pieces, cache = job.batches[number], random.choice(caches)
        store.state = deepcopy(histories[number])
        happens = random.choice(["well"] * 4 + ["fails", "twice", "rolls back", "restarts"])
        if happens == "fails":
            step("shard", pieces, store, job.reasoner, cache, job.times)
            continue
        if happens == "twice":
            other = Memory()
            other.state = deepcopy(histories[number])
            step("shard", pieces, other, job.reasoner, cache, job.times)
        if happens == "restarts":
            caches = workers()
            cache = caches[0]
        outcome = step("shard", pieces, store, job.reasoner, cache, job.times)
        assert answers(outcome) == expected[number], f"seed {seed}, step {number}, {happens}"
        seen[outcome.counters["found"]] += 1
        del histories[number + 1 :]
        histories.append(deepcopy(store.state))
        number += 1
        if happens == "rolls back" and number > 1:
            number -= random.randint(1, 2)
    print(f"seed {seed}: {dict(seen)}")


BELOW = ("<urn:p>", f"<{RDFS}subPropertyOf>", "<urn:q>", None)
QUERY = "SELECT ?s FROM STREAM <urn:s> [RANGE 2s STEP 1s] { ?s <urn:q> ?o }"


def test_before_and_after_a_change_arrays_lie_on_the_shelf(tmp_path):
    made = jobs.Job.of(
        [parsed(QUERY)], load_rules("rdfs-jena"), Sent(), updates=[Update(6500, added=(BELOW,))]
    )
    shard = ShardOf(PackedJob(Packed.of(made)))
    store, found, given = Memory(), [], []
    for number in range(12):
        rows = [(1000 * number + 500, f"<urn:{number}>", "<urn:p>", "<urn:o>")]
        pieces = [Piece("urn:s", number, BLOCK, block(rows))]
        cache = Cache(Shelf(tmp_path, "plan"))  # Each step is in a process of its own.
        outcome = step("shard", pieces, store, shard.reasoner, cache, shard.updates)
        found.append(outcome.counters["found"])
        given += [(result.close, len(result.answers.rows)) for result in outcome.results]
    # The step that brings 6500 is done with copies, and so is the next, which lets time come so far.
    assert found == ["new", *["adopted"] * 5, "rebuilt", "rebuilt", "rebuilt", *["adopted"] * 3]
    assert given == [(1000 * at, 0 if at < 7 else 2) for at in range(1, 12)]
