"""What shards leave out shows in no answer: random star queries, rules, backgrounds, lateness and batches.

The same plan over the same micro-batches, with and without semi-joins, so that late statements are compared
as well; and, where none is late, one reasoner that is brought everything at once and leaves nothing out.
ENSUE_SEED sets the first seed, ENSUE_REDUCED_JOBS how many jobs there are.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from plan.shards import in_process, job_of, listed, over_shards, streams_of
from plan.stars import THINGS, make_star, statement, where_about
from query.equivalence.cases import Push
from query.equivalence.replay import render

from ensue.spark.plan import plan_of
from ensue.spark.reducing import Reducer

SEED = int(os.environ.get("ENSUE_SEED", "1"))
JOBS = int(os.environ.get("ENSUE_REDUCED_JOBS", "90"))
CHUNKS = 3


NEEDED = ("?x :p ?y .", "?x :q ?z .", "?x :r :a .", "?z :r ?x .", "?x rdf:type :C .", "?x rdf:type :D .")


def where_of(random):
    """Two or three patterns that an answer needs, and mostly something else."""
    parts = random.sample(NEEDED, random.choice((2, 2, 3)))
    return " ".join([*parts, where_about(random)] if random.random() < 0.6 else parts)


def case_of(seed, random):
    """A star, most of whose things are ever-new: then many lack something, and are not known before."""
    case = make_star(seed, where_of)
    span, times = random.choice((3, 6, 20)), Counter()

    def renamed(term, time):
        # Some stay: those that the background, or what came long before, may be about.
        at = THINGS.index(term) if term in THINGS else None
        return term if at is None or random.random() < 0.1 else f"{THINGS[at % 4][:-1]}{time // span}>"

    def moved(push):
        rows = []
        for _ in range(random.randrange(4, 12)):
            times[push.stream] += random.choice((0, 0, 0, 1))
            time, (s, p, o) = times[push.stream], statement(random)
            rows.append((time, (renamed(s, time), p, renamed(o, time))))
        return replace(push, rows=tuple(rows))

    actions = [moved(each) if isinstance(each, Push) else each for each in case.actions]
    return replace(case, actions=tuple(actions))


def disordered(streams, random):
    """The same statements, some of which come later or earlier than their times say."""
    return {
        stream: sorted(rows, key=lambda row: row[0] + random.choice((0, 0, 0, random.randrange(25))))
        for stream, rows in streams.items()
    }


def check(seed, tally, monkeypatch):
    random = Random(f"reduced {seed}")
    case = case_of(seed, random)
    job = job_of(case)
    plan = plan_of(job, shards=random.choice((1, 2, 3)), expand=random.random() < 0.2)
    if plan.reduction is None:
        return
    streams = streams_of(case, plan, job)
    late = random.random() < 0.5
    if late:
        streams = disordered(streams, random)
    how = {"size": random.choice((10, 40, 100, 1000)), "forgets": random.random() < 0.3}
    want = listed(over_shards(replace(plan, reduction=None), streams, **how))
    with monkeypatch.context() as patch:
        patch.setattr(Reducer, "__call__", counting(Reducer.__call__, tally))
        found = listed(over_shards(plan, streams, **how))
    tally["jobs"] += 1
    tally["with rules"] += bool(case.rules.rules)
    tally["with answers"] += any(bag for results in want.values() for *_, bag in results)
    about = f"case {seed}, {how}, late: {late}\n{render(case)}\n{plan.reduction}"
    assert found == want, about
    assert late or found == listed(in_process(job, streams)), about


def counting(reduce, tally):
    def counted(self, blocks, over, known):
        found = reduce(self, blocks, over, known)
        tally["came"] += sum(len(block) for _, block in blocks)
        tally["left out"] += sum(len(block) for _, block in blocks) - sum(len(block) for _, block in found)
        return found

    return counted


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_is_left_out_shows_in_no_answer(chunk, capsys, monkeypatch):
    tally = Counter()
    for seed in range(SEED + chunk, SEED + JOBS, CHUNKS):
        check(seed, tally, monkeypatch)
    with capsys.disabled():
        print(f"\nreduced jobs: every third of {JOBS} from seed {SEED + chunk}: {dict(tally)}")
    assert tally["jobs"] >= JOBS / CHUNKS / 4
    assert tally["with answers"] >= tally["jobs"] / 3
    assert tally["with rules"] >= tally["jobs"] / 3
    assert tally["left out"] >= tally["came"] / 10
