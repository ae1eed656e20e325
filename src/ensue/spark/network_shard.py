"""One step of a shard of rule networks. The truth is in a store, and the networks are a cache of it.

The truth is what the networks hold, what waits, and a small plain state. It is a log: each step adds an entry
of what it has changed, however much is held. When most of the log is of no use any more, or it has come to
many small entries, what is there is written as one entry, and the others are dropped; that is seldom enough
to cost no more, all in all, than the entries did.

As for queries (`shard.py`) each step ends with a fresh token, and who finds networks under the state's token
has the right ones. Networks lie in the memory of one process, and the next step may be in another: so the
state knows the tokens of a few steps before, and networks that are behind take in what was logged since. Any
others are made anew from the log.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from ensue.model import FOREVER
from ensue.networks.dataset import line_of
from ensue.networks.loops import UnsettledError
from ensue.networks.run import Waiting
from ensue.networks.steps import NetworkSteps
from ensue.query.output import Result
from ensue.spark.blocks import Block
from ensue.spark.guarded import Guarded
from ensue.spark.network_log import Entry, came
from ensue.spark.pieces import END, Piece, of_kind
from ensue.spark.shard import Failure, Outcome, heartbeats_of, letters_of

_REMEMBERED = 16
"""How many steps networks may be behind and still be of use."""
_SMALL_LOG, _FEW_ENTRIES, _RECORDS_AN_ENTRY = 1000, 256, 64
"""A log of so many records, or so many entries and one more for each so many records, is left as it is."""

Make = Callable[[], NetworkSteps]


class Store(Protocol):
    """Where the truth of a shard is kept from step to step."""

    def head(self) -> bytes | None:
        """The state; None before the first step."""

    def put_head(self, head: bytes) -> None:
        """Replace the state."""

    def log(self) -> Iterable[tuple[int, list[Piece]]]:
        """The entries of the log by their numbers, in any order."""

    def entry(self, number: int) -> list[Piece]:
        """One of them."""

    def add(self, step: int, pieces: Sequence[Piece]) -> None:
        """Add an entry to the log."""

    def drop(self, step: int) -> None:
        """Take an entry out of the log."""


class Head(NamedTuple):
    """The state of a shard: the log is from `first` to before `next`, and has so many records."""

    tokens: list[tuple[str, int]]
    """Those of the last steps, the last one last, and what `next` was then."""
    first: int
    next: int
    logged: int
    dead: int
    state: dict[str, Any]
    guard: dict[str, Any]
    """What is held back on the way in: see `guarded.py`."""

    @classmethod
    def read(cls, found: bytes | None) -> Head | None:
        """What a store has."""
        return None if found is None else cls(**json.loads(found))

    @property
    def token(self) -> str:
        """That of this state."""
        return self.tokens[-1][0]


Found = Literal["new", "kept", "caught up", "rebuilt"]
"""Where a step found its networks: nowhere yet, in its process, there but behind, or in the truth alone."""


@dataclass
class Shard:
    """Networks, and what the store has of them."""

    run: NetworkSteps
    found: Found = "new"
    first: int = 0
    next: int = 0
    logged: int = 0
    dead: int = 0

    def goes_on(self, head: Head, entries: Iterable[list[Piece]], found: Found) -> Shard:
        """The shard of a state, which has had these entries since this one's."""
        waiting: list[Waiting] = []
        for pieces in entries:
            entry = Entry.read(pieces, self.run.streams)
            self.run.network.change(entry.changed)
            waiting += entry.waiting
        self.run.resume(head.state, waiting)
        return Shard(self.run, found, head.first, head.next, head.logged, head.dead)


