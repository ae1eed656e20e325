"""One shard's step: window, maintain, query. The truth is in a store, and everything else is a cache of it.

The truth of a shard is the log of the steps that still matter, as blocks; a state of plain data; and what
queries remember between evaluations. A step writes what came, and takes away what no longer matters.

A reasoner in memory is a cache. Spark may run a step twice, at once or again, in this process or another, and
may go back to an older state; so each step ends with a fresh token, written into the state along with
the truth. Who finds the reasoner of the state's token has the right one, and takes it out of the cache
while he works with it: whoever does not finish leaves none. Who finds none makes one from the truth.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, NamedTuple, Protocol

from ensue.model import NEVER
from ensue.query.arrivals import Batch
from ensue.query.log import Logged, Mark, first_kept
from ensue.query.output import Result
from ensue.reasoner import Reasoner
from ensue.spark.blocks import Block
from ensue.spark.prepare import BLOCK, DEAD, END, HEARTBEAT

_LOOK_SECONDS = 2.0
"""How often somebody looks how much is held."""

MADE, MARK = "made", "mark"
"""The kinds of pieces that are in the log only: a block that a query constructed, and where a step began."""


Make = Callable[[], Reasoner]
"""Makes the reasoner of a shard, before anything has come."""


class Piece(NamedTuple):
    """A row for a shard: a block of a stream, dead letters, a heartbeat, or that the stream has ended."""

    stream: str
    place: int
    kind: str
    payload: bytes


class Store(Protocol):
    """Where a shard's truth is: it keeps all of a step or nothing."""

    def head(self) -> bytes | None:
        """The state; None before the first step."""

    def put_head(self, head: bytes) -> None:
        """Replace the state."""

    def log(self) -> Iterable[tuple[int, Piece]]:
        """The pieces of the log, in any order, and the step of each."""

    def add(self, step: int, pieces: Sequence[Piece]) -> None:
        """Add a step to the log."""

    def drop(self, step: int, pieces: int) -> None:
        """Take a step of so many pieces out of the log."""

    def memories(self) -> Mapping[str, bytes]:
        """What queries remember, by name."""

    def put_memory(self, query: str, memory: bytes) -> None:
        """Replace what a query remembers."""


class Entry(NamedTuple):
    """A step of the log: where it began, the greatest time that it brought, and its pieces."""

    mark: Mark
    newest: int
    pieces: int


@dataclass
class Shard:
    """A reasoner, and what the store has of it."""

    reasoner: Reasoner
    step: int = 0
    log: dict[int, Entry] = field(default_factory=dict)
    versions: dict[str, Any] = field(default_factory=dict)
    """What the store has of what queries remember."""
    dead: int = 0
    held: dict[str, int] = field(default_factory=dict)
    looked: float = -inf


class Cache:
    """Reasoners by the token of the state that they stand for."""

    def __init__(self) -> None:
        self._shards: dict[str, tuple[str, Shard]] = {}

    def take(self, name: str, token: str) -> Shard | None:
        """The shard of this name if it is at this token; nobody else has it from now on."""
        found = self._shards.pop(name, None)
        return found[1] if found is not None and found[0] == token else None

    def put(self, name: str, token: str, shard: Shard) -> None:
        """Keep a shard for whoever comes with this token."""
        self._shards[name] = (token, shard)


class Outcome(NamedTuple):
    """What a step gives."""

    results: list[Result]
    dead: list[dict[str, Any]]
    counters: dict[str, Any]


def step(name: str, pieces: Iterable[Piece], store: Store, make: Make, cache: Cache) -> Outcome:
    """Take in what a micro-batch brings a shard, give what is due, and write down what is needed to go on."""
    shard = _current(name, store, make, cache)
    came = sorted(pieces)
    results, dead = _work(shard, came, store)
    token = secrets.token_hex(16)
    store.put_head(_head(shard, token))
    cache.put(name, token, shard)
    return Outcome(results, dead, _counters(shard))


def _current(name: str, store: Store, make: Make, cache: Cache) -> Shard:
    head = store.head()
    if head is None:
        shard = Shard(make())
        shard.reasoner.take_made()
        return shard
    saved = json.loads(head)
    return cache.take(name, saved["token"]) or _rebuilt(saved, store, make)


