"""A shard's step and its truth, without Spark: what Spark may do to steps, done to a store in memory."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from functools import partial
from random import Random

import pyarrow as pa
import pytest
from query.equivalence.cases import Push, Register, make_case
from query.equivalence.history import parsed
from query.equivalence.replay import Engine, bag

from ensue.maintain.kernel import folder
from ensue.resumable import Resumable
from ensue.spark.blocks import Block
from ensue.spark.pieces import BLOCK, DEAD, END, Piece
from ensue.spark.shard import Cache, step
from ensue.spark.shelf import Shelf

SEED = int(os.environ.get("ENSUE_SEED", "1"))


class Memory:
    """A store whose state can be copied and put back."""

    def __init__(self):
        self.state = {"head": None, "log": {}, "memories": {}}
        self.written = 0

    def head(self):
        return self.state["head"]

    def put_head(self, head):
        self.written += len(head)
        self.state["head"] = head

    def log(self):
        return list(self.state["log"].items())

    def add(self, step, pieces):
        self.written += sum(len(piece.payload) for piece in pieces)
        self.state["log"] |= {step: list(pieces)}

    def drop(self, step):
        del self.state["log"][step]

    def memory(self, query):
        return self.state["memories"].get(query)

    def put_memory(self, query, memory):
        self.written += len(memory)
        self.state["memories"][query] = memory


def block(rows):
    times, *terms = zip(*rows, strict=True)
    columns = dict(zip(("s", "p", "o"), terms, strict=True))
    graph = pa.nulls(len(times), pa.string())
    return Block.of(pa.record_batch({"time": pa.array(times, pa.int64()), **columns, "graph": graph})).write()


class Job:
    """A random case as micro-batches of pieces."""

    def __init__(self, seed, folder, evaluator="compiled"):
        self.case, self.folder, self.evaluator = make_case(seed), folder, evaluator
        read = self.reasoner().streams
        pushes = [
            action for action in self.case.actions if isinstance(action, Push) and action.stream in read
        ]
        random = Random(seed)
        sizes = iter(lambda: random.randint(1, 3), 0)
        self.batches, place = [], 0
        while pushes:
            size = next(sizes)
            taken, pushes = pushes[:size], pushes[size:]
            pieces = []
            for push in taken:
                rows = [(time, *statement) for time, statement in push.rows]
                pieces.append(Piece(push.stream, place, BLOCK, block(rows)))
                place += 1
            random.shuffle(pieces)  # The shuffle hands blocks over in any order.
            self.batches.append(pieces)
        self.batches.append([Piece(stream, place, END, b"") for stream in read])

    def reasoner(self, *_):
        engine = Engine(self.case, "expiration", self.evaluator, self.folder, Resumable)
        for action in self.case.actions:
            if isinstance(action, Register):
                engine.reasoner.register(parsed(action.text))
        engine.reasoner.settle()
        return engine.reasoner


def asking(seconds, *_):
    made = Resumable()
    made.register(f"ASK FROM STREAM <urn:s> [RANGE {seconds}s STEP 1s] {{ ?s <urn:p> ?o }}")
    made.settle()
    return made


def answers(outcome):
    return [(result.query, result.open, result.close, bag(result)) for result in outcome.results]


def plain_run(job):
    store, cache = Memory(), Cache()
    return [answers(step("shard", pieces, store, job.reasoner, cache)) for pieces in job.batches]


def harm(shelf, random):
    """Something happens to the files that lie on a shelf; what."""
    folders = [path for path in shelf.iterdir() if not path.name.startswith("claimed")]
    files = sorted(path for folder in folders for path in folder.iterdir() if path.stat().st_size)
    if not files:
        return "nothing"
    path, how = random.choice(files), random.choice(["deletes", "shortens", "lengthens", "empties"])
    if how == "deletes":
        path.unlink()
    elif how == "lengthens":
        with path.open("ab") as file:
            file.write(b"more")
    else:
        # Another file in its place: who has this one mapped keeps it, as with a disk's copy.
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content[: len(content) // 2] if how == "shortens" else b"")
    return how


@pytest.mark.parametrize(
    ("seed", "evaluator"),
    [(SEED + at, "compiled") for at in range(25)] + [(SEED + at, "oxigraph") for at in range(8)],
)
def test_whatever_happens_to_attempts_the_answers_are_the_same(seed, evaluator, tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "_SMALL", (64, 1 << 15)[seed % 2])  # Many files, or few.
    job, random = Job(seed, tmp_path, evaluator), Random(seed)
    expected = plain_run(job)
    place = tmp_path / "shelf"
    place.mkdir()

    def workers():  # Two processes of a host: each knows what it did itself, and both see the shelf.
        return [Cache(Shelf(place, "plan")) for _ in range(2)]

    store, caches, histories, seen = Memory(), workers(), [deepcopy(Memory().state)], {}
    number = 0
    while number < len(job.batches):
        pieces, cache = job.batches[number], random.choice(caches)
        store.state = deepcopy(histories[number])
        happens = random.choice(["well"] * 4 + ["fails", "twice", "rolls back", "restarts", "harm"])
        if happens == "fails":  # The attempt did its work, but its state was never committed.
            step("shard", pieces, store, job.reasoner, cache)
            continue
        if happens == "twice":  # Both finish, and the state of the second is committed.
            other = Memory()
            other.state = deepcopy(histories[number])
            step("shard", pieces, other, job.reasoner, cache)
        if happens == "restarts":
            caches = workers()
            cache = caches[0]
        if happens == "harm":
            happens = harm(place, random)
        found = answers(step("shard", pieces, store, job.reasoner, cache))
        assert found == expected[number], f"seed {seed}, step {number}, {happens}"
        seen[happens] = seen.get(happens, 0) + 1
        del histories[number + 1 :]
        histories.append(deepcopy(store.state))
        number += 1
        if happens == "rolls back" and number > 1:
            number -= random.randint(1, 2)
    print(f"seed {seed}: {seen}")


def test_what_is_written_is_proportional_to_what_came_not_to_the_window():
    reasoner = partial(asking, 1000)
    store, cache, written = Memory(), Cache(), []
    for number in range(40):
        rows = [(1000 * number + at, f"<urn:s{at}>", "<urn:p>", f"<urn:o{at}>") for at in range(100)]
        before = store.written
        step("shard", [Piece("urn:s", number, BLOCK, block(rows))], store, reasoner, cache)
        written.append(store.written - before)
    assert store.state["memories"] == {}, "ASK has nothing to remember"
    kept = sum(map(len, store.state["log"].values()))
    assert kept == 80, "a mark and a block for every step: the window holds all of them"
    assert max(written[5:]) < 1.1 * min(written[5:]), written


def test_steps_that_no_window_needs_any_more_are_dropped():
    reasoner = partial(asking, 5)
    store, cache = Memory(), Cache()
    for number in range(50):
        rows = [(1000 * number, "<urn:a>", "<urn:p>", "<urn:b>")]
        step("shard", [Piece("urn:s", number, BLOCK, block(rows))], store, reasoner, cache)
    kept = sorted(store.state["log"])
    assert kept == list(range(50 - len(kept), 50))
    assert 5 <= len(kept) <= 8


def test_dead_letters_are_counted_once_and_passed_on():
    reasoner = partial(asking, 5)
    letters = [{"file": "a.tsv", "offset": 7, "reason": "no time", "line": "??"}]
    piece = Piece("urn:s", 0, DEAD, json.dumps(letters).encode())
    store, cache = Memory(), Cache()
    first = step("shard", [piece], store, reasoner, cache)
    assert (first.dead, first.counters["dead_letters"]) == (letters, 1)
    again = step("shard", [], store, reasoner, Cache())
    assert (again.dead, again.counters["dead_letters"]) == ([], 1)