class NetworkCache:
    """The networks that this process has, and the tokens of the states that they are of."""

    def __init__(self) -> None:
        self._shards: dict[str, tuple[str, Shard]] = {}

    def take(self, name: str, head: Head, store: Store) -> Shard | None:
        """The shard of this name as the state has it; nobody else has it from now on."""
        token, shard = self._shards.pop(name, ("", None))
        since = dict(head.tokens).get(token)
        if shard is None or since is None:
            return None
        if token == head.token:
            shard.found = "kept"
            return shard
        if since <= head.first:  # The first entry says what is there, and not what has gone.
            return None
        return shard.goes_on(head, map(store.entry, range(since, head.next)), "caught up")

    def put(self, name: str, token: str, shard: Shard) -> None:
        """Keep a shard for whoever comes with this token."""
        self._shards[name] = (token, shard)


def step(
    name: str,
    pieces: Iterable[Piece],
    store: Store,
    make: Make,
    cache: NetworkCache,
    max_jump: int | None = None,
    *,
    tells: bool = True,
) -> Outcome:
    """Take in what a micro-batch brings a shard, give what is selected, and write down what has changed.

    `max_jump`: how far a stream's time may jump unconfirmed; `tells`: what is rejected is a dead letter here.
    """
    head = Head.read(store.head())
    guarded = Guarded(max_jump, None if head is None else head.guard)
    arrived = guarded.let_in(sorted(pieces))
    shard = Shard(make()) if head is None else cache.take(name, head, store) or _rebuilt(head, store, make)
    dead = [*letters_of(arrived), *(guarded.letters if tells else ())]
    shard.dead += len(dead)
    results: list[Result] = []
    try:
        for result in _released(shard, arrived, guarded.blocks):
            results.append(result)
    except UnsettledError as problem:  # Nothing is written: nobody goes on from here.
        results += shard.run.take_ready()
        return Outcome(results, dead, {}, ordered=True, failure=Failure(problem.time, str(problem)))
    entry = Entry(shard.run.network.take(), shard.run.since)
    if entry.size:
        _log(shard, entry, store)
    token = secrets.token_hex(16)
    tokens = [*(() if head is None else head.tokens[1 - _REMEMBERED :]), (token, shard.next)]
    state = shard.run.state()
    head = Head(tokens, shard.first, shard.next, shard.logged, shard.dead, state, guarded.state())
    store.put_head(json.dumps(head._asdict()).encode())
    counters = _counters(shard) | guarded.counters
    held = "".join(map(line_of, shard.run.network)).encode() if shard.run.frontier == FOREVER else None
    cache.put(name, token, shard)
    return Outcome(results, dead, counters, ordered=True, held=held)


def _rebuilt(head: Head, store: Store, make: Make) -> Shard:
    """A shard made from the truth."""
    entries = (pieces for _, pieces in sorted(store.log()))
    return Shard(make()).goes_on(head, entries, "rebuilt")


def _released(shard: Shard, arrived: list[Piece], blocks: Iterable[tuple[str, Block]]) -> Iterator[Result]:
    batches = [(stream, came(block)) for stream, block in blocks]
    ended = [piece.stream for piece in of_kind(arrived, END)]
    return shard.run.step(batches, ended, heartbeats_of(arrived))


def _log(shard: Shard, entry: Entry, store: Store) -> None:
    """Write an entry; or all that is there, if more than half of the log would be of no use."""
    number, dropped = shard.next, range(shard.first, shard.next)
    shard.next += 1
    there = shard.run.network.size + len(shard.run.waiting)
    few = _FEW_ENTRIES + there // _RECORDS_AN_ENTRY
    if shard.logged + entry.size > 2 * there + _SMALL_LOG or len(dropped) > few:
        entry = Entry(shard.run.network.all(), shard.run.waiting)
        for each in dropped:
            store.drop(each)
        shard.first, shard.logged = number, 0
    shard.logged += entry.size
    store.add(number, entry.pieces(shard.run.streams))


def _counters(shard: Shard) -> dict[str, Any]:
    kept = {"dead_letters": shard.dead, "entries_kept": shard.next - shard.first, "found": shard.found}
    return shard.run.metrics() | {"frontier": shard.run.frontier} | kept