def _work(shard: Shard, came: list[Piece], store: Store) -> tuple[list[Result], list[dict[str, Any]]]:
    reasoner, number = shard.reasoner, shard.step
    blocks = [piece for piece in came if piece.kind == BLOCK]
    dead = [letter for piece in came if piece.kind == DEAD for letter in json.loads(piece.payload)]
    shard.dead += len(dead)
    mark = reasoner.mark()
    batches = _batches(blocks, reasoner)
    ended = [piece.stream for piece in came if piece.kind == END]
    results = reasoner.step(batches, ended, _heartbeats(came))
    made = [
        Piece(stream, 0, MADE, Block.of_arrivals(arrivals, reasoner.dictionary).write())
        for stream, arrivals in reasoner.take_made().items()
    ]
    shard.step += 1
    if blocks or made:
        pieces = [_marked(mark), *blocks, *made]
        store.add(number, pieces)
        shard.log[number] = Entry(mark, _newest(batches), len(pieces))
    _forget(shard, store)
    _remember(shard, store)
    return results, dead


def _heartbeats(came: Iterable[Piece]) -> dict[str, int]:
    """How far each stream promises that its time has come."""
    found: dict[str, int] = {}
    for piece in came:
        if piece.kind == HEARTBEAT:
            found[piece.stream] = max(int(piece.payload), found.get(piece.stream, NEVER))
    return found


def _batches(blocks: Iterable[Piece], reasoner: Reasoner) -> dict[str, Batch]:
    """What came of each stream, in order."""
    parts: dict[str, list[Batch]] = {}
    for piece in blocks:
        parts.setdefault(piece.stream, []).append(Block.read(piece.payload).batch(reasoner.dictionary))
    return {stream: Batch.joined(batches) for stream, batches in parts.items()}


def _forget(shard: Shard, store: Store) -> None:
    """Drop the steps that no longer matter."""
    marks = [*(entry.mark for entry in shard.log.values()), shard.reasoner.mark()]
    newest = [entry.newest for entry in shard.log.values()]
    kept = first_kept(marks, newest, shard.reasoner.horizons())
    for number in list(shard.log)[:kept]:
        store.drop(number, shard.log.pop(number).pieces)


def _newest(batches: Mapping[str, Batch]) -> int:
    return max((batch.newest for batch in batches.values()), default=NEVER)


def _remember(shard: Shard, store: Store) -> None:
    """Write down what queries remember, where it has changed."""
    for query, (version, give) in shard.reasoner.memories().items():
        if shard.versions.get(query, []) != version:
            store.put_memory(query, json.dumps(give()).encode())
            shard.versions[query] = version


def _head(shard: Shard, token: str) -> bytes:
    state = shard.reasoner.state()
    return json.dumps({"token": token, "step": shard.step, "dead": shard.dead, "state": state}).encode()


def _marked(mark: Mark) -> Piece:
    return Piece("", 0, MARK, json.dumps([mark.frontier, dict(mark.numbers)]).encode())


def _rebuilt(saved: dict[str, Any], store: Store, make: Make) -> Shard:
    """A shard made from the truth."""
    shard = Shard(make(), saved["step"], dead=saved["dead"])
    steps: dict[int, list[Piece]] = {}
    for number, piece in store.log():
        steps.setdefault(number, []).append(piece)
    log = [_logged(number, sorted(steps[number]), shard) for number in sorted(steps)]
    memories = {query: json.loads(memory) for query, memory in store.memories().items()}
    shard.reasoner.resume(saved["state"], memories, log)
    shard.reasoner.take_made()
    shard.versions = {query: version for query, (version, _) in shard.reasoner.memories().items()}
    return shard


def _logged(number: int, pieces: list[Piece], shard: Shard) -> Logged:
    reasoner = shard.reasoner
    frontier, numbers = next(json.loads(piece.payload) for piece in pieces if piece.kind == MARK)
    batches = _batches((piece for piece in pieces if piece.kind == BLOCK), reasoner)
    made = _batches((piece for piece in pieces if piece.kind == MADE), reasoner)
    mark = Mark(frontier, numbers)
    shard.log[number] = Entry(mark, _newest(batches), len(pieces))
    return Logged(mark, batches, {stream: batch.arrivals for stream, batch in made.items()})


def _counters(shard: Shard) -> dict[str, Any]:
    now = monotonic()
    if now - shard.looked > _LOOK_SECONDS:
        shard.held, shard.looked = shard.reasoner.held(), now
    kept = {"dead_letters": shard.dead, "steps_kept": len(shard.log)}
    return shard.reasoner.counters() | shard.held | kept
